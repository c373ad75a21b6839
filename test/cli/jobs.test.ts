import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  emptyFolder,
  fleetCommand,
  type RunningCommand,
  startFleetCommand,
} from '../support/fleet-command.js';
import { redisOfFile } from '../support/redis.js';

const PAYLOAD = JSON.stringify({ solution: { content: 'print(1)\n' }, tags: { run: 'night-1' } });

const redis = redisOfFile();

let prefixes = 0;
function fleet() {
  prefixes += 1;
  const prefix = `cli-${prefixes}`;
  const environment = () => ({ FLEET_REDIS_URL: redis.url, FLEET_PREFIX: prefix });
  return {
    run: (args: readonly string[], input?: string) =>
      fleetCommand(args, { env: environment(), ...(input === undefined ? {} : { input }) }),
    json: async (args: readonly string[], input?: string) => {
      const { stdout, exitCode } = await fleetCommand([...args, '--json'], {
        env: environment(),
        ...(input === undefined ? {} : { input }),
      });
      return { value: JSON.parse(stdout), exitCode };
    },
    work: async () => {
      const worker = startFleetCommand(['worker'], { env: environment() });
      await worker.printed('worker ready');
      return worker;
    },
  };
}

describe('fleet submit, get, wait, list, cancel, retry', () => {
  it('submit answers at once with the id, wait with the result', async () => {
    const { json, work } = fleet();
    const submitted = await json(['submit', 'solution-check', '--data', '-'], PAYLOAD);
    expect(submitted).toMatchObject({ exitCode: 0, value: { kind: 'solution-check', state: 'waiting' } });
    const worker = await work();
    const waited = await json(['wait', submitted.value.id]);
    expect(waited).toMatchObject({ exitCode: 0, value: { state: 'completed', result: { status: 'clean' } } });
    expect((await json(['get', submitted.value.id])).value.result).toEqual(waited.value.result);
    await worker.end('SIGTERM');
  });

  describe('with a worker', () => {
    const { json, run, work } = fleet();
    let worker: RunningCommand;
    beforeAll(async () => {
      worker = await work();
    });
    afterAll(() => worker.end('SIGTERM'));

    it('submit --wait gives the result', async () => {
      const { value, exitCode } = await json(['submit', 'solution-check', '--data', '-', '--wait'], PAYLOAD);
      expect(exitCode).toBe(0);
      expect(value).toMatchObject({
        kind: 'solution-check',
        state: 'completed',
        result: { status: 'clean' },
      });
    });

    it('submit --then starts follow-ups, and wait --no-follow does not wait for them', async () => {
      const file = join(emptyFolder(), 'then.json');
      const again = { kind: 'solution-check', name: 'again', from: { solution: 'result.solution' } };
      writeFileSync(
        file,
        JSON.stringify([again, { ...again, name: 'never', when: { status: 'corrected' } }]),
      );
      const submit = ['submit', 'solution-check', '--data', '-', '--then', file, '--wait'];
      const { stdout, exitCode } = await run(submit, PAYLOAD);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(
        /then again: completed solution-check-\w+\nthen never: skipped, status is "clean"/,
      );
      const { value } = await json([...submit, '--no-follow'], PAYLOAD);
      expect(value).toMatchObject({ result: { status: 'clean' }, followUps: [{ name: 'again' }, {}] });
      const broken = { ...again, from: { ...again.from, verify: 'result.solutionDigest' } };
      writeFileSync(file, JSON.stringify([broken]));
      const failing = await json([...submit], PAYLOAD);
      const keyed = (key: string) => json([...submit.slice(0, -1), '--key', key], PAYLOAD);
      expect((await keyed('chain')).value.outcome).toBe('created');
      expect((await keyed('chain')).value.outcome).toBe('existing');
      writeFileSync(file, JSON.stringify([again]));
      const conflict = await run([...submit, '--key', 'chain'], PAYLOAD);
      expect(conflict).toMatchObject({ exitCode: 2, stdout: '' });
      expect(conflict.stderr).toContain('(key-conflict)');
      writeFileSync(file, JSON.stringify([broken]));
      expect(failing).toMatchObject({
        exitCode: 2,
        value: { followUps: [{ error: { code: 'invalid-payload' } }] },
      });
      expect((await json([...submit, '--no-follow'], PAYLOAD)).exitCode).toBe(0);
      const twice = JSON.stringify({ ...JSON.parse(PAYLOAD), then: [] });
      expect((await run(submit, twice)).stderr).toMatch(/and so has --then: .*leave out --then \(usage\)/);
      for (const [text, problem] of [
        ['[{', 'is not JSON'],
        ['{"kind": "extract"}', 'must be a JSON list'],
      ] as const) {
        writeFileSync(file, text);
        const refused = await run(submit, PAYLOAD);
        expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
        expect(refused.stderr).toMatch(new RegExp(`--then: .*then.json ${problem}.*\\(usage\\)\\n +Correct`));
      }
    });
  });

  it('submit --wait without a Redis starts what is missing and stops it again', async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, 'payload.json'), PAYLOAD);
    const args = ['submit', 'solution-check', '--data', 'payload.json', '--wait', '--json'];
    const { stdout, exitCode } = await fleetCommand(args, { cwd });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'completed' });
  });

  it('says on standard error that nobody works on a kind', async () => {
    const { json } = fleet();
    const submitted = await json(['submit', 'solution-check', '--data', '-'], PAYLOAD);
    expect(submitted.value.state).toBe('waiting');
  });

  it('list filters by kind, state and run', async () => {
    const { json } = fleet();
    const { value } = await json(['submit', 'solution-check', '--data', '-'], PAYLOAD);
    const ids = async (...args: string[]) =>
      (await json(['list', ...args])).value.map(({ id }: { id: string }) => id);
    expect(await ids()).toEqual([value.id]);
    expect(await ids('--kind', 'solution-check', '--state', 'waiting', '--run', 'night-1')).toEqual([
      value.id,
    ]);
    expect(await ids('--state', 'completed')).toEqual([]);
    expect(await ids('--run', 'night-2')).toEqual([]);
    expect(await ids('--kind', 'summarize')).toEqual([]);
  });

  it('cancel ends a waiting job, and retry does not bring it back', async () => {
    const { json, run } = fleet();
    const { value } = await json(['submit', 'solution-check', '--data', '-'], PAYLOAD);
    expect((await json(['cancel', value.id])).value).toMatchObject({
      state: 'cancelled',
      error: { code: 'job-cancelled' },
    });
    const retried = await run(['retry', value.id]);
    expect(retried.exitCode).toBe(2);
    expect(retried.stderr).toContain('only a failed job can be run again');
    expect((await json(['wait', value.id])).exitCode).toBe(2);
  });
});

describe('fleet submit with bad input says one clear sentence and exits with 2', () => {
  it.each([
    [
      'an unknown kind',
      ['submit', 'sollution-check'],
      PAYLOAD,
      '"sollution-check" is not a kind of job here (did you mean "solution-check"?); there are: solution-check',
    ],
    ['no JSON', ['submit', 'solution-check'], '{"solution":', 'standard input is not JSON'],
    [
      'another contract',
      ['submit', 'solution-check'],
      '{"solution":{"content":"x"},"color":1}',
      'solution-check: color: unknown field',
    ],
    [
      'an empty script',
      ['submit', 'solution-check'],
      '{"solution":{"content":""}}',
      'solution.content: the script is empty',
    ],
  ])('%s', async (_what, args, input, sentence) => {
    const { run } = fleet();
    const { stdout, stderr, exitCode } = await run([...args, '--data', '-'], input);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toContain(sentence);
  });

  it('an id that nobody knows', async () => {
    const { run } = fleet();
    const { stderr, exitCode } = await run(['get', 'solution-check-nobody']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('there is no job solution-check-nobody');
  });
});

describe('fleet', () => {
  it('--version prints the version alone', async () => {
    const { stdout, exitCode } = await fleetCommand(['--version']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [['list', '--xyz'], "error: unknown option '--xyz'\n"],
    [['list', '--jso'], "error: unknown option '--jso'\n(Did you mean --json?)\n"],
    [['lists'], "error: unknown command 'lists'\n(Did you mean list?)\n"],
  ])('says of %j what is wrong with it', async (args, message) => {
    expect(await fleetCommand(args)).toMatchObject({ stderr: message, exitCode: 2 });
  });

  it.each(['check', 'submit', 'get', 'wait', 'cancel', 'retry', 'list', 'worker', 'demo', 'config'])(
    '%s --help exits with 0 and says how it is called',
    async (command) => {
      const { stdout, exitCode } = await fleetCommand([command, '--help'], { endsAtOnce: true });
      expect(exitCode).toBe(0);
      expect(stdout).toContain(`Usage: fleet ${command}`);
    },
  );

  it('config shows what is in force and from where, and no password', async () => {
    const env = { FLEET_REDIS_URL: 'redis://user:hunter2@redis.example:6379', FLEET_CONCURRENCY: '3' };
    const { stdout } = await fleetCommand(['config', '--json'], { env });
    const { settings } = JSON.parse(stdout);
    expect(settings).toContainEqual({ variable: 'FLEET_CONCURRENCY', value: 3, source: 'environment' });
    expect(settings).toContainEqual({ variable: 'FLEET_PREFIX', value: 'fleet', source: 'default' });
    expect(stdout).not.toContain('hunter2');
  });

  it('a variable that cannot be used is named', async () => {
    const { stderr, exitCode } = await fleetCommand(['list'], { env: { FLEET_CONCURRENCY: 'many' } });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('FLEET_CONCURRENCY');
  });
});
