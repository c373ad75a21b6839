import { z } from 'zod';
import { JobError } from '../../errors.js';
import { type EventFeed, isLater, type QueueEvent } from '../../producers/event-feed.js';
import { hasEnded } from '../../producers/job-view.js';
import { authorize } from '../auth/caller.js';
import { EventStream } from '../events/event-stream.js';
import type { Gateway } from '../gateway.js';
import { type Call, operation, type Reply } from '../http/operation.js';
import { jobResource, queueOfId, stateOf } from './job-resource.js';
import { JobIdParams } from './job-schemas.js';

const STREAM_PLACE = /^\d{1,15}-\d{1,15}$/;
/** Events of BullMQ after which a job waits or runs, and what the API calls that state. */
const STATES: Readonly<Record<string, string>> = {
  waiting: 'waiting',
  delayed: 'delayed',
  active: 'active',
  'waiting-children': 'waiting-children',
};
/** Events that are held in memory while a client is told the past. */
const MAX_HELD_EVENTS = 10_000;
/** Events that may mean the end. */
const ENDS = new Set(['completed', 'failed', 'cancelled', 'removed']);

export const jobEvents = operation({
  id: 'job-events',
  resource: 'stream',
  tag: 'Jobs',
  method: 'get',
  path: '/v1/jobs/{id}/events',
  role: 'read',
  summary: 'What happens to a job, as server-sent events',
  description:
    'Events: `state` ({state}; the first is the present state), `progress` ({progress}), `end` (the job as GET gives ' +
    'it; the stream then ends). A client that lost the connection goes on where it was by Last-Event-ID, as browsers ' +
    'do; with nothing left to tell the answer is 204, which tells a browser to stop.',
  params: JobIdParams,
  responses: {
    200: { description: 'The events.', schema: z.string(), contentType: 'text/event-stream' },
    204: { description: 'The job has ended, and the client was told.' },
  },
  refusals: [404],
  handle: async (call): Promise<Reply | undefined> => {
    const { gateway, signal, request, response } = call;
    const { id } = call.params;
    const queue = queueOfId(id);
    const state = await stateOf(gateway.fleet, id);
    if (request.method === 'HEAD') return { status: 200, headers: { 'content-type': 'text/event-stream' } };
    const resumeAt = placeOf(request.get('last-event-id'));
    const wasTold = () => isTold(gateway.feed, queue, id, resumeAt ?? '');
    if (resumeAt !== undefined && hasEnded(state) && (await call.inTurn('replay', wasTold))) {
      return { status: 204 };
    }
    const stillAllowed = () => authorize(request, gateway, 'read');
    const stream = new EventStream(response, gateway, stillAllowed);
    const follower = new JobFollower({ ...call, stillAllowed }, queue, id, stream);
    const stop = () => stream.end();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      if (resumeAt === undefined) await follower.follow(undefined);
      // A stream that waits for its turn hears of nothing yet, and so holds nothing.
      else await call.inTurn('replay', () => follower.follow(resumeAt));
      await stream.ended;
    } finally {
      follower.stop();
      signal.removeEventListener('abort', stop);
    }
    return undefined;
  },
});

/** A place that this API gave; what is none is as if nothing had been sent. */
function placeOf(header: string | undefined): string | undefined {
  return header !== undefined && STREAM_PLACE.test(header) ? header : undefined;
}

/** Whether a client was told all there is of a job that has ended. */
async function isTold(feed: EventFeed, queue: string, id: string, place: string): Promise<boolean> {
  // The events since have been trimmed, or the place is none of this stream: it is told the end, with a place that is.
  if (isLater(await feed.oldest(queue), place)) return false;
  for await (const event of feed.after(queue, place)) if (event.jobId === id) return false;
  return true;
}

/** Sends what happens to one job, each event once and in order. */
class JobFollower {
  readonly #gateway: Gateway;
  readonly #roomForAnswer: () => Promise<void>;
  readonly #stillAllowed: () => Promise<unknown>;
  readonly #queue: string;
  readonly #id: string;
  readonly #stream: EventStream;
  /** Events that came while the past was being told. */
  #held: QueueEvent[] | undefined = [];
  #place = '0-0';
  #ended = false;
  #stopListening: (() => void) | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(
    { gateway, roomForAnswer, stillAllowed }: Pick<Call, 'gateway' | 'roomForAnswer' | 'stillAllowed'>,
    queue: string,
    id: string,
    stream: EventStream,
  ) {
    this.#gateway = gateway;
    this.#roomForAnswer = roomForAnswer;
    this.#stillAllowed = stillAllowed;
    this.#queue = queue;
    this.#id = id;
    this.#stream = stream;
  }

  async follow(resumeAt: string | undefined): Promise<void> {
    const { feed } = this.#gateway;
    this.#stopListening = await feed.listen(this.#queue, this.#id, (event) => {
      if (this.#held === undefined) this.#enqueue(event);
      else if (this.#held.length < MAX_HELD_EVENTS) this.#held.push(event);
      else this.#stream.cutOff();
    });
    const [oldest, newest] = await Promise.all([feed.oldest(this.#queue), feed.newest(this.#queue)]);
    if (resumeAt === undefined || isLater(oldest, resumeAt) || isLater(resumeAt, newest)) {
      // Nothing was told yet, the events since have been trimmed, or the place is none of this stream.
      this.#place = newest;
      await this.#tellState();
    } else {
      this.#place = resumeAt;
      for await (const event of feed.after(this.#queue, resumeAt)) {
        if (event.jobId !== this.#id) continue;
        await this.#tell(event);
        await this.#stream.drained();
      }
    }
    for (const event of this.#held ?? []) this.#enqueue(event);
    this.#held = undefined;
  }

  stop(): void {
    this.#stopListening?.();
  }

  #enqueue(event: QueueEvent): void {
    this.#last = this.#last
      .then(() => this.#tell(event))
      // The client comes back with its Last-Event-ID and is told again.
      .catch((thrown: unknown) => this.#stream.fail(thrown));
  }

  async #tellState(): Promise<void> {
    const state = await stateOf(this.#gateway.fleet, this.#id);
    if (hasEnded(state)) await this.#tellEnd();
    else this.#stream.send('state', { state }, this.#place);
  }

  async #tell(event: QueueEvent): Promise<void> {
    if (this.#ended || !isLater(event.id, this.#place)) return;
    // The token may have been revoked, or the session ended, since the last ping.
    await this.#stillAllowed();
    this.#place = event.id;
    const state = STATES[event.name];
    if (state !== undefined) this.#stream.send('state', { state }, event.id);
    else if (event.name === 'progress')
      this.#stream.send('progress', { progress: progressOf(event) }, event.id);
    else if (ENDS.has(event.name)) await this.#tellEnd();
  }

  async #tellEnd(): Promise<void> {
    try {
      if (!hasEnded(await stateOf(this.#gateway.fleet, this.#id))) return;
      // Only now: a stream may go on for hours.
      await this.#roomForAnswer();
      this.#end(await jobResource(this.#gateway.fleet, this.#id));
    } catch (thrown) {
      if (!(thrown instanceof JobError && thrown.code === 'job-not-found')) throw thrown;
      this.#end({ id: this.#id, removed: true });
    }
  }

  #end(job: unknown): void {
    this.#ended = true;
    this.#stream.send('end', job, this.#place);
    this.#stream.end();
  }
}

function progressOf({ fields }: QueueEvent): unknown {
  try {
    return JSON.parse(fields.data ?? 'null');
  } catch {
    // Whoever wrote it by hand wrote plain text.
    return fields.data;
  }
}
