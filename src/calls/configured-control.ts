import type { Config } from '../config/settings.js';
import { ConfigurationError } from '../errors.js';
import type { CallControlOptions } from './call-control.js';
import { type ModelLimits, ModelLimitsSchema } from './limiter/model-limits.js';

/**
 * The limits of a worker's agent calls from its configuration.
 * @throws ConfigurationError if FLEET_MODEL_LIMITS is not valid.
 */
export function configuredControl(config: Config): CallControlOptions {
  return {
    ...(config.budgetUsd === undefined ? {} : { budgetUsd: config.budgetUsd }),
    ...(config.modelLimits === undefined ? {} : { limits: parseLimits(config.modelLimits) }),
    callsInDoubt: config.callsInDoubt,
    cache: config.callCache === 'on',
    quotaParkMs: config.quotaParkMs,
    callWaitMs: config.callWaitMs,
  };
}

function parseLimits(text: string): ModelLimits {
  const field = 'FLEET_MODEL_LIMITS';
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationError(`${field}: expected JSON, got ${JSON.stringify(text.slice(0, 100))}`, {
      field,
      cause,
    });
  }
  const parsed = ModelLimitsSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ConfigurationError(`${field}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}`, {
    field,
  });
}
