import { readFileSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { checkInput } from '../../fuzz/harness/check-input.js';
import { Executor } from '../../fuzz/harness/executor.js';
import { crashFolder, fuzzTarget, inputOf } from '../../fuzz/harness/fuzz-target.js';
import { minimize } from '../../fuzz/harness/minimize.js';
import type { Target } from '../../fuzz/target.js';
import { TARGETS } from '../../fuzz/targets/index.js';
import { testProgram } from '../support/programs.js';
import { TARGETS as BROKEN } from './broken-targets.js';

const SEED = 1;
/** Inputs of each target, and their longest text: a few seconds for all of them. */
const INPUTS = 3;
const MAX_SIZE = 2_000;

const folder = crashFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('every parser of text that comes from outside', () => {
  it.each(TARGETS.map((target) => [target.name, target] as const))(
    '%s keeps its promises',
    async (_, target) => {
      const subject = await target.open();
      try {
        for (let iteration = 0; iteration < INPUTS; iteration += 1) {
          const input = inputOf(target, SEED, iteration, MAX_SIZE);
          const result = await checkInput(target, subject, input, iteration % 4 === 0);
          const found = result.kind === 'failed' ? `${result.signature}: ${result.detail}` : undefined;
          expect(found, JSON.stringify([target.name, ...input])).toBeUndefined();
        }
      } finally {
        await subject.close?.();
      }
    },
  );

  it('gets the same inputs for the same seed, and others for another', () => {
    for (const target of TARGETS) {
      const inputs = (seed: number) =>
        [1, 2, 3].map((iteration) => inputOf(target, seed, iteration, MAX_SIZE));
      expect(inputs(5)).toEqual(inputs(5));
      expect(inputs(5)).not.toEqual(inputs(6));
    }
  });
});

/** Processor time that inputs may take here, in milliseconds. */
const ORDINARY_MS = 100;
const module = pathToFileURL(testProgram('test/fuzz/broken-targets')).href;
const program = testProgram('fuzz/harness/child');

function brokenTarget(name: string): Target {
  const target = BROKEN.find((each) => each.name === name);
  if (target === undefined) throw new Error(`there is no target ${name}`);
  return target;
}

describe('what breaks on purpose is found', () => {
  it.each([
    ['exception', 'exception'],
    ['internal', 'exception'],
    ['invariant', 'invariant'],
    ['not-deterministic', 'not-deterministic'],
    ['slow', 'slow'],
  ])('%s, as %s', async (name, defect) => {
    const target = brokenTarget(name);
    const subject = await target.open();
    expect(await checkInput(target, subject, ['x'], true, ORDINARY_MS)).toMatchObject({
      kind: 'failed',
      defect,
    });
    expect(await checkInput(target, subject, ['y'], true, ORDINARY_MS)).toMatchObject({ kind: 'passed' });
  });

  it('a refusal of the contract is none', async () => {
    const target = brokenTarget('refusal');
    const subject = await target.open();
    expect(await checkInput(target, subject, ['x'], true, ORDINARY_MS)).toMatchObject({ kind: 'refused' });
  });

  it('what ends its process, or has to be ended, in each way; the next input gets another', async () => {
    const executor = new Executor('deadly', { module, program, ordinaryMs: ORDINARY_MS, heapMb: 48 });
    for (const [input, defect] of [
      ['endless', 'slow'],
      ['crash', 'crash'],
      ['rejection', 'crash'],
      ['heap', 'heap'],
    ] as const) {
      expect(await executor.run([input])).toMatchObject({ kind: 'failed', defect });
    }
    expect(await executor.run(['y'])).toMatchObject({ kind: 'passed' });
    await executor.close();
  });

  it('in a run: once for each origin, with a smaller input in a file', async () => {
    const executor = new Executor('exception', { module, program, ordinaryMs: ORDINARY_MS });
    const said: string[] = [];
    const say = (line: string) => void said.push(line);
    const options = {
      seed: SEED,
      durationMs: 60_000,
      maxInputs: 12,
      minimizeMs: 60_000,
      folder,
      say,
      executor,
    };
    const { findings, inputs } = await fuzzTarget(brokenTarget('exception'), options);
    expect(inputs).toBe(12);
    expect(findings).toHaveLength(1);
    const [{ file = '', times = 0 } = {}] = findings;
    expect(times).toBeGreaterThan(1);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(['exception', 'x']);
    expect(said.join()).toContain(`npm run fuzz -- --replay ${file}`);
  });
});

describe('making an input smaller', () => {
  it('leaves what the failure needs', async () => {
    const fails = async ([text = '', other = '']: readonly string[]) =>
      text.includes('ab') && other.endsWith('c');
    const { input, tries } = await minimize(['some ab text '.repeat(20), 'more text, and c'], fails, 60_000);
    expect(input).toEqual(['ab', 'c']);
    expect(tries).toBeLessThanOrEqual(300);
  });
});
