import { matchingBracket } from './brackets.js';
import { made, Rebuilt, type Statement } from './statement.js';
import { type Token, TokenKind } from './token.js';

const ALWAYS = /^(?:True|true|1)$/;
const INVERSE = new Map([
  ['<', '<='],
  ['<=', '<'],
]);
const OPPOSITE = new Map([
  ['==', '!='],
  ['!=', '=='],
]);

/** An endless loop that begins with `if not c: break` as the loop on `c`; statements are in their plain form. */
export function conditionedLoops(statements: readonly Statement[]): Statement[] {
  const conditions = new Map<number, readonly Token[]>();
  const dropped = new Set<number>();
  statements.forEach(({ role, tokens }, index) => {
    if (role !== 'loop' || tokens.length !== 1 || !ALWAYS.test(tokens[0]?.text ?? '')) return;
    const [test, end, next] = statements.slice(index + 1, index + 4);
    if (test?.role !== 'branch' || test.parent !== index) return;
    if (end?.parent !== index + 1 || end.tokens.length !== 1 || end.tokens[0]?.text !== 'break') return;
    if (next?.parent === index + 1) return;
    const condition = negated(test.tokens);
    if (condition === undefined) return;
    conditions.set(index, condition);
    dropped.add(index + 1);
    dropped.add(index + 2);
  });
  if (conditions.size === 0) return [...statements];
  const rebuilt = new Rebuilt();
  statements.forEach((statement, index) => {
    if (dropped.has(index)) return;
    const location = { parent: rebuilt.at(statement.parent), scope: rebuilt.at(statement.scope) };
    rebuilt.add({ ...statement, ...location, tokens: conditions.get(index) ?? statement.tokens });
    rebuilt.maps(index);
  });
  return rebuilt.statements;
}

/** What holds where a condition does not; undefined where that cannot be told without a grammar. */
function negated(tokens: readonly Token[]): readonly Token[] | undefined {
  const [first, second] = tokens;
  if (first?.text === '!' || first?.text === 'not') {
    const whole = second?.text === '(' && matchingBracket(tokens, 1) === tokens.length - 1;
    if (whole) return tokens.slice(2, -1);
    return tokens.some(({ text }) => text === '&&' || text === '||') ? undefined : tokens.slice(1);
  }
  const signs = tokens.filter(
    ({ kind, text }) =>
      kind === TokenKind.operator &&
      (INVERSE.has(text) || OPPOSITE.has(text) || text === '&&' || text === '||'),
  );
  const [sign] = signs;
  if (sign === undefined || signs.length !== 1) return undefined;
  const at = tokens.indexOf(sign);
  const opposite = OPPOSITE.get(sign.text);
  if (opposite !== undefined) return tokens.map((token) => (token === sign ? made(opposite, sign) : token));
  const inverse = INVERSE.get(sign.text);
  if (inverse === undefined) return undefined;
  return [...tokens.slice(at + 1), made(inverse, sign), ...tokens.slice(0, at)];
}
