import { z } from 'zod';
import { PromptRegistry } from '../agents/prompt-registry.js';
import { assertWorkspaceRoots } from '../agents/workspace/assert-roots.js';
import type { WorkspacePolicy } from '../agents/workspace/workspace-policy.js';
import type { CallControlOptions } from '../calls/call-control.js';
import { firstProblem } from '../config/json-setting.js';
import { ModelLimitsSchema } from '../config/model-limits.js';
import { UsageError } from '../errors.js';
import { type OptionNames, rejectUnknownOptions } from '../known-options.js';
import { TEXT_LIMIT_NAMES } from '../producers/fleet-client.js';
import { TRIAL_SETTING_NAMES } from '../trial/settings.js';
import type { ComputeLimits } from './two-lanes.js';
import type { WorkerOptions } from './worker.js';

const WORKER_OPTIONS: OptionNames<WorkerOptions> = {
  redisUrl: true,
  waitForSlow: true,
  prefix: true,
  runner: true,
  logger: true,
  kinds: true,
  kindsFrom: true,
  redisTimeoutMs: true,
  concurrency: true,
  lockMs: true,
  newerContractDelayMs: true,
  calls: true,
  jobTimeoutMs: true,
  analysis: true,
  abortGraceMs: true,
  unhealthyMs: true,
  offloadBytes: true,
  textLimits: true,
  retentionDays: true,
  telemetry: true,
  workspaces: true,
  trials: true,
  isolatedProcess: true,
};
const CALL_OPTIONS: OptionNames<CallControlOptions> = {
  prefix: true,
  budgetUsd: true,
  callsInDoubt: true,
  reuse: true,
  answerTtlMs: true,
  limits: true,
  quotaParkMs: true,
  callWaitMs: true,
  shortWaitMs: true,
  cacheWaitMs: true,
  batches: true,
  clock: true,
  now: true,
};
const COMPUTE_LIMITS: OptionNames<ComputeLimits> = { timeoutMs: true, heapMb: true };
const WORKSPACE_POLICY: OptionNames<WorkspacePolicy> = { roots: true, allowSecrets: true };

const positive = z.number().positive();
const notNegative = z.number().nonnegative();

/** What callers without types may get wrong, and what would fail every job. */
const ValuesSchema = z.object({
  redisUrl: z.string('is missing, the address of the fleet’s Redis'),
  prefix: z.string('is missing, what the keys of the fleet begin with'),
  runner: z.looseObject({}, 'is missing; createRunner or createAnthropicRunner makes one'),
  logger: z.looseObject({}, 'is missing; createLogger makes one'),
  concurrency: z.number().int().min(1),
  lockMs: positive,
  redisTimeoutMs: positive.optional(),
  newerContractDelayMs: notNegative.optional(),
  jobTimeoutMs: positive.optional(),
  abortGraceMs: notNegative.optional(),
  unhealthyMs: positive.optional(),
  offloadBytes: notNegative.optional(),
  retentionDays: positive.optional(),
});

/**
 * Asserts that a worker can start with its options, and with the prompts of FLEET_PROMPTS.
 * @throws PayloadError naming an option that does not exist; UsageError naming one that cannot be used; ConfigurationError
 *   naming a directory for workspaces; PromptError naming a prompt.
 */
export function assertWorkerOptions(options: WorkerOptions): void {
  rejectUnknownOptions(options, WORKER_OPTIONS);
  const { calls = {}, analysis, workspaces, textLimits, trials = {} } = options;
  rejectUnknownOptions(calls, CALL_OPTIONS, 'calls');
  if (analysis !== undefined) rejectUnknownOptions(analysis, COMPUTE_LIMITS, 'analysis');
  if (workspaces !== undefined) rejectUnknownOptions(workspaces, WORKSPACE_POLICY, 'workspaces');
  if (textLimits !== undefined) rejectUnknownOptions(textLimits, TEXT_LIMIT_NAMES, 'textLimits');
  rejectUnknownOptions(trials, TRIAL_SETTING_NAMES, 'trials');

  const [issue] = ValuesSchema.safeParse(options).error?.issues ?? [];
  if (issue !== undefined) throw unusable(issue.path.join('.'), issue.message);
  const limits = ModelLimitsSchema.safeParse(calls.limits ?? {});
  if (!limits.success) throw unusable('calls.limits', firstProblem(limits.error));
  const { roots = [] } = workspaces ?? {};
  if (roots !== 'any') assertWorkspaceRoots(roots, 'workspaces.roots');
  PromptRegistry.shared();
}

function unusable(field: string, problem: string): UsageError {
  return new UsageError('usage', `${field}: ${problem}`, { field });
}
