import type { AblationScore, VariantKind } from './ablation-reading.js';
import { isMetricPhrase, isTrainingMetric, metricAtStart, metricIn } from './metric-names.js';
import type { ScoreEntry } from './score-entry.js';
import { type LabelReading, readLabel } from './variant-label.js';

/** All numbers that the output gives for one variant. */
export interface VariantScores {
  readonly id: string;
  readonly label: string;
  readonly role: 'baseline' | VariantKind | 'plain';
  readonly component: string;
  readonly certainty: 0 | 1 | 2;
  readonly isExplicit: boolean;
  readonly entries: ScoreEntry[];
  /** Position among the printed variants. */
  readonly order: number;
}

const NO_VARIANT =
  /^(?:best|final|average|avg|mean|median|max|min|total|overall|std|sum|current|running|done|finished|accuracy|score|fold|seed|train|validation|test|submission|prediction|saved?|file|path|target|weights?)\b(?!.*(?:ablat|without|no ))/i;

function squeezed(text: string): string {
  const letters = text
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]+/gu, '');
  return letters === '' ? text.trim() : letters;
}

interface Labeled {
  readonly entry: ScoreEntry;
  readonly reading: LabelReading;
}

/** Puts the name after a bare `Ablation 2`, and takes a metric off that is inside the label. */
function withLabel(entry: ScoreEntry, names: (number: string) => string | undefined): Labeled {
  let reading = readLabel(entry.label);
  if (reading.text === '' && reading.number !== undefined) {
    const name = names(reading.number);
    if (name !== undefined) {
      const inner = readLabel(name);
      reading = { ...inner, number: reading.number, isExplicit: true, isRun: reading.isRun };
      return { entry: { ...entry, label: `${entry.label.trim()} (${name})` }, reading };
    }
  }
  const head = metricAtStart(reading.text);
  if (head !== undefined && /^\s*[([:–-]/.test(reading.text.slice(head.end))) {
    const inner = readLabel(reading.text.slice(head.end));
    const metric = entry.metric === '' ? head.metric : entry.metric;
    return {
      entry: { ...entry, metric },
      reading: {
        ...inner,
        isExplicit: reading.isExplicit || inner.isExplicit,
        ...(reading.number === undefined ? {} : { number: reading.number }),
      },
    };
  }
  return { entry, reading };
}

/** Gathers the numbers of each variant. */
export function gatherVariants(
  entries: readonly ScoreEntry[],
  names: (number: string) => string | undefined,
): VariantScores[] {
  const byId = new Map<string, VariantScores>();
  const byNumber = new Map<string, string>();
  for (const scored of entries) {
    const { entry, reading } = withLabel(scored, names);
    const text = reading.text === '' ? (reading.number ?? '') : reading.text;
    if (text === '' || isMetricPhrase(text)) continue;
    const isComponent = entry.labelIsComponent && reading.role === 'plain';
    const role = isComponent
      ? 'removed'
      : reading.role === 'plain' && reading.isExplicit
        ? 'changed'
        : reading.role;
    if (role === 'plain' && NO_VARIANT.test(text)) continue;
    const ownId = `${role === 'baseline' ? 'baseline' : role === 'kept-alone' ? 'kept' : 'variant'}:${squeezed(role === 'baseline' ? text : reading.component || text)}`;
    // "Ablation 2 (Disable augmentation)" and "Ablation 2 (No augmentation)" are one variant.
    const id =
      (reading.number === undefined || role === 'baseline' ? undefined : byNumber.get(reading.number)) ??
      ownId;
    if (reading.number !== undefined && role !== 'baseline') byNumber.set(reading.number, id);
    const known = byId.get(id);
    if (known !== undefined) {
      known.entries.push(entry);
      continue;
    }
    byId.set(id, {
      id,
      label: displayLabel(entry.label),
      role,
      component: reading.component === '' ? text : reading.component,
      certainty: reading.certainty,
      isExplicit: reading.isExplicit || entry.labelIsComponent,
      entries: [entry],
      order: byId.size,
    });
  }
  return [...byId.values()];
}

/** Without three dots or more at its end. */
function withoutEllipsis(text: string): string {
  let end = text.length;
  while (text[end - 1] === '.') end -= 1;
  return text.length - end < 3 ? text : text.slice(0, end).trimEnd();
}

function displayLabel(label: string): string {
  return withoutEllipsis(label.replace(/\s+/g, ' '))
    .replace(/^[\s\-*•#>|"'`]+(?=[\p{L}\p{N}[(])|(?<![\s:=|"'`])[\s:=|"'`]+$/gu, '')
    .trim()
    .slice(0, 160);
}

export function metricKey(metric: string): string {
  return metric
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .replace(/\b(?:score|value|mean|avg|average|cv|final|\(mean\))\b/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** How near an entry's metric is to the wanted one: the same, the same bare name, none named, or no. */
function nearness(entry: ScoreEntry, wanted: string): 0 | 1 | 2 | 3 {
  const key = metricKey(entry.metric);
  if (key === wanted) return 3;
  if (key === '') return 1;
  const bare = metricIn(key);
  return bare !== undefined && bare === metricIn(wanted) && isTrainingMetric(key) === isTrainingMetric(wanted)
    ? 2
    : 0;
}

function agree(a: ScoreEntry, b: ScoreEntry): boolean {
  const decimals = (text: string): number => /[.,](\d+)/.exec(text)?.[1]?.length ?? 0;
  const tolerance = 0.5000001 * 10 ** -Math.min(decimals(a.text), decimals(b.text));
  return Math.abs(a.value - b.value) <= tolerance;
}

function meanOf(runs: readonly { value: number; text: string }[]): AblationScore {
  const sorted = [...runs].sort((a, b) => a.value - b.value);
  const value = runs.reduce((sum, run) => sum + run.value, 0) / runs.length;
  return {
    value,
    runs: { count: runs.length, lowest: sorted[0]?.text ?? '', highest: sorted.at(-1)?.text ?? '' },
  };
}

export type Outcome = { readonly score: AblationScore } | { readonly missing: string } | undefined;

/** Score of one variant by the wanted metric: a printed mean, a printed score, or the mean of its runs. */
export function scoreOf(variant: VariantScores, wanted: string, repeats: boolean): Outcome {
  const scores = variant.entries.filter((entry) => entry.kind === 'score');
  const best = scores.reduce((most, entry) => Math.max(most, nearness(entry, wanted)), 0);
  const near = scores.filter((entry) => nearness(entry, wanted) === best && best > 0);
  const singles = near.filter((entry) => !entry.isRun && entry.runs === undefined);
  const finite = singles.filter((entry) => Number.isFinite(entry.value));
  const failed = scores.find((entry) => entry.layout === 'failed');
  if (failed !== undefined && finite.every((entry) => entry.value === 0)) return { missing: failed.text };
  const means = finite.filter((entry) => entry.isMean);
  const pool = means.length > 0 ? means : finite;
  const last = pool.at(-1);
  if (last !== undefined) {
    if (repeats && pool.length > 1)
      return { score: meanOf(pool.map(({ value, text }) => ({ value, text }))) };
    const same = pool.filter((entry) => agree(entry, last));
    const exact = same.reduce(
      (a, b) => (b.text.replace(/\D/g, '').length > a.text.replace(/\D/g, '').length ? b : a),
      last,
    );
    return { score: { value: exact.value, printed: exact.text } };
  }
  const listed = near.find((entry) => entry.runs !== undefined)?.runs;
  const runs =
    listed ??
    near
      .filter((entry) => entry.isRun && Number.isFinite(entry.value))
      .map(({ value, text }) => ({ value, text }));
  const missing = near.find((entry) => !Number.isFinite(entry.value) && entry.runs === undefined);
  if (missing !== undefined) return { missing: missing.text };
  const usable = runs.filter((run) => Number.isFinite(run.value));
  if (usable.length === 0) return runs.length > 0 ? { missing: 'nan' } : undefined;
  const [only] = usable;
  if (usable.length === 1 && only !== undefined) return { score: { value: only.value, printed: only.text } };
  return { score: meanOf(usable) };
}

/**
 * Whether every variant was printed equally often with different scores, as a study over several seeds
 * without a seed in the line.
 */
export function areRepeats(variants: readonly VariantScores[], wanted: string): boolean {
  const counts = variants.map((variant) => {
    const singles = variant.entries.filter(
      (entry) =>
        entry.kind === 'score' &&
        !entry.isRun &&
        entry.runs === undefined &&
        nearness(entry, wanted) === 3 &&
        Number.isFinite(entry.value),
    );
    const [first] = singles;
    return first !== undefined && singles.some((entry) => !agree(entry, first)) ? singles.length : 0;
  });
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  return most >= 2 && counts.filter((count) => count === most).length >= Math.max(2, variants.length * 0.75);
}

/** Printed change of a variant against the baseline, where one is printed. */
export function changeOf(variant: VariantScores): ScoreEntry | undefined {
  return variant.entries.find((entry) => entry.kind === 'change' && Number.isFinite(entry.value));
}
