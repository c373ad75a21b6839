import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorReply, type Reply } from './messages-api-replies.js';
import { wholeMessage } from './messages-api-stream.js';

/** One request of a batch, as it was sent. */
export interface BatchLine {
  readonly custom_id: string;
  readonly params: { readonly model: string; readonly messages: readonly { readonly content: unknown }[] };
}

/** A batch of the stand-in. */
export interface ApiBatch {
  readonly id: string;
  readonly createdAt: Date;
  readonly lines: readonly BatchLine[];
  status: 'in_progress' | 'canceling' | 'ended';
  /** By custom id. */
  readonly results: Map<string, Record<string, unknown>>;
}

/** What becomes of one request: the reply of the Messages API, or no processing. */
export type LineFate = Reply | 'expired' | 'canceled';

/** The Message Batches API of the stand-in. A batch runs until the test ends it. */
export class BatchesApi {
  readonly batches: ApiBatch[] = [];
  /** How the next creations end: refused, or with a broken connection before or after the batch exists. */
  readonly creations: ('taken' | 'refused' | 'lost-before' | 'lost-after')[] = [];
  /** Set: results break off after so many lines, once. */
  breakResultsAfter: number | undefined;
  /** Whether the server has forgotten all batches. */
  isGone = false;
  /** How a request ends. */
  fate: (line: BatchLine) => LineFate | Promise<LineFate>;
  readonly #arrivals: { count: number; resolve: () => void }[] = [];
  /** Ends each batch when it is first asked for. */
  #endsAtOnce = false;

  constructor(fate: (line: BatchLine) => LineFate | Promise<LineFate>) {
    this.fate = fate;
  }

  /** Resolves once so many batches have been created. */
  created(count: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.batches.length >= count) resolve();
      else this.#arrivals.push({ count, resolve });
    });
  }

  /** Ends the batches that run: each request gets what the script says. */
  async end(): Promise<void> {
    for (const batch of this.batches) if (batch.status !== 'ended') await this.#end(batch);
  }

  /** From now on a batch ends when it is first asked for. */
  endAtOnce(): void {
    this.#endsAtOnce = true;
  }

  /** A batch that another program may have sent. */
  add(lines: readonly BatchLine[]): ApiBatch {
    const id = `msgbatch_${this.batches.length + 1}`;
    const batch: ApiBatch = { id, createdAt: new Date(), lines, status: 'in_progress', results: new Map() };
    this.batches.push(batch);
    for (const arrival of this.#arrivals) if (this.batches.length >= arrival.count) arrival.resolve();
    return batch;
  }

  /** All requests of all batches. */
  get lines(): readonly BatchLine[] {
    return this.batches.flatMap(({ lines }) => lines);
  }

  async handle(incoming: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '', `http://${incoming.headers.host}`);
    const [, id, part] =
      /^\/v1\/messages\/batches(?:\/([^/]+)(?:\/(results|cancel))?)?$/.exec(url.pathname) ?? [];
    if (id === undefined && incoming.method === 'POST') return this.#create(body, response);
    if (id === undefined) return this.#list(url, response);
    const batch = this.isGone ? undefined : this.batches.find((each) => each.id === id);
    if (batch === undefined) return sendError(404, 'no such batch', response);
    if (part === 'cancel' && batch.status === 'in_progress') batch.status = 'canceling';
    if (part === 'results') return this.#results(batch, response);
    if (this.#endsAtOnce && batch.status !== 'ended') await this.#end(batch);
    send(200, this.#view(batch, url.origin), response);
  }

  #create(body: string, response: ServerResponse): void {
    const fault = this.creations.shift();
    const { requests } = JSON.parse(body) as { requests: BatchLine[] };
    const ids = new Set(requests.map(({ custom_id }) => custom_id));
    const isValid = [...ids].every((id) => /^[a-zA-Z0-9_-]{1,64}$/.test(id));
    if (fault === 'refused') {
      sendError(400, 'batches are not enabled for this account', response);
    } else if (fault === 'lost-before') {
      response.socket?.resetAndDestroy();
    } else if (requests.length === 0 || ids.size < requests.length || !isValid) {
      sendError(400, 'custom_id: must be valid and unique', response);
    } else {
      const batch = this.add(requests);
      if (fault === 'lost-after') response.socket?.resetAndDestroy();
      else send(200, this.#view(batch, ''), response);
    }
  }

  /** The newest first, as the API does. */
  #list(url: URL, response: ServerResponse): void {
    const all = this.batches.toReversed();
    const limit = Number(url.searchParams.get('limit') ?? 20);
    const after = url.searchParams.get('after_id');
    const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const page = all.slice(start, start + limit);
    const data = page.map((batch) => this.#view(batch, url.origin));
    const ends = { first_id: page[0]?.id ?? null, last_id: page.at(-1)?.id ?? null };
    send(200, { data, has_more: start + limit < all.length, ...ends }, response);
  }

  #results(batch: ApiBatch, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/binary' });
    // In another order than the requests.
    const lines = [...batch.results]
      .toReversed()
      .map(([custom_id, result]) => JSON.stringify({ custom_id, result }));
    const broken = this.breakResultsAfter;
    if (broken === undefined) return void response.end(lines.map((line) => `${line}\n`).join(''));
    this.breakResultsAfter = undefined;
    const part = lines.slice(0, broken).map((line) => `${line}\n`);
    response.write(part.join(''), () => response.socket?.resetAndDestroy());
  }

  async #end(batch: ApiBatch): Promise<void> {
    for (const line of batch.lines) {
      const fate = batch.status === 'canceling' ? 'canceled' : await this.fate(line);
      batch.results.set(line.custom_id, resultOf(fate, line));
    }
    batch.status = 'ended';
  }

  #view({ id, createdAt, lines, status, results }: ApiBatch, origin: string): Record<string, unknown> {
    const count = (type: string) => [...results.values()].filter((result) => result.type === type).length;
    const hasEnded = status === 'ended';
    return {
      id,
      type: 'message_batch',
      processing_status: status,
      request_counts: {
        processing: hasEnded ? 0 : lines.length,
        succeeded: hasEnded ? count('succeeded') : 0,
        errored: hasEnded ? count('errored') : 0,
        canceled: hasEnded ? count('canceled') : 0,
        expired: hasEnded ? count('expired') : 0,
      },
      created_at: createdAt.toISOString(),
      expires_at: new Date(createdAt.getTime() + 86_400_000).toISOString(),
      ended_at: hasEnded ? new Date().toISOString() : null,
      cancel_initiated_at: null,
      archived_at: null,
      results_url: hasEnded ? `${origin}/v1/messages/batches/${id}/results` : null,
    };
  }
}

function resultOf(fate: LineFate, { params }: BatchLine): Record<string, unknown> {
  if (fate === 'expired' || fate === 'canceled') return { type: fate };
  if (fate.kind === 'message') return { type: 'succeeded', message: wholeMessage(fate, params.model) };
  if (fate.kind === 'raw') return { type: 'errored', error: JSON.parse(fate.body) as unknown };
  throw new TypeError(`a request of a batch cannot end with "${fate.kind}"`);
}

function send(status: number, body: Record<string, unknown>, response: ServerResponse): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' });
  response.end(JSON.stringify(body));
}

function sendError(status: number, message: string, response: ServerResponse): void {
  const { body } = errorReply(status, message);
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' }).end(body);
}
