import type { ModelLimits } from '../../config/model-limits.js';
import type { Dimension } from './rate-headers.js';

/** The configured limits of a model; undefined where there is none. */
export function limitsOf(
  model: string,
  limits: ModelLimits,
): Readonly<Record<Dimension, number | undefined>> {
  const found = Object.hasOwn(limits, model) ? limits[model] : limits['*'];
  return { requests: found?.requests, input: found?.inputTokens, output: found?.outputTokens };
}
