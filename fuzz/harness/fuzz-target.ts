import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seedOf } from '../../chaos/random.js';
import { InputSource } from '../inputs/source.js';
import type { Input, Target } from '../target.js';
import { sizeOf } from './bounds.js';
import { Executor } from './executor.js';
import { minimize } from './minimize.js';
import type { RunResult } from './run-result.js';

export interface FuzzOptions {
  readonly seed: number;
  /** How long to run, in milliseconds; the current input is finished. */
  readonly durationMs: number;
  /** Maximum of inputs, if the time allows more. */
  readonly maxInputs?: number;
  /** Time for making one failing input smaller, in milliseconds. */
  readonly minimizeMs: number;
  /** Folder of the inputs that fail. */
  readonly folder: string;
  /** Runs the inputs; it is closed at the end. */
  readonly executor?: Executor;
  say(line: string): void;
}

interface Finding {
  readonly target: string;
  readonly iteration: number;
  readonly result: Extract<RunResult, { kind: 'failed' }>;
  /** File with the smaller input. */
  readonly file: string;
  readonly size: number;
  /** How many inputs failed with this signature. */
  times: number;
}

export interface TargetReport {
  readonly target: string;
  readonly inputs: number;
  readonly refused: number;
  readonly durationMs: number;
  /** The most processor time that one input took, in milliseconds. */
  readonly maxCpuMs: number;
  readonly findings: readonly Finding[];
}

/** The input of one iteration; it depends only on the seed, the target's name and the iteration. */
export function inputOf(target: Target, seed: number, iteration: number, maxSize?: number): Input {
  return target.generate(new InputSource(seedOf(seed, `${target.name}:${iteration}`), maxSize));
}

/** A new folder for failing inputs, outside of the repository. */
export function crashFolder(): string {
  return mkdtempSync(join(tmpdir(), 'fleet-fuzz-'));
}

/** Runs generated inputs of one target until the time is over. */
export async function fuzzTarget(target: Target, options: FuzzOptions): Promise<TargetReport> {
  const { seed, durationMs, maxInputs = Number.POSITIVE_INFINITY } = options;
  const executor = options.executor ?? new Executor(target.name);
  const findings = new Map<string, Finding>();
  const start = performance.now();
  let refused = 0;
  let maxCpuMs = 0;
  let iteration = 0;
  try {
    for (; iteration < maxInputs && performance.now() - start < durationMs; iteration += 1) {
      const input = inputOf(target, seed, iteration);
      // Comparing two runs of every fourth input costs a fifth of the inputs.
      const result = await executor.run(input, iteration % 4 === 0);
      if (result.kind === 'failed') {
        const known = findings.get(result.signature);
        if (known !== undefined) known.times += 1;
        else
          findings.set(result.signature, await recorded(target, iteration, input, result, executor, options));
      } else {
        maxCpuMs = Math.max(maxCpuMs, result.cpuMs);
        if (result.kind === 'refused') refused += 1;
      }
    }
  } finally {
    await executor.close();
  }
  return {
    target: target.name,
    inputs: iteration,
    refused,
    durationMs: performance.now() - start,
    maxCpuMs,
    findings: [...findings.values()],
  };
}

async function recorded(
  target: Target,
  iteration: number,
  input: Input,
  result: Finding['result'],
  executor: Executor,
  { folder, minimizeMs, say, seed }: FuzzOptions,
): Promise<Finding> {
  mkdirSync(folder, { recursive: true });
  const base = join(folder, `${target.name}-${seed}-${iteration}`);
  writeFileSync(`${base}.full.json`, JSON.stringify([target.name, ...input]));
  const fails = async (smaller: Input) => {
    const again = await executor.run(smaller);
    return again.kind === 'failed' && again.signature === result.signature;
  };
  const small = await minimize(input, fails, minimizeMs);
  const file = `${base}.json`;
  writeFileSync(file, JSON.stringify([target.name, ...small.input]));
  const size = sizeOf(small.input);
  say(
    [
      `FINDING ${target.name}, iteration ${iteration}: ${result.signature}`,
      `  ${result.detail.split('\n').slice(0, 6).join('\n  ')}`,
      `  input of ${sizeOf(input)} characters, made smaller to ${size}: npm run fuzz -- --replay ${file}`,
    ].join('\n'),
  );
  return { target: target.name, iteration, result, file, size, times: 1 };
}
