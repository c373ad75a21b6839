import { describe, expect, it } from 'vitest';
import { recordedHeaders } from '../../src/calls/transport.js';
import { formsOf, secretsIn } from '../../src/config/known-secrets.js';
import { redactData, redactErrorText, redactSecrets, rememberSecrets } from '../../src/config/redact.js';

const KEY = 'Zx9$(.*)+key[with]{regex}|chars';
const PLAIN = 'plain-secret-of-24-chars';
rememberSecrets(KEY, PLAIN, 'short');

const each = (form: (code: number) => string) => Array.from(KEY, (one) => form(one.charCodeAt(0))).join('');
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a known secret is taken out', () => {
  it.each([
    ['as it is', `bad key ${KEY}!`],
    ['as JSON', JSON.stringify({ message: `bad key ${KEY}` })],
    ['as JSON in JSON', JSON.stringify(JSON.stringify({ message: KEY }))],
    ['in a URL', `https://x/?key=${encodeURIComponent(KEY)}`],
    [
      'in a URL, in small letters',
      `https://x/?key=${encodeURIComponent(KEY).toLowerCase().replace('zx', 'Zx')}`,
    ],
    ['in base64', `Basic ${base64(KEY)}`],
    ['in base64 after a user', base64(`user:${KEY}`)],
    ['in base64 after one more character', base64(`user2:${KEY}`)],
    ['in base64 between others', base64(`{"a":"${KEY}"}`)],
    ['in hexadecimal', Buffer.from(KEY).toString('hex')],
    [
      'in hexadecimal with spaces',
      Buffer.from(KEY)
        .toString('hex')
        .replace(/..(?=.)/g, '$& '),
    ],
    ['with each character URL-encoded', Buffer.from(KEY).toString('hex').replace(/../g, '%$&')],
    ['with each character escaped', each((code) => `\\u${code.toString(16).padStart(4, '0')}`)],
    ['with each character an entity', each((code) => `&#${code};`)],
    ['cut at its end', `bad key ${PLAIN.slice(0, 15)}`],
    ['cut at its beginning', `…${PLAIN.slice(-13)} is no key`],
    ['twice', `${PLAIN}${PLAIN}`],
  ])('%s', (_form, text) => {
    const clean = redactSecrets(text);
    expect(clean).toContain('[redacted]');
    for (const part of [KEY, PLAIN, PLAIN.slice(0, 12), PLAIN.slice(-12), base64(KEY).slice(4, -4)]) {
      expect(clean).not.toContain(part);
    }
  });

  it('and nothing else is', () => {
    expect(redactSecrets('a short text with plain words')).toBe('a short text with plain words');
    expect(redactData({ [PLAIN]: [1, null, `x ${PLAIN}`] })).toEqual({
      '[redacted]': [1, null, 'x [redacted]'],
    });
  });

  it('in the headers of an answer that are kept', () => {
    const headers = { 'Request-Id': `req ${KEY}`, 'retry-after': '7', other: KEY };
    expect(recordedHeaders(Object.entries(headers))).toEqual({
      'Request-Id': 'req [redacted]',
      'retry-after': '7',
    });
  });

  it('unless it may stay', () => {
    expect(redactSecrets(`token = "${PLAIN}" # ${KEY}`, (secret) => secret === PLAIN)).toBe(
      `token = "${PLAIN}" # [redacted]`,
    );
  });
});

describe('what looks like a secret is taken out of errors', () => {
  it.each([
    ['invalid x-api-key sk-ant-api03-AbC_d-9', 'invalid x-api-key [redacted]'],
    ['Authorization: Bearer abc.def-123456', 'Authorization: Bearer [redacted]'],
    ['{"authorization":"Basic dXNlcjpwYXNzMTIz"}', '{"authorization":"Basic [redacted]"}'],
    ['connect https://user:pass@host/x failed', 'connect https://user:[redacted]@host/x failed'],
    ['redis://abcdefghijklmnop1@host', 'redis://[redacted]@host'],
    [`token fleet_0123456789ab_${'x'.repeat(43)} is unknown`, 'token [redacted] is unknown'],
    ['x-api-key=abcdef123456, x', 'x-api-key=[redacted], x'],
  ])('%s', (text, clean) => {
    expect(redactErrorText(text)).toBe(clean);
  });

  it('and honest sentences stay as they are', () => {
    const honest = [
      'invalid x-api-key',
      'Basic authentication is required; bearer authentication is not',
      'messages.0: Input should be a valid list at https://docs.example.com/errors#400',
      'connect ECONNREFUSED 127.0.0.1:6379',
      'skipped: sk-learn is no key, user@example.com neither',
    ];
    for (const text of honest) expect(redactErrorText(text)).toBe(text);
  });

  it('a line of JSON stays one', () => {
    const value = 'x-api-key: "abc123456789" https://u:p"w@h Bearer abc12345\\"';
    const line = JSON.stringify({ a: value, b: `${KEY}\n${PLAIN}` });
    expect(Object.keys(JSON.parse(redactErrorText(line)))).toEqual(['a', 'b']);
  });
});

it('secrets in the environment are recognized by their names, and in addresses', () => {
  const secrets = secretsIn({
    ANTHROPIC_API_KEY: 'key-of-provider',
    OPENAI_API_KEY: 'key-2',
    FLEET_REDIS_URL: 'redis://u:p%40ss/w@rd-long@host:6379/0',
    HTTPS_PROXY: 'http://proxy:proxy-password@proxy:3128',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20otel-token-1,x=y',
    AWS_SECRET_ACCESS_KEY: 'aws-secret-access-key',
    OPENAI_CUSTOM_HEADERS: 'x-gateway-secret: gateway-1',
    SOME_TOKEN: 'short',
    PATH: '/usr/bin',
    KEYBOARD: 'a long word that is no secret',
  });
  expect(secrets).toEqual(
    expect.arrayContaining([
      'key-of-provider',
      'key-2',
      'p@ss/w@rd-long',
      'proxy-password',
      'otel-token-1',
      'gateway-1',
      'aws-secret-access-key',
    ]),
  );
  expect(secrets.join()).not.toMatch(/usr|short|long word/);
  expect(formsOf('short')).toEqual([]);
});
