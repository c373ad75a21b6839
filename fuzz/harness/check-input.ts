import { createHash } from 'node:crypto';
import { FleetError } from '../../src/errors.js';
import { BrokenInvariant, type Input, type Subject, type Target } from '../target.js';
import { MAX_CPU_MS, maxCpuMs } from './bounds.js';
import type { RunResult } from './run-result.js';

type Outcome =
  | { readonly kind: 'passed'; readonly data: unknown }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'thrown'; readonly thrown: unknown };

interface Timed {
  readonly outcome: Outcome;
  readonly cpuMs: number;
}

/**
 * Runs one input and checks it.
 * @param twice Whether it runs twice, to compare the results.
 * @param ordinaryMs Processor time that an input of ordinary size may take.
 */
export async function checkInput(
  target: Target,
  subject: Subject,
  input: Input,
  twice: boolean,
  ordinaryMs = MAX_CPU_MS,
): Promise<RunResult> {
  const allowedMs = maxCpuMs(input, ordinaryMs) * (target.tasks ?? 1);
  const first = await timedRun(target, subject, input);
  const failure = failureOf(first.outcome);
  if (failure !== undefined) return failure;
  const isSlow = first.cpuMs > allowedMs;
  if (!isSlow && !(twice && target.stateful === undefined)) return runResult(first);
  // The first run may have paid for compiling and for the garbage of earlier inputs.
  const second = await timedRun(target, subject, input);
  const cpuMs = Math.min(first.cpuMs, second.cpuMs);
  if (cpuMs > allowedMs) {
    const detail = `took ${Math.round(cpuMs)} ms of processor time, allowed are ${Math.round(allowedMs)} ms`;
    return { kind: 'failed', defect: 'slow', signature: 'slow', detail };
  }
  if (target.stateful === undefined && fingerprintOf(first.outcome) !== fingerprintOf(second.outcome)) {
    return {
      kind: 'failed',
      defect: 'not-deterministic',
      signature: 'not-deterministic',
      detail: 'a second run gave another result',
    };
  }
  return runResult({ ...first, cpuMs });
}

async function timedRun(target: Target, subject: Subject, input: Input): Promise<Timed> {
  const start = process.cpuUsage();
  let outcome: Outcome;
  try {
    outcome = { kind: 'passed', data: await subject.run(input) };
  } catch (thrown) {
    outcome = refusalOf(target, thrown) ?? { kind: 'thrown', thrown };
  }
  const { user, system } = process.cpuUsage(start);
  return { outcome, cpuMs: (user + system) / 1_000 };
}

/** A typed error is a valid result, except for `internal`, which wraps unexpected errors. */
function refusalOf(target: Target, thrown: unknown): Outcome | undefined {
  if (thrown instanceof BrokenInvariant) return undefined;
  if (thrown instanceof FleetError && thrown.code !== 'internal')
    return { kind: 'refused', code: thrown.code };
  return target.refuses?.(thrown) === true ? { kind: 'refused', code: 'refused' } : undefined;
}

function failureOf(outcome: Outcome): RunResult | undefined {
  if (outcome.kind !== 'thrown') return undefined;
  const { thrown } = outcome;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const defect = thrown instanceof BrokenInvariant ? 'invariant' : 'exception';
  const cause = deepestCause(error);
  const origin = defect === 'invariant' ? withoutValues(error.message) : originOf(cause);
  const what = cause === error ? '' : `${withoutValues(error.message)}: `;
  return {
    kind: 'failed',
    defect,
    signature: `${defect} ${what}${cause.name} ${origin}`,
    detail: `${cause === error ? '' : `${error.message}: `}${cause.stack ?? String(cause)}`.slice(0, 4_000),
  };
}

function deepestCause(error: Error): Error {
  return error.cause instanceof Error ? deepestCause(error.cause) : error;
}

/** A message without the parts that differ between inputs. */
function withoutValues(message: string): string {
  return message.replace(/[\d"'].*/s, '').slice(0, 120);
}

/** The first location in src/ of the stack. */
function originOf(error: Error): string {
  return /src\/[\w./-]+:\d+/.exec(error.stack ?? '')?.[0] ?? withoutValues(error.message);
}

function runResult({ outcome, cpuMs }: Timed): RunResult {
  return { kind: outcome.kind === 'passed' ? 'passed' : 'refused', cpuMs };
}

function fingerprintOf(outcome: Outcome): string {
  const hash = createHash('sha256');
  return hash.update(JSON.stringify(outcome) ?? 'undefined').digest('hex');
}
