import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FleetHttpClient, type HttpJobEvent } from '../../src/http-client/index.js';

/** Timeout of retries, in milliseconds: room for one pause. */
const RETRY_MS = 2_000;

/** A client of a gateway that answers like this. */
async function clientOf(answer: RequestListener, retryTimeoutMs = 60_000): Promise<FleetHttpClient> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return new FleetHttpClient({ url: `http://127.0.0.1:${port}`, retryTimeoutMs });
}

async function collect(events: AsyncIterable<HttpJobEvent>): Promise<HttpJobEvent[]> {
  const all: HttpJobEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('the events of a job', () => {
  it('continue after the last one when the connection was lost in the middle of an event', async () => {
    const asked: (string | undefined)[] = [];
    const fleet = await clientOf((request, response) => {
      asked.push(request.headers['last-event-id'] as string | undefined);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (asked.length === 1) {
        response.write('id: 1-0\nevent: state\ndata: {"state":"active"}\n\nid: 2-0\nevent: progr');
        setImmediate(() => response.destroy());
      } else {
        response.write('id: 2-0\nevent: progress\ndata: {"progress":"ä"}\n\n: still here\n\n');
        response.end('id: 3-0\nevent: end\ndata: {"id":"x","removed":true}\n\n');
      }
    });
    expect(await collect(fleet.events('x'))).toEqual([
      { id: '1-0', name: 'state', data: { state: 'active' } },
      { id: '2-0', name: 'progress', data: { progress: 'ä' } },
      { id: '3-0', name: 'end', data: { id: 'x', removed: true } },
    ]);
    expect(asked).toEqual([undefined, '1-0']);
  });

  it('continue where the connection is lost after a longer silence than the timeout of retries', async () => {
    let asked = 0;
    const fleet = await clientOf((_request, response) => {
      asked += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (asked === 2) {
        response.end('id: 2-0\nevent: end\ndata: {"id":"x","removed":true}\n\n');
        return;
      }
      response.write('id: 1-0\nevent: state\ndata: {"state":"active"}\n\n');
      // A gateway that stops while a job runs for hours.
      setTimeout(() => response.end(': still here\n\n'), 2 * RETRY_MS);
    }, RETRY_MS);
    expect((await collect(fleet.events('x'))).map(({ name }) => name)).toEqual(['state', 'end']);
  });

  it('end with the refusal of the gateway, and with an error when it stays away', async () => {
    const refusing = await clientOf((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'job-not-found', detail: 'there is no job "x"' }));
    });
    await expect(collect(refusing.events('x'))).rejects.toMatchObject({ code: 'job-not-found' });
    const away = await clientOf((request) => request.socket.destroy(), 0);
    await expect(collect(away.events('x'))).rejects.toMatchObject({ code: 'gateway-unreachable' });
  });

  it('close the connection when the caller has seen enough', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const fleet = await clientOf((_request, response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 1-0\nevent: state\ndata: {"state":"active"}\n\n');
    });
    for await (const { name } of fleet.events('x')) {
      expect(name).toBe('state');
      break;
    }
    await closed;
  });
});

describe('the wait for a job', () => {
  it('goes on when the gateway starts again meanwhile', async () => {
    let asked = 0;
    const fleet = await clientOf((request, response) => {
      asked += 1;
      if (asked === 2) {
        request.socket.destroy();
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'x', state: asked === 1 ? 'active' : 'completed' }));
    });
    expect((await fleet.wait('x')).state).toBe('completed');
    expect(asked).toBe(3);
  });

  it('ends with an error where the gateway never answered, or stays away', async () => {
    let asked = 0;
    const fleet = await clientOf((request, response) => {
      asked += 1;
      if (asked === 2)
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"state":"active"}');
      else request.socket.destroy();
    }, 0);
    for (const requests of [1, 3]) {
      await expect(fleet.wait('x')).rejects.toMatchObject({ code: 'gateway-unreachable' });
      expect(asked).toBe(requests);
    }
  });
});

/** Answers each connection once, without saying that it ends it then; tells by a shared number how many it has ended. */
const CLOSING_SERVER = `
const { createServer } = require('node:net');
const { parentPort, workerData } = require('node:worker_threads');
const body = JSON.stringify({ id: 'x', kind: 'solution-check', state: 'waiting' });
const server = createServer((socket) => {
  socket.on('error', () => undefined).once('data', () => {
    socket.write('HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: ' + body.length + '\\r\\n\\r\\n' + body);
    parentPort.once('message', () => socket.destroy());
    socket.once('close', () => {
      Atomics.add(workerData, 0, 1);
      Atomics.notify(workerData, 0);
    });
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

describe('a connection that the gateway has closed while the client computed', () => {
  it('is not used again, also for a submission that could not be repeated', async () => {
    const closed = new Int32Array(new SharedArrayBuffer(4));
    const thread = new Worker(CLOSING_SERVER, { eval: true, workerData: closed });
    onTestFinished(async () => void (await thread.terminate()));
    const [port] = (await once(thread, 'message')) as [number];
    const fleet = new FleetHttpClient({ url: `http://127.0.0.1:${port}` });
    for (let request = 0; request < 3; request += 1) {
      const { id } = await fleet.add('solution-check', { solution: { content: 'x = 1\n' } });
      expect(id).toBe('x');
      await new Promise((resolve) => setTimeout(resolve));
      // As a program that computes: it does not see what happens to its connections meanwhile.
      thread.postMessage('close');
      Atomics.wait(closed, 0, request);
    }
  });
});

describe('health', () => {
  it('of a gateway that is not well is an answer, and is asked for once', async () => {
    let requests = 0;
    const fleet = await clientOf((_request, response) => {
      requests += 1;
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '0' });
      response.end('{"status":"unavailable","redis":"away"}');
    });
    expect(await fleet.health()).toEqual({ status: 'unavailable', redis: 'away' });
    expect(await fleet.readiness()).toMatchObject({ redis: 'away' });
    expect(requests).toBe(2);
  });

  it('of a gateway that refuses to tell is an error', async () => {
    const fleet = await clientOf((_request, response) => {
      response.writeHead(429, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'too-many-requests', detail: 'too many' }));
    });
    await expect(fleet.readiness()).rejects.toMatchObject({ code: 'too-many-requests' });
  });

  it('of something that is no gateway is an error', async () => {
    const fleet = await clientOf((_request, response) => {
      response.writeHead(502).end('<h1>Bad gateway</h1>');
    });
    await expect(fleet.health()).rejects.toMatchObject({
      code: 'gateway-unreachable',
      message: expect.stringContaining('answered 502 with something that is not JSON'),
    });
  });
});

describe('the errors of a newer gateway', () => {
  const problem = { code: 'run-closed', detail: 'the run is closed', field: 'payload.tags.run', status: 409 };
  const error = {
    code: 'newer-gateway',
    message: '[run-closed] the run is closed',
    field: 'payload.tags.run',
    retryable: false,
  };

  it('name their code and say what happened, also in a batch and in the events, which do not try again', async () => {
    let requests = 0;
    const fleet = await clientOf((request, response) => {
      requests += 1;
      const isBatch = request.url === '/v1/jobs:batch';
      response.writeHead(isBatch ? 200 : 409, { 'content-type': 'application/json' });
      const made = { id: 'a', kind: 'extract', state: 'waiting', outcome: 'created' };
      response.end(JSON.stringify(isBatch ? { jobs: [made, { error: problem }, { error: {} }] } : problem));
    });
    await expect(fleet.job('x')).rejects.toMatchObject(error);
    await expect(collect(fleet.events('x'))).rejects.toMatchObject(error);
    const item = { kind: 'extract', payload: {} } as Parameters<typeof fleet.addBatch>[0][number];
    expect(await fleet.addBatch([item, item, item])).toMatchObject([
      { id: 'a' },
      { error },
      { error: { code: 'gateway-unreachable' } },
    ]);
    expect(requests).toBe(3);
  });

  it('are those of a job too', async () => {
    const fleet = await clientOf((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const failure = { code: 'run-closed', message: 'the run is closed', retryable: true };
      response.end(JSON.stringify({ id: 'x', state: 'failed', error: failure, novelty: 1 }));
    });
    const { field: _, ...named } = error;
    const refused = await fleet.result('extract', 'x').catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ ...named, jobId: 'x' });
  });
});
