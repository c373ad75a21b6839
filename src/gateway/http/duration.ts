import { z } from 'zod';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };
/** Default wait, in milliseconds. */
const DEFAULT_WAIT_MS = 30_000;
/** Longest wait, in milliseconds; a longer one is cut to it. */
export const MAX_WAIT_MS = 300_000;

/** A time to wait: `30s`, `500ms`, `2m`, a number of seconds, or nothing for the default. In milliseconds. */
export const WaitSchema = z
  .string()
  .regex(/^(\d{1,9}(ms|s|m)?)?$/, 'must be a time such as 30s, 500ms or 2m')
  .transform((text) => {
    if (text === '') return DEFAULT_WAIT_MS;
    const [, number = '0', unit = 's'] = /^(\d+)(ms|s|m)?$/.exec(text) ?? [];
    return Math.min(Number(number) * (UNITS[unit] ?? 1), MAX_WAIT_MS);
  });

const waitParameter = WaitSchema.optional().describe(
  'Wait so long for the end of the job: 30s, 500ms, 2m; at most 5m.',
);

/** The query of a request that can wait for a job. */
export const ClaimQuery = z.strictObject({ wait: waitParameter });

/** The query of a request that can wait for a job's end. */
export const WaitQuery = z.strictObject({
  wait: waitParameter,
  follow: z
    .stringbool()
    .optional()
    .describe('false: wait for the result of the job, and not for its follow-ups; default: true.'),
});

/** How long a request waits for a job, in milliseconds, and whether for its follow-ups too. */
export interface Wait {
  readonly wait: number;
  readonly follow?: boolean | undefined;
}

export function isWait(query: z.infer<typeof WaitQuery>): query is Wait {
  return query.wait !== undefined;
}
