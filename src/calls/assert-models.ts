import type { Config } from '../config/settings.js';
import { ConfigurationError } from '../errors.js';
import { nearestName } from '../nearest-name.js';
import { pricesOf } from './cost.js';
import { PRICE_LIST } from './prices.js';

type ModelConfig = Pick<Config, 'agent' | 'model' | 'modelLimits'>;

/**
 * Asserts that a model is named where there is no default, and that no model of the configuration has a misspelled name. Other unknown names may be newer models; behind another
 * address than the provider's, any name may be one.
 * @throws ConfigurationError with the model that is meant.
 */
export function assertModels(
  { agent, model, modelLimits = {} }: ModelConfig,
  environment: NodeJS.ProcessEnv = process.env,
): void {
  if (agent === 'openai') {
    if (model !== undefined) return;
    throw new ConfigurationError(
      'FLEET_MODEL: must name a model if FLEET_AGENT is openai; there is no default',
      {
        field: 'FLEET_MODEL',
      },
    );
  }
  if (environment.ANTHROPIC_BASE_URL) return;
  const named = [
    ...(model === undefined ? [] : [['FLEET_MODEL', model] as const]),
    ...Object.keys(modelLimits).map((name) => ['FLEET_MODEL_LIMITS', name] as const),
  ];
  for (const [field, name] of named) {
    const meant = misspelledModel(name);
    if (meant === undefined) continue;
    throw new ConfigurationError(
      `${field}: there is no model ${JSON.stringify(name)}; did you mean "${meant}"?`,
      { field },
    );
  }
}

/** The listed model that a name most likely means: one with nearly the same letters, whatever its version. */
function misspelledModel(name: string): string | undefined {
  if (pricesOf(name) !== null) return undefined;
  const byLetters = new Map(Object.keys(PRICE_LIST.models).map((known) => [lettersOf(known), known]));
  const letters = lettersOf(name);
  if (byLetters.has(letters)) return undefined;
  const nearest = nearestName(letters, byLetters.keys());
  return nearest === undefined ? undefined : nearestVersion(name, nearest);
}

function nearestVersion(name: string, letters: string): string | undefined {
  const versions = Object.keys(PRICE_LIST.models).filter((known) => lettersOf(known) === letters);
  return nearestName(name, versions) ?? versions[0];
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}
