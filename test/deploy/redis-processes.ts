import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findRedisServer } from '../../src/fleet/embedded-redis-binary.js';

/** The system gives a port again as soon as it is free, also to the second of two callers that wait at once. */
const usedPorts = new Set<number>();

/** A port that is free now, and that no other caller in this process got. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new TypeError('a port was expected');
  if (usedPorts.has(address.port)) return freePort();
  usedPorts.add(address.port);
  return address.port;
}

/** Asks again until an answer fits; a server process tells in no other way what has become of it. */
export async function until<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    await wait(50);
  }
}

/** A `redis-server` on a TCP port, in a new folder. */
export class RedisProcess {
  readonly folder = mkdtempSync(join(tmpdir(), 'redis-'));
  #child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    readonly args: readonly string[],
    readonly configuration: string,
  ) {}

  /**
   * @param args Of the command line, after `--port` and the settings that keep jobs.
   * @param configuration Text of its configuration file.
   */
  static async start(args: readonly string[] = [], configuration = ''): Promise<RedisProcess> {
    const server = new RedisProcess(await freePort(), args, configuration);
    writeFileSync(join(server.folder, 'redis.conf'), configuration);
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const keep = ['--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction'];
    const location = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    const isSentinel = this.args.includes('--sentinel');
    const child = spawn(
      findRedisServer(),
      [join(this.folder, 'redis.conf'), ...location, ...(isSentinel ? [] : keep), ...this.args],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.#child = child;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${log}`)));
      child.stdout.on('data', (chunk: Buffer) => {
        log += chunk.toString();
        if (/ready to accept connections|Sentinel ID is/i.test(log)) resolve();
      });
    });
  }

  /** Ends it with SIGKILL; its data stay. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Asks it one command. */
  async ask(command: string, ...args: string[]): Promise<string> {
    const client = new Redis({ port: this.port, lazyConnect: true, retryStrategy: () => null });
    try {
      await client.connect();
      return String(await client.call(command, ...args));
    } finally {
      client.disconnect();
    }
  }
}

/** A certificate for 127.0.0.1 and localhost, and the authority that signed it; all made here and now. */
export function makeCertificates(): { authority: string; certificate: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  // To make two of these takes no time, other than keys of RSA.
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...key, '-days', '2', '-subj', '/CN=Test authority'],
    ...['-keyout', file('ca.key'), '-out', file('ca.crt')],
  );
  openssl(
    ...['req', ...key, '-subj', '/CN=redis'],
    ...['-keyout', file('redis.key'), '-out', file('redis.csr')],
  );
  writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  openssl(
    ...['x509', '-req', '-days', '2', '-in', file('redis.csr'), '-extfile', file('names')],
    ...['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial', '-out', file('redis.crt')],
  );
  return { authority: file('ca.crt'), certificate: file('redis.crt'), key: file('redis.key') };
}
