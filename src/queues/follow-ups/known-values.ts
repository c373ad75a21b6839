import type { JobKind } from '../kind.js';
import { wellFormed } from '../names.js';
import type { FollowUp } from './contract.js';

/** What is known of the payload of a job before it runs. */
export interface KnownPayload {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Fields that it will have, with a value that only the result of the job before shows. */
  readonly unknown: ReadonlySet<string>;
}

/** A value of a payload, by its path: known, known to be absent, or not known. */
export type KnownValue = { readonly value: unknown } | 'unknown';

export function knownValue({ fields, unknown }: KnownPayload, path: readonly string[]): KnownValue {
  if (unknown.has(path[0] ?? '')) return 'unknown';
  return { value: path.reduce<unknown>(fieldOf, fields) };
}

/** A field of a value; undefined if it has none of that name. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** What is known of the payload of a follow-up. Fields with a default have the default. */
export function knownPayloadOf(next: JobKind, { payload = {}, from = {} }: FollowUp): KnownPayload {
  const mapped = Object.keys(from);
  const defaults = Object.entries(next.payload.shape).flatMap(([name, schema]) => {
    const value = schema.safeParse(undefined).data;
    return value === undefined ? [] : [[name, value] as const];
  });
  return { fields: { ...Object.fromEntries(defaults), ...payload }, unknown: new Set(mapped) };
}

const MAX_SHOWN = 100;

/** A value in a message: the beginning of its JSON, because it may be a whole script. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= MAX_SHOWN ? text : `${wellFormed(text.slice(0, MAX_SHOWN - 1))}…`;
}
