import { enclosingBracket, matchingBracket } from './brackets.js';
import { rangeLoop } from './counting-loops.js';
import { made, Rebuilt, type Statement } from './statement.js';
import { type Token, TokenKind } from './token.js';

/** `r = [f(x) for x in xs if c]` as `r = []`, each `x in xs`, branch `c`, `r.append(f(x))`. */
export function comprehensions(statements: readonly Statement[]): Statement[] {
  const rebuilt = new Rebuilt();
  statements.forEach((statement, index) => {
    const location = { parent: rebuilt.at(statement.parent), scope: rebuilt.at(statement.scope) };
    const found = statement.role === 'plain' ? comprehensionIn(statement.tokens) : undefined;
    if (found === undefined) {
      rebuilt.add({ ...statement, ...location });
      rebuilt.maps(index);
      return;
    }
    const { target, open, close, element, clauses, before, after } = found;
    const list = target ?? made('$list', open, TokenKind.name);
    rebuilt.add({ role: 'plain', tokens: [list, made('=', open), open, close], ...location });
    let { parent } = location;
    for (const clause of clauses) {
      const [word, ...rest] = clause;
      const role = word?.text === 'if' ? 'branch' : 'each';
      const range = role === 'each' ? rangeLoop(rest) : undefined;
      if (range !== undefined)
        rebuilt.add({ role: 'plain', tokens: range.start, parent, scope: location.scope });
      rebuilt.add({
        role: range === undefined ? role : 'loop',
        tokens: range?.condition ?? rest,
        parent,
        scope: location.scope,
      });
      parent = rebuilt.statements.length - 1;
      if (range !== undefined)
        rebuilt.add({ role: 'plain', tokens: range.step, parent, scope: location.scope });
    }
    const append = [
      list,
      made('.', open),
      made('append', open, TokenKind.name),
      made('(', open),
      ...element,
      made(')', close),
    ];
    rebuilt.add({ role: 'plain', tokens: append, parent, scope: location.scope });
    if (target === undefined)
      rebuilt.add({ role: 'plain', tokens: [...before, list, ...after], ...location });
    rebuilt.maps(index);
  });
  return rebuilt.statements;
}

interface Comprehension {
  /** The name that takes the list, where the statement is nothing but that. */
  readonly target: Token | undefined;
  readonly open: Token;
  readonly close: Token;
  readonly element: readonly Token[];
  /** Each starts with `for` or `if`. */
  readonly clauses: readonly (readonly Token[])[];
  readonly before: readonly Token[];
  readonly after: readonly Token[];
}

/** The first list or generator comprehension of a statement; one inside its brackets is left alone. */
function comprehensionIn(tokens: readonly Token[]): Comprehension | undefined {
  const at = tokens.findIndex(
    (token, i) => i > 0 && token.kind === TokenKind.keyword && token.text === 'for',
  );
  if (at < 0) return undefined;
  const openAt = enclosingBracket(tokens, at);
  const open = tokens[openAt];
  if (open === undefined || open.text === '{') return undefined;
  const closeAt = matchingBracket(tokens, openAt);
  const close = tokens[closeAt];
  if (close === undefined) return undefined;
  const clauses: Token[][] = [];
  let depth = 0;
  for (const token of tokens.slice(at, closeAt)) {
    if (token.kind === TokenKind.operator) {
      if ('([{'.includes(token.text)) depth += 1;
      else if (')]}'.includes(token.text)) depth -= 1;
    }
    const startsClause =
      depth === 0 && token.kind === TokenKind.keyword && (token.text === 'for' || token.text === 'if');
    if (startsClause) clauses.push([token]);
    else clauses[clauses.length - 1]?.push(token);
  }
  // A clause or an element that is missing: no comprehension, or one that was cut off.
  if (openAt + 1 === at || clauses.some((clause) => clause.length < 2)) return undefined;
  const isList = open.text === '[';
  const isTarget =
    isList &&
    openAt === 2 &&
    closeAt === tokens.length - 1 &&
    tokens[1]?.text === '=' &&
    tokens[0]?.kind === TokenKind.name;
  return {
    target: isTarget ? tokens[0] : undefined,
    open: isList ? open : made('[', open),
    close: isList ? close : made(']', close),
    element: tokens.slice(openAt + 1, at),
    clauses,
    before: tokens.slice(0, isList ? openAt : openAt + 1),
    after: tokens.slice(isList ? closeAt + 1 : closeAt),
  };
}
