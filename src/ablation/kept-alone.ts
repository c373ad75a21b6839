import { modelFamily } from './metric-in-code.js';
import type { VariantScores } from './variant-scores.js';

function same(a: string, b: string): boolean {
  const [one, other] = [modelFamily(a), modelFamily(b)];
  if (one !== undefined || other !== undefined) return one === other;
  const squeeze = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
  return squeeze(a) === squeeze(b);
}

/** `Baseline (LightGBM + XGBoost, median imputation)` names the parts of the whole. */
function partsNamed(baselineLabel: string): string[] {
  return baselineLabel
    .replace(/^[^([:]*[([:]/u, '')
    .replace(/[)\]]/g, '')
    .split(/(?<!\s)\s*(?:\+|&|,|\/|;|\band\b|\bund\b|\bet\b|\by\b)\s*/iu)
    .map((part) => part.replace(/\b(?:ensemble|models?|average|blend|stack(?:ing)?|of)\b/giu, '').trim())
    .filter((part) => /\p{L}/u.test(part) && part.length <= 60);
}

/**
 * Names what a variant such as "LightGBM only" leaves out: the other parts that the baseline's name, the
 * sibling variants or the script's models tell of.
 *
 * @param models model families that the ablation script builds.
 */
export function keptAloneComponent(
  variant: VariantScores,
  siblings: readonly VariantScores[],
  baselineLabel: string,
  models: readonly string[],
): string {
  const component = variant.component;
  const componentParts = component.split(/(?<!\s)\s*(?:\+|&|,|\band\b)\s*/i);
  const isOfComponent = (part: string): boolean => componentParts.some((one) => same(one, part));
  const family = modelFamily(component);
  const named = partsNamed(baselineLabel);
  const alone = siblings.filter((one) => one.role === 'kept-alone').map((one) => one.component);
  for (const parts of [named, alone, family === undefined ? [] : [...models]]) {
    if (!parts.some(isOfComponent)) continue;
    // Of a whole that names models and steps, a lone model leaves out the other models.
    const kin = family === undefined ? parts : parts.filter((part) => modelFamily(part) !== undefined);
    const others = kin.filter((part) => !isOfComponent(part));
    if (others.length > 0 && others.length <= 3) return others.join(' and ');
  }
  return `everything except ${component}`;
}
