import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { findRedisServer } from '../../src/fleet/embedded-redis-binary.js';
import { connectWithin } from '../../src/queues/connection.js';
import { WAIT_LIMIT_MS } from './wait-limit-ms.js';

export interface TestRedis {
  /** Address for `FLEET_REDIS_URL` and the connection helpers. */
  readonly url: string;
  readonly socketPath: string;
  readonly folder: string;
  readonly pid: number;
  /** Ends the server with SIGKILL; its data stay. */
  kill(): Promise<void>;
  /** Freezes the server (SIGSTOP) and lets it go on (SIGCONT). */
  pause(): void;
  resume(): void;
  /** Starts a server on the same data and socket again, after `kill`. */
  restart(): Promise<void>;
  /**
   * Ends the server in order and starts one on the same data that loads them slowly, as long as `key-load-delay` is set.
   * Returns when it takes connections.
   */
  restartLoading(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

/**
 * A Redis for the calling test file alone, append-only like the embedded one, on a Unix socket in a new folder. A kill of its
 * process loses no write that it acknowledged.
 * One that is not stopped fails the run (see `global-setup.ts`).
 * @param extraArguments Further `redis-server` arguments, such as `['--maxmemory', '20mb']`; a later one wins.
 */
export async function startTestRedis(extraArguments: readonly string[] = []): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-redis-'));
  const socketPath = join(folder, 'redis.sock');
  const url = `unix://${socketPath}`;
  let server = await startServer(folder, socketPath, extraArguments);

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  return {
    url,
    socketPath,
    folder,
    get pid() {
      return pidOf(server);
    },
    kill: () => end('SIGKILL'),
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
    restart: async () => {
      await end('SIGKILL');
      server = await startServer(folder, socketPath, extraArguments);
    },
    restartLoading: async () => {
      await end('SIGTERM');
      server = spawnServer(folder, socketPath, [...extraArguments, ...SLOW_LOAD]);
      await untilLogged(server, /server initialized/i);
    },
    stop: async () => {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * The Redis of the test file that calls this at its top: started before its tests, stopped after them.
 * @param extraArguments As of `startTestRedis`.
 */
export function redisOfFile(extraArguments: readonly string[] = []): TestRedis {
  let running: TestRedis | undefined;
  beforeAll(async () => {
    running = await startTestRedis(extraArguments);
  });
  afterAll(() => running?.stop());
  const redis = () => {
    if (running === undefined) throw new Error('the Redis of this file starts with its first test');
    return running;
  };
  return {
    get url() {
      return redis().url;
    },
    get socketPath() {
      return redis().socketPath;
    },
    get folder() {
      return redis().folder;
    },
    get pid() {
      return redis().pid;
    },
    kill: () => redis().kill(),
    pause: () => redis().pause(),
    resume: () => redis().resume(),
    restart: () => redis().restart(),
    restartLoading: () => redis().restartLoading(),
    stop: () => redis().stop(),
  };
}

/** A delay after each key that is loaded, in microseconds; clients are answered after each kilobyte. */
const SLOW_LOAD = ['--key-load-delay', '5000', '--loading-process-events-interval-bytes', '1024'];

async function startServer(
  folder: string,
  socketPath: string,
  extraArguments: readonly string[],
): Promise<ChildProcess> {
  const server = spawnServer(folder, socketPath, extraArguments);
  await untilLogged(server, /ready to accept connections/i);
  const client = await connectWithin({ path: socketPath }, WAIT_LIMIT_MS);
  client.disconnect();
  return server;
}

function spawnServer(folder: string, socketPath: string, extraArguments: readonly string[]): ChildProcess {
  return spawn(
    findRedisServer(),
    [
      ...['--port', '0', '--unixsocket', socketPath, '--unixsocketperm', '700', '--dir', folder],
      ...[
        '--appendonly',
        'yes',
        // It writes before it acknowledges, without waiting for the disk: with `everysec` it may acknowledge first while the disk is
        // busy, and a kill of its process would lose what was acknowledged.
        '--appendfsync',
        'no',
        '--save',
        '',
        '--maxmemory-policy',
        'noeviction',
      ],
      ...extraArguments,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
}

async function untilLogged(server: ChildProcess, text: RegExp): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${log}`)));
    server.stdout?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (text.test(log)) resolve();
    });
  });
  server.removeAllListeners('exit');
  server.stdout?.removeAllListeners('data').resume();
}

function pidOf(server: ChildProcess): number {
  if (server.pid === undefined) throw new Error('the test Redis has no process');
  return server.pid;
}
