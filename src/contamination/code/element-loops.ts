import { matchingBracket } from './brackets.js';
import { isInside, made, Rebuilt, type Statement, TOP } from './statement.js';
import { type Token, TokenKind } from './token.js';

/** `xs.forEach((x) => {` as the loop over `xs` that it stands for. */
export function forEachCalls(statements: readonly Statement[]): Statement[] {
  return statements.map((statement) => {
    if (statement.role !== 'define') return statement;
    const { tokens } = statement;
    const at = tokens.findIndex((token, i) => token.text === 'forEach' && tokens[i - 1]?.text === '.');
    if (at < 2) return statement;
    const parameters = tokens
      .slice(at + 2)
      .filter((token) => token.kind === TokenKind.name || token.kind === TokenKind.operator)
      .filter((token) => token.text !== '=>' && token.text !== '(' && token.text !== ')');
    const like = tokens[at] as Token;
    return {
      ...statement,
      role: 'each',
      tokens: [...parameters, made('of', like), ...tokens.slice(0, at - 1)],
    };
  });
}

/** A loop over a list that was made for it (`s = tuple(xs)`, `for x in s`), as the loop over the elements of `xs`. */
export function walkedLists(statements: readonly Statement[]): Statement[] {
  const uses = usesByName(statements);
  const sources = new Map<number, readonly Token[]>();
  const dropped = new Set<number>();
  statements.forEach(({ role, tokens, scope }, index) => {
    const [sign, sequence] = tokens.slice(-2);
    if (role !== 'each' || sign?.text !== 'in' || sequence?.kind !== TokenKind.name) return;
    const list = madeForTheWalk(statements, sequence.text, uses, [index]);
    if (list === undefined || list.at > index || statements[list.at]?.scope !== scope) return;
    sources.set(index, [...tokens.slice(0, -1), ...list.source]);
    dropped.add(list.at);
  });
  return dropped.size === 0 ? [...statements] : withoutDropped(statements, dropped, sources);
}

function withoutDropped(
  statements: readonly Statement[],
  dropped: ReadonlySet<number>,
  changed: ReadonlyMap<number, readonly Token[]>,
): Statement[] {
  const rebuilt = new Rebuilt();
  statements.forEach((statement, index) => {
    if (dropped.has(index)) return;
    const location = { parent: rebuilt.at(statement.parent), scope: rebuilt.at(statement.scope) };
    rebuilt.add({ ...statement, ...location, tokens: changed.get(index) ?? statement.tokens });
    rebuilt.maps(index);
  });
  return rebuilt.statements;
}

interface IndexedLoop {
  readonly header: Statement;
  readonly dropped: readonly number[];
}

/**
 * A loop that counts from 0 to the length of a sequence and takes the element at the counter, which serves
 * nothing else, as the loop over the elements. A list that was made for the walk (`s = list(xs)`) goes too.
 */
export function indexedLoops(statements: readonly Statement[]): Statement[] {
  const uses = usesByName(statements);
  const loops = new Map<number, IndexedLoop>();
  const dropped = new Set<number>();
  statements.forEach((statement, index) => {
    const loop = statement.role === 'loop' ? indexedLoop(statements, index, uses) : undefined;
    if (loop === undefined) return;
    loops.set(index, loop);
    for (const gone of loop.dropped) dropped.add(gone);
  });
  if (loops.size === 0) return [...statements];
  const rebuilt = new Rebuilt();
  statements.forEach((statement, index) => {
    if (dropped.has(index)) return;
    const location = { parent: rebuilt.at(statement.parent), scope: rebuilt.at(statement.scope) };
    rebuilt.add({ ...(loops.get(index)?.header ?? statement), ...location });
    rebuilt.maps(index);
  });
  return rebuilt.statements;
}

const MAX_USES = 300;
type Uses = ReadonlyMap<string, readonly number[]>;

function usesByName(statements: readonly Statement[]): Uses {
  const uses = new Map<string, number[]>();
  statements.forEach((statement, index) => {
    for (const token of statement.tokens) {
      if (token.kind !== TokenKind.name) continue;
      const list = uses.get(token.text);
      if (list === undefined) uses.set(token.text, [index]);
      else if (list[list.length - 1] !== index) list.push(index);
    }
  });
  return uses;
}

function indexedLoop(statements: readonly Statement[], index: number, uses: Uses): IndexedLoop | undefined {
  const { tokens, scope } = statements[index] as Statement;
  const counter = tokens[0]?.text;
  const sequence = walkedSequence(tokens);
  if (counter === undefined || sequence === undefined) return undefined;
  const all = uses.get(counter) ?? [];
  // A counter of very many loops: to look through all of them for each would take too long.
  if (all.length > MAX_USES) return undefined;
  const inScope = all.filter((use) => statements[use]?.scope === scope);
  const inside = inScope.filter((use) => isInside(statements, use, index));
  const step = inside.find((use) => isText(statements[use], [counter, '+=', '1']));
  const taken = inside.find((use) => endsWith(statements[use], ['=', sequence, '[', counter, ']']));
  const start = inScope.filter((use) => use < index && isText(statements[use], [counter, '=', '0'])).pop();
  if (step === undefined || taken === undefined || start === undefined || inside.length !== 2)
    return undefined;
  const source = tokens.filter((token) => token.text === sequence)[0] as Token;
  const list = madeForTheWalk(statements, sequence, uses, [index, taken]);
  const target = (statements[taken] as Statement).tokens.slice(0, -5);
  const from = list?.source ?? [source];
  const header: Statement = {
    ...(statements[index] as Statement),
    role: 'each',
    tokens: [...target, made('in', source, TokenKind.keyword), ...from],
  };
  return { header, dropped: [start, taken, step, ...(list === undefined ? [] : [list.at])] };
}

/** The `xs` of `i < len(xs)` and `i < xs.length`. */
function walkedSequence(tokens: readonly Token[]): string | undefined {
  const text = tokens.map((token) => token.text);
  if (text.length === 6 && text[1] === '<' && text[2] === 'len' && text[3] === '(' && text[5] === ')')
    return text[4];
  if (text.length === 5 && text[1] === '<' && text[3] === '.' && text[4] === 'length') return text[2];
  return undefined;
}

interface MadeList {
  readonly at: number;
  readonly source: readonly Token[];
}

/** `s = list(xs)`, `s = tuple(xs)`, `s = [...xs]` or `s = Array.from(xs)` where `s` serves nothing but this walk. */
function madeForTheWalk(
  statements: readonly Statement[],
  sequence: string,
  uses: Uses,
  walk: readonly number[],
): MadeList | undefined {
  const scope = statements[walk[0] ?? -1]?.scope ?? TOP;
  // A variable of another function is another one, whatever its name.
  const mayBeIt = (use: number): boolean => scope === TOP || isInside(statements, use, scope);
  const others = (uses.get(sequence) ?? []).filter((use) => !walk.includes(use) && mayBeIt(use));
  const [at] = others;
  if (at === undefined || others.length !== 1) return undefined;
  const { tokens } = statements[at] as Statement;
  const text = tokens.map((token) => token.text);
  if (text[0] !== sequence || text[1] !== '=') return undefined;
  const open =
    text[2] === 'list' || text[2] === 'tuple'
      ? 3
      : text[2] === '[' && text[3] === '...'
        ? 2
        : text[2] === 'Array' && text[4] === 'from'
          ? 5
          : -1;
  if (open < 0 || matchingBracket(tokens, open) !== tokens.length - 1) return undefined;
  return { at, source: tokens.slice(text[open + 1] === '...' ? open + 2 : open + 1, -1) };
}

function isText(statement: Statement | undefined, expected: readonly string[]): boolean {
  return statement?.tokens.length === expected.length && endsWith(statement, expected);
}

function endsWith(statement: Statement | undefined, expected: readonly string[]): boolean {
  if (statement === undefined || statement.role !== 'plain') return false;
  const { tokens } = statement;
  const from = tokens.length - expected.length;
  return from >= 0 && expected.every((text, i) => tokens[from + i]?.text === text);
}
