import type { JobKind } from './kind.js';

/** A pipeline queue that a request or a payload names, with the path of the field that names it. */
export interface NamedQueue {
  readonly field: string;
  readonly queue: string;
}

/** The pipeline queues that a payload names. */
export function namedQueues({ queueFields = [] }: JobKind, payload: unknown): NamedQueue[] {
  return queueFields.flatMap((field) => {
    const queue = field.split('.').reduce<unknown>(memberOf, payload);
    return typeof queue === 'string' ? [{ field, queue }] : [];
  });
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
