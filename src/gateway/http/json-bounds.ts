import { RequestError } from '../../errors.js';
import { fieldPath } from '../../queues/validate.js';

/** Deepest nesting of a body; the contracts themselves need seven levels. */
export const DEEPEST_NESTING = 64;

/** Most values of a body. A batch of 10,000 jobs has some 200,000; one of 32 MB of `[],` would take gigabytes. */
export const MAX_VALUES = 2_000_000;

/**
 * Most members of one object, and of all objects of a body. Members cost far more than elements of a list: two million
 * of them keep the process busy for seconds before any contract sees them. A batch of 10,000 jobs has some 150,000.
 */
export const MAX_OBJECT_MEMBERS = 20_000;
export const MAX_MEMBERS = 500_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * Rejects JSON that is nested too deep or has too many values or members, by its bytes alone. Other code may then walk it
 * recursively.
 * @throws RequestError `malformed-request`.
 */
export function assertBounded(bytes: Buffer): void {
  /** Members so far of the object or list at each depth. */
  const members: number[] = new Array(DEEPEST_NESTING + 1).fill(0);
  let allMembers = 0;
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
    else if (byte === COLON) {
      allMembers += 1;
      const ofObject = (members[depth] ?? 0) + 1;
      members[depth] = ofObject;
      if (ofObject > MAX_OBJECT_MEMBERS) throw tooMany('members in one object', MAX_OBJECT_MEMBERS);
      if (allMembers > MAX_MEMBERS) throw tooMany('members of objects', MAX_MEMBERS);
    } else if (OPENING.has(byte)) {
      depth += 1;
      if (depth > DEEPEST_NESTING) {
        throw new RequestError(
          'malformed-request',
          `the body is nested deeper than ${DEEPEST_NESTING} levels`,
        );
      }
      members[depth] = 0;
      values += 1;
    } else if (CLOSING.has(byte)) depth -= 1;
    if (values > MAX_VALUES) throw tooMany('values', MAX_VALUES);
  }
}

function tooMany(what: string, max: number): RequestError {
  return new RequestError('malformed-request', `the body has more than ${max} ${what}`);
}

/**
 * Rejects a key `__proto__` at any depth: copying such an object would set its prototype, or lose the key unnoticed.
 * @throws RequestError `malformed-request` with the path of the key's object.
 */
export function rejectProtoKeys(value: unknown): void {
  const path = protoPath(value);
  if (path === undefined) return;
  const field = fieldPath(path.reverse());
  throw new RequestError('malformed-request', `${field}: this key is not allowed`, { field });
}

/** The path of a key `__proto__`, its end first, so that no paths of other values are built. */
function protoPath(value: unknown): PropertyKey[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const below = protoPath(value[index]);
      if (below !== undefined) return [...below, index];
    }
    return undefined;
  }
  if (Object.hasOwn(value, '__proto__')) return ['__proto__'];
  for (const key in value) {
    const below = protoPath((value as Record<string, unknown>)[key]);
    if (below !== undefined) return [...below, key];
  }
  return undefined;
}
