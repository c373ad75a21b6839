import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { check } from 'recheck';
import { analyse } from 'scslre';
import { growsOn, slowText } from './engine-growth.js';

/**
 * How it was decided that an expression is linear. `exact`: by an analysis of its automaton, which is a proof.
 * `searched`: that analysis does not support it, and two searches for a text that makes it slow found none.
 */
export type Evidence = 'exact' | 'searched';
export type GrowthResult = { readonly evidence: Evidence } | { readonly objection: string };

/** Nested divisions of one expression into its alternatives. */
const MAX_DIVISIONS = 8;
/** Longer expressions are divided before they are analyzed. */
const SHORT_EXPRESSION = 100;
const AUTOMATON_MS = 2_000;
const SEARCH_MS = 10_000;

const parser = new RegExpParser({ ecmaVersion: 2024 });

function patternOf(source: string, flags: string): AST.Pattern {
  const options = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') };
  return parser.parsePattern(source, undefined, undefined, options);
}

function quantifiersIn(pattern: AST.Pattern): AST.Quantifier[] {
  const found: AST.Quantifier[] = [];
  const walk = (node: AST.Alternative | AST.Element): void => {
    if (node.type === 'Alternative') node.elements.forEach(walk);
    else if (node.type === 'Quantifier') {
      found.push(node);
      walk(node.element);
    } else if ('alternatives' in node) {
      for (const alternative of node.alternatives) if (alternative.type === 'Alternative') walk(alternative);
    }
  };
  pattern.alternatives.forEach(walk);
  return found;
}

/** An expression without endless repetitions tries a constant number of ways at each position. */
export function repeatsWithoutEnd(source: string, flags: string): boolean {
  return quantifiersIn(patternOf(source, flags)).some((node) => node.max === Number.POSITIVE_INFINITY);
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
  // Without the group that it speaks of, a back reference means something else.
  if (/\\[1-9k]/.test(source)) return [];
  if (alternatives.length > 1) return alternatives.map((one) => one.raw);
  const group = find(alternatives);
  if (group === undefined) return [];
  const [before, after] = [source.slice(0, group.start), source.slice(group.end)];
  return group.alternatives.map((one) => `${before}(?:${one.raw})${after}`);
}

/** The exact analysis; undefined where it cannot decide. */
async function analyzed(source: string, flags: string, divisions = 0): Promise<GrowthResult | undefined> {
  if (!repeatsWithoutEnd(source, flags)) return { evidence: 'exact' };
  const parts = divisions < MAX_DIVISIONS ? dividedAtAlternation(source, flags) : [];
  // The exact analysis of many alternatives at once takes minutes, that of each a few milliseconds.
  if (parts.length === 0 || source.length <= SHORT_EXPRESSION) {
    const exact = await check(source, flags, { checker: 'automaton', timeout: AUTOMATON_MS });
    if (exact.status === 'safe') return { evidence: 'exact' };
    if (exact.status === 'vulnerable')
      return { objection: `${exact.complexity.summary} in ${source} (attack: ${exact.attack.pattern})` };
  }
  if (parts.length === 0) return undefined;
  for (const part of parts) {
    const result = await analyzed(part, flags, divisions + 1);
    if (result === undefined || 'objection' in result) return result;
  }
  return { evidence: 'exact' };
}

/** Searches for a text on which the engine is slow. */
async function searched(source: string, flags: string): Promise<GrowthResult> {
  const found = await check(source, flags, { checker: 'fuzz', timeout: SEARCH_MS });
  // The search counts steps of an engine of its own, and bounded repetitions as if they had no end.
  if (found.status === 'vulnerable' && growsOn(source, flags, found.attack))
    return { objection: `slow on ${found.attack.pattern}` };
  const slow = slowText(source, flags);
  return slow === undefined ? { evidence: 'searched' } : { objection: `slow on ${slow}` };
}

/** Reports of scslre. It is quick and knows the work of starting again at each position ("Move"). */
function competingRepetitions(source: string, flags: string): string | undefined {
  const { reports } = analyse(new RegExp(source, flags));
  if (reports.length === 0) return undefined;
  return [...new Set(reports.map((one) => `${one.type}`))].join(', ');
}

/** Whether the time of the expression grows faster than its text, and why. Takes milliseconds to half a minute. */
export async function classifyGrowth(source: string, flags: string): Promise<GrowthResult> {
  const objection = competingRepetitions(source, flags);
  if (objection !== undefined) return { objection };
  return (await analyzed(source, flags)) ?? (await searched(source, flags));
}
