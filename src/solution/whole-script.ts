import type { Span } from './fit-correction.js';
import { physicalLines } from './lines.js';

/** What an answer that was asked for a block is, seen against the whole script. */
export type WholeScriptAnswer =
  /** The whole script, unchanged outside of the block; `block` is what the block became. */
  | { readonly kind: 'block'; readonly block: string }
  /** The script, or a long part of it, with changes outside of the block. */
  | { readonly kind: 'changes-more' }
  /** No more than a block. */
  | { readonly kind: 'not-whole-script' };

interface TextLine {
  /** Without trailing whitespace; never empty. */
  readonly text: string;
  readonly start: number;
  readonly next: number;
}

/** The lines that are not blank: blank lines come and go in an answer without a meaning. */
function textLines(text: string): TextLine[] {
  return physicalLines(text)
    .map(({ start, end, next }) => ({ text: text.slice(start, end).trimEnd(), start, next }))
    .filter((line) => line.text !== '');
}

interface Surroundings {
  readonly before: readonly TextLine[];
  readonly after: readonly TextLine[];
  /** Code on the block's own first and last line, outside of the block. */
  readonly head: string;
  readonly tail: string;
}

function surroundingsOf({ start, end }: Span, content: string): Surroundings {
  const prefix = content.slice(0, start);
  const suffix = content.slice(end);
  const lineStart = Math.max(prefix.lastIndexOf('\n'), prefix.lastIndexOf('\r')) + 1;
  // A span that ends with its line break leaves nothing of its last line behind.
  const endsLine = end === 0 || /[\r\n]/.test(content[end - 1] ?? '');
  const lineRest = endsLine ? 0 : suffix.search(/[\r\n]|$/);
  const head = prefix.slice(lineStart);
  return {
    before: textLines(prefix.slice(0, lineStart)),
    after: textLines(suffix.slice(lineRest)),
    head: head.trim() === '' ? '' : head,
    tail: suffix.slice(0, lineRest).trimEnd(),
  };
}

function sharedStart(lines: readonly TextLine[], answer: readonly TextLine[]): number {
  let count = 0;
  while (count < lines.length && lines[count]?.text === answer[count]?.text) count += 1;
  return count;
}

function sharedEnd(lines: readonly TextLine[], answer: readonly TextLine[]): number {
  let count = 0;
  while (count < lines.length && lines.at(-1 - count)?.text === answer.at(-1 - count)?.text) count += 1;
  return count;
}

/** The text between the surroundings, or null where code that shares a line with the block has changed. */
function withoutLineParts(text: string, { head, tail }: Surroundings): string | null {
  if (head === '' && tail === '') return text;
  const lead = text.length - text.trimStart().length;
  const lineStart = Math.max(text.lastIndexOf('\n', lead), text.lastIndexOf('\r', lead)) + 1;
  const from = text.slice(lineStart);
  const to = from.trimEnd();
  if (to.length < head.length + tail.length || !to.startsWith(head) || !to.endsWith(tail)) return null;
  return to.slice(head.length, to.length - tail.length);
}

/** How many of the lines also are in the answer, each counted as often as it is there. */
function countPresent(lines: readonly string[], answer: readonly TextLine[]): number {
  const available = new Map<string, number>();
  for (const { text } of answer) available.set(text, (available.get(text) ?? 0) + 1);
  return lines.filter((text) => {
    const left = available.get(text) ?? 0;
    available.set(text, left - 1);
    return left > 0;
  }).length;
}

/** Lines that say which script they are from: with a name in them, and not also a part of the block. */
function distinctive(lines: readonly TextLine[], block: ReadonlySet<string>): string[] {
  return lines
    .map(({ text }) => text)
    .filter((text) => /\p{L}.*[\p{L}\p{N}]/u.test(text) && !block.has(text));
}

/** From this fraction of the lines outside of the block on, an answer counts as the script. */
const SCRIPT_FRACTION = 0.6;
/** So many lines of the script at one end of an answer are no accident. */
const REPEATED_LINES = 3;

/**
 * Recognizes an answer that is the whole script although a block was asked for, and gives the part of it that
 * is where the block was. Outside of the block only trailing whitespace, line breaks and blank lines
 * may differ. An answer that repeats the script up to the block or from it on, without the other side, also
 * `changes-more`: put in as a block it would double these lines. Linear in the length of all texts.
 */
export function blockFromWholeScript(content: string, located: Span, correction: string): WholeScriptAnswer {
  const surroundings = surroundingsOf(located, content);
  const { before, after } = surroundings;
  const answer = textLines(correction);
  const context = before.length + after.length;
  if (context === 0) return { kind: 'not-whole-script' };

  const start = sharedStart(before, answer);
  const end = sharedEnd(after, answer);
  const complete = start === before.length && end === after.length;
  if (complete && start + end <= answer.length) {
    const from = start === 0 ? 0 : (answer[start - 1]?.next ?? 0);
    const to = end === 0 ? correction.length : (answer.at(-end)?.start ?? correction.length);
    const part = withoutLineParts(correction.slice(from, to), surroundings);
    // A lone line of context with nothing beside it is as likely a block.
    if (part === '' && context === 1) return { kind: 'not-whole-script' };
    return part === null ? { kind: 'changes-more' } : { kind: 'block', block: part };
  }
  const block = new Set(textLines(located.text).map(({ text }) => text));
  const outside = [...distinctive(before, block), ...distinctive(after, block)];
  const present = countPresent(outside, answer);
  const isScript = present >= 2 && present >= outside.length * SCRIPT_FRACTION;
  const repeatsOneSide =
    (start === before.length && start >= REPEATED_LINES) || (end === after.length && end >= REPEATED_LINES);
  return { kind: isScript || repeatsOneSide ? 'changes-more' : 'not-whole-script' };
}
