import type { Request, Response } from 'express';
import { FleetError, JobError, RequestError } from '../../errors.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { retryJob } from '../../producers/retry-job.js';
import { readEnd } from '../../queues/job-flags.js';
import type { Gateway } from '../gateway.js';
import { parseBody } from '../http/operation.js';
import { type BodyBounds, hasBody, readJson } from '../http/read-json.js';
import { type BoardMatch, matchRoute, REASONS } from './board-routes.js';

/** Largest body of a change on the board, in bytes. */
const BODY_BYTES = 4_096;
/** How many jobs one request retries. */
const MAX_RETRIES = 1_000;
const SAFE_METHODS = new Set(['GET', 'HEAD']);
const PREFIX = ['api', 'queues'];
/** The path segment that replaces a job's id in paths of the queue. */
const QUEUE_PAGES = new Set(['metrics', 'default-job-options', 'workers', 'rate-limit', 'job-data-schema']);
/** Keys of a BullMQ queue that are not jobs. */
const QUEUE_KEYS = new Set([
  ...[
    'active',
    'completed',
    'delayed',
    'events',
    'failed',
    'id',
    'limiter',
    'marker',
    'meta',
    'paused',
    'pc',
  ],
  ...['prioritized', 'priority', 'repeat', 'stalled', 'stalled-check', 'wait', 'waiting-children'],
]);

/** How the body of a change is read. */
export interface BoardReading extends Pick<BodyBounds, 'rate' | 'signal'> {
  /** Called once the body is read. @throws RequestError. */
  readonly stillAllowed: () => Promise<unknown>;
}

/**
 * Applies the rules of the API to a request before the board handles it.
 * @returns Whether the request is answered already.
 * @throws RequestError `method-not-allowed` for routes that are disabled, `malformed-request`; JobError `job-not-found`;
 *   PayloadError for an invalid body.
 */
export async function guardBoard(
  request: Request,
  response: Response,
  gateway: Gateway,
  reading: BoardReading,
): Promise<boolean> {
  const parts = partsOf(request.path);
  const isApi = PREFIX.every((part, index) => parts[index] === part);
  const rest = parts.slice(PREFIX.length);
  if (SAFE_METHODS.has(request.method)) {
    if (hasBody(request)) throw new RequestError('malformed-request', 'a request to read has no body');
    const [queue, job] = rest;
    if (isApi && queue !== undefined && job !== undefined && !QUEUE_PAGES.has(job)) {
      await requireJob(gateway.fleet, queue, job);
    }
    return false;
  }
  const match = isApi ? matchRoute(request.method, rest) : undefined;
  if (match === undefined) throw refusal(request, parts);
  request.body = await readBody(request, match, rest, reading);
  await reading.stillAllowed();
  if (match.queue !== undefined) await requireQueue(gateway, match.queue);
  if (match.job !== undefined) await requireJob(gateway.fleet, match.queue ?? '', match.job);
  return match.route.own !== undefined && (await runOwn(match, response, gateway));
}

/** The parts of a path; the board also rejects one that cannot be decoded. */
function partsOf(path: string): string[] {
  try {
    return path.slice(1).split('/').map(decodeURIComponent);
  } catch (cause) {
    throw new RequestError('malformed-request', 'the path cannot be decoded', { cause });
  }
}

function refusal({ method }: Request, parts: readonly string[]): RequestError {
  const reason =
    REASONS[parts.at(-1) ?? ''] ??
    parts.map((part) => REASONS[part]).find((text) => text !== undefined) ??
    'the board of this gateway does not offer it';
  return new RequestError('method-not-allowed', `${method} is not taken here: ${reason}`);
}

async function readBody(
  request: Request,
  { route }: BoardMatch,
  rest: readonly string[],
  { rate, signal }: BoardReading,
): Promise<unknown> {
  if (!hasBody(request)) return parseOwn(route.body, {}, rest);
  const body = await readJson(request, { limit: BODY_BYTES, rate, signal });
  return parseOwn(route.body, body, rest);
}

function parseOwn(schema: BoardMatch['route']['body'], body: unknown, rest: readonly string[]): unknown {
  if (schema === undefined) return {};
  try {
    return parseBody(schema, body);
  } catch (thrown) {
    const reason = REASONS[rest.at(-1) ?? ''];
    if (!(thrown instanceof FleetError) || reason === undefined) throw thrown;
    throw new RequestError('method-not-allowed', reason, { cause: thrown });
  }
}

/** @throws JobError `job-not-found`, also for keys that are not jobs. */
async function requireJob(fleet: FleetClient, queue: string, id: string): Promise<void> {
  const isName = !id.includes(':') && !QUEUE_KEYS.has(id);
  if (isName && (await readEnd(fleet.client, fleet.jobKey(queue, id))) !== 'gone') return;
  throw new JobError('job-not-found', `there is no job ${JSON.stringify(id.slice(0, 200))}`);
}

/** @throws RequestError `route-not-found` for a queue that is not on the board. */
async function requireQueue({ fleet, pipelineQueues }: Gateway, queue: string): Promise<void> {
  if (fleet.kinds.has(queue) || (await pipelineQueues.list()).includes(queue)) return;
  throw new RequestError('route-not-found', `there is no queue ${JSON.stringify(queue.slice(0, 200))}`);
}

async function runOwn(
  { route, queue = '', job = '' }: BoardMatch,
  response: Response,
  gateway: Gateway,
): Promise<true> {
  if (route.own === 'retry-job') {
    await retryJob(gateway.fleet, job, queue);
    response.status(204).end();
    return true;
  }
  response.json(await retryFailed(gateway.fleet, queue));
  return true;
}

/** Retries the failed jobs of a queue, as the API does: cancelled ones stay cancelled. */
async function retryFailed(
  fleet: FleetClient,
  queueName: string,
): Promise<{ readonly retried: number; readonly skipped: number }> {
  const ids = await fleet.client.zrevrange(fleet.queue(queueName).toKey('failed'), 0, MAX_RETRIES - 1);
  let retried = 0;
  for (const id of ids) {
    try {
      await retryJob(fleet, id, queueName);
      retried += 1;
    } catch (thrown) {
      if (!(thrown instanceof JobError)) throw thrown;
    }
  }
  return { retried, skipped: ids.length - retried };
}
