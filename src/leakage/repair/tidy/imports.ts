import type { Import, Module, Stmt } from '../../syntax/ast.js';
import { statementsInBlock } from '../check/script-change.js';
import type { TextEdit } from '../context.js';
import { type Draft, hasOwnLines, removal } from './draft.js';

/**
 * Imports that the rewrite put between other lines: they go to the imports of the script, and are left out where the script
 * has them there. The line that imported the same name further down in the block goes.
 */
export function importsAmongImports(draft: Draft): TextEdit[] {
  const { before, block, after, span } = draft;
  const known = new Map<string, number>();
  for (const line of importsIn(before, block)) known.set(line, (known.get(line) ?? 0) + 1);
  const edits: TextEdit[] = [];
  const placed = new Set<string>();
  const all = scriptImports(after);
  for (const statement of statementsInBlock({ module: after, block: span })) {
    if (statement.type !== 'import' || all.includes(statement)) continue;
    const line = after.source.slice(statement.start, statement.end);
    if (placed.has(line)) {
      if (isRemovable(after, statement)) edits.push(removal(draft, statement));
      continue;
    }
    const count = known.get(line) ?? 0;
    const isNew = count < importsIn(after, span).filter((other) => other === line).length;
    if (!isNew || !isRemovable(after, statement)) continue;
    const earlier = all.filter(({ end }) => end <= statement.start);
    if (!earlier.some((other) => bindsAll(other, statement))) {
      const insertion = insertionFor(draft, earlier, line);
      if (insertion === undefined) continue;
      edits.push(insertion);
    }
    edits.push(removal(draft, statement));
    placed.add(line);
  }
  return edits;
}

function importsIn(module: Module, block: { readonly start: number; readonly end: number }): string[] {
  return [...statementsInBlock({ module, block })].flatMap((statement) =>
    statement.type === 'import' ? [module.source.slice(statement.start, statement.end)] : [],
  );
}

function isRemovable(module: Module, statement: Stmt): boolean {
  return hasOwnLines(module, statement) && statement.suite.statements.length > 1;
}

/** The imports of the script that come before all other code but calls, such as `warnings.filterwarnings("ignore")`. */
function scriptImports({ body }: Module): Import[] {
  const first = body.statements.findIndex(({ type }) => type !== 'import' && type !== 'expression');
  const leading = first < 0 ? body.statements : body.statements.slice(0, first);
  return leading.filter((statement): statement is Import => statement.type === 'import');
}

function bindsAll(earlier: Import, { bindings, star }: Import): boolean {
  return (
    star === undefined &&
    bindings.every(({ name, path }) =>
      earlier.bindings.some((other) => other.name === name && other.path === path),
    )
  );
}

/** In the order of the alphabet among the imports of the same package if they have it, otherwise after them or all others. */
function insertionFor(draft: Draft, imports: readonly Import[], line: string): TextEdit | undefined {
  const { after: module } = draft;
  const { source } = module;
  const together = joinedTo(draft, imports, line);
  if (together !== undefined) return together;
  const textOf = ({ start, end }: Import): string => source.slice(start, end);
  const root = packageOf(line);
  const own = imports.filter((one) => packageOf(textOf(one)) === root && hasOwnLines(module, one));
  const isSorted = own.every((one, at) => at === 0 || textOf(own[at - 1] ?? one) <= textOf(one));
  const next = isSorted ? own.find((one) => textOf(one) > line) : undefined;
  const lineEnding = source.includes('\r\n') ? '\r\n' : '\n';
  if (next !== undefined) return { start: next.start, end: next.start, text: `${line}${lineEnding}` };
  const last = own.at(-1) ?? imports.filter((one) => hasOwnLines(module, one)).at(-1);
  if (last === undefined || last.start !== source.lastIndexOf('\n', last.start - 1) + 1) return undefined;
  return { start: last.start, end: last.end, text: `${textOf(last)}${lineEnding}${line}` };
}

const MAX_LINE_LENGTH = 100;

/** `from sklearn.pipeline import Pipeline` already there: the name is put beside the others, or in place of what nobody reads now. */
function joinedTo(
  { after: { source }, namesBefore, namesAfter }: Draft,
  imports: readonly Import[],
  line: string,
): TextEdit | undefined {
  const [, from = '', name = ''] = /^(from \S+ import )(\w+)$/.exec(line) ?? [];
  if (from === '') return undefined;
  for (const { start, end } of imports) {
    const text = source.slice(start, end);
    const names = text.startsWith(from) ? text.slice(from.length).split(', ') : [];
    if (names.length === 0 || !names.every((one) => /^\w+$/.test(one))) continue;
    if (text.length + name.length + 2 > MAX_LINE_LENGTH) continue;
    const isSorted = names.every((one, at) => at === 0 || (names[at - 1] ?? '') <= one);
    const all = [
      ...names.filter((one) => namesAfter.isReadBesideImport(one) || !namesBefore.isReadBesideImport(one)),
      name,
    ];
    return { start, end, text: from + (isSorted ? all.toSorted() : all).join(', ') };
  }
  return undefined;
}

function packageOf(line: string): string {
  return /^(?:from|import)\s+(\w+)/.exec(line)?.[1] ?? '';
}
