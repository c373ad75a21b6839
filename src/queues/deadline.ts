import { z } from 'zod';

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** The longest time until a deadline, in milliseconds: a year. */
const MAX_MS = 365 * UNITS_MS.d;

/**
 * A deadline in milliseconds since 1970; undefined if the text is none.
 * @param text A time in ISO 8601 with its zone, or a duration from now: `+90m`, `+6h`, `+2d`.
 */
export function deadlineOf(text: string, now: number): number | undefined {
  const [, amount, unit] = /^\+(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) {
    const ms = Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
    return ms <= MAX_MS ? now + ms : undefined;
  }
  if (!z.iso.datetime({ offset: true }).safeParse(text).success) return undefined;
  const at = Date.parse(text);
  return Number.isFinite(at) && at <= now + MAX_MS ? at : undefined;
}

/** By when a result is needed. */
export const deadlineField = z
  .string()
  .max(64)
  .refine((text) => deadlineOf(text, Date.now()) !== undefined, {
    message:
      'must be a time as in 2026-12-01T06:00:00Z, or a duration from now as in +90m, +6h or +2d, at most a year',
  })
  .describe(
    'By when the result is needed: a time in ISO 8601 with its zone, or a duration from now as in +6h. With enough time, the agent calls are sent in batches, at half the price.',
  );
