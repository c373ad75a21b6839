import { z } from 'zod';

/** A route of the board that changes something and that this gateway allows. */
interface BoardRoute {
  readonly method: 'PUT' | 'PATCH';
  /** Below `/api/queues/`; `:job` is the id of a job, `:queue` the name of a queue. */
  readonly path: string;
  /** States that the last part may name. */
  readonly states?: readonly string[];
  /** Schema of the body; absent: no body is read. */
  readonly body?: z.ZodType;
  /** What this gateway does instead of the board, as its API does it. */
  readonly own?: 'retry-job' | 'retry-failed';
}

const MS_A_YEAR = 366 * 86_400_000;
const count = z.int().min(0).max(100_000);

/**
 * All changes that the board allows, in the board's own order. Others are rejected, so a newer version of the board cannot
 * add one unnoticed.
 */
const BOARD_ROUTES: readonly BoardRoute[] = [
  { method: 'PUT', path: 'pause' },
  { method: 'PUT', path: 'resume' },
  { method: 'PUT', path: ':queue/retry/:state', states: ['failed'], own: 'retry-failed' },
  { method: 'PUT', path: ':queue/promote' },
  {
    method: 'PUT',
    path: ':queue/clean/:state',
    states: ['completed', 'failed', 'delayed', 'waiting', 'prioritized', 'active'],
  },
  { method: 'PUT', path: ':queue/pause' },
  { method: 'PUT', path: ':queue/resume' },
  { method: 'PUT', path: ':queue/concurrency', body: z.strictObject({ concurrency: count }) },
  {
    method: 'PUT',
    path: ':queue/rate-limit',
    body: z.strictObject({
      max: count.min(1).nullable().optional(),
      duration: z.int().min(1).max(MS_A_YEAR).nullable().optional(),
    }),
  },
  { method: 'PUT', path: ':queue/rate-limit/release' },
  { method: 'PUT', path: ':queue/empty' },
  // Running jobs are not removed under their workers: they are cancelled first.
  { method: 'PUT', path: ':queue/obliterate', body: z.strictObject({ force: z.literal(false).optional() }) },
  { method: 'PUT', path: ':queue/:job/retry', own: 'retry-job' },
  { method: 'PUT', path: ':queue/:job/clean' },
  { method: 'PUT', path: ':queue/:job/promote' },
  {
    method: 'PATCH',
    path: ':queue/:job/delay',
    body: z.strictObject({
      runAt: z.int().refine((at) => at <= Date.now() + MS_A_YEAR, 'must lie within a year'),
    }),
  },
];

const SUBMIT =
  'jobs are submitted through the API, which checks their payload, their options and their state';
const SCHEDULERS = 'the fleet has no job schedulers, and a job that one makes would be checked by nobody';

/** Why the board's other routes are disabled, by the last part of their path. */
export const REASONS: Readonly<Record<string, string>> = {
  add: SUBMIT,
  'update-data': `the id, the key and the checks of a job depend on its data, and a worker may use them; ${SUBMIT}`,
  priority: 'the order of jobs is computed from tenants and the priority of their submission',
  'remove-unprocessed-children':
    'a job does not run without the children that it waits for; cancel it instead',
  retry: 'only jobs that failed can be run again',
  obliterate: 'a queue is removed without force, once no job of it runs',
  'job-schedulers': SCHEDULERS,
  run: SCHEDULERS,
  remove: SCHEDULERS,
};

export interface BoardMatch {
  readonly route: BoardRoute;
  readonly queue: string | undefined;
  readonly job: string | undefined;
}

/** The route of a request that changes something; undefined if it is not allowed. */
export function matchRoute(method: string, parts: readonly string[]): BoardMatch | undefined {
  for (const route of BOARD_ROUTES) {
    const names = route.path.split('/');
    if (route.method !== method || names.length !== parts.length) continue;
    const params: Record<string, string> = {};
    const fits = names.every((name, index) => {
      const part = parts[index] ?? '';
      if (!name.startsWith(':')) return name === part;
      params[name] = part;
      return part !== '';
    });
    if (!fits) continue;
    // The first route that matches, as on the board.
    const allowed = route.states === undefined || route.states.includes(params[':state'] ?? '');
    return allowed ? { route, queue: params[':queue'], job: params[':job'] } : undefined;
  }
  return undefined;
}
