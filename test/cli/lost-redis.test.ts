import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { REDIS_SOCKET, THROWAWAY_PREFIX } from '../../src/fleet/embedded-redis-protocol.js';
import { connectProducer } from '../../src/queues/connection.js';
import { serverPid } from '../support/embedded-redis-users.js';
import { type RunningCommand, startFleetCommand } from '../support/fleet-command.js';

const FILES = 24;
const LOOKS = { timeout: 30_000, interval: 5 };
/** Longer than what a producer waits for a command, and than the lock of a job below. */
const FROZEN_MS = 5_500;

/** A `fleet check` that runs, and its throw-away server. */
interface Checking {
  readonly command: RunningCommand;
  readonly url: string;
  readonly server: number;
}

/** Moments in the life of the command: while it connects, when its worker starts, and while its jobs run. */
const MOMENTS: [string, (checking: Checking) => Promise<void>][] = [
  ['answers', async () => undefined],
  ['has a worker', ({ command }) => command.printed('agents: offline')],
  ['runs jobs', ({ url }) => jobsRun(url)],
];

/** Starts a check, waits for a moment, does something to its server, and gives what the command printed at its end. */
async function check(
  until: (checking: Checking) => Promise<void>,
  disturb: (server: number) => Promise<void> | void,
): Promise<{ exitCode: unknown; printed: string }> {
  const temporary = mkdtempSync(join(tmpdir(), 'lost-'));
  const files = Array.from({ length: FILES }, (_, index) => join(temporary, `${index}.py`));
  for (const file of files) writeFileSync(file, `x = ${JSON.stringify(file)}\n`.repeat(1_000));
  const env = { TMPDIR: temporary, FLEET_AGENT: 'offline', FLEET_LOCK_MS: '2000' };
  const command = startFleetCommand(['check', '--json', ...files], { env });
  const ended = once(command.child, 'exit');
  const url = await urlBelow(temporary);
  // The socket is there a moment before somebody listens.
  const server = await vi.waitUntil(() => serverPid(url).catch(() => undefined), LOOKS);
  const checking = { command, url, server };
  await until(checking);
  await disturb(checking.server);
  const [exitCode] = await ended;
  rmSync(temporary, { recursive: true });
  return { exitCode, printed: command.lines.join('\n') };
}

describe.concurrent('fleet check', () => {
  it.each(MOMENTS)(
    'says that its Redis was ended, and ends, when it is killed as soon as it %s',
    async (_when, until) => {
      const { exitCode, printed } = await check(until, (server) => void process.kill(server, 'SIGKILL'));
      expect(exitCode).toBe(2);
      expect(printed).toMatch(/(The Redis of this command|redis-server) was ended/);
      expect(printed).not.toContain('internal');
    },
  );

  it.each(MOMENTS.filter(([when]) => when !== 'answers'))(
    'waits for its Redis when that stands still as soon as it %s',
    async (_when, until) => {
      const { exitCode, printed } = await check(until, async (server) => {
        process.kill(server, 'SIGSTOP');
        await wait(FROZEN_MS);
        process.kill(server, 'SIGCONT');
      });
      expect(printed).not.toContain('"error"');
      expect(printed.match(/"status": "clean"/g)).toHaveLength(FILES);
      expect(exitCode).toBe(0);
    },
  );
});

/** Address of the one throw-away server with its folder there, once it listens. */
async function urlBelow(temporary: string): Promise<string> {
  return vi.waitUntil(() => {
    const folder = readdirSync(temporary).find((name) => name.startsWith(THROWAWAY_PREFIX)) ?? '';
    const path = join(temporary, folder, REDIS_SOCKET);
    return existsSync(path) && `unix://${path}`;
  }, LOOKS);
}

async function jobsRun(url: string): Promise<void> {
  const client = await connectProducer(url);
  await vi.waitUntil(async () => (await client.llen('fleet:solution-check:active')) > 0, LOOKS);
  await client.quit();
}
