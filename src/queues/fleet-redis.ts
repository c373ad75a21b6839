import { createConnection } from 'node:net';
import type { Command, Redis, RedisOptions } from 'ioredis';
import { asRedisError, refusalOf } from './redis-refusal.js';
import { ScriptSharingRedis } from './script-sharing-redis.js';

/** How long a server may take to say why it closes connections, in milliseconds. */
const GREETING_MS = 1_000;
/** Pauses before a refused command is sent again, in milliseconds: the first, and the maximum. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** Maximum pause before a server that loads its data is asked again whether it is done, in milliseconds. */
export const LOADING_PAUSE_MS = 1_000;
/** What INFO says then. */
const LOADING = /^loading:1/m;

/** Commands with which a client begins a connection. */
const HANDSHAKE: ReadonlySet<string> = new Set(['auth', 'hello', 'select', 'client', 'readonly', 'info']);

type CommandItem = Parameters<Redis['handleReconnection']>[1];
/** Replies keep the form that the rest of the fleet, and BullMQ, read. */
export type FleetRedisOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * A client of a fleet's Redis. It never works in another database than the one it was asked for: ioredis itself would go on
 * in database 0. It remembers why Redis refuses it.
 */
export class FleetRedis extends ScriptSharingRedis {
  #refusal: Error | undefined;

  constructor(options: FleetRedisOptions) {
    super({ maxLoadingRetryTime: LOADING_PAUSE_MS, ...options });
    this.on('ready', () => {
      this.#refusal = undefined;
    });
    this.on('error', (error: Error) => {
      if (refusalOf(error) !== undefined) this.#refusal = error;
      else if (isBroken(error)) this.#hearGreeting();
      // The connection is made again, and fails again as long as the server has no such database.
      if (isOfSelect(error)) this.disconnect(true);
    });
  }

  /** Why Redis takes no connection of this client, in an error with its own sentence; undefined if it does, or is away. */
  get refusal(): Error | undefined {
    return this.status === 'ready' ? undefined : this.#refusal;
  }

  /**
   * ioredis asks for it when a connection is made, and waits without a word while the server loads its data: every other
   * command would be refused.
   */
  override info(...args: unknown[]): Promise<string> {
    const facts = (super.info as (...all: unknown[]) => Promise<string>)(...args);
    facts.then(
      (text) => {
        if (this.status === 'ready' || !LOADING.test(text)) return;
        this.#refusal = new Error('LOADING Redis is loading the dataset in memory');
        this.silentEmit('error', this.#refusal);
      },
      () => undefined,
    );
    return facts;
  }

  /** A server that has enough clients says so and closes; a client that writes first sees only a broken connection. */
  #hearGreeting(): void {
    greetingOf(this.options).then(
      (greeting) => {
        if (greeting === undefined || this.status === 'ready') return;
        const error = new Error(greeting);
        if (refusalOf(error) === undefined) return;
        this.#refusal = error;
        this.silentEmit('error', error);
      },
      () => undefined,
    );
  }
}

/**
 * A client whose caller must get an answer. Errors of Redis have their type; on a refused connection they have Redis's own
 * sentence.
 */
export class ProducerRedis extends FleetRedis {
  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    if (HANDSHAKE.has(command.name)) return super.sendCommand(command, stream);
    const { refusal } = this;
    if (refusal !== undefined) command.reject(refusal);
    const sent = refusal === undefined ? super.sendCommand(command, stream) : command.promise;
    // Commands of a pipeline report to the pipeline.
    if (stream !== undefined) return sent;
    return Promise.resolve(sent).catch((thrown: unknown) => {
      throw asRedisError(thrown);
    });
  }
}

/** A client for what must be written: a command that Redis refuses is sent again until it is accepted. */
export class DurableRedis extends FleetRedis {
  /** Refused commands, the oldest first. */
  #refused: Command[] = [];
  #pauses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FleetRedisOptions) {
    super(options);
    this.on('end', () => {
      clearTimeout(this.#timer);
      for (const command of this.#refused.splice(0)) command.reject(new Error('Connection is closed.'));
    });
  }

  override handleReconnection(error: Error, item: CommandItem): void {
    const { command, stream } = item;
    const isAlone = stream === undefined && !HANDSHAKE.has(command.name);
    if (!isAlone || refusalOf(error) === undefined || this.options.reconnectOnError?.(error)) {
      super.handleReconnection(error, item);
      return;
    }
    // ioredis queues nothing but commands; their type names less.
    this.#refused.push(command as Command);
    this.silentEmit('refused', error);
    this.#timer ??= setTimeout(() => this.#sendAgain(), this.#pauseMs());
  }

  /** A connection that Redis refuses takes no commands with it: they wait for the next one. */
  override recoverFromFatalError(
    commandError: Error,
    error: Error,
    options: Parameters<Redis['recoverFromFatalError']>[2],
  ): void {
    if (refusalOf(error) === undefined) {
      super.recoverFromFatalError(commandError, error, options);
      return;
    }
    this.silentEmit('error', error);
    this.disconnect(true);
  }

  #sendAgain(): void {
    this.#timer = undefined;
    const commands = this.#refused.splice(0);
    this.#pauses += 1;
    for (const command of commands) this.sendCommand(command);
    commands.at(-1)?.promise.then(
      () => {
        this.#pauses = 0;
      },
      () => undefined,
    );
  }

  #pauseMs(): number {
    const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#pauses, 10));
    return Math.round(longest * (0.5 + Math.random() / 2));
  }
}

/** What a server says to a client that is silent: only one that refuses it says something. */
export async function greetingOf(options: RedisOptions): Promise<string | undefined> {
  const { path, host, port } = options;
  // Which server it is, only the connector knows; behind TLS the sentence comes encrypted.
  if (options.tls !== undefined || options.sentinels || options.Connector !== undefined) return undefined;
  const address =
    path === undefined || path === null ? { host: host ?? '127.0.0.1', port: port ?? 6379 } : { path };
  return new Promise((resolve) => {
    const socket = createConnection(address);
    const end = (said?: string) => {
      socket.destroy();
      resolve(said);
    };
    socket.setTimeout(GREETING_MS, () => end());
    socket.once('error', () => end());
    socket.once('close', () => end());
    socket.once('data', (chunk) => end(/^-(.+?)\r?\n/.exec(chunk.toString('utf8'))?.[1]));
  });
}

/** Whether an error is that of a connection which the server closed as soon as it was made. */
export function isBroken(error: Error): boolean {
  return /EPIPE|ECONNRESET|Connection is closed/.test(error.message);
}

/** Whether an error is the answer to the choice of the database. */
export function isOfSelect(error: unknown): boolean {
  const { command } = error as { command?: Pick<Command, 'name'> };
  return command?.name === 'select';
}
