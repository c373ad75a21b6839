import { topLevelParts } from './brackets.js';
import { isInside, made, Rebuilt, type Statement } from './statement.js';
import { type Token, TokenKind } from './token.js';

/** `for i in range(a, b, c)` as a start, a loop on a condition, and a step at the end of its block. */
export function countingLoops(statements: readonly Statement[]): Statement[] {
  const rebuilt = new Rebuilt();
  const openSteps: { header: number; step: Statement }[] = [];
  statements.forEach((statement, index) => {
    while (openSteps.length > 0) {
      const open = openSteps[openSteps.length - 1] as (typeof openSteps)[number];
      if (isInside(statements, index, open.header)) break;
      rebuilt.add(open.step);
      openSteps.pop();
    }
    const location = { parent: rebuilt.at(statement.parent), scope: rebuilt.at(statement.scope) };
    const range = statement.role === 'each' ? rangeLoop(statement.tokens) : undefined;
    if (range === undefined) {
      rebuilt.add({ ...statement, ...location });
      rebuilt.maps(index);
      return;
    }
    rebuilt.add({ role: 'plain', tokens: range.start, ...location });
    rebuilt.add({ role: 'loop', tokens: range.condition, ...location });
    rebuilt.maps(index);
    const step: Statement = {
      role: 'plain',
      tokens: range.step,
      parent: rebuilt.at(index),
      scope: location.scope,
    };
    openSteps.push({ header: index, step });
  });
  while (openSteps.length > 0) rebuilt.add((openSteps.pop() as (typeof openSteps)[number]).step);
  return rebuilt.statements;
}

export interface RangeLoop {
  readonly start: readonly Token[];
  readonly condition: readonly Token[];
  readonly step: readonly Token[];
}

/** `i in range(a, b, c)` as start, condition and step. */
export function rangeLoop(tokens: readonly Token[]): RangeLoop | undefined {
  const [counter, within, range, open] = tokens;
  const last = tokens[tokens.length - 1];
  if (counter?.kind !== TokenKind.name || within?.text !== 'in' || open?.text !== '(' || last?.text !== ')') {
    return undefined;
  }
  if (range?.text !== 'range' && range?.text !== 'xrange') return undefined;
  const parts = topLevelParts(tokens.slice(4, -1));
  if (parts === undefined || parts.length === 0 || parts.length > 3) return undefined;
  const [first = [], second, third] = parts;
  const from = second === undefined ? [made('0', range, TokenKind.number)] : first;
  const to = second ?? first;
  const down = third?.[0]?.text === '-';
  const by = third === undefined ? [made('1', range, TokenKind.number)] : down ? third.slice(1) : third;
  const toMinusOne = down && to.length === 2 && to[0]?.text === '-' && to[1]?.text === '1';
  const condition = toMinusOne
    ? [counter, made('>=', within), made('0', range, TokenKind.number)]
    : [counter, made(down ? '>' : '<', within), ...to];
  return {
    start: [counter, made('=', within), ...from],
    condition,
    step: [counter, made(down ? '-=' : '+=', within), ...by],
  };
}
