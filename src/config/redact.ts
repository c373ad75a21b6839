import { formsOf, secretsIn, secretsOfAddress } from './known-secrets.js';

const REDACTED = '[redacted]';
/** Secrets of at least this length are also recognized by half of their characters, in case a text was cut. */
const MIN_LENGTH_OF_HALVES = 16;

interface KnownSecret {
  readonly plain: string;
  readonly forms: readonly string[];
}

/** The secrets that this process knows: those of its environment, read at the first use, and those that were added. */
const known = new Map<string, KnownSecret>();
let environmentRead = false;

/** Adds secrets that are not in the environment: a key or an address that a program passes. */
export function rememberSecrets(...secrets: readonly (string | undefined)[]): void {
  for (const secret of secrets) {
    if (secret === undefined || known.has(secret)) continue;
    const forms = formsOf(secret);
    if (forms.length > 0) known.set(secret, { plain: secret.trim(), forms });
  }
}

/** Adds the password of an address. */
export function rememberAddress(address: string): void {
  rememberSecrets(...secretsOfAddress(address));
}

function knownSecrets(): Iterable<KnownSecret> {
  if (!environmentRead) {
    environmentRead = true;
    rememberSecrets(...secretsIn(process.env));
  }
  return known.values();
}

/**
 * A text without the secrets that this process knows, in any form: encoded, escaped, or cut in two. Call it before shortening
 * a text.
 *
 * @param allowed Whether a secret may stay: a script that contains one itself must not change.
 */
export function redactSecrets(text: string, allowed?: (secret: string) => boolean): string {
  let clean = text;
  for (const { plain, forms } of knownSecrets()) {
    const before = clean;
    for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
    if (plain.length >= MIN_LENGTH_OF_HALVES && !/["\\]/.test(plain)) clean = withoutHalves(clean, plain);
    if (clean !== before && allowed?.(plain)) clean = before;
  }
  return clean;
}

/** Removes texts that begin with the first half of a secret, or end with the other half. */
function withoutHalves(text: string, secret: string): string {
  const half = Math.ceil(secret.length / 2);
  const first = secret.slice(0, half);
  const last = secret.slice(-half);
  let clean = text;
  for (let at = clean.indexOf(first); at !== -1; at = clean.indexOf(first, at + REDACTED.length)) {
    let length = half;
    while (length < secret.length && clean[at + length] === secret[length]) length += 1;
    clean = clean.slice(0, at) + REDACTED + clean.slice(at + length);
  }
  for (let at = clean.indexOf(last); at !== -1; at = clean.indexOf(last, at + REDACTED.length)) {
    let length = half;
    while (length < secret.length && at > 0 && clean[at - 1] === secret[secret.length - length - 1]) {
      at -= 1;
      length += 1;
    }
    clean = clean.slice(0, at) + REDACTED + clean.slice(at + length);
  }
  return clean;
}

/**
 * Texts that look like any secret. No character class includes a quotation mark or a backslash, so that a line of JSON stays
 * valid; repetitions are bounded, so that no text takes long.
 */
const SECRET_SHAPES: readonly (readonly [shape: RegExp, replacement: string])[] = [
  [/\bsk-ant-[\w-]{4,}/g, REDACTED],
  [/\bsk-[\w-]{20,}/g, REDACTED],
  [/\bfleet_[0-9a-f]{12}_[\w-]{20,}/g, REDACTED],
  [/\b(?:gh[pousr]|hf|glpat|xox[abprs])[_-][\w-]{16,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, REDACTED],
  [
    /\b([Bb]earer|BEARER|[Bb]asic|BASIC) {1,4}(?=[\w.~+/-]{0,200}(?:\d|[a-z][A-Z]|=))[\w.~+/=-]{8,}/g,
    `$1 ${REDACTED}`,
  ],
  [
    /\b(x-api-key|authorization|api[-_]?key)(\\?["']? {0,4}[:=] {0,4}\\?["']?)(?=[a-z._-]{0,200}\d)[^\s"'\\,;]{8,}/gi,
    `$1$2${REDACTED}`,
  ],
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@"'\\]{0,200}):[^\s/@"'\\]{1,500}@/gi, `$1:${REDACTED}@`],
  [/(:\/\/)[^\s/:@"'\\]{16,500}@/g, `$1${REDACTED}@`],
];

/**
 * The text of an error or a log line: without known secrets, and without what looks like one. Not for scripts, in which
 * such a text may be part of the program.
 */
export function redactErrorText(text: string): string {
  let clean = redactSecrets(text);
  for (const [shape, replacement] of SECRET_SHAPES) clean = clean.replace(shape, replacement);
  return clean;
}

/** Plain data with every text redacted, including names of fields. Returns the same value if there is nothing to remove. */
export function redactData<T>(data: T, allowed?: (secret: string) => boolean): T {
  return redactUnknown(data, allowed) as T;
}

function redactUnknown(data: unknown, allowed?: (secret: string) => boolean): unknown {
  if (typeof data === 'string') return redactSecrets(data, allowed);
  if (typeof data !== 'object' || data === null) return data;
  if (Array.isArray(data)) return data.map((entry: unknown) => redactUnknown(entry, allowed));
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      redactSecrets(name, allowed),
      redactUnknown(value, allowed),
    ]),
  );
}
