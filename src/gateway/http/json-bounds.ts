import { RequestError } from '../../errors.js';

/** Deepest nesting of a body; the contracts themselves need seven levels. */
export const DEEPEST_NESTING = 64;

/** Most values of a body. A batch of 10,000 jobs has some 200,000; one of 32 MB of `[],` would take gigabytes. */
export const MAX_VALUES = 2_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * Refuses JSON that is nested too deep or has too many values, by its bytes alone: what is not refused here can be walked recursively.
 * @throws RequestError `malformed-request`.
 */
export function refuseUnbounded(bytes: Buffer): void {
  let depth = 0;
  let values = 0;
  let inText = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (inText) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (byte === COMMA) values += 1;
    else if (OPENING.has(byte)) {
      depth += 1;
      if (depth > DEEPEST_NESTING) {
        throw new RequestError(
          'malformed-request',
          `the body is nested deeper than ${DEEPEST_NESTING} levels`,
        );
      }
      values += 1;
    } else if (CLOSING.has(byte)) depth -= 1;
    if (values > MAX_VALUES) {
      throw new RequestError('malformed-request', `the body has more than ${MAX_VALUES} values`);
    }
  }
}

/**
 * Refuses a key `__proto__` at any depth: copying such an object would set its prototype, or lose the key unseen.
 * @throws RequestError `malformed-request` with the path of the key's object.
 */
export function refuseProtoKeys(value: unknown, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseProtoKeys(item, `${path}[${index}]`);
    return;
  }
  if (Object.hasOwn(value, '__proto__')) {
    const field = path === '' ? '__proto__' : `${path}.__proto__`;
    throw new RequestError('malformed-request', `${field}: this key is not allowed`, { field });
  }
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'object') refuseProtoKeys(item, path === '' ? key : `${path}.${key}`);
  }
}
