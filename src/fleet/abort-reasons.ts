/** Why a running job is aborted: the reason of its abort signal. */
export const ABORT_REASONS = {
  cancelled: 'cancelled',
  draining: 'draining',
  lockLost: 'lock-lost',
  timeout: 'timeout',
} as const;

export type AbortReason = (typeof ABORT_REASONS)[keyof typeof ABORT_REASONS];
