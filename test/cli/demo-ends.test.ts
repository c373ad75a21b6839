import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyFolder, fleetCommand, startFleetCommand } from '../support/fleet-command.js';
import { hangReply, type MessagesApi, startMessagesApi } from '../support/messages-api.js';

let api: MessagesApi;
let env: Record<string, string>;
beforeEach(async () => {
  api = await startMessagesApi({ reply: () => hangReply });
  env = { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: api.url, TMPDIR: emptyFolder() };
});
afterEach(() => api.close());

function leftFolders(): string[] {
  return readdirSync(env.TMPDIR ?? '').filter((name) => name.startsWith('fleet-demo-'));
}

async function workerOf(parent: number | undefined): Promise<number> {
  const { stdout } = await execa('ps', ['-o', 'pid=,args=', '--ppid', String(parent)]);
  const line = stdout.split('\n').find((process) => process.endsWith('main.js worker'));
  return Number.parseInt(line ?? '', 10);
}

describe('fleet demo that cannot go on', () => {
  it('refuses a wrong environment before it starts anything', async () => {
    const { stderr, exitCode } = await fleetCommand(['demo'], {
      env: { ...env, FLEET_CONCURRENCY: 'abc' },
      endsAtOnce: true,
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('FLEET_CONCURRENCY');
    expect(leftFolders()).toEqual([]);
  });

  it('says that its worker died, and ends', async () => {
    const running = startFleetCommand(['demo'], { env });
    await api.arrived(1);
    const exited = once(running.child, 'exit');
    process.kill(await workerOf(running.child.pid), 'SIGKILL');
    expect((await exited)[0]).toBe(2);
    expect(running.lines.join('\n')).toContain('the worker of the demo ended (SIGKILL)');
    expect(leftFolders()).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s: cleans up and exits with %i', async (signal, code) => {
    const running = startFleetCommand(['demo'], { env });
    await api.arrived(1);
    const worker = await workerOf(running.child.pid);
    expect(await running.end(signal)).toBe(code);
    expect(leftFolders()).toEqual([]);
    expect(() => process.kill(worker, 0)).toThrow('ESRCH');
  });
});
