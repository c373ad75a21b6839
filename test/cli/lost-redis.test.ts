import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REDIS_SOCKET, THROWAWAY_PREFIX } from '../../src/fleet/embedded-redis-folder.js';
import { connectProducer } from '../../src/queues/connection.js';
import { serverPid } from '../support/embedded-redis-users.js';
import { startFleetCommand } from '../support/fleet-command.js';

const RUNNING = 'running';

/** Each moment: while the command connects, when its worker starts, and while its jobs run. */
it.each([
  ['answers', ''],
  ['has a worker', 'agents: offline'],
  ['runs jobs', RUNNING],
])(
  'fleet check says that its Redis was ended when it is killed as soon as it %s, and ends',
  async (_when, text) => {
    const temporary = mkdtempSync(join(tmpdir(), 'lost-'));
    const files = Array.from({ length: 60 }, (_, index) => join(temporary, `${index}.py`));
    for (const file of files) writeFileSync(file, `x = ${JSON.stringify(file)}\n`.repeat(2_000));
    const env = { TMPDIR: temporary, FLEET_AGENT: 'offline' };
    const running = startFleetCommand(['check', '--json', ...files], { env });
    const ended = new Promise((resolve) => running.child.once('exit', resolve));
    const url = await urlBelow(temporary);
    const server = await serverPid(url);
    if (text === RUNNING) await jobsRun(url);
    else if (text !== '') await running.printed(text);
    process.kill(server, 'SIGKILL');
    expect(await ended).toBe(2);
    const printed = running.lines.join('\n');
    expect(printed).toContain('The Redis of this command was ended');
    expect(printed).not.toContain('internal');
    rmSync(temporary, { recursive: true });
  },
  180_000,
);

/** Address of the one throw-away server with its folder there, once it listens. */
async function urlBelow(temporary: string): Promise<string> {
  const socket = () => {
    const folder = readdirSync(temporary).find((name) => name.startsWith(THROWAWAY_PREFIX));
    const path = join(temporary, folder ?? '', REDIS_SOCKET);
    return folder !== undefined && existsSync(path) ? path : undefined;
  };
  await expect.poll(socket, { timeout: 30_000, interval: 5 }).toBeDefined();
  return `unix://${socket()}`;
}

async function jobsRun(url: string): Promise<void> {
  const client = await connectProducer(url);
  await expect
    .poll(() => client.llen('fleet:solution-check:active'), { timeout: 30_000, interval: 5 })
    .toBeGreaterThan(0);
  await client.quit();
}
