import { withoutAnnotations } from './annotations.js';
import { bracketPairs, topLevelParts } from './brackets.js';
import { canonicalTokens } from './canonical-tokens.js';
import { comprehensions } from './comprehensions.js';
import { withoutNamedConstants } from './constants.js';
import { countingLoops } from './counting-loops.js';
import { deadStatements } from './dead-statements.js';
import { forEachCalls, indexedLoops, walkedLists } from './element-loops.js';
import { conditionedLoops } from './endless-loops.js';
import { made, Rebuilt, type Statement } from './statement.js';
import { type Token, TokenKind } from './token.js';

const LONG = 30;
const MIN_PARTS = 3;
/** Brackets around most of a statement that are looked into, the outermost first. */
const MAX_TRIES = 8;

/**
 * A long statement that is mostly one bracketed list (a table, an object of functions) as its frame and one
 * statement for every entry, so that one changed entry does not hide the others.
 */
function splitLongStatements<S extends Statement>(statements: readonly S[]): S[] {
  if (!statements.some(({ tokens }) => tokens.length > LONG)) return [...statements];
  const rebuilt = new Rebuilt<S>();
  statements.forEach((statement, index) => {
    const location = { parent: rebuilt.at(statement.parent), scope: rebuilt.at(statement.scope) };
    const split = statement.tokens.length > LONG ? longestList(statement.tokens) : undefined;
    rebuilt.add({ ...statement, ...location, tokens: split?.frame ?? statement.tokens });
    rebuilt.maps(index);
    for (const tokens of split?.parts ?? []) {
      rebuilt.add({ ...statement, role: 'plain', tokens, parent: rebuilt.at(index), scope: location.scope });
    }
  });
  return rebuilt.statements;
}

interface SplitList {
  readonly frame: readonly Token[];
  readonly parts: readonly (readonly Token[])[];
}

function longestList(tokens: readonly Token[]): SplitList | undefined {
  const closing = bracketPairs(tokens);
  let tried = 0;
  for (let open = 0; open < tokens.length && tried < MAX_TRIES; open++) {
    const close = closing[open] as number;
    if (close - open < tokens.length / 2) continue;
    tried += 1;
    const parts = topLevelParts(tokens.slice(open + 1, close));
    // Entries of a table of numbers say nothing one by one.
    if (parts === undefined || parts.length < MIN_PARTS || parts.every((part) => part.length < 3)) continue;
    return { frame: [...tokens.slice(0, open + 1), ...tokens.slice(close)], parts };
  }
  return undefined;
}

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
 * - `forEach` becomes the loop it stands for, and an endless loop with a `break` at its start the loop on a condition;
 * - `x = x + e`, `x++` become `x += e`, `x += 1`;
 * - `a > b` becomes `b < a`, `===` becomes `==`.
 */
export function canonicalStatements(statements: readonly Statement[]): CanonicalStatement[] {
  const bare = statements.map(withoutAnnotations);
  const loops = comprehensions(countingLoops(forEachCalls(bare)));
  const plain = loops.map((statement) => ({ ...statement, tokens: plainTokens(statement) }));
  // What was made for the walk may be a range, so these loops count too.
  const walked = conditionedLoops(countingLoops(walkedLists(indexedLoops(plain))));
  const dead = deadStatements(walked);
  const flagged = walked.map((statement, index) => ({ ...statement, dead: dead.has(index) }));
  return splitLongStatements(withoutNamedConstants(flagged));
}

function plainTokens(statement: Statement): readonly Token[] {
  const tokens = canonicalTokens(statement.tokens);
  if (statement.role !== 'each') return tokens;
  return tokens.map((token) => (token.text === 'of' ? made('in', token, TokenKind.keyword) : token));
}
