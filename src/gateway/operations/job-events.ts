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

const EVENT_ID = /^\d{1,15}-\d{1,15}$/;
/** Events of BullMQ after which a job waits or runs, and what the API calls that state. */
const STATES: Readonly<Record<string, string>> = {
  waiting: 'waiting',
  delayed: 'delayed',
  active: 'active',
  'waiting-children': 'waiting-children',
};
/** How many events are buffered while earlier ones are sent to a client. */
const MAX_BUFFERED_EVENTS = 10_000;
/** Events after which a job may have ended. */
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
    204: { description: 'The job has ended, and the client has received all its events.' },
  },
  refusals: [404],
  handle: async (call): Promise<Reply | undefined> => {
    const { gateway, signal, request, response } = call;
    const { id } = call.params;
    const queue = queueOfId(id);
    const state = await stateOf(gateway.fleet, id);
    if (request.method === 'HEAD') return { status: 200, headers: { 'content-type': 'text/event-stream' } };
    const resumeAt = parseEventId(request.get('last-event-id'));
    const isUpToDate = () => hasSeenAll(gateway.feed, queue, id, resumeAt ?? '');
    if (resumeAt !== undefined && hasEnded(state) && (await call.withSlot('replay', isUpToDate))) {
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
      // A stream that waits for a slot does not listen yet, so it buffers nothing.
      else await call.withSlot('replay', () => follower.follow(resumeAt));
      await stream.ended;
    } finally {
      follower.stop();
      signal.removeEventListener('abort', stop);
    }
    return undefined;
  },
});

/** The id of an event of this API; anything else counts as no id. */
function parseEventId(header: string | undefined): string | undefined {
  return header !== undefined && EVENT_ID.test(header) ? header : undefined;
}

/** Whether a client has received all events of a job that has ended. */
async function hasSeenAll(feed: EventFeed, queue: string, id: string, lastId: string): Promise<boolean> {
  // If later events have been trimmed, or the id is not of this stream, the client gets the end with an id that is.
  if (isLater(await feed.oldest(queue), lastId)) return false;
  for await (const event of feed.after(queue, lastId)) if (event.jobId === id) return false;
  return true;
}

/** Sends the events of one job, each once and in order. */
class JobFollower {
  readonly #gateway: Gateway;
  readonly #roomForAnswer: () => Promise<void>;
  readonly #stillAllowed: () => Promise<unknown>;
  readonly #queue: string;
  readonly #id: string;
  readonly #stream: EventStream;
  /** Events that arrived while earlier ones were being sent. */
  #buffered: QueueEvent[] | undefined = [];
  #lastId = '0-0';
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
      if (this.#buffered === undefined) this.#enqueue(event);
      else if (this.#buffered.length < MAX_BUFFERED_EVENTS) this.#buffered.push(event);
      else this.#stream.cutOff();
    });
    const [oldest, newest] = await Promise.all([feed.oldest(this.#queue), feed.newest(this.#queue)]);
    if (resumeAt === undefined || isLater(oldest, resumeAt) || isLater(resumeAt, newest)) {
      // A new client, or later events have been trimmed, or the id is not of this stream.
      this.#lastId = newest;
      await this.#sendState();
    } else {
      this.#lastId = resumeAt;
      for await (const event of feed.after(this.#queue, resumeAt)) {
        if (event.jobId !== this.#id) continue;
        await this.#sendEvent(event);
        await this.#stream.drained();
      }
    }
    for (const event of this.#buffered ?? []) this.#enqueue(event);
    this.#buffered = undefined;
  }

  stop(): void {
    this.#stopListening?.();
  }

  #enqueue(event: QueueEvent): void {
    this.#last = this.#last
      .then(() => this.#sendEvent(event))
      // The client reconnects with its Last-Event-ID and gets the event again.
      .catch((thrown: unknown) => this.#stream.fail(thrown));
  }

  async #sendState(): Promise<void> {
    const state = await stateOf(this.#gateway.fleet, this.#id);
    if (hasEnded(state)) await this.#sendEnd();
    else this.#stream.send('state', { state }, this.#lastId);
  }

  async #sendEvent(event: QueueEvent): Promise<void> {
    if (this.#ended || !isLater(event.id, this.#lastId)) return;
    // The token may have been revoked, or the session ended, since the last ping.
    await this.#stillAllowed();
    this.#lastId = event.id;
    const state = STATES[event.name];
    if (state !== undefined) this.#stream.send('state', { state }, event.id);
    else if (event.name === 'progress')
      this.#stream.send('progress', { progress: progressOf(event) }, event.id);
    else if (ENDS.has(event.name)) await this.#sendEnd();
  }

  async #sendEnd(): Promise<void> {
    try {
      if (!hasEnded(await stateOf(this.#gateway.fleet, this.#id))) return;
      // Only now: a stream may be open for hours.
      await this.#roomForAnswer();
      this.#end(await jobResource(this.#gateway.fleet, this.#id));
    } catch (thrown) {
      if (!(thrown instanceof JobError && thrown.code === 'job-not-found')) throw thrown;
      this.#end({ id: this.#id, removed: true });
    }
  }

  #end(job: unknown): void {
    this.#ended = true;
    this.#stream.send('end', job, this.#lastId);
    this.#stream.end();
  }
}

function progressOf({ fields }: QueueEvent): unknown {
  try {
    return JSON.parse(fields.data ?? 'null');
  } catch {
    // A progress that is not JSON is plain text.
    return fields.data;
  }
}
