import { connect } from 'node:net';
import { pino } from 'pino';
import { costReader } from '../../src/cli/cost-reader.js';
import { ProblemSchema } from '../../src/gateway/http/problem.js';
import { startGateway } from '../../src/gateway/server.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { TEST_SETTINGS } from '../../test/gateway/gateway-fixture.js';
import { startTestRedis } from '../../test/support/redis.js';
import { requestOf } from '../inputs/requests.js';
import { type Input, mustHold, type Target } from '../target.js';

const PREFIX = 'fuzz';
/** How long the client waits for a response, in milliseconds: event streams and waits do not end by themselves. */
const MAX_RESPONSE_MS = 2_000;
/** After so many requests the data are deleted. */
const MAX_REQUESTS = 2_000;

/** Two more fields that the page of the board reads. */
const BoardProblem = ProblemSchema.loose();

interface Response {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Sends raw bytes; undefined if no response came in time. */
function send(
  port: number,
  [method = '', path = '', headers = '', body = '']: Input,
): Promise<Response | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const bytes = Buffer.from(body, 'utf8');
    const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n${headers}`;
    let answer = '';
    const timer = setTimeout(() => socket.destroy(), MAX_RESPONSE_MS);
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A server may close the connection on a rejected request before it has read everything.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(responseOf(answer));
    });
    const length = bytes.length > 0 ? `content-length: ${bytes.length}\r\n` : '';
    socket.write(Buffer.concat([Buffer.from(`${head}${length}\r\n`, 'latin1'), bytes]));
  });
}

function responseOf(answer: string): Response | undefined {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
  if (status === undefined) return undefined;
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const type = /^content-type: ([^;\r\n]*)/im.exec(head)?.[1] ?? '';
  return { status: Number(status), type, body: rest.join('\r\n\r\n') };
}

function check(path: string, { status, type, body }: Response): void {
  mustHold(status < 500, `no request is answered with ${status}: "${body.slice(0, 300)}"`);
  if (type !== 'application/problem+json' || body === '') return;
  // A long body is sent in chunks, each with its length before it.
  const parsed = (path.startsWith('/board') ? BoardProblem : ProblemSchema).safeParse(
    JSON.parse(body.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, '')),
  );
  mustHold(parsed.success, `a problem document fits its schema: "${path.slice(0, 80)}"`);
  mustHold(parsed.data.status === status, 'a problem document has the status of its response');
}

export const httpRequests: Target = {
  name: 'http-requests',
  about: 'requests to every operation of the gateway, and to its pages and board',
  generate: requestOf,
  stateful: true,
  open: async () => {
    const redis = await startTestRedis();
    const openFleet = () => FleetClient.open({ redisUrl: redis.url, prefix: PREFIX });
    const gateway = await startGateway({
      host: '127.0.0.1',
      port: 0,
      settings: {
        ...TEST_SETTINGS,
        maxWaiting: 1_000_000,
        requestsPerMinute: 100_000_000,
        loginsPerMinute: 1_000_000,
      },
      logger: pino({ level: 'silent' }),
      redisUrl: redis.url,
      openFleet,
      costs: costReader,
      announce: () => undefined,
    });
    const fleet = await openFleet();
    const fill = () =>
      addSolutionCheck(fleet, { solution: { content: 'x = 1\n' }, tags: { run: 'r' } }, { key: 'fuzz' });
    await fill();
    let requests = 0;
    return {
      run: async (input) => {
        requests += 1;
        if (requests % MAX_REQUESTS === 0) {
          await fleet.client.flushdb();
          await fill();
        }
        const response = await send(gateway.port, input);
        if (response !== undefined) check(input[1] ?? '', response);
        return response?.status;
      },
      close: async () => {
        await gateway.close();
        await fleet.close();
        await redis.stop();
      },
    };
  },
};
