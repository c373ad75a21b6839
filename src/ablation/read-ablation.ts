import type {
  AblationInput,
  AblationReading,
  AblationScore,
  AblationVariant,
  Direction,
  FailedVariant,
} from './ablation-reading.js';
import { keptAloneComponent } from './kept-alone.js';
import { readScript, type ScriptFacts } from './metric-in-code.js';
import { directionOf, isTrainingMetric, metricIn } from './metric-names.js';
import { decimalsOf } from './number-text.js';
import { readEntries } from './read-entries.js';
import type { ScoreEntry } from './score-entry.js';
import {
  areRepeats,
  changeOf,
  gatherVariants,
  metricKey,
  type Outcome,
  scoreOf,
  type VariantScores,
} from './variant-scores.js';

interface Study {
  readonly metric: string;
  readonly baseline: VariantScores | undefined;
  readonly variants: readonly VariantScores[];
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

const scoreIn = (outcome: Outcome): AblationScore | undefined =>
  outcome !== undefined && 'score' in outcome ? outcome.score : undefined;

/** Metrics that are weighed against each other; more are not metrics but names taken for them. */
const MAX_METRICS = 12;

/** The printed metrics, by the key that makes `val_acc` and `Val Acc` one, in printed order. */
function metricsOf(variants: readonly VariantScores[]): Map<string, string> {
  const printed = new Map<string, { metric: string; count: number }>();
  for (const variant of variants) {
    for (const entry of variant.entries) {
      if (entry.kind !== 'score') continue;
      const key = metricKey(entry.metric);
      const known = printed.get(key) ?? { metric: entry.metric.trim(), count: 0 };
      known.count += 1;
      printed.set(key, known);
    }
  }
  const often = new Set(
    [...printed]
      .sort((a, b) => b[1].count - a[1].count)
      .slice(0, MAX_METRICS)
      .map(([key]) => key),
  );
  return new Map([...printed].filter(([key]) => often.has(key)).map(([key, { metric }]) => [key, metric]));
}

/** Titles of table columns with a score for several variants: each of them could rank, so none is left out in silence. */
function scoreColumns(variants: readonly VariantScores[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { entries } of variants)
    for (const key of new Set(entries.filter(isInColumn).map(({ metric }) => metricKey(metric))))
      counts.set(key, (counts.get(key) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count >= 2).map(([key]) => key));
}

const isInColumn = ({ kind, layout }: ScoreEntry): boolean => kind === 'score' && layout.startsWith('table:');

/** The baseline among the variants whose label says that they are one, or the one name that does not say what it is. */
function chooseBaseline(
  variants: readonly VariantScores[],
  outcomes: ReadonlyMap<string, Outcome>,
): VariantScores | undefined {
  const present = variants.filter((variant) => outcomes.get(variant.id) !== undefined);
  const claimed = present
    .filter((variant) => variant.role === 'baseline')
    .sort((a, b) => b.certainty - a.certainty || a.order - b.order);
  const [first] = claimed;
  if (first !== undefined) {
    // "Full model" next to "Baseline": where parts are taken out, they are taken out of the full one.
    const full = claimed.find((variant) => variant.certainty === 1 && variant.order < first.order);
    const removals = present.filter(
      (variant) => variant.role === 'removed' && full !== undefined && variant.order > full.order,
    );
    const differs =
      full !== undefined && scoreIn(outcomes.get(full.id))?.value !== scoreIn(outcomes.get(first.id))?.value;
    return full !== undefined && differs && removals.length > 0 && first.certainty === 2 ? full : first;
  }
  const explicit = present.filter((variant) => variant.isExplicit);
  const implicit = present.filter((variant) => !variant.isExplicit);
  const [only] = implicit;
  if (only !== undefined && implicit.length === 1 && explicit.length > 0) return only;
  // The one row without a change, where the others have one.
  const unchanged = present.filter((variant) => (changeOf(variant)?.value ?? 0) === 0);
  return unchanged.length === 1 && present.length > 2 ? unchanged[0] : undefined;
}

/** Lines between two variants of one study. */
const NEAR = 3;

/** Variants of the study: those whose label says so, and others that are beside them in the same layout. */
function membersOf(
  variants: readonly VariantScores[],
  baseline: VariantScores | undefined,
  outcomes: ReadonlyMap<string, Outcome>,
): VariantScores[] {
  const present = variants.filter(
    (variant) =>
      variant !== baseline && (outcomes.get(variant.id) !== undefined || changeOf(variant) !== undefined),
  );
  const members = new Set(present.filter((variant) => variant.isExplicit && variant.role !== 'baseline'));
  const inOrder = [...present, ...(baseline === undefined ? [] : [baseline])].flatMap((variant) =>
    variant.entries.map((entry) => ({ variant, entry })),
  );
  inOrder.sort((a, b) => a.entry.line - b.entry.line);
  // A whole number among scores with decimals is a count.
  const hasDecimals = baseline?.entries.some((entry) => /[.,]\d/.test(entry.text)) === true;
  for (const pass of [inOrder, inOrder.toReversed()]) {
    const lastLine = new Map<string, number>();
    for (const { variant, entry } of pass) {
      const form = `${entry.kind} ${entry.layout}`;
      const whole = !/[.,]\d|nan|inf/i.test(entry.text) && hasDecimals;
      const near = !whole && Math.abs(entry.line - (lastLine.get(form) ?? Number.POSITIVE_INFINITY)) <= NEAR;
      if (near && variant !== baseline && variant.role === 'plain') members.add(variant);
      if (members.has(variant) || variant === baseline) lastLine.set(form, entry.line);
    }
  }
  return present.filter((variant) => members.has(variant));
}

function studyBy(metric: string, variants: readonly VariantScores[]): Study {
  const repeats = areRepeats(variants, metric);
  const outcomes = new Map(variants.map((variant) => [variant.id, scoreOf(variant, metric, repeats)]));
  const baseline = chooseBaseline(variants, outcomes);
  return { metric, baseline, variants: membersOf(variants, baseline, outcomes), outcomes };
}

/** The study by the metric that ranks best: complete, not on training data, the one the script computes. */
function chooseStudy(
  variants: readonly VariantScores[],
  metrics: ReadonlyMap<string, string>,
  script: ScriptFacts,
): Study {
  const scriptMetric =
    script.metric === undefined ? undefined : metricIn(script.metric.replace(/_score$/, ''));
  const rated = [...(metrics.size === 0 ? [''] : metrics.keys())].map((metric, order) => {
    const study = studyBy(metric, variants);
    const scored = study.variants.filter(
      (variant) => scoreIn(study.outcomes.get(variant.id)) !== undefined,
    ).length;
    const bare = metricIn(metric);
    const rating = [
      study.baseline !== undefined && scored > 0 ? 1 : 0,
      isTrainingMetric(metric) ? 0 : 1,
      metric === '' ? 0 : 1,
      scored,
      scriptMetric !== undefined && bare === scriptMetric ? 1 : 0,
      bare === undefined || bare === 'loss' ? 0 : 1,
      -order,
    ];
    return { study, rating };
  });
  rated.sort((a, b) => {
    for (const [position, rate] of a.rating.entries()) {
      const difference = (b.rating[position] ?? 0) - rate;
      if (difference !== 0) return difference;
    }
    return 0;
  });
  return rated[0]?.study ?? studyBy('', variants);
}

interface MetricReading {
  readonly metric: string | undefined;
  readonly direction: Direction;
  readonly directionFrom: AblationReading['directionFrom'];
}

/** "Lower is better" or an arrow beside a metric's name, if the output has one of the two only. */
function printedDirection(rawOutput: string): Direction {
  const text = rawOutput.slice(0, MAX_DIRECTION_TEXT);
  const lower = /\b(?:lower|smaller|less) (?:is|=|means) better\b|(?<=\p{L}\s?\(?)↓/iu.test(text);
  const higher = /\b(?:higher|larger|greater|bigger|more) (?:is|=|means) better\b|(?<=\p{L}\s?\(?)↑/iu.test(
    text,
  );
  return lower === higher ? 'unknown' : lower ? 'lower' : 'higher';
}

const MAX_DIRECTION_TEXT = 200_000;

function determineMetric(
  printed: string,
  values: readonly number[],
  script: ScriptFacts,
  said: Direction,
): MetricReading {
  const negative = values.length > 0 && values.every((value) => value <= 0);
  const named = directionOf(printed);
  const metric = metricIn(printed) !== undefined ? printed : undefined;
  // A negated error (scikit-learn's `neg_…`) is printed below zero and is the better the larger it is.
  if (named !== 'unknown')
    return { metric, direction: negative && named === 'lower' ? 'higher' : named, directionFrom: 'name' };
  if (script.direction !== 'unknown') {
    const negated = script.metric?.startsWith('neg_') === true;
    const direction = negated
      ? negative
        ? 'higher'
        : 'lower'
      : negative && script.direction === 'lower'
        ? 'higher'
        : script.direction;
    return {
      metric: metric ?? script.metric?.replace(/^neg_/, '').replaceAll('_', ' '),
      direction,
      directionFrom: 'code',
    };
  }
  return { metric, direction: said, directionFrom: said === 'unknown' ? 'none' : 'output' };
}

/** 0.1 + 0.2 style remainders are not a change. */
const ROUNDING = 1e-12;

function effectOf(
  change: number,
  direction: Direction,
  kind: AblationVariant['kind'],
): AblationVariant['effect'] {
  if (Math.abs(change) < ROUNDING) return 'none';
  if (direction === 'unknown') return 'unknown';
  const worse = direction === 'higher' ? change < 0 : change > 0;
  return (kind === 'added') !== worse ? 'helps' : 'harms';
}

function exactChange(score: AblationScore, baseline: AblationScore): number {
  const change = score.value - baseline.value;
  if (score.printed === undefined || baseline.printed === undefined) return change;
  const decimals = Math.max(decimalsOf(score.printed), decimalsOf(baseline.printed));
  // Scores in thousands, such as `1e3`, have fewer than no decimals.
  return Number(change.toFixed(Math.min(Math.max(decimals + 1, 0), 18)));
}

/** Brings 81.96 % and 0.8196 to one scale where a study prints both. */
function onOneScale(score: AblationScore, baseline: AblationScore): AblationScore {
  const percent = (text: string | undefined): boolean => text?.endsWith('%') === true;
  if (percent(score.printed) === percent(baseline.printed)) return score;
  return { ...score, value: percent(score.printed) ? score.value / 100 : score.value * 100 };
}

function rankedVariants(study: Study, direction: Direction, script: ScriptFacts): AblationVariant[] {
  const base = study.baseline === undefined ? undefined : scoreIn(study.outcomes.get(study.baseline.id));
  const ranked: AblationVariant[] = [];
  for (const variant of study.variants) {
    const kind = variant.role === 'plain' || variant.role === 'baseline' ? 'changed' : variant.role;
    const component =
      kind === 'kept-alone'
        ? keptAloneComponent(variant, study.variants, study.baseline?.label ?? '', script.models)
        : variant.component;
    const printed = scoreIn(study.outcomes.get(variant.id));
    const shared = { component, label: variant.label, kind } as const;
    if (printed !== undefined && base !== undefined) {
      const score = onOneScale(printed, base);
      const change = exactChange(score, base);
      ranked.push({
        ...shared,
        score,
        change,
        impact: Math.abs(change),
        effect: effectOf(change, direction, kind),
      });
    } else if (base === undefined) {
      const change = changeOf(variant);
      if (change !== undefined) {
        ranked.push({
          ...shared,
          change: change.value,
          printedChange: change.text,
          impact: Math.abs(change.value),
          effect: Math.abs(change.value) < ROUNDING ? 'none' : 'unknown',
        });
      }
    }
  }
  // A stable sort: equal impacts stay in printed order.
  return ranked.sort((a, b) => (Math.abs(b.impact - a.impact) < ROUNDING ? 0 : b.impact - a.impact));
}

function failedVariants(study: Study): FailedVariant[] {
  return study.variants.flatMap((variant) => {
    const outcome = study.outcomes.get(variant.id);
    return outcome !== undefined && 'missing' in outcome
      ? [{ component: variant.component, label: variant.label, reason: outcome.missing }]
      : [];
  });
}

function reasonAgainst(
  hasText: boolean,
  exception: string | undefined,
  interruption: string | undefined,
  study: Study,
  ranked: readonly AblationVariant[],
  failed: readonly FailedVariant[],
): string | undefined {
  if (!hasText) return 'The ablation script printed nothing, so there is no result to rank.';
  const baseline = study.baseline === undefined ? undefined : study.outcomes.get(study.baseline.id);
  if (ranked.length > 0 && (baseline === undefined || 'score' in baseline)) {
    const [first] = ranked;
    const allEqual = ranked.every((variant) => Math.abs(variant.impact - (first?.impact ?? 0)) < ROUNDING);
    if (!allEqual || (ranked.length === 1 && (first?.impact ?? 0) >= ROUNDING)) return undefined;
    return (first?.impact ?? 0) < ROUNDING
      ? 'No variant differs from the baseline, so no component can be singled out.'
      : 'All variants differ from the baseline by the same amount, so no component can be singled out.';
  }
  const ending = exception ?? interruption;
  if (ending !== undefined && ranked.length === 0) {
    const how = exception === undefined ? 'was stopped' : 'ended with an exception (traceback)';
    return `The ablation script ${how} before it printed scores that can be compared: ${ending}`;
  }
  if (baseline !== undefined && 'missing' in baseline)
    return `The baseline run gave no score (${baseline.missing}), so no change can be computed.`;
  if (failed.length > 0 && ranked.length === 0)
    return `No variant gave a score (${failed[0]?.reason ?? 'nan'}), so there is nothing to rank.`;
  if (baseline !== undefined)
    return 'Only a score of the baseline was found, and none of a variant, so there is nothing to rank.';
  return study.variants.length > 0
    ? 'Scores of variants were found, but none of a baseline to compare them with.'
    : 'No scores of a baseline and its variants were found in the output.';
}

/**
 * Reads the printed scores of an ablation run and ranks its components by the absolute change of the score
 * (REQ-P2O-011). The ranking is computed from the numbers; what the output says about itself is not believed.
 * Linear in the length of the output.
 */
export async function readAblation(input: AblationInput): Promise<AblationReading> {
  const script = await readScript(input.ablationCode);
  const { entries, namesByNumber, output, partlyRead } = readEntries(input.rawOutput);
  const all = gatherVariants(
    entries,
    (number) => namesByNumber.get(number) ?? script.namesByNumber.get(number),
  );
  const metrics = metricsOf(all);
  const study = chooseStudy(all, metrics, script);
  const values = [study.baseline, ...study.variants].flatMap((variant) => {
    const value = variant === undefined ? undefined : scoreIn(study.outcomes.get(variant.id))?.value;
    return value === undefined ? [] : [value];
  });
  const columns = scoreColumns(all);
  const printedMetric = metrics.get(study.metric) ?? '';
  const {
    metric = columns.has(study.metric) && study.metric !== '' ? printedMetric : undefined,
    direction,
    directionFrom,
  } = determineMetric(printedMetric, values, script, printedDirection(input.rawOutput));
  const ranked = rankedVariants(study, direction, script);
  const failed = failedVariants(study);
  const unusable = reasonAgainst(
    output.hasText,
    output.exception,
    output.interruption,
    study,
    ranked,
    failed,
  );
  const baselineScore =
    study.baseline === undefined ? undefined : scoreIn(study.outcomes.get(study.baseline.id));
  const interruption = output.exception ?? output.interruption;
  const others = [...metrics].filter(
    ([key, printed]) =>
      key !== study.metric &&
      printed !== '' &&
      (columns.has(key) || (metricIn(key) !== undefined && metricIn(key) !== metricIn(metric ?? ''))),
  );
  return {
    direction,
    directionFrom,
    partlyRead,
    otherMetrics: others.map(([, printed]) => printed).slice(0, 8),
    variants: unusable === undefined ? ranked : [],
    failed,
    ...(metric === undefined ? {} : { metric }),
    ...(study.baseline === undefined || baselineScore === undefined
      ? {}
      : { baseline: { label: study.baseline.label, score: baselineScore } }),
    ...(interruption === undefined ? {} : { interruption }),
    ...(unusable === undefined ? {} : { unusable }),
  };
}
