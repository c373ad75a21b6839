import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { QueueEvents } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { TokenStore } from '../../src/gateway/auth/token-store.js';
import { workerConnection } from '../../src/queues/connection.js';
import { startTestGateway, type TestGateway } from '../gateway/gateway-fixture.js';
import { startTestFleet, type TestFleet } from '../support/fleet.js';
import { redisOfFile } from '../support/redis.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { asyncioProgram, PythonProgram, pythonOfFile, runPython } from './python-program.js';

const SUMMARIZE = `{"ablationCode": "print(1)", "rawOutput": "baseline: 0.80\\nno scaling: 0.70\\n"}`;

const withPython = await pythonOfFile();
const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;
let proxy: TcpProxy;
let proxyUrl: string;
let count = 0;

beforeEach(async () => {
  count += 1;
  test = await startTestFleet(redis, `faults-${count}`);
  gateway = await startTestGateway(redis, `faults-${count}`);
  proxy = await TcpProxy.start({ host: '127.0.0.1', port: gateway.port });
  proxyUrl = `http://127.0.0.1:${proxy.port}`;
});
afterEach(async () => {
  await proxy.stop();
  await gateway.close();
  await test.close();
});

/** Resolves once a queue has had an event of this name, since it began. */
async function firstEvent(queue: string, name: 'waiting' | 'completed'): Promise<void> {
  const { prefix } = test.fleet;
  const events = new QueueEvents(queue, {
    connection: workerConnection(redis.url),
    prefix,
    lastEventId: '0',
    autorun: false,
  });
  const happened = once(events, name);
  const reading = events.run();
  await happened;
  await events.close();
  await reading;
}

/** A server that answers as a test says, and keeps the headers of what it was asked. */
async function startServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; server: Server; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, asked };
}

describe.skipIf(!withPython)('the asyncio client', () => {
  it('over a link that is cut, a submission is one job, and an event stream resumes', async () => {
    const program = asyncioProgram(
      proxyUrl,
      `
async def main():
    job = await fleet.submit("summarize", ${SUMMARIZE}, key="one")
    say(outcome=job.outcome)
    async for event in job.events():
        say(name=event.name, state=event.data.get("state"))
`,
    );
    expect(await program.said()).toEqual({ outcome: 'created' });
    expect(await program.said()).toEqual({ name: 'state', state: 'waiting' });
    proxy.cut();
    await test.worker(createOfflineRunner());
    const rest = [await program.said()];
    while (rest.at(-1).name !== 'end') rest.push(await program.said());
    expect(rest[0]).toEqual({ name: 'state', state: 'active' });
    expect(rest.at(-1)).toEqual({ name: 'end', state: 'completed' });
    expect((await program.end()).code).toBe(0);
  });
});

describe.skipIf(!withPython)('the Python client and a bad link', () => {
  it('a submission whose answer is lost is sent again, and is one job', async () => {
    proxy.mode = 'half-open';
    const program = new PythonProgram(
      proxyUrl,
      `handle = fleet.submit("summarize", ${SUMMARIZE})\nsay(id=handle.id, outcome=handle.outcome)`,
    );
    await firstEvent('summarize', 'waiting');
    proxy.mode = 'open';
    proxy.cut();
    const { id, outcome } = await program.said();
    expect(outcome).toBe('existing');
    const waiting = await test.fleet.queue('summarize').getJobs(['waiting', 'prioritized']);
    expect(waiting.map((job) => job.id)).toEqual([id]);
    expect(await program.end()).toMatchObject({ code: 0 });
  });

  it('an end of an evaluation whose answer is lost is no lost lease', async () => {
    await test.worker(createOfflineRunner());
    const program = new PythonProgram(
      proxyUrl,
      `
handles = fleet.guarded_evaluation(solution="print(1)\\n", evaluation={"queue": "evaluate", "name": "score"})
claim = fleet.claim("evaluate", wait_s=30)
say(claimed=True)
sys.stdin.readline()
claim.complete(0.5)
say(lost=claim.lost.is_set(), result=handles.evaluation.result())
`,
    );
    await program.said();
    proxy.mode = 'half-open';
    program.goOn();
    await firstEvent('evaluate', 'completed');
    proxy.mode = 'open';
    proxy.cut();
    expect(await program.said()).toEqual({ lost: false, result: 0.5 });
  });

  it('an event stream resumes where it was cut', async () => {
    const program = new PythonProgram(
      proxyUrl,
      `
handle = fleet.submit("summarize", ${SUMMARIZE})
for event in handle.events():
    say(name=event.name, state=event.data.get("state"))
`,
    );
    expect(await program.said()).toEqual({ name: 'state', state: 'waiting' });
    proxy.cut();
    await test.worker(createOfflineRunner());
    expect(await program.said()).toEqual({ name: 'state', state: 'active' });
    const rest = [await program.said()];
    while (rest.at(-1).name !== 'end') rest.push(await program.said());
    expect(rest.at(-1)).toEqual({ name: 'end', state: 'completed' });
    expect(rest.filter(({ name }) => name === 'state')).toEqual([]);
  });

  it('an event stream resumes after a longer silence than the timeout of retries', async () => {
    const retrySeconds = 1.5;
    const { url, server, asked } = await startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (asked.length === 2) {
        response.end('id: 2-0\nevent: end\ndata: {"id":"x","removed":true}\n\n');
        return;
      }
      response.write('id: 1-0\nevent: state\ndata: {"state":"active"}\n\n');
      setTimeout(() => response.end(': still here\n\n'), 2_000 * retrySeconds);
    });
    const script = "say(names=[event.name for event in fleet.events('x')])";
    const program = new PythonProgram(url, script, { RETRY_TIMEOUT: String(retrySeconds) });
    expect(await program.said()).toEqual({ names: ['state', 'end'] });
    server.close();
  });

  it('waits for a gateway that is away, until its timeout', async () => {
    const { port } = gateway;
    const program = new PythonProgram(
      gateway.url,
      `
handle = fleet.submit("summarize", ${SUMMARIZE})
say(id=handle.id)
sys.stdin.readline()
say(state=handle.job()["state"])
`,
    );
    await program.said();
    await gateway.close();
    program.goOn();
    gateway = await startTestGateway(redis, test.fleet.prefix, {}, { port });
    expect(await program.said()).toEqual({ state: 'waiting' });

    proxy.mode = 'refusing';
    const said = await runPython(
      proxyUrl,
      'try:\n    fleet.job("x")\nexcept FleetUnreachable as error:\n    say(text=str(error))',
      { RETRY_TIMEOUT: '0.5' },
    );
    expect(said.text).toContain('no answer within 0.5 s');
  });

  it('a full queue is an error at once if the wait exceeds the timeout of the client', async () => {
    const full = await startTestGateway(redis, test.fleet.prefix, { maxWaiting: 1 });
    try {
      const said = await runPython(
        full.url,
        `
fleet.submit("summarize", ${SUMMARIZE})
try:
    for _ in range(3):
        fleet.submit("summarize", ${SUMMARIZE})
except ApiError as error:
    say(status=error.status, code=error.code, retryable=error.retryable, later=error.retry_after > 20)
`,
      );
      expect(said).toEqual({ status: 429, code: 'too-many-waiting', retryable: true, later: true });
    } finally {
      await full.close();
    }
  });

  it('retries after the time that the gateway names', async () => {
    const { url, server, asked } = await startServer((_request, response) => {
      if (asked.length > 2) response.end('{"state": "completed"}');
      else response.writeHead(503, { 'retry-after': '0' }).end('<html>starting</html>');
    });
    const said = await runPython(url, 'say(state=fleet.job("x")["state"])');
    expect([said, asked.length]).toEqual([{ state: 'completed' }, 3]);
    server.close();
  });

  it('an evaluator outlives a gateway that fails for a time, but not one that never worked', async () => {
    const broken = '{"code": "internal", "retryable": true, "detail": "It failed."}';
    const answers = [204, 500, 500, 204];
    const { url, server, asked } = await startServer((_request, response) => {
      const status = answers[asked.length - 1] ?? 500;
      response.writeHead(status, { 'content-type': 'application/problem+json' });
      response.end(status === 500 ? broken : undefined);
      if (asked.length === answers.length) program.goOn();
    });
    const program = new PythonProgram(
      url,
      `
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), stop.set())).start()
say(ended=fleet.evaluate("evaluate", print, stop=stop))
try:
    fleet.evaluate("evaluate", print)
except ApiError as error:
    say(code=error.code)
`,
    );
    expect(await program.said()).toEqual({ ended: 0 });
    expect(await program.said()).toEqual({ code: 'internal' });
    expect(asked.length).toBeGreaterThanOrEqual(answers.length);
    server.close();
  });

  it('never takes its token to where a redirect points', async () => {
    const other = await startServer((_request, response) => response.end('{}'));
    const { url, server, asked } = await startServer((_request, response) =>
      response.writeHead(302, { location: `${other.url}/elsewhere` }).end(),
    );
    const said = await runPython(
      url,
      'try:\n    fleet.job("x")\nexcept ApiError as error:\n    say(code=error.code)',
      { FLEET_TOKEN: 'secret' },
    );
    expect(said).toEqual({ code: 'http-302' });
    expect(asked[0]?.headers.authorization).toBe('Bearer secret');
    expect(other.asked).toEqual([]);
    server.close();
    other.server.close();
  });

  it('brings its token along, and says when it has none', async () => {
    const { token } = await new TokenStore(test.fleet.client, test.fleet.prefix).add('pipeline', 'submit');
    const locked = await startTestGateway(redis, test.fleet.prefix, { auth: 'required' });
    try {
      const script = `
try:
    say(state=fleet.submit("summarize", ${SUMMARIZE}).job()["state"])
except ApiError as error:
    say(code=error.code, status=error.status)
`;
      expect(await runPython(locked.url, script, { FLEET_TOKEN: token })).toEqual({ state: 'waiting' });
      const none = await runPython(locked.url, script);
      expect(none).toEqual({ code: 'unauthenticated', status: 401 });
    } finally {
      await locked.close();
    }
  });
});
