import { boundsProblem, type FollowUp, followUpsOf } from './follow-ups/contract.js';
import type { JobKind } from './kind.js';
import type { KindRegistry } from './registry.js';

/** A pipeline queue that a request or a payload names, with the path of the field that names it. */
export interface NamedQueue {
  readonly field: string;
  readonly queue: string;
}

/** The pipeline queues that a payload and its follow-ups name. */
export function namedQueues(
  kinds: KindRegistry,
  kind: JobKind,
  payload: Readonly<Record<string, unknown>>,
): NamedQueue[] {
  // Too many follow-ups are rejected with the payload.
  const then = boundsProblem(payload.then) === undefined ? followUpsOf(payload) : undefined;
  return [...queuesIn(kind, payload, ''), ...queuesOfFollowUps(kinds, then, '')];
}

function queuesOfFollowUps(
  kinds: KindRegistry,
  then: readonly FollowUp[] | undefined,
  path: string,
): NamedQueue[] {
  return (then ?? []).flatMap(({ kind, payload, then: next }, at) => {
    const here = `${path}then[${at}].`;
    const own = kinds.has(kind) ? queuesIn(kinds.get(kind), payload, `${here}payload.`) : [];
    return [...own, ...queuesOfFollowUps(kinds, next, here)];
  });
}

function queuesIn({ queueFields = [] }: JobKind, payload: unknown, path: string): NamedQueue[] {
  return queueFields.flatMap((field) => {
    const queue = field.split('.').reduce<unknown>(memberOf, payload);
    return typeof queue === 'string' ? [{ field: `${path}${field}`, queue }] : [];
  });
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The top-level payload fields of a kind that name pipeline queues, or contain fields that do. */
export function fieldsWithQueues({ queueFields = [] }: JobKind): ReadonlySet<string> {
  return new Set(queueFields.map((field) => field.split('.')[0] ?? field));
}
