import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { leaks, runnerFor } from '../support/agent-answers.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { type MessagesApi, type Reply, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { startTestGateway, type TestGateway } from './gateway-fixture.js';
import { SseClient } from './sse-client.js';

const CHECK = { payload: { solution: { content: 'x = 1\n' } } };

const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let api: MessagesApi;
/** Lets the agent answer. */
let answer: () => void;
let count = 0;

beforeEach(async () => {
  count += 1;
  test = await startTestFleet(redis, `events-${count}`);
  // A close that has to wait for the end of this time would never end.
  const limits = { closeGraceMs: 3_600_000 };
  gateway = await startTestGateway(redis, `events-${count}`, {}, { limits });
  const released = new Promise<void>((resolve) => {
    answer = resolve;
  });
  api = await startMessagesApi({ reply: async (): Promise<Reply> => released.then(() => leaks()) });
});
afterEach(async () => {
  answer();
  await gateway.close();
  await test.close();
  await api.close();
});

async function submit(): Promise<{ id: string; events: string }> {
  const { json } = await gateway.send('POST', '/v1/jobs/solution-check', CHECK);
  return { id: json.id, events: `${gateway.url}/v1/jobs/${json.id}/events` };
}

describe('GET /v1/jobs/{id}/events', () => {
  it('sends the current state, each event, and the end with the whole job', async () => {
    const { id, events } = await submit();
    const client = new SseClient(events);
    expect(await client.opened).toBe(200);
    expect((await client.seen('state')).data).toEqual({ state: 'waiting' });
    await test.worker(runnerFor(api));
    await client.seen('state', ({ state }) => state === 'active');
    await client.seen('progress');
    answer();
    const end = await client.seen('end');
    expect(end.data).toMatchObject({ id, state: 'completed', result: { status: 'clean' } });
    await client.ended;
    const ids = client.events.map((event) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('the end of an ended job is sent at once', async () => {
    const { id, events } = await submit();
    await gateway.send('DELETE', `/v1/jobs/${id}`);
    const client = new SseClient(events);
    expect((await client.seen('end')).data.state).toBe('cancelled');
    await client.ended;
  });

  it('resumes after Last-Event-ID, without a gap and without repeats', async () => {
    const { events } = await submit();
    const first = new SseClient(events);
    const { id: lastId } = await first.seen('state');
    first.vanish();
    await test.worker(runnerFor(api));
    await api.arrived(1);
    const second = new SseClient(events, { 'last-event-id': lastId ?? '' });
    await second.seen('progress');
    answer();
    await second.seen('end');
    const names = second.events.map(({ event, data }) => data.state ?? event);
    expect(names[0]).toBe('active');
    expect(names).toContain('progress');
    expect(names.filter((name) => name === 'active')).toHaveLength(1);
    const middle = second.events[0]?.id ?? '';
    const third = new SseClient(events, { 'last-event-id': middle });
    await third.seen('end');
    expect(third.events).toEqual(second.events.slice(1));
  });

  it('sends many past events and new ones in order, none twice and none left out', async () => {
    const { id, events } = await submit();
    const client = new SseClient(events);
    const { id: lastId } = await client.seen('state');
    client.vanish();
    const job = await test.fleet.queue('solution-check').getJob(id);
    const report = (step: number) => job?.updateProgress(`step ${step}`);
    for (let step = 0; step < 400; step += 1) await report(step);
    const late = new SseClient(events, { 'last-event-id': lastId ?? '' });
    for (let step = 400; step < 550; step += 1) await report(step);
    await late.seen('progress', ({ progress }) => progress === 'step 549');
    expect(late.events.map(({ data }) => data.progress)).toEqual(
      Array.from({ length: 550 }, (_, step) => `step ${step}`),
    );
    late.vanish();
  });

  it('a client that has received the end gets 204', async () => {
    const { id, events } = await submit();
    await gateway.send('DELETE', `/v1/jobs/${id}`);
    const client = new SseClient(events);
    const { id: lastId } = await client.seen('end');
    expect(await new SseClient(events, { 'last-event-id': lastId ?? '' }).opened).toBe(204);
  });

  it('sends the state again if later events have been trimmed, or the id is unknown', async () => {
    const { events } = await submit();
    await test.fleet.client.xtrim(test.fleet.queue('solution-check').toKey('events'), 'MAXLEN', 0);
    for (const lastId of ['1-1', 'nonsense', '99999999999999999999-0']) {
      const client = new SseClient(events, { 'last-event-id': lastId });
      expect((await client.seen('state')).data).toEqual({ state: 'waiting' });
      client.vanish();
    }
  });

  it('a job that is removed meanwhile ends the stream', async () => {
    const { id, events } = await submit();
    const client = new SseClient(events);
    await client.seen('state');
    await (await test.fleet.queue('solution-check').getJob(id))?.remove();
    expect((await client.seen('end')).data).toEqual({ id, removed: true });
    await client.ended;
  });

  it('clients that vanish leave no listener and no connection', async () => {
    const { events } = await submit();
    const clients = Array.from({ length: 50 }, () => new SseClient(events));
    await Promise.all(clients.map((client) => client.seen('state')));
    expect(gateway.eventListeners).toBe(50);
    for (const client of clients) client.vanish();
    await vi.waitFor(async () => {
      expect(gateway.eventListeners).toBe(0);
      expect(await gateway.connections()).toBeLessThanOrEqual(1);
    });
  });

  it('a gateway that closes ends its streams and waits', async () => {
    const { id, events } = await submit();
    const client = new SseClient(events);
    await client.seen('state');
    // Its connection is kept alive by the client.
    const waiting = gateway.send('GET', `/v1/jobs/${id}?wait=60s`);
    await vi.waitFor(() => expect(gateway.openRequests).toBe(2));
    await gateway.close();
    await client.ended;
    expect((await waiting).status).toBe(202);
  });
});
