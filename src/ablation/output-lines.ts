import { interruptionIn, isLibraryNoise, isWarningSource } from './log-noise.js';

export interface OutputLine {
  readonly text: string;
  /** Number of the line in the raw output, from 0. */
  readonly index: number;
}

export interface CleanOutput {
  /** Lines that may hold results: no color codes, log prefixes, library noise or tracebacks. */
  readonly lines: readonly OutputLine[];
  /** Last line of the last traceback, as in `ValueError: could not convert string to float`. */
  readonly exception?: string;
  readonly interruption?: string;
  readonly hasText: boolean;
}

/** Longest line that is read whole; of a longer one the start and the end are. */
const MAX_LINE_LENGTH = 4000;
/** Longer lines that start like a literal are left whole for the literal reader. */
const LITERAL_START = /^\s*(?:[\w.]{1,60}\s*)?(?:[:=]\s*)?[[{]/;

const [ESCAPE, BELL] = [String.fromCharCode(27), String.fromCharCode(7)];
/** Terminal escape sequences: colors, titles, cursor moves. */
const ESCAPES = new RegExp(
  `${ESCAPE}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BELL}${ESCAPE}]{0,2000}(?:${BELL}|${ESCAPE}\\\\)|[@-Z\\\\-_])`,
  'g',
);
/** Control characters that print nothing divide words: a NUL between two numbers does not make them one. */
const CONTROLS = /(?![\t\n\r])[\p{Cc}\u200b\ufeff]/gu;

/** The text as a terminal shows it, without escape sequences and control characters. */
export function visibleText(raw: string): string {
  return raw.replace(ESCAPES, '').replace(CONTROLS, ' ');
}

const PREFIXES: readonly RegExp[] = [
  /^\s*[[(]?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?[\])]?\s*(?:[-|:]\s+)?/,
  /^\s*[[(]?\d\d:\d\d:\d\d(?:[.,]\d+)?[\])]?\s*(?:[-|:]\s+)?/,
  /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ \S+:\d+\]\s*/,
  /^\s*\[?(?:stdout|stderr|std(?:out|err) [FP])\]?[:|]?\s+/,
  /^\s*(?:[A-Za-z_][\w.]*(?:\[\d+\])?\s*(?:-\s|\||:)\s*)?[[(]?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|NOTICE|SUCCESS)[\])]?(?:\s*[:|-]|\s)\s*/,
  /^(?:root|__main__|ablation|logger|main)\s*(?::|\s-\s|\|)\s*(?=\S)/,
];

function withoutLogPrefix(line: string): string {
  let text = line;
  let isLog = false;
  for (let round = 0; round < 4; round += 1) {
    const head = text.slice(0, 200);
    let cut = 0;
    for (const [position, pattern] of PREFIXES.entries()) {
      // A bare logger name is a prefix only after a time or a level.
      if (position === PREFIXES.length - 1 && !isLog) continue;
      const match = pattern.exec(head);
      if (match !== null && match[0].length > 0) {
        cut = match[0].length;
        break;
      }
    }
    if (cut === 0) return text;
    isLog = true;
    text = text.slice(cut);
  }
  return text;
}

/** Start and end of a line that is too long to be read word by word. */
export function cutLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  return `${line.slice(0, MAX_LINE_LENGTH / 2)} … ${line.slice(-MAX_LINE_LENGTH / 2)}`;
}

/** Bars that are drawn beside a score. */
const BARS = /[\u2581-\u258f\u2591-\u2593\u25a0\u25a1\u25b0\u25b1\u2588]{2,}/g;
/** `run=no_x auc=0.81`: the name of a variant as a value of its own. */
const NAME_AS_VALUE =
  /^(\s{0,20})(?:cfg|config|configuration|exp|experiment|run|variant|setting|ablation)=([\w+-]{1,80}),? +(?=\w{1,40}=[-+]?\d)/i;
const SENTENCE_END = /(?<=[\p{L}\d%)])\. +(?=\p{Lu}\p{L})/u;
const HAS_SCORE = /\d\.\d/;

/** One line for each sentence, if at least two of them have a score. */
function sentencesOf(line: string): readonly string[] {
  const sentences = line.split(SENTENCE_END);
  return sentences.length > 1 && sentences.filter((each) => HAS_SCORE.test(each)).length > 1
    ? sentences
    : [line];
}

/** The text a terminal shows for one line: a carriage return restarts it. */
function* terminalLines(raw: string): Generator<OutputLine> {
  let start = 0;
  let index = 0;
  while (start <= raw.length) {
    let end = raw.indexOf('\n', start);
    if (end === -1) end = raw.length;
    const line = raw.slice(start, end);
    if (line.includes('\r')) {
      for (const part of line.split('\r')) if (part.trim() !== '') yield { text: part, index };
      if (line.trim() === '') yield { text: '', index };
    } else {
      yield { text: line, index };
    }
    start = end + 1;
    index += 1;
  }
}

/**
 * Takes from a printed output what no reader needs to rank components. Linear in the length of the output.
 */
export function cleanOutput(rawOutput: string): CleanOutput {
  const lines: OutputLine[] = [];
  let exception: string | undefined;
  let interruption: string | undefined;
  let inTraceback = false;
  let hasText = false;
  let previous: string | undefined;
  for (const { text: raw, index } of terminalLines(rawOutput)) {
    if (raw === '' && lines.at(-1)?.text === '') continue;
    const whole = LITERAL_START.test(raw.slice(0, 200)) ? raw : cutLine(raw);
    const text = withoutLogPrefix(visibleText(whole))
      .replace(BARS, '  ')
      .replace(NAME_AS_VALUE, '$1$2: ')
      .trimEnd();
    if (text === '') {
      // One blank line divides as well as many.
      if (lines.at(-1)?.text !== '') lines.push({ text, index });
      continue;
    }
    hasText = true;
    if (/^\s*(?:[|+]\s*)?Traceback \(most recent call last\)/.test(text)) {
      inTraceback = true;
    } else if (inTraceback) {
      const endsTraceback = /^\S/.test(text) && !/^(?:During handling|The above exception|File )/.test(text);
      if (endsTraceback) {
        exception = text.trim().slice(0, 300);
        inTraceback = false;
      }
    } else if (
      !isLibraryNoise(text.trimStart()) &&
      !isLibraryNoise(raw.slice(0, 200)) &&
      !isWarningSource(text, previous)
    ) {
      const words = interruptionIn(text);
      if (words === undefined) for (const each of sentencesOf(text)) lines.push({ text: each, index });
      else interruption = words;
    }
    previous = text;
  }
  return {
    lines,
    hasText,
    ...(exception === undefined ? {} : { exception }),
    ...(interruption === undefined ? {} : { interruption }),
  };
}
