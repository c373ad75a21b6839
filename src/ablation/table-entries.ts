import { readKey } from './line-entries.js';
import { isMetricPhrase, isTrainingMetric, metricIn } from './metric-names.js';
import { numbersIn } from './number-text.js';
import {
  isNoScoreColumn,
  missingScore,
  type ScoreEntry,
  speaksOfChange,
  speaksOfDeviation,
  speaksOfMean,
} from './score-entry.js';
import { readLabel } from './variant-label.js';

export interface Table {
  /** Column titles; undefined where the table has none. */
  readonly header: readonly string[] | undefined;
  readonly rows: readonly (readonly string[])[];
  /** Line of the raw output that each row is in. */
  readonly lines: readonly number[];
  readonly layout: string;
}

const NAME_COLUMN =
  /^(?:the )?(?:variants?|names?|config(?:uration)?s?|ablations?|experiments?|exp|models?|settings?|components?(?: removed| ablated)?|(?:removed|ablated|dropped|disabled|excluded)(?: component| feature| part)?|methods?|scenarios?|runs?|systems?|steps?|description|setup|cases?|versions?|approach|label|tag|features?|condition|modification|change made|variante?s?|configuración|modèle|modell|konfiguration|实验|变体|配置|名称|模型|構成|条件)$/iu;
const COMPONENT_COLUMN =
  /^(?:(?:removed|ablated|dropped|disabled|excluded|without|w\/o|left[ _]out|taken[ _]out)(?:[ _](?:component|feature|part|step|group))?|(?:component|feature|step|feature[ _]group|part)s?(?:[ _](?:removed|ablated|dropped|disabled|left out))?|composante?|komponente|componente|组件|コンポーネント)$/iu;
const BASELINE_COLUMN =
  /^(?:baseline|base|full|with|original|before|reference|full model|with component|score with|with it|référence|avec|mit|con|com)(?:[ _](?:score|metric|model|value|rmse|acc|accuracy|auc|f1))?$/iu;
const WITHOUT_COLUMN =
  /^(?:without|w\/o|ablated|removed|after|ablation|score without|without component|without it|score (?:when|if|after) removed|new|sans|ohne|sin|sem)(?:[ _](?:score|metric|model|value|rmse|acc|accuracy|auc|f1))?$/iu;
const ON = /^(?:✓|✔|☑|✅|yes|y|true|on|1|x|●|enabled|\+)$/iu;
const OFF = /^(?:✗|✘|☒|❌|×|no|n|false|off|0|-|–|—|○|disabled|)$/iu;

const NOTHING = /^[([<]?(?:|-|–|—|none|null|nothing|nan|n\/a|∅|[-–—]{2,3})[)\]>]?$/i;

const clean = (cell: string): string => cell.replace(/\*\*|`|__/g, '').trim();

/** Undefined: no number in the cell, and no word for a failed run. */
function numberOf(cell: string, commaIsDecimal: boolean): { value: number; text: string } | undefined {
  const text = clean(cell);
  if (text.length > 60) return undefined;
  const [first] = numbersIn(text, commaIsDecimal);
  if (first !== undefined) {
    const rest = `${text.slice(0, first.start)}${text.slice(first.end)}`;
    // A cell holds one number, perhaps with a deviation, a unit or a sign next to it.
    if (/\p{L}{3,}/u.test(rest.replace(/\b(?:std|pts?|points?|pp|best|mean)\b/giu, ''))) return undefined;
    return { value: first.value, text: first.text };
  }
  const missing = missingScore(text);
  return missing === undefined || missing.length < text.length - 30
    ? undefined
    : { value: Number.NaN, text: missing };
}

interface Columns {
  readonly name: number;
  readonly labelIsComponent: boolean;
  readonly run: number;
  readonly scores: readonly number[];
  readonly changes: readonly number[];
  readonly baseline: number;
}

function columnsOf(table: Table, width: number, commaIsDecimal: boolean): Columns {
  const titles = Array.from({ length: width }, (_, column) => clean(table.header?.[column] ?? ''));
  const sample = table.rows.slice(0, 60);
  const numbers = titles.map(
    (_, column) => sample.filter((row) => numberOf(row[column] ?? '', commaIsDecimal) !== undefined).length,
  );
  const words = titles.map(
    (_, column) =>
      sample.filter(
        (row) =>
          /\p{L}|^\s*[-–—]\s*$/u.test(row[column] ?? '') && missingScore(row[column] ?? '') === undefined,
      ).length,
  );
  const spacious = titles.map((title) => title.replaceAll('_', ' ').trim());
  let name = spacious.findIndex(
    (title, column) =>
      (NAME_COLUMN.test(title) || COMPONENT_COLUMN.test(title)) && (words[column] ?? 0) >= sample.length / 2,
  );
  if (name === -1)
    name = words.findIndex(
      (count, column) => count >= Math.max(1, sample.length * 0.6) && (numbers[column] ?? 0) <= count / 2,
    );
  const baseline = spacious.findIndex((title) => BASELINE_COLUMN.test(title));
  const without = spacious.findIndex((title) => WITHOUT_COLUMN.test(title));
  const scores: number[] = [];
  const changes: number[] = [];
  for (const [column, title] of titles.entries()) {
    if (column === name || (numbers[column] ?? 0) === 0 || column === baseline) continue;
    if (speaksOfDeviation(title) && !speaksOfMean(title)) continue;
    if (speaksOfChange(title)) changes.push(column);
    else if (metricIn(title) !== undefined || !isNoScoreColumn(title)) {
      // An index column: whole numbers counting up, no title.
      const isIndex =
        column < Math.max(name, 1) && sample.every((row) => /^\d+[.)]?$/.test(clean(row[column] ?? '')));
      if (!isIndex) scores.push(column);
    }
  }
  const paired = baseline !== -1 && without !== -1;
  return {
    name,
    labelIsComponent: paired || (name !== -1 && COMPONENT_COLUMN.test(spacious[name] ?? '')),
    run: spacious.findIndex((title) => /^(?:fold|seed|split|repeat)$/i.test(title)),
    scores: paired ? [without] : scores,
    changes,
    baseline: paired ? baseline : -1,
  };
}

/** Columns that only say which components are on; with their titles. */
function switchColumns(table: Table, width: number): number[] {
  const found: number[] = [];
  for (let column = 0; column < width; column += 1) {
    const title = clean(table.header?.[column] ?? '');
    if (!/\p{L}/u.test(title) || metricIn(title) !== undefined) continue;
    const cells = table.rows.map((row) => clean(row[column] ?? ''));
    if (cells.every((cell) => ON.test(cell) || OFF.test(cell)) && cells.some((cell) => ON.test(cell)))
      found.push(column);
  }
  return found;
}

function labelOfSwitches(table: Table, row: readonly string[], columns: readonly number[]): string {
  const title = (column: number) =>
    clean(table.header?.[column] ?? '').replace(/^(?:use|with|has|enable|include)[ _]/i, '');
  const off = columns.filter((column) => OFF.test(clean(row[column] ?? '')));
  const on = columns.filter((column) => ON.test(clean(row[column] ?? '')));
  if (off.length === 0) return 'baseline (all on)';
  if (off.length === 1) return `no ${title(off[0] ?? 0)}`;
  if (on.length === 1) return `only ${title(on[0] ?? 0)}`;
  return off.map((column) => `no ${title(column)}`).join(', ');
}

/** Rows named by metrics and columns by variants, turned into rows of variants. */
function upright(table: Table): Table {
  const header = table.header;
  if (header === undefined || header.length < 3 || table.rows.length === 0) return table;
  const named = header.slice(1).map((title) => readLabel(clean(title)));
  const metricRows = table.rows.filter(
    (row) => isMetricPhrase(clean(row[0] ?? '')) || metricIn(row[0] ?? '') !== undefined,
  ).length;
  const variants = named.filter((label) => label.isExplicit).length;
  if (variants < 2 || metricRows < table.rows.length / 2 || !named.some((label) => label.role === 'baseline'))
    return table;
  if (header.slice(1).some((title) => speaksOfChange(title) || WITHOUT_COLUMN.test(clean(title))))
    return table;
  return {
    ...table,
    header: ['variant', ...table.rows.map((row) => row[0] ?? '')],
    rows: header.slice(1).map((title, column) => [title, ...table.rows.map((row) => row[column + 1] ?? '')]),
    lines: header.slice(1).map(() => table.lines[0] ?? 0),
  };
}

/** The variant that a row is about, and the metric where the name holds one; undefined for a row without a name. */
function rowName(
  table: Table,
  row: readonly string[],
  columns: Columns,
  switches: readonly number[],
): { label: string; metric: string } | undefined {
  const cell = clean(row[columns.name] ?? '');
  if (columns.name === -1 || (switches.length > 0 && !readLabel(cell).isExplicit)) {
    return { label: labelOfSwitches(table, row, switches), metric: '' };
  }
  if (columns.labelIsComponent && NOTHING.test(cell)) return { label: 'baseline', metric: '' };
  if (cell === '') return undefined;
  // In a cell a dash before a name means "without"; in running text it is a list sign.
  if (/^[-−–]\s*(?=\p{L})/u.test(cell)) return { label: cell.replace(/^[-−–]\s*/u, 'no '), metric: '' };
  const key = table.header === undefined ? readKey(cell) : undefined;
  return key?.namesMetric === true && key.label !== ''
    ? { label: key.label, metric: key.metric }
    : { label: cell, metric: '' };
}

/** Turns the rows of a table (piped, CSV, aligned, or a list of records) into entries. */
export function tableEntries(input: Table, commaIsDecimal: boolean): ScoreEntry[] {
  const table = upright(input);
  const width = Math.max(table.header?.length ?? 0, ...table.rows.slice(0, 200).map((row) => row.length));
  const columns = columnsOf(table, width, commaIsDecimal);
  const switches = table.header === undefined ? [] : switchColumns(table, width);
  const bySwitches = switches.length >= 2 || (switches.length === 1 && columns.name === -1);
  if (columns.name === -1 && !bySwitches) return [];
  const entries: ScoreEntry[] = [];
  for (const [position, row] of table.rows.entries()) {
    const line = table.lines[position] ?? 0;
    const named = rowName(table, row, columns, bySwitches ? switches : []);
    if (named === undefined) continue;
    const { label } = named;
    const base = {
      label,
      isRun: columns.run !== -1 || readLabel(label).isRun,
      labelIsComponent: columns.labelIsComponent && !bySwitches,
      layout: `table:${table.layout}`,
      line,
    };
    const add = (column: number, kind: ScoreEntry['kind'], entryLabel: string = label): void => {
      const cell = row[column] ?? '';
      const keyed = /^(.*?)[:=]\s*(?!\s)([^:=]+)$/.exec(clean(cell));
      const key = keyed?.[1] === undefined ? undefined : readKey(keyed[1]);
      const printed = numberOf(keyed?.[2] ?? cell, commaIsDecimal);
      if (printed === undefined) return;
      const title = clean(table.header?.[column] ?? '');
      const metric = key?.metric || (key?.label === '' ? '' : (key?.label ?? title));
      const isChange = kind === 'change' || key?.isChange === true || speaksOfChange(keyed?.[1] ?? '');
      if (speaksOfDeviation(keyed?.[1] ?? '') || isNoScoreColumn(keyed?.[1] ?? '')) return;
      entries.push({
        ...base,
        ...printed,
        label: entryLabel,
        labelIsComponent: base.labelIsComponent && entryLabel === label,
        metric: isChange ? '' : metric || named.metric,
        kind: isChange ? 'change' : 'score',
        isMean: speaksOfMean(title),
      });
    };
    for (const column of columns.scores) if (!bySwitches || !switches.includes(column)) add(column, 'score');
    for (const column of columns.changes) add(column, 'change');
    if (columns.baseline !== -1) add(columns.baseline, 'score', 'baseline');
    // Numbers after a key are in any column of a table without titles: `name | QWK: 0.81`.
    if (table.header === undefined && columns.scores.length === 0) {
      for (let column = 0; column < row.length; column += 1)
        if (column !== columns.name) add(column, 'score');
    }
  }
  const onlyTraining = entries.every((entry) => isTrainingMetric(entry.metric));
  return onlyTraining ? entries : entries.filter((entry) => !isTrainingMetric(entry.metric));
}
