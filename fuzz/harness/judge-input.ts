import { createHash } from 'node:crypto';
import { FleetError } from '../../src/errors.js';
import { BrokenInvariant, type Input, type Subject, type Target } from '../target.js';
import { maxCpuMs } from './bounds.js';
import type { Verdict } from './verdict.js';

type Outcome =
  | { readonly kind: 'passed'; readonly data: unknown }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'thrown'; readonly thrown: unknown };

interface Timed {
  readonly outcome: Outcome;
  readonly cpuMs: number;
}

/**
 * Runs one input and judges it.
 * @param twice Whether it runs a second time, to compare the results.
 */
export async function judgeInput(
  target: Target,
  subject: Subject,
  input: Input,
  twice: boolean,
): Promise<Verdict> {
  const first = await timedRun(target, subject, input);
  const failure = failureOf(first.outcome);
  if (failure !== undefined) return failure;
  const isSlow = first.cpuMs > maxCpuMs(input);
  if (!isSlow && !(twice && target.stateful === undefined)) return verdict(first);
  // The first run may have paid for compiling and for the garbage of earlier inputs.
  const second = await timedRun(target, subject, input);
  const cpuMs = Math.min(first.cpuMs, second.cpuMs);
  if (cpuMs > maxCpuMs(input)) {
    const detail = `took ${Math.round(cpuMs)} ms of processor time, allowed are ${Math.round(maxCpuMs(input))} ms`;
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
  return verdict({ ...first, cpuMs });
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

/** A typed error is an answer, but `internal` is what an error of ours becomes when nobody expected it. */
function refusalOf(target: Target, thrown: unknown): Outcome | undefined {
  if (thrown instanceof BrokenInvariant) return undefined;
  if (thrown instanceof FleetError && thrown.code !== 'internal')
    return { kind: 'refused', code: thrown.code };
  return target.refuses?.(thrown) === true ? { kind: 'refused', code: 'refused' } : undefined;
}

function failureOf(outcome: Outcome): Verdict | undefined {
  if (outcome.kind !== 'thrown') return undefined;
  const { thrown } = outcome;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const defect = thrown instanceof BrokenInvariant ? 'invariant' : 'exception';
  const origin = defect === 'invariant' ? error.message.replace(/\d+/g, 'N').slice(0, 120) : originOf(error);
  return {
    kind: 'failed',
    defect,
    signature: `${defect} ${error.name} ${origin}`,
    detail: (error.stack ?? String(error)).slice(0, 4_000),
  };
}

/** The first place in src/ that the stack names. */
function originOf(error: Error): string {
  return /src\/[\w./-]+:\d+/.exec(error.stack ?? '')?.[0] ?? error.message.slice(0, 80);
}

function verdict({ outcome, cpuMs }: Timed): Verdict {
  return { kind: outcome.kind === 'passed' ? 'passed' : 'refused', cpuMs };
}

function fingerprintOf(outcome: Outcome): string {
  const hash = createHash('sha256');
  return hash.update(JSON.stringify(outcome) ?? 'undefined').digest('hex');
}
