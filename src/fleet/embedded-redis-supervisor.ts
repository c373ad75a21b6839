import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { type ErrorCode, messageOf } from '../errors.js';
import { removeThrowawayFolder, sweepThrowawayFolders } from './embedded-redis-leftovers.js';
import { becomeSupervisor } from './embedded-redis-lock.js';
import {
  CONTROL_SOCKET,
  encodeMessage,
  JOIN,
  RELEASE,
  type SupervisorMessage,
} from './embedded-redis-protocol.js';
import {
  connectTo,
  logTail,
  serverReady,
  startServer,
  stopLeftoverServer,
  stopServer,
} from './embedded-redis-server.js';

/** The user that started this process connects at once; if it dies before, no user will, so the wait is short. */
const FIRST_USER_MS = 5_000;
/** Maximum time for the last messages to users, in milliseconds. */
const SHUTDOWN_GRACE_MS = 1_000;
/** The supervisor gives up if the server ends sooner than this after its start (milliseconds) this often in a row. */
const SHORT_LIFE_MS = 2_000;
const SHORT_LIVES = 3;

/**
 * A separate process that keeps one Redis server running as long as it has users, and restarts it when it is killed. A user
 * is a connection to the control socket, so a user that dies is noticed.
 */
class Supervisor {
  readonly #binary: string;
  readonly #throwaway: boolean;
  readonly #users = new Set<Socket>();
  readonly #control = createServer((socket) => this.#welcome(socket));
  #state: SupervisorMessage['state'] | 'starting' = 'starting';
  #failure: SupervisorMessage | undefined;
  #server: ChildProcess | undefined;

  constructor(binary: string, throwaway: boolean) {
    this.#binary = binary;
    this.#throwaway = throwaway;
  }

  async run(): Promise<void> {
    rmSync(CONTROL_SOCKET, { force: true });
    this.#control.listen(CONTROL_SOCKET);
    await once(this.#control, 'listening');
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void this.#stop());
    process.on('SIGHUP', () => undefined);
    setTimeout(() => this.#stopIfUnused(), FIRST_USER_MS).unref();
    if (!(await stopLeftoverServer())) {
      await this.#fail('redis-unreachable', 'An earlier Redis server still uses the data and does not end');
      return;
    }
    await this.#keepServerRunning();
  }

  async #keepServerRunning(): Promise<void> {
    let shortLives = 0;
    while (this.#state !== 'stopping') {
      const startedAt = Date.now();
      const server = startServer(this.#binary, this.#throwaway);
      this.#server = server;
      const ended = once(server, 'exit').catch((error: unknown) => [messageOf(error), null]);
      const ready = await serverReady(server);
      if (this.#stopping) break;
      if (ready) this.#announceReady();
      const [status, signal] = await ended;
      if (this.#stopping) break;
      const reason = String(signal ?? status);
      // It was killed, so its configuration is not the reason.
      const killed = !ready && signal !== null;
      if (this.#throwaway && (ready || killed)) {
        await this.#fail('redis-unreachable', `redis-server was ended (${reason}), and its data with it`);
        break;
      }
      shortLives = Date.now() - startedAt < SHORT_LIFE_MS ? shortLives + 1 : 0;
      if (!ready || shortLives >= SHORT_LIVES) {
        await this.#fail('redis-unsuitable', `redis-server ended (${reason}): ${logTail()}`);
        break;
      }
      this.#state = 'starting';
    }
  }

  get #stopping(): boolean {
    return this.#state === 'stopping';
  }

  #welcome(socket: Socket): void {
    // The reason makes no difference: the user is gone.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#leave(socket));
    socket.on('data', (chunk) => {
      const said = chunk.toString();
      if (said.includes(JOIN)) this.#join(socket);
      if (said.includes(RELEASE)) this.#leave(socket);
    });
  }

  #join(socket: Socket): void {
    if (this.#stopping) {
      socket.end(encodeMessage(this.#failure ?? { state: 'stopping' }));
      return;
    }
    this.#users.add(socket);
    if (this.#state === 'ready') socket.write(encodeMessage({ state: 'ready' }));
  }

  /** The connection of a leaving user is closed last: that of the last user only after the server has ended. */
  #leave(socket: Socket): void {
    if (!this.#users.delete(socket)) return;
    if (this.#users.size > 0) socket.end();
    else void this.#stop().then(() => socket.end());
  }

  #stopIfUnused(): void {
    if (this.#users.size === 0) void this.#stop();
  }

  #announceReady(): void {
    this.#state = 'ready';
    for (const user of this.#users) user.write(encodeMessage({ state: 'ready' }));
  }

  async #fail(code: ErrorCode, message: string): Promise<void> {
    this.#failure = { state: 'failed', code, message };
    for (const user of this.#users) user.write(encodeMessage(this.#failure));
    await this.#stop();
  }

  /** Ends the server, and only then stops listening: a user that connects meanwhile is told to retry. */
  async #stop(): Promise<void> {
    if (this.#stopping) return;
    this.#state = 'stopping';
    if (this.#server !== undefined) await stopServer(this.#server);
    this.#control.close();
    if (this.#throwaway) removeThrowawayFolder(process.cwd());
    for (const user of this.#users) user.end();
    // A frozen user does not end its side of the connection.
    setTimeout(() => process.exit(), SHUTDOWN_GRACE_MS).unref();
  }
}

const [folder, binary, throwaway] = process.argv.slice(2);
if (folder === undefined || binary === undefined) {
  throw new Error('usage: embedded-redis-supervisor FOLDER REDIS-SERVER [throwaway]');
}
process.chdir(folder);
process.umask(0o077);
// A supervisor that answers may run where its process is not visible, such as in another container.
const other = await connectTo(CONTROL_SOCKET);
other?.destroy();
if (other === undefined && becomeSupervisor('.')) {
  // The server can run even if leftovers cannot be removed.
  if (throwaway !== undefined) sweepThrowawayFolders(dirname(process.cwd())).catch(process.emitWarning);
  await new Supervisor(binary, throwaway !== undefined).run();
}
