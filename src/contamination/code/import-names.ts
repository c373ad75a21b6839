import { orderedArguments } from './argument-order.js';
import { withoutTrailingComma } from './canonical-tokens.js';
import { boundNames } from './names.js';
import { PYTHON_ATTRIBUTES } from './python-words.js';
import { made, type Statement } from './statement.js';
import { type Token, TokenKind } from './token.js';

/** How the usual packages are called, whatever a program calls them. */
const USUAL_NAME = new Map([
  ['numpy', 'np'],
  ['pandas', 'pd'],
  ['lightgbm', 'lgb'],
  ['xgboost', 'xgb'],
  ['tensorflow', 'tf'],
  ['seaborn', 'sns'],
  ['matplotlib.pyplot', 'plt'],
  ['torch.nn', 'nn'],
  ['torch.nn.functional', 'F'],
  ['torch.optim', 'optim'],
]);
/** Modules whose functions are as often called by their name alone. */
const STANDARD: ReadonlySet<string> = new Set([
  'bisect',
  'collections',
  'dataclasses',
  'functools',
  'heapq',
  'itertools',
  'math',
  'operator',
]);
const MAX_PATH_PARTS = 3;

/**
 * Python's calls of libraries in one form. `numpy.zeros` is `np.zeros`, `torch.optim.Adam` is `optim.Adam`, `heapq.heappush`
 * is `heappush`, and a name that an import gave (`import pandas as p`, `from heapq import heappush as push`) is the library's.
 * Named arguments are in the order of their names.
 */
export function libraryNames(statements: readonly Statement[]): readonly Statement[] {
  const own = ownNames(statements);
  const paths = importedPaths(statements);
  // A part of a program may be without its imports.
  for (const module of [...USUAL_NAME.keys(), ...STANDARD])
    if (!own.has(module) && !module.includes('.') && !paths.has(module)) paths.set(module, module);
  const isLibrary = (tokens: readonly Token[], at: number): boolean => isLibraryName(tokens, at, own);
  return statements.map((statement) => {
    if (statement.role === 'import' || statement.role === 'define') return statement;
    const ordered = orderedArguments(withoutTrailingComma(statement.tokens), isLibrary);
    return { ...statement, tokens: renamed(ordered, paths) };
  });
}

/** Names that the program assigns or defines. */
function ownNames(statements: readonly Statement[]): ReadonlySet<string> {
  const own = new Set<string>();
  for (const statement of statements) {
    const { role, tokens } = statement;
    if (role === 'import') continue;
    const isHeader = role === 'define' || role === 'class';
    const names = isHeader
      ? tokens.filter(({ kind }) => kind === TokenKind.name).map(({ text }) => text)
      : boundNames(statement);
    for (const name of names) own.add(name);
  }
  return own;
}

/** Whether a token names something of a library: a name that the program does not give, a part of it, or a known method. */
function isLibraryName(tokens: readonly Token[], at: number, own: ReadonlySet<string>): boolean {
  const token = tokens[at];
  if (token?.kind !== TokenKind.name) return false;
  if (tokens[at - 1]?.text === '.' && PYTHON_ATTRIBUTES.has(token.text)) return true;
  let root = at;
  while (tokens[root - 1]?.text === '.' && tokens[root - 2]?.kind === TokenKind.name) root -= 2;
  return tokens[root - 1]?.text !== '.' && !own.has(tokens[root]?.text ?? '');
}

function renamed(tokens: readonly Token[], paths: ReadonlyMap<string, string>): readonly Token[] {
  const result: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    const path = token.kind === TokenKind.name ? paths.get(token.text) : undefined;
    if (path === undefined || tokens[at - 1]?.text === '.' || isArgumentName(tokens, at)) {
      result.push(token);
      continue;
    }
    const { name, used } = usualName(path, tokens, at);
    result.push(made(name, token, TokenKind.name));
    at += used;
  }
  return result;
}

const isArgumentName = (tokens: readonly Token[], at: number): boolean =>
  tokens[at + 1]?.text === '=' && /^[(,]$/.test(tokens[at - 1]?.text ?? '');

/** The usual name of what is called at `at`, and how many of the tokens after it belong to it. */
function usualName(
  path: string,
  tokens: readonly Token[],
  at: number,
): { readonly name: string; readonly used: number } {
  const last = path.slice(path.lastIndexOf('.') + 1);
  let best = { name: USUAL_NAME.get(path) ?? last, used: 0 };
  let whole = path;
  for (let part = 1; part <= MAX_PATH_PARTS && tokens[at + 2 * part - 1]?.text === '.'; part++) {
    const attribute = tokens[at + 2 * part]?.text ?? '';
    if (STANDARD.has(whole)) return { name: attribute, used: 2 * part };
    whole = `${whole}.${attribute}`;
    const usual = USUAL_NAME.get(whole);
    if (usual !== undefined) best = { name: usual, used: 2 * part };
  }
  return best;
}

/** The path that each imported name stands for, where it is not that name. */
function importedPaths(statements: readonly Statement[]): Map<string, string> {
  const paths = new Map<string, string>();
  for (const { role, tokens } of statements) {
    if (role !== 'import') continue;
    const words = tokens.map(({ text }) => text).filter((text) => text !== '(' && text !== ')');
    const from = words[0] === 'from' ? words.indexOf('import') : 0;
    if (from < 0) continue;
    const module = words.slice(1, from).join('');
    const clauses = words
      .slice(from + 1)
      .join(' ')
      .split(' , ');
    for (const clause of clauses) {
      const [path = '', alias] = clause.split(' as ').map((part) => part.replaceAll(' ', ''));
      const root = path.replace(/\..*/, '');
      if (path === '' || path === '*') continue;
      if (module !== '') paths.set(alias ?? path, `${module}.${path}`);
      else paths.set(alias ?? root, alias === undefined ? root : path);
    }
  }
  return paths;
}
