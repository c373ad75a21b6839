import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { check } from 'recheck';
import { analyse } from 'scslre';

/** Why an expression takes more than linear time, or why that could not be decided; undefined where it is linear. */
export type Objection = string | undefined;

/** Nested divisions of one expression into its alternatives. */
const MAX_DIVISIONS = 8;
/** Copies of a bounded repetition that are enough to see whether it competes with its neighbors. */
const SHORT_REPETITION = 3;
/** Longer expressions are divided before they are analyzed. */
const SHORT_EXPRESSION = 100;
const AUTOMATON_MS = 5_000;
const FUZZ_MS = 30_000;

const parser = new RegExpParser({ ecmaVersion: 2024 });

function patternOf(source: string, flags: string): AST.Pattern {
  const options = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') };
  return parser.parsePattern(source, undefined, undefined, options);
}

/**
 * The expressions that this one divides into at its first alternation outside of repetitions and assertions. An
 * engine that tracks back tries for one expression at most what it tries for all of these together, so it is
 * linear where each of them is.
 */
function dividedAtAlternation(source: string, flags: string): string[] {
  const find = (alternatives: readonly AST.Alternative[]): AST.Group | AST.CapturingGroup | undefined => {
    for (const element of alternatives[0]?.elements ?? []) {
      if (element.type !== 'Group' && element.type !== 'CapturingGroup') continue;
      if (element.alternatives.length > 1) return element;
      const inner = find(element.alternatives);
      if (inner !== undefined) return inner;
    }
    return undefined;
  };
  const { alternatives } = patternOf(source, flags);
  if (alternatives.length > 1) return alternatives.map((one) => one.raw);
  const group = find(alternatives);
  if (group === undefined) return [];
  const [before, after] = [source.slice(0, group.start), source.slice(group.end)];
  return group.alternatives.map((one) => `${before}(?:${one.raw})${after}`);
}

/**
 * The same expression with its long bounded repetitions cut short. A bounded repetition costs a constant factor
 * whatever its bound; what competes does so with three copies as with eighty.
 */
function withShortRepetitions(source: string, flags: string): string {
  const cuts: { start: number; end: number; text: string }[] = [];
  const walk = (node: AST.Alternative | AST.Element): void => {
    if (node.type === 'Alternative') node.elements.forEach(walk);
    else if (node.type === 'Quantifier') {
      if (Number.isFinite(node.max) && node.max > SHORT_REPETITION) {
        const text = `{${Math.min(node.min, SHORT_REPETITION - 1)},${SHORT_REPETITION}}${node.greedy ? '' : '?'}`;
        cuts.push({ start: node.element.end, end: node.end, text });
      }
      walk(node.element);
    } else if ('alternatives' in node) node.alternatives.forEach(walk);
  };
  patternOf(source, flags).alternatives.forEach(walk);
  let text = source;
  for (const cut of cuts.sort((a, b) => b.start - a.start))
    text = text.slice(0, cut.start) + cut.text + text.slice(cut.end);
  return text;
}

async function judge(source: string, flags: string, divisions: number): Promise<Objection> {
  const parts = divisions < MAX_DIVISIONS ? dividedAtAlternation(source, flags) : [];
  // The exact analysis of many alternatives at once takes minutes, that of each a few milliseconds.
  if (parts.length === 0 || source.length <= SHORT_EXPRESSION) {
    const exact = await check(source, flags, { checker: 'automaton', timeout: AUTOMATON_MS });
    if (exact.status === 'safe') return undefined;
    if (exact.status === 'vulnerable')
      return `${exact.complexity.summary} in ${source} (attack: ${exact.attack.pattern})`;
  }
  if (parts.length === 0) return judgeBySearch(source, flags);
  for (const part of parts) {
    const objection = await judge(part, flags, divisions + 1);
    if (objection !== undefined) return objection;
  }
  return undefined;
}

/** For what the exact analysis does not support, such as a look-behind: a search for texts that take long. */
async function judgeBySearch(source: string, flags: string): Promise<Objection> {
  const found = await check(withShortRepetitions(source, flags), flags, { timeout: FUZZ_MS });
  if (found.status === 'safe') return undefined;
  if (found.status === 'vulnerable')
    return `${found.complexity.summary} in ${source} (attack: ${found.attack.pattern})`;
  return `undecided (${found.error.kind}): ${source}`;
}

/** Reports of scslre. It is quick and knows the work of starting anew at each position ("Move"). */
export function competingRepetitions(source: string, flags: string): Objection {
  const { reports } = analyse(new RegExp(source, flags));
  if (reports.length === 0) return undefined;
  return [...new Set(reports.map((one) => `${one.type} of ${String(one.character.literal)}`))].join(', ');
}

/** Whether the time of the expression grows faster than its text, and why. Takes milliseconds to half a minute. */
export async function superLinear(source: string, flags: string): Promise<Objection> {
  return competingRepetitions(source, flags) ?? (await judge(source, flags, 0));
}
