import { withoutAnnotations } from './annotations.js';
import { canonicalTokens } from './canonical-tokens.js';
import { comprehensions } from './comprehensions.js';
import { withoutNamedConstants } from './constants.js';
import { countingLoops } from './counting-loops.js';
import { deadStatements } from './dead-statements.js';
import { forEachCalls, indexedLoops } from './element-loops.js';
import { splitLongStatements } from './long-statements.js';
import { made } from './rebuilt-statements.js';
import type { Statement } from './statement.js';
import { type Token, TokenKind } from './token.js';

/** A statement in its one form. */
export interface CanonicalStatement extends Statement {
  /** Whether it does nothing in the program it is in. */
  readonly dead?: boolean;
}

/**
 * Brings statements that do the same to one form, so that a loop written another way, a swapped comparison
 * or `i++` for `i += 1` is not a difference:
 *
 * - counting loops (`for i in range(a, b)`) become a start, a condition and a step, as `while` has them;
 * - comprehensions become the loop that fills a list;
 * - types that are declared go, and named literals go back where they are used;
 * - a loop that walks a sequence by an index which serves nothing else becomes a loop over its elements;
 * - `forEach` becomes the loop it stands for;
 * - `x = x + e`, `x++` become `x += e`, `x += 1`;
 * - `a > b` becomes `b < a`, `===` becomes `==`.
 */
export function canonicalStatements(statements: readonly Statement[]): CanonicalStatement[] {
  const bare = statements.map(withoutAnnotations);
  const loops = comprehensions(countingLoops(forEachCalls(bare)));
  const plain = loops.map((statement) => ({ ...statement, tokens: plainTokens(statement) }));
  const walked = indexedLoops(plain);
  const dead = deadStatements(walked);
  const marked = walked.map((statement, index) => ({ ...statement, dead: dead.has(index) }));
  return splitLongStatements(withoutNamedConstants(marked));
}

function plainTokens(statement: Statement): readonly Token[] {
  const tokens = canonicalTokens(statement.tokens);
  if (statement.role !== 'each') return tokens;
  return tokens.map((token) => (token.text === 'of' ? made('in', token, TokenKind.keyword) : token));
}
