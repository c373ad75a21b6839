import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leaks } from '../support/agent-answers.js';
import { emptyFolder, fleetCommand, startFleetCommand } from '../support/fleet-command.js';
import { hangReply, type MessagesApi, startMessagesApi } from '../support/messages-api.js';
import { startTestRedis } from '../support/redis.js';

const SCRIPT = 'a = fit(all)\nprint(a)\n';
const PAYLOAD = JSON.stringify({ solution: { content: SCRIPT } });

let api: MessagesApi;
let cwd: string;
let env: Record<string, string>;
beforeEach(async () => {
  // The first call never ends; later ones are answered, and counted.
  api = await startMessagesApi({ reply: (_request, index) => (index === 0 ? hangReply : leaks()) });
  env = { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: api.url };
  cwd = emptyFolder();
  for (const name of ['x.py', 's.py', 'a.py', 'out.txt']) writeFileSync(join(cwd, name), SCRIPT);
  writeFileSync(join(cwd, 'payload.json'), PAYLOAD);
});
afterEach(() => api.close());

/** Has a worker in the same folder do whatever is left there, and gives how many calls that took. */
async function callsOfNextCommand(): Promise<number> {
  const before = api.requests.length;
  const next = ['submit', 'solution-check', '--data', 'payload.json', '--wait', '--json'];
  expect((await fleetCommand(next, { cwd, env })).exitCode).toBe(0);
  return api.requests.length - before;
}

describe('a command that a signal ends', () => {
  it.each([
    ['SIGINT', 130, ['check', 'x.py']],
    ['SIGTERM', 143, ['refine', '--solution', 's.py', '--ablation', 'a.py', '--output', 'out.txt']],
    ['SIGINT', 130, ['submit', 'solution-check', '--data', 'payload.json', '--wait']],
  ] as const)(
    '%s: exit %i, and the next command pays for none of its jobs: %j',
    async (signal, code, args) => {
      const running = startFleetCommand(args, { cwd, env });
      await api.arrived(1);
      expect(await running.end(signal)).toBe(code);
      await api.requests[0]?.aborted;
      expect(await callsOfNextCommand()).toBe(1);
      const { stdout } = await fleetCommand(['list', '--json'], { cwd, env });
      const states = JSON.parse(stdout).map(({ state }: { state: string }) => state);
      expect(states.filter((state: string) => !['completed', 'cancelled'].includes(state))).toEqual([]);
    },
  );

  it('wait cancels nothing: the job is done by the next command', async () => {
    const args = ['submit', 'solution-check', '--data', 'payload.json', '--json'];
    const { id } = JSON.parse((await fleetCommand(args, { cwd, env })).stdout);
    const running = startFleetCommand(['wait', id], { cwd, env });
    await api.arrived(1);
    expect(await running.end('SIGINT')).toBe(130);
    const { stdout, exitCode } = await fleetCommand(['wait', id, '--json'], { cwd, env });
    expect({ exitCode, state: JSON.parse(stdout).state }).toEqual({ exitCode: 0, state: 'completed' });
  });

  it('cancels its jobs in a Redis whose workers are others', async () => {
    const redis = await startTestRedis();
    try {
      const there = { ...env, FLEET_REDIS_URL: redis.url };
      const running = startFleetCommand(['check', 'x.py'], { cwd, env: there });
      await running.printed('no worker is connected');
      const listed = async () =>
        JSON.parse((await fleetCommand(['list', '--json'], { cwd, env: there })).stdout) as {
          state: string;
        }[];
      while ((await listed()).length === 0);
      expect(await running.end('SIGINT')).toBe(130);
      expect((await listed()).map(({ state }) => state)).toEqual(['cancelled']);
      expect(api.requests).toHaveLength(0);
    } finally {
      await redis.stop();
    }
  });
});
