import type { WorkspacePolicy } from '../../agents/workspace/workspace-policy.js';
import type { KindName } from '../../queues/registry.js';
import type { ProcessedJob } from '../process-job.js';
import type { ComputeLimits } from '../two-lanes.js';
import type { WireError } from './wire-error.js';

/** What a worker's configuration does not say, or says otherwise for this worker. */
export interface QuarantineSettings {
  readonly redisUrl: string;
  readonly prefix: string;
  /** Where agents may read. */
  readonly workspaces: WorkspacePolicy;
  /** What computing over one text may take. */
  readonly computeLimits: ComputeLimits;
}

/** A job to be processed apart: plain data. */
export interface QuarantinedJob {
  readonly kind: KindName;
  readonly payload: unknown;
  readonly job: ProcessedJob;
}

/** What a worker tells its quarantine. */
export type ToQuarantine =
  | ({ readonly tell: 'settings' } & QuarantineSettings)
  | ({ readonly tell: 'run' } & QuarantinedJob)
  | { readonly tell: 'abort'; readonly reason: unknown };

/** What the quarantine tells its worker. */
export type FromQuarantine =
  | { readonly tell: 'ready' }
  | { readonly tell: 'begun' }
  | { readonly tell: 'line'; readonly level: 'info' | 'warn' | 'progress'; readonly text: string }
  | { readonly tell: 'result'; readonly result: unknown }
  | { readonly tell: 'error'; readonly error: WireError };
