import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, renameSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { majorVersion, serverArguments } from './embedded-redis-arguments.js';
import { REDIS_LOG, REDIS_SOCKET } from './embedded-redis-protocol.js';
import { openLog, readOwnFile } from './own-files.js';
import { currentUser, lstatIfThere } from './safe-folders.js';

const LOG_LIMIT_BYTES = 1024 * 1024;
const LOG_TAIL_BYTES = 4_096;
const PATIENCE_MS = 10_000;

/**
 * Starts a server on the data of the working directory. It has no configuration file and no environment, and its log
 * is opened here, since a server follows symbolic links.
 */
export function startServer(binary: string, throwaway: boolean): ChildProcess {
  if ((lstatIfThere(REDIS_LOG)?.size ?? 0) > LOG_LIMIT_BYTES) renameSync(REDIS_LOG, `${REDIS_LOG}.old`);
  const log = openLog(REDIS_LOG);
  try {
    return spawn(binary, serverArguments(majorVersion(binary), throwaway), {
      env: {},
      stdio: ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
}

/** Resolves once the server answers commands, however long it loads its data; with false if it ends before. */
export async function serverReady(server: ChildProcess): Promise<boolean> {
  while (server.exitCode === null && server.signalCode === null && server.pid !== undefined) {
    if ((await askServer('PING'))?.startsWith('+PONG') === true) return true;
    await wait(5);
  }
  return false;
}

/** Ends a server, with SIGKILL if it does not go in time; what it has acknowledged is in its file either way. */
export async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null || server.pid === undefined) return;
  const ended = once(server, 'exit');
  const timer = setTimeout(() => server.kill('SIGKILL'), PATIENCE_MS);
  // The command ends it at once; the signal is only looked at every tenth of a second, but also while it loads.
  await askServer('SHUTDOWN');
  server.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
}

/**
 * Ends a server that an earlier supervisor left behind when it was killed; two on the same data would spoil it.
 * @returns false where there is one that does not end.
 */
export async function stopLeftoverServer(redisSocket = REDIS_SOCKET): Promise<boolean> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  let left = await connectTo(redisSocket);
  while (left !== undefined) {
    left.write('SHUTDOWN\r\n');
    await Promise.race([once(left, 'close'), wait(giveUpAt - Date.now())]);
    left.destroy();
    if (Date.now() >= giveUpAt) return false;
    await wait(5);
    left = await connectTo(redisSocket);
  }
  return true;
}

/** The last lines of the server's log, for a message that says why it did not start. */
export function logTail(): string {
  const text = readOwnFile(REDIS_LOG, LOG_TAIL_BYTES);
  return text === undefined ? 'it wrote no log' : text.trimEnd().split('\n').slice(-3).join(' | ');
}

async function askServer(command: string): Promise<string | undefined> {
  const socket = await connectTo(REDIS_SOCKET);
  if (socket === undefined) return undefined;
  socket.write(`${command}\r\n`);
  const answer = await Promise.race([
    once(socket, 'data').then(([chunk]: unknown[]) => String(chunk)),
    once(socket, 'close').then(() => undefined),
  ]).catch(() => undefined);
  socket.destroy();
  return answer;
}

/** A connection to a Unix socket of this user; undefined where nobody listens. A link in its place is not followed. */
export async function connectTo(path: string): Promise<Socket | undefined> {
  const found = lstatIfThere(path);
  if (found?.isSocket() !== true || found.uid !== currentUser()) return undefined;
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch {
    // No socket file, or one that a dead process left: both mean that nobody listens.
    return undefined;
  }
  // The end of a connection shows as 'close'; why it ended makes no difference here.
  socket.on('error', () => socket.destroy());
  return socket;
}
