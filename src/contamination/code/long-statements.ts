import { bracketPairs, topLevelParts } from './brackets.js';
import { Rebuilt } from './rebuilt-statements.js';
import type { Statement } from './statement.js';
import type { Token } from './token.js';

const LONG = 30;
const MIN_PARTS = 3;
/** Brackets around most of a statement that are looked into, the outermost first. */
const MAX_TRIES = 8;

/**
 * A long statement that is mostly one bracketed list (a table, an object of functions) as its frame and one
 * statement for every entry, so that one changed entry does not hide the others.
 */
export function splitLongStatements<S extends Statement>(statements: readonly S[]): S[] {
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
