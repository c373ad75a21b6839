import type { Environment } from './load-config.js';

/** Shorter values are as likely words as secrets. */
const MIN_LENGTH = 8;
/** The same for variables that only by their name seem to contain a secret. */
const MIN_LENGTH_BY_NAME = 12;

/** Variables that contain only a secret. */
const SECRET_VARIABLES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'OPENAI_API_KEY',
  'FLEET_TOKEN',
  'GRAFANA_PASSWORD',
];
/** Variables with `name=value` or `name: value` pairs that contain secrets. */
const HEADER_VARIABLES = /^(?:OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS|(?:ANTHROPIC|OPENAI)_CUSTOM_HEADERS)$/;
const SECRET_NAME = /(?:_KEY|_TOKEN|_SECRET|PASSWORD|PASSWD|_CREDENTIALS?)$/;

/** The secrets among the variables of an environment, and in addresses among them. */
export function secretsIn(environment: Environment): string[] {
  return Object.entries(environment).flatMap(([name, value = '']) => {
    const secrets = secretsOfAddress(value);
    if (SECRET_VARIABLES.includes(name)) secrets.push(value);
    else if (SECRET_NAME.test(name) && value.trim().length >= MIN_LENGTH_BY_NAME) secrets.push(value);
    if (HEADER_VARIABLES.test(name)) secrets.push(...headerValues(value));
    return secrets;
  });
}

/** Values of headers, with and without the name of their scheme. */
function headerValues(headers: string): string[] {
  return headers.split(/[,\n]/).flatMap((pair) => {
    const value = pair.slice(pair.search(/[=:]/) + 1);
    return [value, decoded(value)].flatMap((form) => [form, form.trim().replace(/^(?:bearer|basic) /i, '')]);
  });
}

/** The password of an address, even if the address is invalid. */
export function secretsOfAddress(address: string): string[] {
  const [, user = '', password = ''] =
    /^\s*[a-z][a-z0-9+.-]{0,30}:\/\/([^:@/]*)(?::([\s\S]*))?@/i.exec(address) ?? [];
  // A lone user name of that length is a token.
  const secret = password === '' && user.length >= 16 ? user : password;
  return secret === '' ? [] : [secret, decoded(secret)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that encodes nothing: the text is literal.
    return text;
  }
}

/** The forms in which a text may repeat a secret, the longest first. None for values that are too short to search for. */
export function formsOf(secret: string): string[] {
  const plain = secret.trim();
  if (plain.length < MIN_LENGTH) return [];
  const escaped = JSON.stringify(plain).slice(1, -1);
  const encoded = encodeURIComponent(plain);
  const hex = Buffer.from(plain).toString('hex');
  const forms = new Set([
    plain,
    plain.toLowerCase(),
    plain.toUpperCase(),
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    plain.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    encoded.replace(/%20/g, '+'),
    encodeURIComponent(encoded),
    hex,
    hex.toUpperCase(),
    ...base64Forms(plain),
    ...characterForms(plain),
  ]);
  return [...forms].sort((a, b) => b.length - a.length);
}

/** A text with every character encoded, whether necessary or not. */
function characterForms(text: string): string[] {
  const bytes = Buffer.from(text).toString('hex').match(/../g) ?? [];
  const each = (form: (code: number) => string) =>
    Array.from(text, (character) => form(character.codePointAt(0) ?? 0)).join('');
  const forms = [
    ...['%', '\\x', '%25', ' ', ':'].map((separator) => bytes.join(separator)),
    each((code) => `\\u${code.toString(16).padStart(4, '0')}`),
    each((code) => `&#x${code.toString(16)};`),
  ];
  const entities = each((code) => `&#${code};`);
  return [
    ...forms.flatMap((form) => [form, form.replace(/[a-f]/g, (digit) => digit.toUpperCase())]),
    entities,
  ];
}

/** The part of a text's base64 that does not depend on the bytes around it, for each of the three alignments. */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((before) => {
    const end = before + bytes.length;
    const base64 = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const inner = base64.slice(Math.ceil((before * 8) / 6), Math.floor((end * 8) / 6));
    return inner.length < MIN_LENGTH ? [] : [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
