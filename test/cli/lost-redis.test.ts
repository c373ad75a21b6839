import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { acquireEmbeddedRedis } from '../../src/fleet/embedded-redis.js';
import { REDIS_SOCKET, THROWAWAY_PREFIX } from '../../src/fleet/embedded-redis-protocol.js';
import { leaks } from '../support/agent-answers.js';
import { serverPid } from '../support/embedded-redis-users.js';
import { startFleetCommand } from '../support/fleet-command.js';
import { startMessagesApi } from '../support/messages-api.js';

const FILES = 5;
/** Longer than what a producer waits for a command, and than the lock of a job below. */
const FROZEN_MS = 5_500;

type Disturb = (server: number) => Promise<void> | void;
const kill: Disturb = (server) => void process.kill(server, 'SIGKILL');
const freeze: Disturb = async (server) => {
  process.kill(server, 'SIGSTOP');
  await wait(FROZEN_MS);
  process.kill(server, 'SIGCONT');
};

/** Checks files with agents, and does something to the command's Redis in the middle of a call. */
async function checkWhile(disturb: Disturb, embedded: 'on' | 'off') {
  const cwd = mkdtempSync(join(tmpdir(), 'lost-'));
  const files = Array.from({ length: FILES }, (_, index) => `${index}.py`);
  for (const file of files) writeFileSync(join(cwd, file), `x = ${JSON.stringify(file)}\n`);
  let goOn: () => void = () => undefined;
  const disturbed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const api = await startMessagesApi({ reply: () => disturbed.then(() => leaks()) });
  const project = embedded === 'off' ? undefined : await acquireEmbeddedRedis(cwd);
  try {
    const env = {
      ANTHROPIC_API_KEY: 'test-key',
      ANTHROPIC_BASE_URL: api.url,
      FLEET_LOCK_MS: '2000',
      FLEET_EMBEDDED_REDIS: embedded,
      TMPDIR: cwd,
    };
    const command = startFleetCommand(['check', '--json', ...files], { cwd, env });
    const ended = once(command.child, 'exit');
    await api.arrived(1);
    await disturb(await serverPid(project?.url ?? throwawayIn(cwd)));
    goOn();
    const [exitCode] = await ended;
    return { exitCode, printed: command.lines.join('\n') };
  } finally {
    await project?.release();
    await api.close();
    rmSync(cwd, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Address of the one throw-away server with its folder there. */
function throwawayIn(folder: string): string {
  const name = readdirSync(folder).find((found) => found.startsWith(THROWAWAY_PREFIX)) ?? '';
  return `unix://${join(folder, name, REDIS_SOCKET)}`;
}

describe.concurrent('fleet check with agents', () => {
  it.each([
    ['is killed', kill, 'on'],
    ['stands still', freeze, 'on'],
    ['is its own and stands still', freeze, 'off'],
  ] as const)(
    'whose Redis %s waits for it, and every file has its verdict',
    async (_what, disturb, embedded) => {
      const { exitCode, printed } = await checkWhile(disturb, embedded);
      expect(printed).not.toContain('"error"');
      expect(printed.match(/"status": "clean"/g)).toHaveLength(FILES);
      expect(exitCode).toBe(0);
    },
  );

  it('whose own Redis is killed says so, and ends', async () => {
    const { exitCode, printed } = await checkWhile(kill, 'off');
    expect(exitCode).toBe(2);
    expect(printed).toMatch(/(The Redis of this command|redis-server) was ended/);
    expect(printed).not.toContain('internal');
  });
});
