import { isDeepStrictEqual } from 'node:util';

/** Whether a value has all fields of `partial` with these values, at any depth. Lists must be equal. */
export function containsPartial(value: unknown, partial: unknown): boolean {
  if (!isObject(partial)) return isDeepStrictEqual(value, partial);
  if (!isObject(value)) return false;
  return Object.entries(partial).every(
    ([name, expected]) => Object.hasOwn(value, name) && containsPartial(value[name], expected),
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
