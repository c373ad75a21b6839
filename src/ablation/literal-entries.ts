import { readKey } from './line-entries.js';
import type { LiteralValue } from './literal-values.js';
import { isMetricPhrase, metricIn } from './metric-names.js';
import {
  isNoScoreColumn,
  missingScore,
  type ScoreEntry,
  speaksOfChange,
  speaksOfDeviation,
  speaksOfMean,
} from './score-entry.js';
import { tableEntries } from './table-entries.js';
import { readLabel } from './variant-label.js';

const NAME_KEY =
  /^(?:variant|name|config|configuration|ablation|experiment|exp|model|setting|component|removed|method|scenario|run|label|tag|title|description|case|ablated|dropped|disabled|without|removed_component|ablated_component|component_removed|ablation_name|variant_name|experiment_name)$/i;
const WRAPPER =
  /^(?:results?|ablations?|ablation_(?:results?|study|scores?)|scores?|variants?|experiments?|metrics?|study|data|output|summary|runs?|models?|configs?|all|items|evaluation|records?|values?|components?|without|per_variant|performance)$/i;

type SourceOf = (value: number) => string;

const isMap = (value: LiteralValue): value is Map<string, LiteralValue> => value instanceof Map;

function textOf(value: LiteralValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isNaN(value) ? 'nan' : String(value);
  return typeof value === 'boolean' ? String(value) : '';
}

/** Whether the value holds named numbers at all, and not only a list of numbers or words. */
export function holdsNamedNumbers(value: LiteralValue): boolean {
  if (isMap(value))
    return [...value.values()].some(
      (inner) => typeof inner === 'number' || inner === null || typeof inner === 'object',
    );
  if (!Array.isArray(value)) return false;
  return value.some(
    (item) =>
      isMap(item) || (Array.isArray(item) && typeof item[0] === 'string' && typeof item[1] === 'number'),
  );
}

/** Inner mappings of a record, as in `{"name": …, "metrics": {"auc": …}}`, brought to one level. */
function flattened(record: Map<string, LiteralValue>): Map<string, LiteralValue> {
  const flat = new Map<string, LiteralValue>();
  for (const [key, value] of record) {
    if (isMap(value))
      for (const [inner, innerValue] of value)
        flat.set(WRAPPER.test(key) ? inner : `${key} ${inner}`, innerValue);
    else flat.set(key, value);
  }
  return flat;
}

function recordTable(
  records: readonly Map<string, LiteralValue>[],
  line: number,
  sourceOf: SourceOf,
): ScoreEntry[] {
  const flat = records.map(flattened);
  const keys = [...new Set(flat.flatMap((record) => [...record.keys()]))];
  // Fold scores of a record give its score where no mean is printed.
  const runKeys = keys.filter((key) => flat.some((record) => isNumberList(record.get(key))));
  const rows = flat.map((record) =>
    keys.map((key) =>
      typeof record.get(key) === 'number' ? sourceOf(record.get(key) as number) : textOf(record.get(key)),
    ),
  );
  const entries = tableEntries(
    { header: keys, rows, lines: records.map(() => line), layout: 'records' },
    false,
  );
  const nameKey = keys.find((key) => NAME_KEY.test(key));
  if (nameKey === undefined) return entries;
  for (const record of flat) {
    const label = textOf(record.get(nameKey));
    for (const key of runKeys) {
      const runs = record.get(key);
      if (isNumberList(runs)) entries.push(runsEntry(label, readKey(key).metric, runs, line, sourceOf));
    }
  }
  return entries;
}

function isNumberList(value: LiteralValue | undefined): value is number[] {
  return Array.isArray(value) && value.length >= 2 && value.every((item) => typeof item === 'number');
}

function runsEntry(
  label: string,
  metric: string,
  runs: number[],
  line: number,
  sourceOf: SourceOf,
): ScoreEntry {
  return {
    label,
    metric,
    value: Number.NaN,
    text: '',
    kind: 'score',
    runs: runs.map((value) => ({ value, text: sourceOf(value) })),
    isRun: true,
    isMean: false,
    labelIsComponent: false,
    layout: 'literal',
    line,
  };
}

/** `{"variant": [...], "score": [...]}` and `df.to_dict()` as a list of records. */
function columnRecords(value: Map<string, LiteralValue>): Map<string, LiteralValue>[] | undefined {
  const columns = [...value].map(([key, column]): [string, LiteralValue[]] | undefined => {
    if (Array.isArray(column)) return [key, column];
    if (isMap(column) && [...column.keys()].every((index) => /^\d+$/.test(index)))
      return [key, [...column.values()]];
    return undefined;
  });
  const whole = columns.filter((column) => column !== undefined);
  const length = whole[0]?.[1].length ?? 0;
  if (
    whole.length < 2 ||
    whole.length !== value.size ||
    length === 0 ||
    whole.some(([, column]) => column.length !== length)
  )
    return undefined;
  if (!whole.some(([, column]) => column.every((cell) => typeof cell === 'string'))) return undefined;
  return Array.from(
    { length },
    (_, row) => new Map(whole.map(([key, column]) => [key, column[row] ?? null])),
  );
}

/** Numbers are named in the summary as printed: 0.90 stays 0.90. */
function printedDigits(sourceText: string): SourceOf {
  const printed = new Map<number, string>();
  for (const match of sourceText.matchAll(/[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/g)) {
    const number = Number(match[0]);
    if ((printed.get(number)?.length ?? 0) < match[0].length) printed.set(number, match[0]);
  }
  return (number) =>
    Number.isFinite(number) ? (printed.get(number) ?? String(number)) : String(number).toLowerCase();
}

class LiteralWalk {
  readonly #line: number;
  readonly #sourceOf: SourceOf;
  readonly entries: ScoreEntry[] = [];

  constructor(line: number, sourceOf: SourceOf) {
    this.#line = line;
    this.#sourceOf = sourceOf;
  }

  walk(value: LiteralValue, path: readonly string[]): void {
    if (typeof value === 'number') this.#add(path, value, this.#sourceOf(value));
    else if (value === null) this.#add(path, Number.NaN, 'None');
    else if (typeof value === 'string') this.#text(value, path);
    else if (Array.isArray(value)) this.#list(value, path);
    else if (isMap(value)) this.#map(value, path);
  }

  #records(records: readonly Map<string, LiteralValue>[]): void {
    for (const entry of recordTable(records, this.#line, this.#sourceOf)) this.entries.push(entry);
  }

  #text(value: string, path: readonly string[]): void {
    const printed = /^[-+]?\d+\.\d+%?$/.exec(value.trim())?.[0];
    if (printed !== undefined) this.#add(path, Number(printed.replace('%', '')), printed);
    else if (missingScore(value) !== undefined && readLabel(path.at(-1) ?? '').isExplicit) {
      this.#add(path, Number.NaN, value.slice(0, 60));
    }
  }

  #map(value: Map<string, LiteralValue>, path: readonly string[]): void {
    const records = columnRecords(value);
    const isRecord = [...value].some(([key, named]) => NAME_KEY.test(key) && typeof named === 'string');
    if (records !== undefined || isRecord) {
      this.#records(records ?? [value]);
      return;
    }
    for (const [key, child] of value) this.walk(child, [...path, key]);
  }

  #list(items: LiteralValue[], path: readonly string[]): void {
    const maps = items.filter(isMap);
    if (maps.length > 0 && maps.length === items.length) {
      const named = maps.some(
        (record) =>
          [...record.keys()].some((key) => NAME_KEY.test(key)) ||
          [...record.values()].some((cell) => typeof cell === 'boolean'),
      );
      if (named) this.#records(maps);
      else for (const record of maps) this.walk(record, path);
    } else if (isNumberList(items)) {
      const words = path.filter((part) => !WRAPPER.test(part) && !isMetricPhrase(part)).join(' ');
      const key = readKey(words);
      if (words !== '')
        this.entries.push(runsEntry(key.label, key.metric, items, this.#line, this.#sourceOf));
    } else {
      for (const item of items) {
        if (!Array.isArray(item) || typeof item[0] !== 'string') continue;
        const printed = item
          .slice(1)
          .find((cell) => typeof cell === 'number' || cell === null || isMap(cell));
        if (printed !== undefined) this.walk(printed, [...path, item[0]]);
      }
    }
  }

  #add(path: readonly string[], value: number, text: string): void {
    const last = path.at(-1) ?? '';
    if (path.some((part) => speaksOfDeviation(part) && !speaksOfMean(part))) return;
    // `max_depth` is a setting, `max_depth=3` the name of a variant.
    if (
      isNoScoreColumn(last) &&
      !/[=\d]/.test(last) &&
      metricIn(last) === undefined &&
      !readLabel(last).isExplicit
    )
      return;
    const named = path
      .filter((part) => part !== '' && !WRAPPER.test(part))
      .map((part) => ({ part, key: isMetricPhrase(part) ? undefined : readKey(part) }));
    const joined = (words: readonly string[]): string => words.filter((word) => word !== '').join(' ');
    const label = joined(named.map(({ key }) => key?.label ?? ''));
    const metric = joined(named.map(({ part, key }) => (key === undefined ? part : key.metric)));
    const isChange = named.some(
      ({ part, key }) =>
        key?.isChange === true || (key !== undefined && speaksOfChange(part) && !readLabel(part).isExplicit),
    );
    this.entries.push({
      label,
      metric,
      value: Number.isFinite(value) ? value : Number.NaN,
      text,
      kind: isChange ? 'change' : 'score',
      isRun: readLabel(label).isRun,
      isMean: speaksOfMean(metric),
      labelIsComponent: false,
      layout: 'literal',
      line: this.#line,
    });
  }
}

/**
 * Entries of a printed mapping or list.
 *
 * @param prefix name of the variant that the whole literal belongs to; empty where it names its own.
 * @param sourceText the literal as printed, so that a number keeps its printed digits.
 */
export function literalEntries(
  value: LiteralValue,
  prefix: string,
  line: number,
  sourceText: string,
): ScoreEntry[] {
  const walk = new LiteralWalk(line, printedDigits(sourceText));
  walk.walk(value, prefix === '' ? [] : [prefix]);
  return walk.entries;
}
