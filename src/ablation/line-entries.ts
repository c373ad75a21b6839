import { isMetricPhrase, metricAtEnd, metricAtStart } from './metric-names.js';
import { type NumberToken, numbersIn } from './number-text.js';
import {
  changeLabel,
  missingScore,
  type ScoreEntry,
  speaksOfChange,
  speaksOfDeviation,
  speaksOfMean,
} from './score-entry.js';
import { readLabel } from './variant-label.js';

/** Where a number or a missing one is in a line, and how deep in brackets. */
interface Candidate {
  readonly start: number;
  readonly end: number;
  readonly depth: number;
  readonly number?: NumberToken;
  readonly missing?: string;
  /** Sign or word before the number. */
  readonly separator: 'sign' | 'word' | 'space' | 'none';
}

const SIGN_BEFORE = /(?:[:=：＝~≈]|[-=]>|→|⇒|\.{3}|…|_{3}|·{3})\s*[*_`"'[(]{0,3}$/u;
const WORD_BEFORE =
  /(?<![\p{L}])(?:of|to|is|was|at|by|becomes?|equals?|scored?|scores|got|gets|gives|gave|yields?|yielded|reach(?:es|ed)?|achiev(?:es|ed)|obtain(?:s|ed)|est de|est|de|ist|beträgt|auf|es|fue|é|foi)\s*[*_`]{0,2}$/iu;
const WIDE_SPACE_BEFORE = /(?:\s{2}|\t)[*_`]{0,2}$/;
const MISSING =
  /(?=[-+a-z])(?:(?<=[:=：>→]\s*[*_`"'[(]{0,3})(?:[-+]?(?:nan|inf)\b|n\/?a\b|none\b|null\b|failed|failure|error\b|crashed|timed? ?out|oom\b|skipped|aborted|diverged)|(?<=\s{2})[-+]?(?:nan|inf)(?=\s|$)|(?<=^.{2,80}[\s:-])(?:failed|crashed|errored)(?=$|\s*[:(.!]))/giu;
const LIST_BREAK = /^\s*(?:[%)\]*_`]+\s*)?(?:[,;|]|\/(?=\s)|\s[-–—]\s|\s{2,}|\t)/u;
const CHANGE_AFTER =
  /^\s*(?:[\p{L}]{1,10}\s+)?(?:degradation|drop|decrease|increase|decline|worse|better|lower|higher|improvement)(?![\p{L}])/iu;
const PLUS_MINUS_AFTER =
  /^\s*(?:[)\]%*_`]{1,3}\s*)?(?:[([]\s*)?(?:±|\+\/-|\+-|\+\\-|\\pm|\b(?:std|sd)\b[ =:]*(?! )|σ(?:\s*=)?)\s*[\d.,]+\s*(?:%\s*)?[)\]]?/iu;
/** `0.9138 (change +0.0640)`, `0.80 [-6 %]`: what is said of a score after it. */
const NOTE_AFTER = /^\s*(?:[%*_`]+\s*)?[([][^()[\]]{1,60}[)\]]/u;
const FROM_NUMBER = /(?<!\s)\s+(?:from|de|von)\s+[-+]?[\d.,]+%?\s*$/iu;
const TRAILING_VERB =
  /(?<![\s,])[\s,]+(?:(?:the|its|an|a|to|in|l'|la|le)\s+){0,4}(?:model\s+|pipeline\s+)?(?:achiev(?:es|ed|ing)|reach(?:es|ed|ing)|scor(?:es|ed|ing)|obtain(?:s|ed|ing)|get(?:s|ting)?|got|ha(?:s|d|ving)|yield(?:s|ed|ing)?|giv(?:es|ing)|gave|drops?|dropped|falls?|fell|decreas(?:es|ed)|increas(?:es|ed)|rises?|rose|chang(?:es|ed)|goes|went|is|was|results?(?: in)?|resulted(?: in)?|lead(?:s)?(?: to)?|led|improv(?:es|ed)|reduc(?:es|ed)|lower(?:s|ed)|rais(?:es|ed)|worsen(?:s|ed)?|end(?:s|ed)(?: up)?|becom(?:es|ing)|became|equals?|a une?|hat|erreicht|atteint|obtient)(?:(?:\s+(?:the|an|a|its|in|to|up|down|un|une|einen?|der|die|das|l')){1,6}\s*)?$/iu;

function depthsOf(line: string): Uint8Array {
  const depths = new Uint8Array(line.length + 1);
  let depth = 0;
  for (let position = 0; position < line.length; position += 1) {
    const sign = line[position] ?? '';
    if (')]}'.includes(sign) && depth > 0) depth -= 1;
    depths[position] = Math.min(depth, 255);
    if ('([{'.includes(sign)) depth += 1;
  }
  return depths;
}

/** Numbers of one line that are looked at; a longer line is not a list of variants. */
const MAX_CANDIDATES = 200;

/** `baseline [0.81 0.82]`, as numpy prints an array. */
function startsArray(line: string, number: NumberToken): boolean {
  return (
    /\[\s*$/.test(line.slice(Math.max(0, number.start - 4), number.start)) &&
    /^[\s,]+\d*\.\d/.test(line.slice(number.end, number.end + 12))
  );
}

/** Whether a number follows without a sign that ends the name before it; the next number alone decides. */
function isPartOfName(line: string, word: Candidate, numbers: readonly Candidate[]): boolean {
  const next = numbers.find((number) => number.separator === 'sign' && number.start > word.end);
  return next !== undefined && !/[,;|(]/.test(line.slice(word.end, next.start));
}

function candidatesOf(line: string, commaIsDecimal: boolean): Candidate[] {
  const depths = depthsOf(line);
  const numbers: Candidate[] = numbersIn(line, commaIsDecimal).map((number) => {
    const before = line.slice(Math.max(0, number.start - 24), number.start);
    let separator: Candidate['separator'] = 'none';
    if (SIGN_BEFORE.test(before) || startsArray(line, number)) separator = 'sign';
    else if (WORD_BEFORE.test(before)) separator = 'word';
    else if (WIDE_SPACE_BEFORE.test(before)) separator = 'space';
    return { start: number.start, end: number.end, depth: depths[number.start] ?? 0, number, separator };
  });
  const missing: Candidate[] = [];
  for (const match of line.slice(0, 2000).matchAll(MISSING)) {
    missing.push({
      start: match.index,
      end: match.index + match[0].length,
      depth: depths[match.index] ?? 0,
      missing: match[0],
      separator: 'sign',
    });
  }
  // "scaler -> none: 0.81": the word belongs to the name where a number follows it.
  const real = missing.filter((one) => !isPartOfName(line, one, numbers));
  const all = [...numbers, ...real].sort((a, b) => a.start - b.start);
  return all.length <= MAX_CANDIDATES
    ? all
    : [...all.slice(0, MAX_CANDIDATES / 2), ...all.slice(-MAX_CANDIDATES / 2)];
}

interface Key {
  readonly label: string;
  readonly metric: string;
  readonly isChange: boolean;
  readonly namesMetric: boolean;
}

const JOINT =
  /^\s*(?:for|of|on|with(?=\s+(?:only|just|all|the full))|in|when|after|if|pour|für|para|per|:|-|–|—|\||>|,)\s*/iu;

/** Words before a number that are looked at. */
const MAX_KEY_LENGTH = 300;

/** Divides the words before a number into the variant's label and the metric. */
export function readKey(words: string): Key {
  let text = words
    .slice(-MAX_KEY_LENGTH)
    .replace(FROM_NUMBER, '')
    .replace(/(?<![\s:=：＝>→~≈*_`"'[(])[\s:=：＝>→~≈*_`"'[(]+$/u, '')
    .replace(/(?:(?<![-=])[-=]+|\s[-–—])$/, '')
    .trimEnd();
  // "Removing stop words improved the accuracy to 0.992": the metric comes before the preposition.
  const beforePreposition = text.replace(/(?<!\s)\s+(?:to|at|by|of|from|auf|à|a)$/iu, '');
  if (metricAtEnd(beforePreposition) !== undefined) text = beforePreposition;
  const withoutVerb = text.replace(TRAILING_VERB, '');
  const metricAfterVerb = metricAtEnd(text);
  let metric = '';
  let namesMetric = false;
  if (metricAfterVerb !== undefined && !isMetricPhrase(text)) {
    metric = metricAfterVerb.metric;
    namesMetric = true;
    text = text.slice(0, metricAfterVerb.start).replace(TRAILING_VERB, '');
  } else if (withoutVerb !== text) {
    text = withoutVerb;
    const inner = metricAtEnd(text);
    if (inner !== undefined) {
      metric = inner.metric;
      namesMetric = true;
      text = text.slice(0, inner.start).replace(TRAILING_VERB, '');
    }
  }
  text = text.replace(/(?<![\s,:=|>→–—([{"'-])[\s,:=|>→–—([{"'-]+$/u, '');
  if (namesMetric) text = text.replace(/(?<![,\s])(?:[,\s]+(?:the|its|an?|has|le|la|l')){1,4}$/iu, '');
  const unlisted = text.replace(/^[\s\-*•·#>|,;/]+(?=\S)/u, '');
  if (unlisted === '' || isMetricPhrase(unlisted)) {
    const whole = unlisted === '' ? metric : `${unlisted} ${metric}`.trim();
    return {
      label: '',
      metric: metric === '' ? (metricAtEnd(unlisted)?.metric ?? '') : whole,
      isChange: false,
      namesMetric: true,
    };
  }
  const changed = changeLabel(unlisted);
  if (changed !== undefined)
    return { label: changed.replace(/^[\s:–—-]+/u, ''), metric, isChange: true, namesMetric };
  if (!namesMetric) {
    const head = metricAtStart(unlisted);
    if (head !== undefined) {
      const rest = unlisted.slice(head.end);
      if (
        /^\s*(?:[:([|–—>"'`,]|-\s|(?:for|of|on|in|when|after|if|without|with|w\/o|no|using|excluding|only|minus|pour|sans|für|ohne|con|sin|para|per)(?![\p{L}]))/iu.test(
          rest,
        )
      ) {
        return { label: rest.replace(JOINT, ''), metric: head.metric, isChange: false, namesMetric: true };
      }
    }
  }
  return { label: unlisted, metric, isChange: false, namesMetric };
}

/** `[0.81, 0.82, 0.80]` or `0.81 0.82 0.80` after a separator: the scores of single runs. */
function runsAt(line: string, first: Candidate, all: readonly Candidate[]): NumberToken[] {
  const runs: NumberToken[] = [];
  let position = first.start;
  for (const candidate of all) {
    if (candidate.start < first.start || candidate.number === undefined) continue;
    const between = line.slice(position, candidate.start);
    if (runs.length > 0 && !/^[\s,;]*$/.test(between)) break;
    runs.push(candidate.number);
    position = candidate.end;
  }
  const inBrackets =
    /[[(]\s*$/.test(line.slice(Math.max(0, first.start - 12), first.start)) &&
    /^\s*[\])]/.test(line.slice(position));
  const decimals = runs.every((run) => run.decimals > 0);
  const plain =
    runs.length >= 3 &&
    /^\s*(?:$|[(|;])/.test(line.slice(position)) &&
    !/,/.test(line.slice(first.start, position));
  return decimals && runs.length >= 2 && (inBrackets || plain) ? runs : [];
}

interface Piece {
  readonly key: Key;
  readonly candidate: Candidate;
  readonly runs: readonly NumberToken[];
}

/** Candidates outside brackets, each with the words since the one before it. */
function piecesOf(line: string, candidates: readonly Candidate[]): Piece[] {
  const pieces: Piece[] = [];
  let keyStart = 0;
  let skipUntil = 0;
  const outer = candidates.filter(
    (one) =>
      one.separator !== 'none' &&
      (one.depth === 0 || /(?:[:=]\s*[[(]|\[)\s*$/.test(line.slice(Math.max(0, one.start - 12), one.start))),
  );
  // `baseline=0.64 no_gate=0.63`: a space divides where no sign has one.
  const allTight = outer.length >= 2 && outer.every((one) => line[one.start - 1] === '=');
  const lastStart = outer.findLast((one) => one.separator !== 'space')?.start ?? -1;
  for (const candidate of outer) {
    if (candidate.start < skipUntil) continue;
    const runs = candidate.number === undefined ? [] : runsAt(line, candidate, candidates);
    const end = runs.at(-1)?.end ?? candidate.end;
    const key = readKey(
      line
        .slice(keyStart, candidate.start)
        .replace(/^[\s,;|/)\]%*]+(?:[-–—]\s)?/u, keyStart === 0 ? '$&' : ''),
    );
    const rest = line.slice(end).replace(PLUS_MINUS_AFTER, '');
    const hasNext = lastStart >= end;
    const endsPiece = !hasNext || allTight || key.namesMetric || LIST_BREAK.test(rest) || runs.length > 0;
    // `RF n_estimators=10 (instead of 100): 0.82`: the number is part of the name that goes on.
    if (!endsPiece) continue;
    pieces.push({ key, candidate, runs });
    skipUntil = end + (line.length - end - rest.length);
    keyStart = skipUntil;
  }
  return pieces;
}

/** Reads `(baseline: 0.81)`, `(-0.0094)` and `(delta = -1.2 %)` after a score. */
function bracketEntries(
  line: string,
  candidates: readonly Candidate[],
  after: Candidate,
): Pick<ScoreEntry, 'kind' | 'value' | 'text' | 'label'>[] {
  const found: Pick<ScoreEntry, 'kind' | 'value' | 'text' | 'label'>[] = [];
  for (const candidate of candidates) {
    if (candidate.start < after.end || candidate.depth === 0 || candidate.number === undefined) continue;
    const open = Math.max(line.lastIndexOf('(', candidate.start), line.lastIndexOf('[', candidate.start));
    if (open < after.end - 1) continue;
    const words = line.slice(open + 1, candidate.start);
    const { value, text, signed } = candidate.number;
    if (speaksOfDeviation(words)) continue;
    if (/\b(?:vs\.?|versus|baseline|base|full)\W*$/i.test(words) && !signed && !speaksOfChange(words))
      found.push({ kind: 'score', value, text, label: 'baseline' });
    else if (speaksOfChange(words) || (signed && words.trim() === ''))
      found.push({ kind: 'change', value, text, label: '' });
  }
  return found;
}

const LABEL_LIMIT = 220;

/**
 * Reads the scores of one line of running text: `name: score`, several names in a row, several metrics for
 * one name, and sentences such as "Without the scaler, accuracy drops to 0.81".
 */
export function lineEntries(
  text: string,
  index: number,
  commaIsDecimal: boolean,
  isCell = false,
): ScoreEntry[] {
  // Long runs of one sign say no more than short ones, and cost patterns that look for their end.
  const line = text.replace(/([\s,;|])\1{3,}/g, '$1$1$1');
  const candidates = candidatesOf(line, commaIsDecimal);
  if (candidates.length === 0) return [];
  let pieces = piecesOf(line, candidates);
  const last = candidates.findLast((one) => one.depth === 0 && one.number !== undefined);
  if (
    pieces.length === 0 &&
    last !== undefined &&
    /^[\s%*_`.)]*$/.test(line.slice(last.end).replace(PLUS_MINUS_AFTER, '').replace(NOTE_AFTER, ''))
  ) {
    // `Baseline 0.8196`: no sign, but nothing else on the line.
    const key = readKey(line.slice(0, last.start));
    if (!/[|;]|\d\.\d/.test(key.label) && (readLabel(key.label).isExplicit || key.namesMetric))
      pieces = [{ key, candidate: last, runs: [] }];
  }
  if (pieces.length === 0 && !isCell) {
    // `Seed 1 | Baseline 0.801 | NoPooling 0.799`: every cell a name and its score.
    const cells = line.split(/[|;]|,\s/);
    if (cells.length === 1) return [];
    const isRun = readLabel(cells[0] ?? '').isRun;
    return cells
      .flatMap((cell) => lineEntries(cell, index, commaIsDecimal, true))
      .map((entry) => ({ ...entry, isRun: isRun || entry.isRun, layout: 'cells' }));
  }
  const entries: ScoreEntry[] = [];
  let label = '';
  for (const { key, candidate, runs } of pieces) {
    if (speaksOfDeviation(key.label) && /^\W*(?:std|stdev|sd|±|\+\/-|sem|ci)/i.test(key.label)) continue;
    const continues = key.label === '' && label !== '';
    if (!continues) label = key.label;
    if (label.length > LABEL_LIMIT) continue;
    const number = candidate.number;
    const word =
      candidate.missing === undefined ? undefined : (missingScore(candidate.missing) ?? candidate.missing);
    const changes = number !== undefined && CHANGE_AFTER.test(line.slice(candidate.end, candidate.end + 40));
    const by =
      candidate.separator === 'word' &&
      /\bby\s*$/i.test(line.slice(Math.max(0, candidate.start - 12), candidate.start));
    const base = {
      label,
      metric: key.metric,
      isRun: readLabel(`${label}`).isRun,
      isMean: speaksOfMean(key.metric) || speaksOfMean(line.slice(0, candidate.start).slice(-40)),
      labelIsComponent: key.isChange,
      layout: `${candidate.separator}:${pieces.length > 1 ? 'row' : 'line'}`,
      line: index,
    };
    entries.push({
      ...base,
      value: number?.value ?? Number.NaN,
      text: number?.text ?? word ?? '',
      kind: key.isChange || by || changes ? 'change' : 'score',
      ...(runs.length > 0 ? { runs: runs.map((run) => ({ value: run.value, text: run.text })) } : {}),
    });
    if (pieces.length === 1) {
      for (const extra of bracketEntries(line, candidates, candidate)) {
        entries.push({ ...base, ...extra, label: extra.label === '' ? label : extra.label });
      }
    }
  }
  return entries;
}
