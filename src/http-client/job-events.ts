import { EventSourceParserStream } from 'eventsource-parser/stream';
import { FleetError, GatewayError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import type { HttpJob } from './answers.js';
import type { GatewayConnection } from './connection.js';
import type { components } from './openapi-types.js';
import { pauseFor } from './pause.js';

/** Something that happened to a job. The last one is `end`, with the job, or with what is left of one that was removed. */
export type HttpJobEvent = {
  /** To go on after it later; absent if the gateway gave none. */
  readonly id?: string;
} & (
  | { readonly name: 'state'; readonly data: { readonly state: components['schemas']['JobState'] } }
  | { readonly name: 'progress'; readonly data: { readonly progress: unknown } }
  | { readonly name: 'end'; readonly data: HttpJob | { readonly id: string; readonly removed: true } }
);

export interface HttpEventOptions {
  /** Id of the last event that is already known; default: begin with the state as it is now. */
  readonly after?: string;
}

const EVENT_OPTIONS: OptionNames<HttpEventOptions> = { after: true };

/** Pause before a lost connection is opened again, in milliseconds. */
const PAUSE_MS = 1_000;

/** What happens to a job, each event once, over any number of lost connections. See `FleetHttpClient.events`. */
export async function* followJob(
  gateway: GatewayConnection,
  id: string,
  options: HttpEventOptions = {},
): AsyncGenerator<HttpJobEvent, void, void> {
  rejectUnknownOptions(options, EVENT_OPTIONS);
  let { after } = options;
  let giveUpAt = performance.now() + gateway.retryTimeoutMs;
  for (;;) {
    let lost: unknown;
    try {
      const stream = await openStream(gateway, id, after, () => {
        giveUpAt = performance.now() + gateway.retryTimeoutMs;
      });
      // 204: the end was told before.
      if (stream === undefined) return;
      for await (const event of stream) {
        after = event.id ?? after;
        yield event;
        if (event.name === 'end') return;
      }
    } catch (thrown) {
      gateway.signal?.throwIfAborted();
      if (thrown instanceof FleetError && !(thrown instanceof GatewayError)) throw thrown;
      lost = thrown;
    }
    if (performance.now() + PAUSE_MS > giveUpAt) {
      if (lost instanceof GatewayError) throw lost;
      throw new GatewayError(`the gateway ended the events of ${id}`, { cause: lost, jobId: id });
    }
    await pauseFor(PAUSE_MS, gateway.signal);
  }
}

async function openStream(
  gateway: GatewayConnection,
  id: string,
  after: string | undefined,
  onSignOfLife: () => void,
): Promise<AsyncIterable<HttpJobEvent> | undefined> {
  const headers = {
    accept: 'text/event-stream',
    ...(after === undefined ? {} : { 'last-event-id': after }),
  };
  const body = await gateway.send((api) =>
    api.GET('/v1/jobs/{id}/events', { params: { path: { id } }, headers, parseAs: 'stream' }),
  );
  return body ? eventsOf(body, onSignOfLife) : undefined;
}

/** @param onSignOfLife Called for every event, and for the comments that the gateway sends while nothing happens. */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  onSignOfLife: () => void,
): AsyncGenerator<HttpJobEvent, void, void> {
  const parser = new EventSourceParserStream({ onComment: onSignOfLife });
  const reader = body.pipeThrough(new TextDecoderStream()).pipeThrough(parser).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onSignOfLife();
      const { event: name, data, id } = value;
      yield { name, data: JSON.parse(data) as unknown, ...(id === undefined ? {} : { id }) } as HttpJobEvent;
    }
  } finally {
    // A caller that has seen enough closes the connection.
    await reader.cancel();
  }
}
