import { z } from 'zod';
import type { Dimension } from './rate-headers.js';

const perMinute = z.number().positive().optional();

/** Limits a minute by model; `*` means every model that is not named. */
export const ModelLimitsSchema = z.record(
  z.string().min(1),
  z.strictObject({ requests: perMinute, inputTokens: perMinute, outputTokens: perMinute }),
);
export type ModelLimits = z.infer<typeof ModelLimitsSchema>;

/** The configured limits of a model; undefined where there is none. */
export function limitsOf(
  model: string,
  limits: ModelLimits,
): Readonly<Record<Dimension, number | undefined>> {
  const found = Object.hasOwn(limits, model) ? limits[model] : limits['*'];
  return { requests: found?.requests, input: found?.inputTokens, output: found?.outputTokens };
}
