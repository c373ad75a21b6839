import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, renameSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { majorVersion, serverArguments } from './embedded-redis-arguments.js';
import { REDIS_LOG, REDIS_SOCKET } from './embedded-redis-protocol.js';
import { openLog, readPrivateFile } from './private-files.js';
import { currentUser, lstatIfThere } from './safe-folders.js';

const LOG_LIMIT_BYTES = 1024 * 1024;
const LOG_TAIL_BYTES = 4_096;
const STOP_TIMEOUT_MS = 10_000;

/**
 * Starts a server with the data of the working directory. It gets no configuration file and no environment. Its log is
 * opened here, because a server follows symbolic links.
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

/** Resolves with true once the server answers commands, after it has loaded its data; with false if it ends before. */
export async function serverReady(server: ChildProcess): Promise<boolean> {
  while (server.exitCode === null && server.signalCode === null && server.pid !== undefined) {
    if ((await sendCommand('PING'))?.startsWith('+PONG') === true) return true;
    await wait(5);
  }
  return false;
}

/** Ends a server, with SIGKILL if it does not end in time; its file contains all acknowledged writes in any case. */
export async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null || server.pid === undefined) return;
  const ended = once(server, 'exit');
  const timer = setTimeout(() => server.kill('SIGKILL'), STOP_TIMEOUT_MS);
  // The command ends it at once; it checks the signal every tenth of a second, but also while it loads.
  await sendCommand('SHUTDOWN');
  server.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
}

/**
 * Ends a server that an earlier, killed supervisor left running; two servers on the same data would corrupt it.
 * @returns false if there is one that does not end.
 */
export async function stopLeftoverServer(redisSocket = REDIS_SOCKET): Promise<boolean> {
  const giveUpAt = Date.now() + STOP_TIMEOUT_MS;
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

/** The last lines of the server's log, for the message that it did not start. */
export function logTail(): string {
  const text = readPrivateFile(REDIS_LOG, LOG_TAIL_BYTES);
  return text === undefined ? 'it wrote no log' : text.trimEnd().split('\n').slice(-3).join(' | ');
}

async function sendCommand(command: string): Promise<string | undefined> {
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

/** A connection to a Unix socket of this user; undefined if no process listens. Symbolic links are not followed. */
export async function connectTo(path: string): Promise<Socket | undefined> {
  const found = lstatIfThere(path);
  if (found?.isSocket() !== true || found.uid !== currentUser()) return undefined;
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch {
    // No socket file, or one of a dead process: both mean that no process listens.
    return undefined;
  }
  // 'close' reports the end of a connection; the reason makes no difference here.
  socket.on('error', () => socket.destroy());
  return socket;
}
