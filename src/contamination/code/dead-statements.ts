import { constantValue, type Value } from './constant-condition.js';
import { isTarget, targetsEnd } from './constants.js';
import type { Statement } from './statement.js';
import { TokenKind } from './token.js';

/**
 * Indices of statements that do nothing: what is under a condition that is never true or in a loop over
 * nothing, and values without a call that are put into a name that nothing reads.
 *
 * They count as nothing in a known solution. In an output they are left alone: whether a name is read can
 * only be told of a program that is whole.
 */
export function deadStatements(statements: readonly Statement[]): ReadonlySet<number> {
  const dead = new Set<number>();
  const settled = settledNames(statements);
  const reads = readNames(statements);
  statements.forEach((statement, index) => {
    const before = statements[index - 1];
    if (before !== undefined && countsNothing(statement, before, settled)) {
      dead.add(index - 1);
      dead.add(index);
    }
    const isDead =
      dead.has(statement.parent) ||
      dead.has(statement.scope) ||
      isNeverEntered(statement, settled) ||
      isUnreadAssignment(statement, reads);
    if (isDead) dead.add(index);
  });
  return dead;
}

type Settled = ReadonlyMap<string, Value>;

/** Names that are assigned a constant once and never changed, with the constant. */
function settledNames(statements: readonly Statement[]): Settled {
  const assignments = new Map<string, number>();
  for (const statement of statements) {
    const end = targetsEnd(statement);
    statement.tokens.forEach((token, at) => {
      if (token.kind !== TokenKind.name || !isTarget(statement, at, end)) return;
      assignments.set(token.text, (assignments.get(token.text) ?? 0) + 1);
    });
  }
  const settled = new Map<string, Value>();
  for (const { role, tokens } of statements) {
    const [name, sign, ...value] = tokens;
    if (
      role !== 'plain' ||
      name?.kind !== TokenKind.name ||
      sign?.text !== '=' ||
      assignments.get(name.text) !== 1
    )
      continue;
    const constant = constantValue(value, settled);
    if (constant !== undefined) settled.set(name.text, constant);
  }
  return settled;
}

function isNeverEntered({ role, tokens }: Statement, settled: Settled): boolean {
  if (role === 'each') {
    const source = tokens.slice(-3).map(({ text }) => text);
    return /^in (?:\( \)|\[ \])$/.test(source.join(' '));
  }
  if (role !== 'branch' && role !== 'loop') return false;
  const value = constantValue(tokens, settled);
  return value === false || value === null || value === 0 || value === '';
}

/** A counting loop that starts where it ends. */
function countsNothing({ role, tokens }: Statement, before: Statement, settled: Settled): boolean {
  const [counter, sign, ...start] = before.tokens;
  if (role !== 'loop' || counter === undefined || counter.text !== tokens[0]?.text || sign?.text !== '=')
    return false;
  const from = constantValue(start, settled);
  return from !== undefined && constantValue(tokens, new Map([[counter.text, from]])) === false;
}

/** A Python string that holds expressions; they are not distinguished from its text. */
const FORMATTED = /^[rR]?[fFtT][rR]?["']/;

/** Names that are anywhere but as the target of an assignment. */
function readNames(statements: readonly Statement[]): ReadonlySet<string> {
  const reads = new Set<string>();
  for (const statement of statements) {
    statement.tokens.forEach((token, at) => {
      if (token.kind === TokenKind.string && FORMATTED.test(token.text)) {
        for (const [name] of token.text.matchAll(/[\p{L}_][\p{L}\p{N}_]{0,9999}/gu)) reads.add(name);
      }
      if (token.kind !== TokenKind.name) return;
      if (!(at === 0 && isAssignment(statement))) reads.add(token.text);
    });
  }
  return reads;
}

function isAssignment({ role, tokens }: Statement): boolean {
  return (
    role === 'plain' && tokens[0]?.kind === TokenKind.name && /^(?:[-+*/]?=)$/.test(tokens[1]?.text ?? '')
  );
}

function isUnreadAssignment(statement: Statement, reads: ReadonlySet<string>): boolean {
  const { tokens, scope } = statement;
  const [name] = tokens;
  // At the top level a name may be there for a program that imports this one.
  if (name === undefined || scope < 0 || !isAssignment(statement) || reads.has(name.text)) return false;
  return !tokens.some(
    ({ text }, at) => text === '(' && at > 2 && /^[\w$)\]]/.test(tokens[at - 1]?.text ?? ''),
  );
}
