import { randomUUID } from 'node:crypto';
import { KIND_NAMES, type KindName } from '../queues/registry.js';

/**
 * A new job id, unique over all kinds: the kind, a hyphen, a random UUID. BullMQ refuses ids with one `:`
 * and ids that are whole numbers; this form is neither.
 */
export function newJobId(kind: KindName): string {
  return `${kind}-${randomUUID()}`;
}

/** The kind that an id names, or undefined where the id is not of this project's making. */
export function kindOfJobId(id: string): KindName | undefined {
  return KIND_NAMES.find((kind) => id.startsWith(`${kind}-`));
}
