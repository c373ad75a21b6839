import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { delimiter, extname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { programFolders } from '../config/paths.js';
import { messageOf, RedisError } from '../errors.js';
import { loaderOptions, packagePath } from '../package-root.js';
import { findRedisServer } from './embedded-redis-binary.js';
import {
  type EmbeddedRedisFolder,
  makeThrowawayFolder,
  openEmbeddedRedisFolder,
} from './embedded-redis-folder.js';
import { removeThrowawayFolder } from './embedded-redis-leftovers.js';
import {
  CONTROL_SOCKET,
  decodeMessage,
  JOIN,
  REDIS_SOCKET,
  RELEASE,
  type SupervisorMessage,
} from './embedded-redis-protocol.js';
import { connectTo, stopLeftoverServer } from './embedded-redis-server.js';
import { openLog, readPrivateFile } from './private-files.js';

const POLL_MS = 10;
/** Pause before another supervisor is started, in milliseconds: the first one may have found another alive. */
const SECOND_START_MS = 250;
const SUPERVISOR_LOG = 'supervisor.log';
const START_LIMIT_MS = 60_000;
const LOG_TAIL_BYTES = 16_384;

export interface EmbeddedRedisOptions {
  /** Maximum wait for the server, in milliseconds; default: one minute, because it may have to load much data. */
  readonly startLimitMs?: number;
}

export interface EmbeddedRedis {
  /** Address for `redisOptionsFrom`; it stays the same over restarts of the server. */
  readonly url: string;
  /** Data of version 0.1.0 in the project folder, which are not used; reported once, when the project's state is created. */
  readonly unusedData?: string;
  /** Releases the server. The last user's release stops it and resolves once it has ended. */
  release(): Promise<void>;
}

export interface ThrowawayRedis extends Omit<EmbeddedRedis, 'unusedData'> {
  /** Aborted when the server ends before its release: its data are gone. */
  readonly lost: AbortSignal;
}

/**
 * The Redis of a project folder, started if none runs: private (a Unix socket in a folder of mode 700), append-only, never
 * evicting. Its data are below the user's state directory (`$XDG_STATE_HOME/solution-fleet`), because a server trusts its
 * data, and the files of a project may be another user's.
 *
 * All commands of the folder share it. It survives the kill of any of them, is restarted with its data when it is killed
 * itself, and ends with its last user, however that one ends.
 *
 * @throws RedisError `redis-missing` if no server is installed; `redis-unsuitable` if it cannot start; `redis-unreachable`
 *   if it does not start within the limit.
 * @throws ConfigurationError if the project does not exist, or the state directory cannot be used safely.
 */
export async function acquireEmbeddedRedis(
  project: string,
  { startLimitMs = START_LIMIT_MS }: EmbeddedRedisOptions = {},
): Promise<EmbeddedRedis> {
  const folder = openEmbeddedRedisFolder(project);
  let lifeline: Socket | undefined = await becomeUser(folder, startLimitMs);
  let joining = Promise.resolve();
  let released = false;
  const watch = (socket: Socket) => {
    // The supervisor was killed: another one continues with the same socket and data.
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
    url: addressIn(folder),
    ...(folder.unusedData === undefined ? {} : { unusedData: folder.unusedData }),
    release: async () => {
      if (released) return;
      released = true;
      // A user that is connecting to a new supervisor has to leave that one too, or its server would end only later.
      await joining;
      if (lifeline !== undefined) await leave(lifeline);
    },
  };
}

/**
 * A Redis for the caller alone, in a new temporary folder: private like that of a project, and without data on disk. It
 * ends and its folder is removed when it is released or when the calling process ends in any way.
 *
 * @throws As `acquireEmbeddedRedis`.
 */
export async function acquireThrowawayRedis({
  startLimitMs = START_LIMIT_MS,
}: EmbeddedRedisOptions = {}): Promise<ThrowawayRedis> {
  const folder = makeThrowawayFolder();
  const lost = new AbortController();
  let lifeline: Socket;
  try {
    lifeline = await becomeUser(folder, startLimitMs);
  } catch (thrown) {
    removeThrowawayFolder(folder.path);
    throw thrown;
  }
  let released = false;
  lifeline.once('close', () => {
    if (released) return;
    lost.abort(
      new RedisError('redis-unreachable', 'The Redis of this command was ended, and its data with it.'),
    );
  });
  return {
    url: addressIn(folder),
    lost: lost.signal,
    release: async () => {
      released = true;
      if (!lost.signal.aborted) return leave(lifeline);
      // Its supervisor may have been killed, and then no other process ends the server.
      await stopLeftoverServer(join(folder.path, REDIS_SOCKET));
      removeThrowawayFolder(folder.path);
    },
  };
}

function addressIn({ socketFolder }: EmbeddedRedisFolder): string {
  return `unix://${join(socketFolder, REDIS_SOCKET).split('/').map(encodeURIComponent).join('/')}`;
}

/** Connects to the folder's supervisor, starts one if none answers, and waits until the server is ready. */
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

/** Starts a supervisor in a separate session, so signals to this command's terminal do not reach it. */
function startSupervisor(folder: EmbeddedRedisFolder): Starting {
  const binary = findRedisServer();
  const extension = extname(fileURLToPath(import.meta.url));
  const entry = new URL(`./embedded-redis-supervisor${extension}`, import.meta.url);
  const logPath = join(folder.path, SUPERVISOR_LOG);
  const log = openLog(logPath);
  const mode = folder.throwaway ? ['throwaway'] : [];
  const child = spawn(
    process.execPath,
    [...loaderOptions(entry), fileURLToPath(entry), folder.path, binary, ...mode],
    {
      cwd: packagePath(),
      detached: true,
      // It outlives this command and needs none of its settings, especially not its API keys.
      env: { PATH: programFolders().join(delimiter), TMPDIR: process.env.TMPDIR },
      stdio: ['ignore', 'ignore', log],
    },
  );
  closeSync(log);
  child.unref();
  let failure: string | undefined;
  let hasEnded = false;
  child.once('error', (error) => {
    failure = error.message;
  });
  child.once('exit', (code) => {
    hasEnded = true;
    // Status 0 means that another command's supervisor was first.
    if (code !== 0)
      failure = readPrivateFile(logPath, LOG_TAIL_BYTES)?.trim().split('\n').slice(-8).join('\n') ?? '';
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

/** The supervisor's first message; undefined if the connection ends before it or it is too late. */
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

/** Notifies the supervisor that this user leaves, and waits for its answer. */
async function leave(lifeline: Socket): Promise<void> {
  if (lifeline.destroyed) return;
  const ended = once(lifeline, 'close');
  lifeline.ref();
  lifeline.write(RELEASE);
  await ended;
}
