import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { extname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { messageOf, RedisError } from '../errors.js';
import { packagePath } from '../package-root.js';
import { findRedisServer } from './embedded-redis-binary.js';
import {
  CONTROL_SOCKET,
  type EmbeddedRedisFolder,
  openEmbeddedRedisFolder,
  REDIS_SOCKET,
} from './embedded-redis-folder.js';
import { decodeMessage, JOIN, RELEASE, type SupervisorMessage } from './embedded-redis-protocol.js';
import { connectTo } from './embedded-redis-server.js';

const POLL_MS = 10;
/** A supervisor that found another alive is not followed at once by the next, which would find the same. */
const SECOND_START_MS = 250;
const SUPERVISOR_LOG = 'supervisor.log';

export interface EmbeddedRedisOptions {
  /** Longest wait for the server, in milliseconds; default one minute, since it may have much data to load. */
  readonly startLimitMs?: number;
}

export interface EmbeddedRedis {
  /** Address for `redisOptionsFrom`; it stays the same over restarts of the server. */
  readonly url: string;
  /** Gives the server up. With its last user it is stopped; then this resolves once it has ended. */
  release(): Promise<void>;
}

/**
 * The Redis of a project folder, started where none runs: private (a Unix socket in a folder of mode 700),
 * append-only, never evicting, its data in `.fleet/redis` below the folder.
 *
 * All commands of the folder share it. It belongs to none of them: it outlives the kill of any, is restarted on
 * its data when it is killed itself, and ends with its last user, however that one ends.
 *
 * @throws RedisError `redis-missing` where no server is installed; `redis-unsuitable` where it cannot start;
 *   `redis-unreachable` where it does not within the limit.
 * @throws ConfigurationError where the folder cannot be written.
 */
export async function acquireEmbeddedRedis(
  project: string,
  { startLimitMs = 60_000 }: EmbeddedRedisOptions = {},
): Promise<EmbeddedRedis> {
  const folder = openEmbeddedRedisFolder(project);
  let lifeline: Socket | undefined = await becomeUser(folder, startLimitMs);
  let joining = Promise.resolve();
  let released = false;
  const watch = (socket: Socket) => {
    // The supervisor was killed: another takes over, on the same socket and data.
    socket.once('close', () => {
      if (!released) joining = rejoin();
    });
  };
  const rejoin = async () => {
    lifeline = undefined;
    try {
      lifeline = await becomeUser(folder, startLimitMs);
      watch(lifeline);
    } catch (thrown) {
      process.emitWarning(`The embedded Redis was lost: ${messageOf(thrown)}`);
    }
  };
  watch(lifeline);
  return {
    url: `unix://${join(folder.socketFolder, REDIS_SOCKET).split('/').map(encodeURIComponent).join('/')}`,
    release: async () => {
      if (released) return;
      released = true;
      // One that is joining a successor has to leave that one too, or its server would end only after this.
      await joining;
      if (lifeline !== undefined) await leave(lifeline);
    },
  };
}

/** Connects to the folder's supervisor, starting one where none answers, and waits until the server is ready. */
async function becomeUser(folder: EmbeddedRedisFolder, startLimitMs: number): Promise<Socket> {
  const giveUpAt = Date.now() + startLimitMs;
  let starting: Starting | undefined;
  while (Date.now() < giveUpAt) {
    const socket = await connectTo(join(folder.socketFolder, CONTROL_SOCKET));
    if (socket === undefined) {
      if (starting?.hasEnded === true) await wait(SECOND_START_MS);
      if (starting?.hasEnded !== false) starting = startSupervisor(folder);
      await wait(POLL_MS);
      starting.throwIfFailed();
      continue;
    }
    socket.write(JOIN);
    const message = await firstMessage(socket, giveUpAt);
    if (message?.state === 'ready') return socket.resume().unref();
    socket.destroy();
    if (message?.state === 'failed') {
      throw new RedisError(
        message.code,
        `The embedded Redis in ${folder.path} cannot run: ${message.message}`,
      );
    }
    await wait(POLL_MS);
  }
  throw new RedisError(
    'redis-unreachable',
    `The embedded Redis in ${folder.path} was not ready within ${startLimitMs / 1_000} s; ` +
      'if it is loading much data, try again later.',
  );
}

interface Starting {
  readonly hasEnded: boolean;
  throwIfFailed(): void;
}

/** Starts a supervisor in a session of its own, so that no signal to this command's terminal reaches it. */
function startSupervisor(folder: EmbeddedRedisFolder): Starting {
  const binary = findRedisServer();
  const extension = extname(fileURLToPath(import.meta.url));
  const entry = fileURLToPath(new URL(`./embedded-redis-supervisor${extension}`, import.meta.url));
  const logPath = join(folder.path, SUPERVISOR_LOG);
  const log = openSync(logPath, 'a', 0o600);
  // From source, as in the tests, TypeScript has to be understood.
  const loader = extension === '.ts' ? ['--import', 'tsx'] : [];
  const child = spawn(process.execPath, [...loader, entry, folder.path, binary], {
    cwd: packagePath(),
    detached: true,
    // It outlives this command and needs none of its settings, least of all its keys.
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR },
    stdio: ['ignore', 'ignore', log],
  });
  closeSync(log);
  child.unref();
  let failure: string | undefined;
  let hasEnded = false;
  child.once('error', (error) => {
    failure = error.message;
  });
  child.once('exit', (code) => {
    hasEnded = true;
    // Status 0: another command's supervisor was first.
    if (code !== 0) failure = readFileSync(logPath, 'utf8').trim().split('\n').slice(-8).join('\n');
  });
  return {
    get hasEnded() {
      return hasEnded;
    },
    throwIfFailed() {
      if (failure === undefined) return;
      throw new RedisError(
        'redis-unsuitable',
        `The embedded Redis in ${folder.path} cannot be started: ${failure}`,
      );
    },
  };
}

/** The supervisor's first message; undefined where the connection ends before it or it is too late. */
async function firstMessage(socket: Socket, giveUpAt: number): Promise<SupervisorMessage | undefined> {
  const timer = setTimeout(() => socket.destroy(), giveUpAt - Date.now());
  let text = '';
  const line = new Promise<string | undefined>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    socket.once('close', () => resolve(undefined));
  });
  const received = await line;
  clearTimeout(timer);
  socket.removeAllListeners('data');
  return received === undefined ? undefined : decodeMessage(received);
}

/** Says that this user leaves, and waits until the supervisor has dealt with it. */
async function leave(lifeline: Socket): Promise<void> {
  if (lifeline.destroyed) return;
  const ended = once(lifeline, 'close');
  lifeline.ref();
  lifeline.write(RELEASE);
  await ended;
}
