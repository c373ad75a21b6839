import type { Agent, AgentAnswer, AgentRequest, AgentRunner, WorkLog } from '../agents/agent-runner.js';
import type { ScriptAnalyst } from '../agents/script-analyst.js';
import type { JobFiles } from '../agents/workspace/job-files.js';
import type { ContaminationChecker } from '../contamination/contamination-checker.js';
import type { Solution } from '../queues/common.js';
import type { JobFailure } from '../queues/failure.js';
import type { BuiltInKindName, KindRef, PayloadInputOf, PayloadOf, ResultOf } from '../queues/registry.js';
import type { CheckStatus, SolutionCheckResult } from '../queues/solution-check.js';
import type { ContaminationSettings } from '../queues/test-case.js';
import type { Trials } from '../trial/trials.js';

export interface ChildOptions<Else = never> {
  /** Name of the child, different for each child of a job. */
  readonly name: string;
  /** Result of a child that failed permanently; default: the job fails with `child-failed`. */
  readonly orElse?: Else;
  /** The same, made from the failure. */
  readonly onFailure?: (failure: JobFailure) => Else;
  /** Maximum number of attempts of a job in a pipeline queue; default 1. */
  readonly attempts?: number;
}

/** One of several children that run at the same time. */
export interface ChildRequest {
  /** A kind, or a pipeline queue. */
  readonly queue: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly options: ChildOptions<unknown>;
}

/** An evaluation of the pipeline's that starts once its script was checked for leakage. */
export interface ChildEvaluation {
  readonly solution: Solution;
  /** The pipeline's queue. Its worker gets the script from `checkedSolution`. */
  readonly queue: string;
  /** The pipeline's own data. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Maximum number of attempts of the evaluation; default 1. */
  readonly attempts?: number;
  readonly workspace?: string;
  readonly model?: string;
  readonly verify?: 'agent';
  /** Runs each corrected script beside the original, in a sandbox. */
  readonly trial?: boolean;
  /** What becomes of a script with a leak that could not be corrected; default: it is evaluated. */
  readonly onUncorrected?: 'evaluate' | 'refuse';
  /** Compares the script that the check leaves with the fleet's known solutions. */
  readonly contamination?: ContaminationSettings;
  /** Evaluates a script although nobody checked its score. */
  readonly allowUnjudged?: boolean;
  /** Statuses of the checks without which the script is not evaluated; said instead of `onUncorrected`. */
  readonly require?: {
    readonly leakage?: readonly CheckStatus[] | undefined;
    readonly contamination?: 'clean' | undefined;
  };
}

/** How an evaluation ended: with what the pipeline's worker returned, or with a failure of it or of the check. */
export type EvaluationOutcome =
  | { readonly check: SolutionCheckResult; readonly returned: unknown }
  /** The check is absent if it failed. */
  | { readonly check?: SolutionCheckResult; readonly failure: JobFailure };

/**
 * Starts child jobs and waits for them. The job frees its slot meanwhile: the first time, these functions throw
 * `WaitForChildren`, which the processor must not catch. When all children have ended, the processor runs again from its
 * beginning, on any worker. Its agent calls are then replayed from the ledger, and these functions return what the children
 * returned. So each attempt must start the same children with the same payloads.
 */
export interface ChildWork {
  /**
   * Runs a job of a kind, named or by its definition.
   * @throws PayloadError if the payload breaks the contract; JobError `child-failed`, `child-changed`, `child-limit`.
   */
  child<K extends KindRef, Else = never>(
    kind: K,
    payload: PayloadInputOf<K>,
    options: ChildOptions<Else>,
  ): Promise<ResultOf<K> | Else>;
  /** Runs a job in a pipeline queue, whose workers return any JSON value. */
  childIn(
    queue: string,
    payload: Readonly<Record<string, unknown>>,
    options: ChildOptions<unknown>,
  ): Promise<unknown>;
  /** Runs several jobs at the same time. @returns their results in the order of the requests. */
  children(requests: readonly ChildRequest[]): Promise<unknown[]>;
  /** Has a script checked and then evaluated (REQ-SF-022). A failure is an outcome too. */
  evaluation(evaluation: ChildEvaluation, options: Pick<ChildOptions, 'name'>): Promise<EvaluationOutcome>;
  /** Ids of the children that this attempt has requested, by name. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Options of one request to an agent. */
export interface AskOptions {
  /** Names the request within its job; default: the agent's name, with the number of a repeated request. */
  readonly step?: string | undefined;
  /** Overrides the agent's model. */
  readonly model?: string | undefined;
  /** Directory that the agent may read below, if it has the tool. */
  readonly workspace?: string | undefined;
  /** The answer must be the model's own: never that of another job, even with `reuse: 'fleet'`. */
  readonly independent?: boolean | undefined;
}

/** What a processor gets besides its payload. */
export interface Work {
  readonly runner: AgentRunner;
  /**
   * Sends a request to an agent. The ledger records the call: a later attempt gets the recorded answer and pays nothing, if it
   * makes the same requests in the same order.
   * @throws AgentError if there is no usable answer; CallRefusedError if the call may not be sent; PromptError
   *   `prompt-variable` if the variables are not those of the prompt; UsageError if an option does not exist.
   */
  ask<Output>(
    agent: Agent<Output>,
    variables?: AgentRequest<Output>['variables'],
    options?: AskOptions,
  ): Promise<AgentAnswer<Output>>;
  /** Analyzes whole scripts and outputs, if that takes long outside the worker's event loop. */
  readonly analyst: ScriptAnalyst;
  /** What the job's agents may read. */
  readonly files?: JobFiles;
  /** Checks outputs against the fleet's known solutions. */
  readonly contamination: ContaminationChecker;
  /** Runs scripts on made-up data, in a sandbox. */
  readonly trials: Trials;
  /** Aborted when the job is cancelled, or its worker must stop. */
  readonly signal: AbortSignal;
  /** Lines go to the job (the dashboard shows them) and to the worker's log. */
  readonly log: WorkLog;
  /** Starts jobs that this one waits for. */
  readonly jobs: ChildWork;
  /** Reports the current step, as in `correcting 2/3`. */
  progress(step: string): void;
}

/** What processors need that start no other jobs and compare nothing with known solutions: it can be had without a fleet. */
export type LocalWork = Pick<Work, 'runner' | 'analyst' | 'files' | 'trials' | 'signal' | 'log' | 'progress'>;

/** Turns a validated payload into a result. Throws a FleetError if it cannot. */
export type Processor<K extends BuiltInKindName> = (
  payload: PayloadOf<K>,
  work: Work,
) => Promise<ResultOf<K>>;
