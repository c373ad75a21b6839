import { type Statement, type StatementRole, TOP } from './statement.js';
import { type Token, TokenKind } from './token.js';

const HEADERS = new Map<string, StatementRole>([
  ['if', 'branch'],
  ['elif', 'branch'],
  ['while', 'loop'],
  ['for', 'each'],
  ['def', 'define'],
  ['class', 'class'],
  ['with', 'context'],
  ['except', 'context'],
]);
/** Headers that say nothing beyond their block. */
const BARE_HEADERS = new Set(['else', 'try', 'finally']);

interface OpenBlock {
  readonly parent: number;
  readonly scope: number;
}

/** Splits the tokens of a Python text into statements; docstrings and `pass` are none. */
export function pythonStatements(tokens: readonly Token[]): Statement[] {
  const statements: Statement[] = [];
  const blocks: OpenBlock[] = [{ parent: TOP, scope: TOP }];
  let header: OpenBlock | undefined;
  let line: Token[] = [];
  let depth = 0;
  let lambdas = 0;

  const flush = (role: StatementRole): void => {
    const block = header ?? (blocks[blocks.length - 1] as OpenBlock);
    if (line.length > 0 && !saysNothing(line)) {
      statements.push({ role, tokens: line, parent: block.parent, scope: block.scope });
    }
    line = [];
    depth = 0;
    lambdas = 0;
  };

  for (const token of tokens) {
    if (token.kind === TokenKind.newline) {
      flush(roleOfSimple(line));
      continue;
    }
    if (token.kind === TokenKind.indent) {
      blocks.push(header ?? (blocks[blocks.length - 1] as OpenBlock));
      header = undefined;
      continue;
    }
    if (token.kind === TokenKind.dedent) {
      if (blocks.length > 1) blocks.pop();
      header = undefined;
      continue;
    }
    if (line.length === 0 && token.afterBreak) header = undefined;
    if (token.kind === TokenKind.operator) {
      if ('([{'.includes(token.text)) depth += 1;
      else if (')]}'.includes(token.text)) depth = Math.max(0, depth - 1);
      else if (depth === 0 && token.text === ';') {
        flush(roleOfSimple(line));
        continue;
      } else if (depth === 0 && token.text === ':') {
        if (lambdas > 0) lambdas -= 1;
        else {
          const first = line[0]?.text === 'async' ? line[1]?.text : line[0]?.text;
          const block = header ?? (blocks[blocks.length - 1] as OpenBlock);
          if (first !== undefined && BARE_HEADERS.has(first) && line.length === 1) {
            line = [];
            header = block;
            continue;
          }
          const role = first === undefined ? undefined : HEADERS.get(first);
          if (role !== undefined) {
            line = line.slice(line[0]?.text === 'async' ? 2 : 1);
            const index = statements.length;
            const before = statements.length;
            flush(role);
            const parent = statements.length > before ? index : block.parent;
            header = { parent, scope: role === 'define' ? parent : block.scope };
            continue;
          }
        }
      }
    } else if (token.kind === TokenKind.keyword && token.text === 'lambda' && depth === 0) lambdas += 1;
    line.push(token);
  }
  flush(roleOfSimple(line));
  return statements;
}

function roleOfSimple(line: readonly Token[]): StatementRole {
  const first = line[0]?.text;
  return first === 'import' || first === 'from' ? 'import' : 'plain';
}

function saysNothing(line: readonly Token[]): boolean {
  if (line.every((token) => token.kind === TokenKind.string)) return true;
  return line.length === 1 && (line[0]?.text === 'pass' || line[0]?.text === '...');
}
