/**
 * solution-fleet: contracts, producers, pure functions and agents. Importing this module loads neither the
 * Anthropic SDK nor Express: both are loaded when they are first used.
 */
/** For the schemas of kinds of one's own: those of another version of zod may not fit. */
export { z } from 'zod';
export { AgentConfig, type AgentConfigInput, type AgentDefinition } from './agents/agent-config.js';
export type {
  Agent,
  AgentAnswer,
  AgentRequest,
  AgentRunner,
  RunContext,
  WorkLog,
} from './agents/agent-runner.js';
export { AgentType } from './agents/agent-type.js';
export { createAnthropicRunner } from './agents/anthropic-runner.js';
export { DEFAULT_MODEL } from './agents/default-model.js';
export { type AgentOptions, defineAgent } from './agents/define-agent.js';
export { createOfflineRunner } from './agents/offline-runner.js';
export { createOpenAiRunner } from './agents/openai-runner.js';
export {
  type ExtractorOutput,
  ExtractorOutputSchema,
  type LeakageDetectionOutput,
  LeakageDetectionOutputSchema,
} from './agents/outputs.js';
export { PromptRegistry } from './agents/prompt-registry.js';
export { describeConfig, loadConfig } from './config/load-config.js';
export { type Config, SETTINGS } from './config/settings.js';
export {
  type ContaminationConfig,
  ContaminationDetector,
  type ContaminationResult,
  DEFAULT_CONTAMINATION_CONFIG,
  EXPECTED_SOLVE_TIMES,
  getContaminationDetector,
  type KnownSolution,
  resetContaminationDetector,
  type TestCase,
} from './contamination/index.js';
export * from './errors.js';
export { analyzeLeakage, type LeakageAnalysis, type LeakFinding, repairLeak } from './leakage/index.js';
export { defineKind, type Kind, type KindDefinition } from './processors/define-kind.js';
export {
  checkAndFixLeakage,
  type LeakageCheckOptions,
} from './processors/leakage-check/check-and-fix-leakage.js';
export type { AskOptions, ChildOptions, ChildRequest, ChildWork, Work } from './processors/processor.js';
export { addJob } from './producers/add-job.js';
export { addJobs, type BatchItem, type BatchItemOutcome } from './producers/add-jobs.js';
export type { AddOptions } from './producers/add-options.js';
export { cancelJob } from './producers/cancel-job.js';
export { addContamination } from './producers/contamination.js';
export {
  type DeadLetter,
  type DeadLetterAction,
  type DeadLetterFilter,
  discardDeadLetters,
  getDeadLetter,
  listDeadLetters,
  retryDeadLetters,
} from './producers/dead-letters.js';
export {
  type Disagreement,
  type DisagreementFilter,
  type DisputedLeak,
  listDisagreements,
} from './producers/disagreements.js';
export { addExtract } from './producers/extract.js';
export { FleetClient, type FleetClientOptions } from './producers/fleet-client.js';
export { type BatchOutcome, batchOutcomes } from './producers/flows/batch-outcomes.js';
export {
  addCandidateBatch,
  type Candidate,
  type CandidateBatch,
} from './producers/flows/candidate-batch.js';
export { type CheckedSolution, checkedSolution } from './producers/flows/checked-solution.js';
export { addGuardedEvaluation, type GuardedEvaluation } from './producers/flows/guarded-evaluation.js';
export { addRefinementStep, type RefinementStep } from './producers/flows/refinement-step.js';
export { JobHandle, QueuedJob } from './producers/job-handle.js';
export { type FollowUpView, JOB_STATES, type JobState, type JobView } from './producers/job-view.js';
export {
  addKnownSolutions,
  knownSolutionsOf,
  removeKnownSolutions,
} from './producers/known-solutions.js';
export { type ListFilter, listJobs } from './producers/list-jobs.js';
export { addRefinementLoop } from './producers/refinement-loop.js';
export { retryJob } from './producers/retry-job.js';
export { addSolutionCheck } from './producers/solution-check.js';
export type { SubmitOutcome } from './producers/submit-once.js';
export { addSummarize } from './producers/summarize.js';
export { type WaitOptions, waitForJob } from './producers/wait-for-job.js';
export { CONTRACT_VERSION, RESERVED_TAGS, type Solution, SolutionSchema } from './queues/common.js';
export {
  type ContaminationPayload,
  ContaminationPayloadSchema,
  ContaminationResultSchema,
} from './queues/contamination.js';
export { digestOf } from './queues/digest.js';
export {
  type ExtractPayload,
  ExtractPayloadSchema,
  type ExtractResult,
  ExtractResultSchema,
} from './queues/extract.js';
export type { FollowUp } from './queues/follow-ups/contract.js';
export type { JobDefaults, JobKind, KindLimits } from './queues/kind.js';
export {
  type RefinementLoopPayload,
  RefinementLoopPayloadSchema,
  type RefinementLoopResult,
  RefinementLoopResultSchema,
} from './queues/refinement-loop.js';
export {
  type NewBlockAnswer,
  NewBlockAnswerSchema,
  type NewBlockRequest,
  NewBlockRequestSchema,
} from './queues/refinement-requests.js';
export {
  KIND_NAMES,
  KINDS,
  type KindName,
  type KindRef,
  type PayloadInputOf,
  type PayloadOf,
  type ResultOf,
} from './queues/registry.js';
export {
  type Finding,
  FindingSchema,
  type RequiredStatuses,
  type Severity,
  type SolutionCheckPayload,
  SolutionCheckPayloadSchema,
  type SolutionCheckResult,
  SolutionCheckResultSchema,
} from './queues/solution-check.js';
export {
  type SummarizePayload,
  SummarizePayloadSchema,
  type SummarizeResult,
  SummarizeResultSchema,
} from './queues/summarize.js';
export type { ContaminationSettings, ScriptContamination } from './queues/test-case.js';
export { type Usage, UsageSchema } from './queues/usage.js';
export { DEFAULT_TEXT_LIMITS, parsePayload, type TextLimits } from './queues/validate.js';
export {
  extractCodeBlock,
  type LocatedBlock,
  locateBlock,
  parsesAsPython,
  replaceBlock,
  validateCodeBlock,
} from './solution/index.js';
export type { TrialSettings } from './trial/settings.js';
export { Trials } from './trial/trials.js';
