import { metricIn } from './metric-names.js';
import { decimalsOf, type NumberToken, numbersIn, parseNumber } from './number-text.js';
import { visibleText } from './output-lines.js';
import { readEntries } from './read-entries.js';
import { gatherVariants } from './variant-scores.js';

export interface UnsupportedNumbers {
  /** Numbers of the summary, as printed there, that the output does not support; each once. */
  readonly unsupported: string[];
  /** Whether the summary ranks components although the output holds no score. */
  readonly rankingWithoutScores: boolean;
  /** Whether the output has the score of any variant. */
  readonly hasScores: boolean;
}

const ANY_NUMBER =
  /[-+−–]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:[.,]\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?/g;
/** Numbers of an output that are compared pairwise; among more, some pair fits nearly any number. */
const MAX_PAIRED = 60;
/** Distinct numbers of one output that are kept. */
const MAX_DISTINCT = 200_000;

/** Every number of a text, those inside names too (`lag_7`); negative where a sign and no hyphen precedes. */
function allNumbers(text: string): Set<number> {
  const found = new Set<number>();
  for (const match of text.matchAll(ANY_NUMBER)) {
    const isHyphen = /[\p{L}\p{N}_]/u.test(text[match.index - 1] ?? '');
    const printed = isHyphen ? match[0].replace(/^[-+−–]/, '') : match[0];
    for (const commaIsDecimal of printed.includes(',') ? [false, true] : [false]) {
      const value = parseNumber(printed, commaIsDecimal);
      if (Number.isFinite(value)) found.add(value);
    }
    // `1,5` can be two numbers of a list.
    if (printed.includes(','))
      for (const part of printed.split(',')) found.add(Number(part.replace('−', '-')));
    if (found.size >= MAX_DISTINCT) break;
  }
  return found;
}

/** Sorted values that can be asked for one near to another. */
class SortedNumbers {
  readonly #sorted: Float64Array;

  constructor(values: Iterable<number>) {
    this.#sorted = Float64Array.from(values).sort();
  }

  has(value: number, tolerance: number): boolean {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] ?? 0) < value - tolerance) low = middle + 1;
      else high = middle;
    }
    const nearest = this.#sorted[low];
    return nearest !== undefined && nearest <= value + tolerance;
  }
}

/** What follows from two numbers: difference, ratio, relative change (as fraction or percentage), their mean. */
function derivedFrom(numbers: readonly number[]): number[] {
  const derived: number[] = [];
  for (const a of numbers) {
    for (const b of numbers) {
      if (a === b) continue;
      derived.push(Math.abs(a - b), Math.abs(a - b) * 100, Math.abs(a + b) / 2);
      if (b !== 0)
        derived.push(
          Math.abs(a / b),
          Math.abs(a / b) * 100,
          Math.abs((a - b) / b),
          Math.abs((a - b) / b) * 100,
        );
    }
  }
  return [...derived, 0, 1, 100];
}

const COUNTED =
  /^\s*(?:(?:[-‑]\s?)?(?:fold|way|layer|step|class|seed|dimensional|D)s?\b|(?:of (?:the )?(?:\d+|\w+) )?(?:\w+ ){0,2}(?:components?|variants?|ablations?|experiments?|runs?|folds?|seeds?|models?|metrics?|features?|times|steps?|epochs?|lines?|rows?|columns?|cases?|settings?|configurations?|scenarios?|studies|parts?|others?|blocks?|sentences?|points? in the|trees?|estimators?|samples?|classes|seconds?|minutes?|decimal places)\b|(?:st|nd|rd|th)\b|(?:of|out of)\s+(?:the\s+)?\d)/i;
const ORDINAL_BEFORE =
  /(?:\b(?:top|first|last|best|worst|next|ablation|experiment|variant|config(?:uration)?|run|step|phase|figure|fig|table|section|stage|level|no|number|rank(?:ed)?|place|fold|seed|epoch|scenario|exp|test|case|trial|part|study|version|appendix|algorithm|option|of|all|these|those|other|only|the)\.?|[#(v])\s*$/i;
const MAX_COUNT = 20;

/** Whether nothing but list signs is between the last line break and the end of the text. */
function startsLine(before: string): boolean {
  return /^[\s*#>-]*$/.test(before.slice(before.lastIndexOf('\n') + 1));
}

/** Enumerations, counts and numbers of runs: an output need not support these. */
function isCount(summary: string, token: NumberToken): boolean {
  if (token.decimals > 0 || token.percent || /[eE.,]/.test(token.text) || token.signed) return false;
  const before = summary.slice(Math.max(0, token.start - 40), token.start);
  const after = summary.slice(token.end, token.end + 60);
  if (startsLine(before) && /^[.):]/.test(after)) return true;
  if (COUNTED.test(after)) return true;
  if (token.value > MAX_COUNT) return false;
  if (ORDINAL_BEFORE.test(before)) return metricIn(before) === undefined || !/\b(?:of|to)\s*$/i.test(before);
  // "RMSE fell to 5" is a score, "with 3 left" is a count.
  return metricIn(before) === undefined || !/(?:\b(?:to|of|at|is|was|by|from)|[:=])\s*$/i.test(before);
}

/** A setting that the summary takes from the script: `max_df=0.7`, "a learning rate of 0.05". */
function isSetting(
  summary: string,
  token: NumberToken,
  settings: ReadonlyMap<number, ReadonlySet<string>>,
): boolean {
  const names = settings.get(Math.abs(token.value));
  if (names === undefined) return false;
  const around = summary
    .slice(Math.max(0, token.start - 60), token.end + 30)
    .toLowerCase()
    .replace(/[_-]+/g, ' ');
  return [...names].some((name) => around.includes(name));
}

const SETTING = /([A-Za-z_]\w{1,40})['"]?\s*[:=]\s*([-+]?\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w.])/gi;

/** Names of settings with one value that are looked for around a number. */
const MAX_NAMES_OF_SETTING = 200;

function settingsOf(ablationCode: string): Map<number, Set<string>> {
  const settings = new Map<number, Set<string>>();
  for (const match of ablationCode.slice(0, 1024 * 1024).matchAll(SETTING)) {
    const value = Math.abs(Number((match[2] ?? '').replaceAll('_', '')));
    const names = settings.get(value) ?? new Set<string>();
    if (names.size < MAX_NAMES_OF_SETTING)
      names.add((match[1] ?? '').toLowerCase().replace(/_+/g, ' ').trim());
    settings.set(value, names);
  }
  return settings;
}

const RANKS =
  /\b(?:most|least)[ -](?:impactful|important|significant|critical|influential|contribut\w*|harmful|valuable|sensitive|crucial|essential|relevant|effective)\b|\bcontribut\w*\s+(?:the\s+)?(?:most|least)\b|\b(?:largest|biggest|smallest|greatest|highest|lowest|strongest|weakest)\s+(?:\w+\s+){0,2}(?:drop|impact|decrease|increase|effect|change|contribution|degradation|influence|loss)\b|\b(?:most|least|more|less) impact\b|\b(?:matters?|hurts?|helps?|impact(?:s|ed)|affects?) (?:\w+ ){0,3}(?:most|least)\b|\brank(?:s|ed|ing)? (?:first|highest|last|lowest)\b|\b(?:key|main|dominant|primary) (?:driver|contributor|component)\b/i;
const DENIES =
  /\b(?:no|not|cannot|can't|could not|couldn't|unable|impossible|without|nothing|neither|unknown|unclear|undetermined|insufficient|lacks?|missing|failed to|if|whether|would|should|need(?:s|ed)? to|n['’]t|unavailable|inconclusive)\b/i;

function ranks(summary: string): boolean {
  return summary
    .slice(0, 200_000)
    .split(/(?<=[.!?;])\s+|\n+/)
    .some((sentence) => RANKS.test(sentence) && !DENIES.test(sentence));
}

/**
 * Checks a summary from any source against the printed output.
 *
 * A number is supported if it occurs in the output (rounded to the digits that the summary prints, as fraction
 * or percentage) or follows from two of its numbers: their difference, ratio, relative change or mean.
 * Counts, enumerations, digits inside names, and settings that the ablation script names are not checked.
 */
export function findUnsupportedNumbers(input: {
  readonly summary: string;
  readonly rawOutput: string;
  readonly ablationCode: string;
}): UnsupportedNumbers {
  const visible = visibleText(input.rawOutput);
  const printed = allNumbers(visible);
  const { entries } = readEntries(input.rawOutput);
  const scores = new Set<number>();
  for (const entry of entries) {
    for (const number of [entry, ...(entry.runs ?? [])]) {
      if (Number.isFinite(number.value)) scores.add(number.value);
    }
  }
  const paired = printed.size <= MAX_PAIRED ? printed : scores;
  const printedValues = new SortedNumbers(
    [...printed].flatMap((value) => [Math.abs(value), Math.abs(value) * 100]),
  );
  const derived = new SortedNumbers(derivedFrom([...paired].slice(0, MAX_PAIRED * 4)));
  const settings = settingsOf(input.ablationCode);
  const summary = input.summary.replace(/(\d[.,]\d+%?)([-–—])(?=\d)/g, '$1 ');
  const unsupported = new Set<string>();
  for (const token of numbersIn(summary)) {
    if (isCount(summary, token) || isSetting(summary, token, settings)) continue;
    const readings = token.text.includes(',') ? [false, true] : [false];
    const isSupported = readings.some((commaIsDecimal) => {
      const value = Math.abs(parseNumber(token.text, commaIsDecimal));
      const tolerance = 0.5 * 10 ** -decimalsOf(token.text) * (1 + 1e-6) + Math.abs(value) * 1e-12;
      return printedValues.has(value, tolerance) || derived.has(value, tolerance);
    });
    if (!isSupported) unsupported.add(token.text.trim());
  }
  const hasScores = gatherVariants(entries, () => undefined).some((variant) =>
    variant.entries.some(
      (entry) => Number.isFinite(entry.value) || (entry.runs ?? []).some((run) => Number.isFinite(run.value)),
    ),
  );
  return {
    unsupported: [...unsupported],
    rankingWithoutScores: !hasScores && ranks(input.summary),
    hasScores,
  };
}
