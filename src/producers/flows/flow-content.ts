import { createHash } from 'node:crypto';
import { yieldWhenBusy } from '../../event-loop.js';
import type { FleetClient } from '../fleet-client.js';
import { comparableData } from '../submit-once.js';
import type { FlowNode } from './flow-jobs.js';

/** JSON whose objects have their fields in alphabetical order: equal data give equal text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

type ContentNode = Pick<FlowNode, 'queue' | 'data' | 'children'>;

/**
 * Digest of the data of a job and of everything below it. The root of a flow with a key stores it: content is compared
 * also if a child has been removed meanwhile, and the job after a batch has its candidates.
 */
export async function contentOf(fleet: FleetClient, node: ContentNode): Promise<string> {
  const hash = createHash('sha256');
  const add = async ({ queue, data, children = [] }: ContentNode): Promise<void> => {
    await yieldWhenBusy();
    hash.update(`${queue}\0${children.length}\0${canonicalJson(comparableData(fleet, queue, data))}\0`);
    for (const child of children) await add(child);
  };
  await add(node);
  return hash.digest('base64url');
}

/** The content of a batch from that of each of its parts. */
export function combinedContent(contents: readonly string[]): string {
  return createHash('sha256').update(contents.join('\0')).digest('base64url');
}
