import { inflateRawSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { readRecord } from '../../queues/read-record.js';
import type { CallRequest } from '../transport.js';

/** A batch as the fleet keeps it (`line-scripts.ts`). */
export interface StoredBatch {
  /** The fleet's name for it. */
  readonly name: string;
  readonly account: string;
  readonly state: 'creating' | 'open';
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number;
  /** How many lines it was sent with. */
  readonly count: number;
  /** The provider's id, of an open batch. */
  readonly id: string | undefined;
  /** False if it was found by its size and time: then only its results show that it is this batch. */
  readonly isSure: boolean;
  /** Batches of the provider that proved to be others. */
  readonly foreign: readonly string[];
  readonly isCancelled: boolean;
}

const ForeignSchema = z.array(z.string());

export async function readBatch(client: Redis, base: string, name: string): Promise<StoredBatch | undefined> {
  const found = await client.hgetall(`${base}:of:${name}`);
  if (found.state !== 'creating' && found.state !== 'open') return undefined;
  return {
    name,
    account: found.account ?? '',
    state: found.state,
    at: Number(found.at),
    count: Number(found.count),
    id: found.id,
    isSure: found.isSure === '1',
    foreign: readRecord(ForeignSchema, found.foreign)?.value ?? [],
    isCancelled: found.cancelled !== undefined,
  };
}

/** A line that waits for its result. */
export interface StoredLine {
  readonly model: string;
  /** The request as JSON. */
  readonly request: string;
}

/** Largest request that a line can have. */
const MAX_REQUEST_BYTES = 2 ** 29;

/** Undefined if the line has ended. */
export async function readLine(client: Redis, base: string, id: string): Promise<StoredLine | undefined> {
  const [model, request] = await client.hmgetBuffer(`${base}:line:${id}`, 'model', 'request');
  if (!model || !request) return undefined;
  const text = inflateRawSync(request, { maxOutputLength: MAX_REQUEST_BYTES }).toString('utf8');
  return { model: model.toString('utf8'), request: text };
}

/** The request of a line, as this program wrote it. */
export function requestOf({ request }: StoredLine): CallRequest {
  return JSON.parse(request) as CallRequest;
}
