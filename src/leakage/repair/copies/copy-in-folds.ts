import type { Expr, Stmt } from '../../syntax/ast.js';
import { namesIn, statementsIn } from '../../syntax/walk.js';
import { declined, edited, type RepairContext, type Rewrite, type TextEdit } from '../context.js';
import { type FoldLoop, onlyFoldLoop } from '../folds/fold-loop.js';
import { type Copying, copyingOf, readsColumnsAlone } from './copying.js';
import { laterThan } from './later-statements.js';
import { NotCopies } from './row-copies.js';

/**
 * Rows are copied, altered or sampled before a loop over folds: the folds divide the table as it is, and in each of them the
 * training rows go through the lines that copy.
 */
export function copyInFolds(context: RepairContext): Rewrite {
  const [leak] = context.leaks;
  if (leak === undefined) return declined('no leak in this block');
  const { statements } = leak.statement.suite;
  const loop = onlyFoldLoop(statements.filter(({ start }) => start > leak.statement.start));
  if (loop === undefined) return declined('no loop over folds comes after the copying');
  try {
    return copiedInFold(context, copyingOf(context, loop.outer), loop);
  } catch (error) {
    if (error instanceof NotCopies) return declined(error.message);
    throw error;
  }
}

function copiedInFold(context: RepairContext, copying: Copying, loop: FoldLoop): Rewrite {
  const { source, lineEnding } = context;
  const { statements, roles, finals, bases, first } = copying;
  if (copying.projections.length > 0)
    throw new NotCopies(`\`${copying.projections[0]}\` is made of copied rows before the folds`);
  const picks = trainingPicks(context, copying, loop);
  const last = [...picks.values()].reduce((a, b) =>
    b.statement.start > a.statement.start ? b : a,
  ).statement;
  const inner = source.slice(source.lastIndexOf('\n', last.start - 1) + 1, last.start);
  if (/\S/.test(inner)) throw new NotCopies('the training rows are taken in a line that holds others');
  const edits: TextEdit[] = [];
  const lines: string[] = [];
  const toBase = (statement: Stmt): TextEdit[] =>
    [...namesIn(statement)].flatMap(({ id, start, end }) => {
      const base = finals.get(id);
      return base === undefined || base === id ? [] : [{ start, end, text: base }];
    });
  for (const statement of statements) {
    const role = roles.get(statement);
    if (role === undefined) continue;
    if (role === 'looks') {
      const shown = [...finals.keys()].find((name) => !readsColumnsAlone(source, statement, name));
      if (shown !== undefined) throw new NotCopies(`\`${shown}\` is looked at before the folds`);
      edits.push(...toBase(statement));
      continue;
    }
    const ofFold = [...namesIn(statement)].flatMap(({ id, start, end }) => {
      const base = finals.get(id) ?? (bases.includes(id) ? id : undefined);
      const pick = base === undefined ? undefined : picks.get(base);
      return pick === undefined ? [] : [{ start, end, text: pick.name }];
    });
    const text = edited(source, statement, ofFold);
    for (const line of text.split(/\r?\n/))
      lines.push(line.startsWith(copying.indent) ? line.slice(copying.indent.length) : line);
    lines[lines.length - text.split(/\r?\n/).length] = text.split(/\r?\n/)[0] ?? '';
    edits.push(removedLines(source, statement));
  }
  edits.push(...toBase(loop.outer));
  const put = lines.map((line) => `${lineEnding}${inner}${line}`).join('');
  edits.push({ start: last.end, end: last.end, text: put });
  checkLater(context, copying, loop);
  const block = {
    start: source.lastIndexOf('\n', first.start - 1) + 1,
    end: Math.max(loop.outer.end, context.block.end),
  };
  return { text: edited(source, block, edits), block };
}

interface Pick {
  /** Variable of the training rows of a fold. */
  readonly name: string;
  readonly statement: Stmt;
}

/** `part = frame.iloc[tr]`: where each fold takes its training rows, once for each of the tables. */
function trainingPicks(
  { source }: RepairContext,
  { finals, bases }: Copying,
  loop: FoldLoop,
): Map<string, Pick> {
  const picks = new Map<string, Pick>();
  for (const statement of loop.statement.body.statements) {
    const taken: (readonly [Expr, Expr])[] = [];
    if (statement.type === 'assign') {
      const [target] = statement.targets;
      const { value } = statement;
      if (target?.type === 'name') taken.push([target, value]);
      else if (target?.type === 'sequence' && value.type === 'sequence')
        target.items.forEach((item, at) => {
          const each = value.items[at];
          if (each !== undefined) taken.push([item, each]);
        });
    }
    const known = new Set<Expr>();
    for (const [target, value] of taken) {
      const text = source.slice(value.start, value.end).replaceAll(/\s+/g, '');
      const [, name = ''] =
        /^(\w+)(?:\.i?loc)?\[(\w+)(?:,:)?\](?:\.copy\(\)|\.reset_index\(drop=True\))*$/.exec(text) ?? [];
      const base = finals.get(name);
      if (base === undefined || target.type !== 'name' || !text.includes(`[${loop.train}`)) continue;
      if (picks.has(base)) throw new NotCopies(`the training rows of \`${name}\` are taken twice`);
      picks.set(base, { name: target.id, statement });
      known.add(value);
    }
    // The training rows of a table are taken nowhere else.
    for (const inner of statementsIn(statement)) {
      for (const { id, start, end } of namesIn(inner)) {
        const isPick = [...known].some((value) => value.start <= start && end <= value.end);
        if (id === loop.train && !isPick)
          throw new NotCopies(`the training rows are taken in more ways than one (\`${loop.train}\`)`);
      }
    }
  }
  const missing = bases.find((base) => !picks.has(base));
  if (missing !== undefined) throw new NotCopies(`the folds take no training rows of \`${missing}\` by name`);
  return picks;
}

/** Variables of the lines that moved are not there any more outside of the folds. */
function checkLater({ source, module }: RepairContext, copying: Copying, loop: FoldLoop): void {
  const gone = new Set([...copying.changed].filter((name) => copying.finals.get(name) !== name));
  const statements = [
    ...laterThan(loop.outer),
    ...module.body.statements.filter(({ type }) => type === 'function' || type === 'class'),
  ];
  for (const statement of statements) {
    const own = statement.type === 'function' ? new Set(statement.params.map(({ name }) => name)) : new Set();
    const read = [...namesIn(statement)].find(({ id }) => gone.has(id) && !own.has(id));
    if (read !== undefined)
      throw new NotCopies(
        `\`${read.id}\` is read again after the folds (line ${source.slice(0, read.start).split('\n').length})`,
      );
  }
}

function removedLines(source: string, statement: Stmt): TextEdit {
  const start = source.lastIndexOf('\n', statement.start - 1) + 1;
  const end = source.indexOf('\n', statement.end);
  return { start, end: end < 0 ? source.length : end + 1, text: '' };
}
