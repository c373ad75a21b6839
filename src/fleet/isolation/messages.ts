import type { WorkspacePolicy } from '../../agents/workspace/workspace-policy.js';
import type { TrialSettings } from '../../trial/settings.js';
import type { ChildSubmission } from '../children/child-submission.js';
import type { ProcessedJob } from '../process-job.js';
import type { ComputeLimits } from '../two-lanes.js';
import type { WireError } from './wire-error.js';

/** Settings that a worker's configuration does not contain, or that differ for this worker. */
export interface IsolatedProcessSettings {
  readonly redisUrl: string;
  readonly prefix: string;
  /** Where agents may read. */
  readonly workspaces: WorkspacePolicy;
  /** Limits for computing over one text. */
  readonly computeLimits: ComputeLimits;
  /** Addresses of the modules whose kinds the worker has. */
  readonly kindsFrom: readonly string[];
  /** How children are submitted. */
  readonly submission: ChildSubmission;
  /** How scripts are run in a sandbox. */
  readonly trials: Partial<TrialSettings>;
}

/** A job for the isolated process: plain data. */
export interface IsolatedJob {
  readonly kind: string;
  readonly payload: Record<string, unknown>;
  readonly job: ProcessedJob;
}

/** Messages from a worker to its isolated process. */
export type ToIsolatedProcess =
  | ({ readonly type: 'settings' } & IsolatedProcessSettings)
  | ({ readonly type: 'run' } & IsolatedJob)
  | { readonly type: 'abort'; readonly reason: unknown };

/** Messages from the isolated process to its worker. */
export type FromIsolatedProcess =
  | { readonly type: 'ready' }
  | { readonly type: 'started' }
  | { readonly type: 'line'; readonly level: 'info' | 'warn' | 'progress'; readonly text: string }
  | { readonly type: 'result'; readonly result: unknown }
  | { readonly type: 'error'; readonly error: WireError };
