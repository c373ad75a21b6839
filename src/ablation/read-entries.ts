import { lineEntries, readKey } from './line-entries.js';
import { holdsNamedNumbers, literalEntries } from './literal-entries.js';
import { readLiteral } from './literal-values.js';
import { failedInBrackets, isConclusion, isHousekeeping, isOrder } from './log-noise.js';
import { isMetricPhrase } from './metric-names.js';
import { type CleanOutput, cleanOutput, cutLine, type OutputLine } from './output-lines.js';
import { type ScoreEntry, speaksOfChange } from './score-entry.js';
import { tableEntries } from './table-entries.js';
import { findTable, isBorder } from './table-layout.js';
import { plainLabel, readLabel } from './variant-label.js';

const QUOTED =
  /(?:error|exception|failure|failed)\s+(?:(?:in|while|during|for|with|on|at)\s*)?(?:(?:running|evaluating|training|executing)\s*)?(?:the\s+)?(?:(?:scenario|variant|ablation|experiment|config(?:uration)?|run)\s*)?["'`[](.{1,120}?)["'`\]]/i;
const SEPARATOR = /[\s:–-]/;
const FAILED =
  /(?<=[\s:–-])(?:has |have |run )?(?:failed|crashed|errored out|raised (?:an? )?\w+|was skipped|timed out|diverged)\b/gi;
const MIN_LABEL = 2;
const MAX_LABEL = 120;

interface FailedRun {
  readonly label: string;
  /** Whether quotes or brackets say where the name of the run begins and ends. */
  readonly isQuoted: boolean;
}

/** The words before `failed`, without the signs around them. */
function labelBefore(line: string): string | undefined {
  const start = /\w/.exec(line)?.index ?? line.length;
  let short: string | undefined;
  for (const { index } of line.matchAll(FAILED)) {
    let end = index;
    while (end > start + MIN_LABEL && SEPARATOR.test(line[end - 1] ?? '')) end -= 1;
    if (index <= start + MIN_LABEL) {
      // Before the first Latin letter: a name of two others.
      if (index > MIN_LABEL) short = line.slice(index - MIN_LABEL - 1, index - 1);
    } else if (end - start <= MAX_LABEL) return line.slice(start, end);
  }
  return short;
}

/** The run that a line says has failed: `Error in variant "no scaler"`, `no scaler: crashed`. */
function failedRunIn(line: string): FailedRun | undefined {
  const inBrackets = failedInBrackets(line);
  if (inBrackets !== undefined) return { label: inBrackets, isQuoted: true };
  const quoted = QUOTED.exec(line);
  const label = labelBefore(line);
  if (quoted?.[1] !== undefined && (label === undefined || quoted.index === 0))
    return { label: quoted[1], isQuoted: true };
  return label === undefined ? undefined : { label, isQuoted: false };
}

export interface PrintedEntries {
  readonly entries: readonly ScoreEntry[];
  /** What comes after a bare `Ablation 2` elsewhere in the output, by `ablation 2`. */
  readonly namesByNumber: ReadonlyMap<string, string>;
  readonly output: CleanOutput;
  /** Whether the middle of a very long output was not read. */
  readonly partlyRead: boolean;
}

/** Longest literal that is read, and how many characters may be tried in vain in one output. */
const MAX_LITERAL_LENGTH = 512 * 1024;
const VAIN_CHARACTERS = 2 * 1024 * 1024;

const SECTION_WORDS =
  /(?:^|\s)(?:study|studies|results?|summary|analysis|report|conclusions?|comparison|overview|contributions?|performance|scores?|ranking|details|evaluation|experiments?|résultats?|ergebnisse|resultados|risultati|结果|結果)\s*$/iu;

/** Whether rules, a sign for a heading or bold letters make a line stand out. */
function isDecorated(line: string): boolean {
  const before = /^\W*/u.exec(line)?.[0] ?? '';
  const after = /(?<!\W)\W+$/u.exec(line)?.[0] ?? '';
  return /[=\-#*~─━]{2}/u.test(`${before}\n${after}`) || /^#+\s|^\*\*/u.test(line);
}

class EntryReader {
  readonly #lines: readonly OutputLine[];
  readonly #commaIsDecimal: boolean;
  readonly entries: ScoreEntry[] = [];
  readonly names = new Map<string, string>();
  #heading = '';
  #lastLabel = '';
  #inChanges = false;
  #vain = 0;
  /** Lines before this one are known to hold no table that names variants. */
  #noTableBefore = 0;
  readonly #joined: string;
  readonly #offsets: number[] = [];

  constructor(lines: readonly OutputLine[], commaIsDecimal: boolean) {
    this.#lines = lines;
    this.#commaIsDecimal = commaIsDecimal;

    let offset = 0;
    for (const line of lines) {
      this.#offsets.push(offset);
      offset += line.text.length + 1;
    }
    this.#joined = lines.map((line) => line.text).join('\n');
  }

  read(): void {
    let position = 0;
    while (position < this.#lines.length) {
      position = this.#literal(position) ?? this.#table(position) ?? this.#line(position);
    }
  }

  /** Reads a printed dict, list or JSON text that starts on the line. */
  #literal(position: number): number | undefined {
    const text = this.#lines[position]?.text ?? '';
    const head = text.slice(0, 120);
    const open = head.search(/[[{]/);
    if (open === -1 || this.#vain > VAIN_CHARACTERS) return undefined;
    const before = head.slice(0, open);
    if (!/^[^{}[\]]*$/.test(before) || /\d\s*$/.test(before)) return undefined;
    const start = (this.#offsets[position] ?? 0) + open;
    const found = readLiteral(this.#joined, start, MAX_LITERAL_LENGTH);
    if (found.value === undefined || !holdsNamedNumbers(found.value)) {
      this.#vain += found.end - start;
      return undefined;
    }
    const label = readKey(before.replace(/(?:dict|ordereddict)\s*\(?$/i, '')).label;
    const prefix = readLabel(label).isExplicit
      ? label
      : readLabel(this.#heading).isExplicit
        ? this.#heading
        : '';
    const line = this.#lines[position]?.index ?? 0;
    const entries = literalEntries(found.value, prefix, line, this.#joined.slice(start, found.end));
    for (const entry of entries) this.entries.push(entry);
    let next = position + 1;
    while (next < this.#lines.length && (this.#offsets[next] ?? 0) < found.end) next += 1;
    return next;
  }

  #table(position: number): number | undefined {
    const text = this.#lines[position]?.text ?? '';
    if (position < this.#noTableBefore || isBorder(text) || isConclusion(text) || isOrder(text))
      return undefined;
    const found = findTable(this.#lines, position, this.#titlesAbove(position));
    if (found === undefined) return undefined;
    let entries = tableEntries(found.table, this.#commaIsDecimal);
    // pandas prints the name of a Series below it.
    const seriesName = /^Name: ([\w ]+), (?:Length|dtype)/.exec(this.#lines[found.end]?.text ?? '')?.[1];
    if (seriesName !== undefined)
      entries = entries.map((entry) => (entry.metric === '' ? { ...entry, metric: seriesName } : entry));
    if (entries.length === 0) {
      this.#noTableBefore = found.end;
      return undefined;
    }
    if (this.#inChanges && found.table.header === undefined)
      entries = entries.map((entry) => this.#asChange(entry));
    for (const entry of entries) if (!isOrder(entry.label)) this.entries.push(entry);
    this.#lastLabel = entries.at(-1)?.label ?? this.#lastLabel;
    return found.end;
  }

  /** The line of titles above a table; pandas prints that of the index in a line of its own below the others. */
  #titlesAbove(position: number): string | undefined {
    let before = position - 1;
    while (before >= 0 && isBorder(this.#lines[before]?.text ?? '')) before -= 1;
    const titles = this.#lines[before]?.text;
    const others = this.#lines[before - 1]?.text ?? '';
    const index = titles?.trimEnd() ?? '';
    const isIndex = /^\w[\w ]*$/.test(index) && /^\s*$/.test(others.slice(0, index.length + 1));
    return isIndex && others.trim() !== '' ? `${index}${others.slice(index.length)}` : titles;
  }

  #asChange(entry: ScoreEntry): ScoreEntry {
    const { role } = readLabel(entry.label);
    return role === 'baseline' ? entry : { ...entry, kind: 'change', labelIsComponent: role === 'plain' };
  }

  #line(position: number): number {
    const line = this.#lines[position];
    const text = cutLine(line?.text ?? '');
    if (line === undefined || text.trim() === '' || isBorder(text)) {
      if (text.trim() === '') this.#inChanges = false;
      return position + 1;
    }
    if (isConclusion(text)) {
      if (/^\W*(?:conclusions?|analysis|interpretation|key findings?|findings?|summary of)\b/i.test(text))
        this.#heading = '';
      return position + 1;
    }
    if (isOrder(text) || isHousekeeping(text)) return position + 1;
    const failed = this.#failedRun(line);
    const found = failed === undefined ? lineEntries(text, line.index, this.#commaIsDecimal) : [failed];
    if (found.length === 0) this.#readHeading(text);
    for (const entry of found) this.#take(entry);
    return position + 1;
  }

  #failedRun(line: OutputLine): ScoreEntry | undefined {
    const failed = failedRunIn(line.text.slice(0, 400));
    if (failed === undefined) return undefined;
    const { label } = failed;
    const reading = readLabel(label);
    if (!reading.isExplicit && !failed.isQuoted) return undefined;
    return {
      label,
      metric: '',
      value: Number.NaN,
      text: 'failed',
      kind: 'score',
      isRun: reading.isRun,
      isMean: false,
      labelIsComponent: false,
      layout: 'failed',
      line: line.index,
    };
  }

  #take(entry: ScoreEntry): void {
    const own = readLabel(entry.label);
    let label = entry.label;
    if (own.text === '' && own.number === undefined) {
      const context = this.#heading !== '' ? this.#heading : entry.isRun ? this.#lastLabel : '';
      if (context === '') return;
      label = context;
    } else {
      if (own.number !== undefined && own.text !== '') this.names.set(own.number, own.text);
      if (!entry.isRun) {
        this.#lastLabel = entry.label;
        this.#heading = '';
      }
    }
    const labeled = { ...entry, label, layout: label === entry.label ? entry.layout : 'heading' };
    this.entries.push(this.#inChanges ? this.#asChange(labeled) : labeled);
  }

  /** A line without a number may name the variant whose scores follow, or open a list of changes. */
  #readHeading(text: string): void {
    const plain = plainLabel(text);
    if (plain === '' || plain.length > 160) return;
    const decorated = isDecorated(text.trim());
    const opens = /(?::|\.{3}|…)$/.test(text.trim());
    const reading = readLabel(plain);
    this.#inChanges = speaksOfChange(plain) && (opens || decorated) && !reading.isExplicit;
    if (SECTION_WORDS.test(plain) && reading.role !== 'removed' && reading.number === undefined) {
      if (decorated || opens) this.#heading = '';
      return;
    }
    if (reading.number !== undefined && reading.text !== '') this.names.set(reading.number, reading.text);
    const announced =
      /^\W*(?:now |starting |\[?\d+\s*\/\s*\d+\]?\W*)?(?:running|evaluating|training|testing|variant|config\w*|experiment|scenario|setting|model|name|ablation)\b/i.test(
        text,
      );
    if ((reading.isExplicit || decorated || opens || announced) && !isMetricPhrase(plain) && !this.#inChanges)
      this.#heading = plain;
  }
}

/** Whether the output writes 0,81 for 0.81. */
function usesDecimalComma(lines: readonly OutputLine[]): boolean {
  let commas = 0;
  for (const { text } of lines) {
    const line = text.slice(0, 2000);
    if (/[:=|\s][-+]?\d+\.\d+(?!\.\d)/.test(line)) return false;
    // `0,682` and `12,5`, but neither a list such as `1, 2` nor CSV such as `a,0,1`.
    if (/(?:^|[:=|;\s(≈])[-+−]?\d+,\d+(?![,\d])/.test(line)) commas += 1;
  }
  return commas >= 2;
}

/** Lines that are read, at most; of more, the first quarter of this and the last three. */
const MAX_LINES = 20_000;

function withoutMiddle(lines: readonly OutputLine[]): readonly OutputLine[] {
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES / 4), ...lines.slice((-MAX_LINES * 3) / 4)];
}

/** All numbers of an output that could be scores of variants, in printed order. */
export function readEntries(rawOutput: string): PrintedEntries {
  const output = cleanOutput(rawOutput);
  const lines = withoutMiddle(output.lines);
  const reader = new EntryReader(lines, usesDecimalComma(lines));
  reader.read();
  return { entries: reader.entries, namesByNumber: reader.names, output, partlyRead: lines !== output.lines };
}
