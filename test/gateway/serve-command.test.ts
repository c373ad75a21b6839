import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { fleetCommand } from '../support/fleet-command.js';
import { PROGRAM_FLAGS, testProgram } from '../support/programs.js';
import { sendTo } from './gateway-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'serve-'));
const processes: ChildProcess[] = [];

afterEach(async () => {
  for (const child of processes.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

interface Run {
  readonly child: ChildProcess;
  readonly output: { out: string; err: string };
  readonly code: Promise<number | null>;
}

const env = { FLEET_DATA_DIR: folder, FLEET_AGENT: 'offline' };
const token = (...args: string[]) => fleetCommand(['token', ...args], { env });

/** The real command on the embedded Redis of a project folder. */
function fleet(args: readonly string[]): Run {
  const child = spawn(process.execPath, [...PROGRAM_FLAGS, testProgram('src/cli/main'), ...args], {
    env: { ...process.env, ...env },
  });
  processes.push(child);
  const output = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => {
    output.out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output.err += chunk;
  });
  const code = once(child, 'close').then(([status]) => status as number | null);
  return { child, output, code };
}

async function addressOf({ child, output }: Run): Promise<string> {
  if (child.stdout === null) throw new TypeError('no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening on (http:\/\/\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`it never listened:\n${output.err}`);
}

describe('fleet serve and fleet token', () => {
  it('serves with workers inside on a free port, says where, that it is taken then, and stops on SIGTERM', async () => {
    const run = fleet(['serve', '--port', '0', '--workers', '1']);
    const url = await addressOf(run);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(run.output.err).toContain('NO LOGIN');
    const body = { payload: { solution: { content: 'x = 1\n' } } };
    const job = await sendTo(url, 'POST', '/v1/jobs/solution-check?wait=30s', body);
    expect(job.json).toMatchObject({ state: 'completed', result: { status: 'clean' } });
    const { port } = new URL(url);
    const taken = fleet(['serve', '--port', port]);
    expect(await taken.code).toBe(2);
    expect(taken.output.err).toContain(`port ${port}`);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    expect(run.output.out.trim().split('\n')).toEqual([`listening on ${url}`]);
  });

  it('refuses to listen beyond this machine without a token, and takes the one that was made', async () => {
    const refused = fleet(['serve', '--port', '0', '--host', '0.0.0.0']);
    expect(await refused.code).toBe(2);
    expect(refused.output.err).toContain('fleet token add');
    const made = await token('add', 'ci', '--role', 'read');
    expect(made.exitCode).toBe(0);
    const text = made.stdout.trim();
    expect(text).toMatch(/^fleet_[0-9a-f]{12}_[\w-]{43}$/);
    const run = fleet(['serve', '--port', '0', '--host', '0.0.0.0']);
    const url = (await addressOf(run)).replace('0.0.0.0', '127.0.0.1');
    const status = async () =>
      (await sendTo(url, 'GET', '/v1/jobs', undefined, { authorization: `Bearer ${text}` })).status;
    expect(await status()).toBe(200);
    expect((await sendTo(url, 'GET', '/v1/jobs')).status).toBe(401);
    const list = await token('list', '--json');
    expect(list.exitCode).toBe(0);
    const [record] = JSON.parse(list.stdout);
    expect(record).toMatchObject({ name: 'ci', role: 'read' });
    expect((await token('revoke', record.id)).exitCode).toBe(0);
    expect(await status()).toBe(401);
    run.child.kill('SIGINT');
    expect(await run.code).toBe(0);
    expect(run.output.err).not.toContain(text);
  });

  it('says in one sentence what is wrong with an option', async () => {
    const wrong = fleet(['serve', '--port', '70000']);
    expect(await wrong.code).toBe(2);
    expect(wrong.output.err).toContain('0 to 65535');
  });
});
