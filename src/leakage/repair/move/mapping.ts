import type { Expr, Stmt } from '../../syntax/ast.js';
import { namesIn, namesInExpression, ownExpressions, partsOf, statementsIn } from '../../syntax/walk.js';
import { sameRows } from '../../values/region.js';
import { freshName, type RepairContext, type TextEdit } from '../context.js';
import type { SplitStatement } from '../split-parts.js';
import { mentions } from './dependence.js';
import type { Plan } from './plan.js';

export interface Parts {
  readonly train: string;
  readonly test: string;
}

/** Which variables stand for which parts once the split comes first, and how the split itself changes. */
export interface Mapping {
  readonly names: ReadonlyMap<string, Parts>;
  /** Whole expressions that are split as they are (`frame['text']`), by their text. */
  readonly expressions: ReadonlyMap<string, Parts>;
  /** Other pieces of the changed tables, which the moved statements have to be applied to as well. */
  readonly pieces: readonly string[];
  /** Changes of the split statement. */
  readonly edits: readonly TextEdit[];
  /** What the split gave and now has to be assigned after the moved statements. */
  readonly assigned: readonly { readonly value: Expr; readonly parts: Parts }[];
}

export function mapParts(
  context: RepairContext,
  plan: Plan,
  split: SplitStatement,
  isRows: (name: string) => boolean,
): Mapping | string {
  const text = (span: Expr): string => context.source.slice(span.start, span.end);
  const names = new Map<string, Parts>();
  const expressions = new Map<string, Parts>();
  const lost: { at: number; value: Expr; parts: Parts }[] = [];
  split.parts.forEach(({ source, train, test }, at) => {
    const parts = { train, test };
    const isMade = mentions(source, plan.created) || usesNewColumns(source, plan);
    if (isMade) lost.push({ at, value: source, parts });
    else if (source.type === 'name') {
      names.set(source.id, parts);
      const known = plan.changed.get(source.id);
      if (known !== undefined)
        for (const [frame, other] of plan.changed)
          if (other.root === known.root && !names.has(frame)) names.set(frame, parts);
    } else {
      const frame = [...namesInExpression(source)].find((name) => plan.changed.has(name.id));
      if (frame !== undefined && !names.has(frame.id) && !isColumn(source)) {
        const root = plan.changed.get(frame.id)?.root;
        for (const [other, known] of plan.changed)
          if (known.root === root && !names.has(other)) names.set(other, parts);
      }
      expressions.set(text(source), parts);
    }
  });
  const divided = new Set(split.parts.flatMap(({ source }) => (source.type === 'name' ? [source.id] : [])));
  const pieces = [...plan.changed].flatMap(([name, { piece }]) =>
    piece && !divided.has(name) ? [name] : [],
  );
  const taken = new Set<string>();
  const fresh = (wanted: string): string => {
    const name = freshName(context.source, wanted, taken);
    taken.add(name);
    return name;
  };
  // What is made of the rows on the way is made of each part, under a name of its own.
  const divideMade = (): void => {
    for (const name of plan.created.keys()) {
      if (isRows(name) && !names.has(name))
        names.set(name, { train: fresh(`${name}_train`), test: fresh(`${name}_test`) });
    }
  };
  if (lost.length === 0) {
    divideMade();
    return { names, expressions, edits: [], assigned: [], pieces };
  }
  if (!split.byCall) return 'the divided table is made by what has to move';

  const bases = baseNames(plan, isRows).filter((base) => !names.has(base));
  const divides = split.parts.flatMap(({ source }) =>
    source.type === 'name' ? [context.watched.get(source.id)] : [],
  );
  const [rowsOfSplit] = divides.filter((rows) => rows !== undefined);
  for (const base of bases) {
    const rows = context.watched.get(base);
    // A table with more rows than what is split cannot replace it.
    if (rows !== undefined && rowsOfSplit !== undefined && !sameRows(rows, rowsOfSplit)) {
      return `\`${base}\` holds other rows than what is split`;
    }
  }
  const edits: TextEdit[] = [];
  const assigned: { value: Expr; parts: Parts }[] = [];
  const [first, second] = lost;
  const single =
    first !== undefined && second === undefined ? singleInput(context, plan, first.value, bases) : undefined;
  if (first !== undefined && single !== undefined) {
    edits.push({ start: first.value.start, end: first.value.end, text: single });
    if (/^\w+$/.test(single)) names.set(single, first.parts);
    else expressions.set(single, first.parts);
    const made = [...plan.created.keys()].filter(isRows);
    const last = first.value.type === 'name' ? first.value.id : '';
    const [base = ''] = bases;
    // What is made on the way needs names of its own where what it is made of is read again.
    const isOne = !readsReplaced(plan, base, made);
    if (!isOne && readsReplaced(plan, base, [last]))
      return `\`${base}\` is read after \`${last}\` is made of it`;
    for (const name of made) if (isOne || name === last) names.set(name, first.parts);
    divideMade();
    return { names, expressions, edits, assigned, pieces };
  }
  // Several tables, or one that is used in several ways: the tables they are made from are split.
  if (bases.length === 0 || bases.length > lost.length)
    return 'the tables that would have to be split are not clear';
  const targets = split.statement.type === 'assign' ? split.statement.targets[0] : undefined;
  if (targets?.type !== 'sequence') return 'the split is not unpacked into names';
  const bounds = split.parts.map(({ source }) => source.end);
  lost.forEach(({ at, value, parts }, index) => {
    const base = bases[index];
    const pair = [targets.items[2 * at], targets.items[2 * at + 1]] as const;
    const [before, last] = [bounds[at - 1], targets.items[2 * at - 1]];
    if (pair[0] === undefined || pair[1] === undefined) return;
    if (base !== undefined) {
      const halves = { train: fresh(`${base}_train`), test: fresh(`${base}_test`) };
      names.set(base, halves);
      for (const [frame, known] of plan.changed) if (known.root === base) names.set(frame, halves);
      edits.push({ start: value.start, end: value.end, text: base });
      edits.push({ start: pair[0].start, end: pair[0].end, text: halves.train });
      edits.push({ start: pair[1].start, end: pair[1].end, text: halves.test });
    } else if (before !== undefined && last !== undefined) {
      // Made from a table that is split already.
      edits.push({ start: before, end: value.end, text: '' });
      edits.push({ start: last.end, end: pair[1].end, text: '' });
    }
    if (value.type === 'name') names.set(value.id, parts);
    else assigned.push({ value, parts });
  });
  divideMade();
  return { names, expressions, edits, assigned, pieces };
}

function usesNewColumns(source: Expr, plan: Plan): boolean {
  if (plan.newColumns.size === 0) return false;
  const open: Expr[] = [source];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.type === 'constant' && typeof next.value === 'string' && plan.newColumns.has(next.value))
      return true;
    if (next.type === 'subscript') open.push(...next.indices);
    if (next.type === 'sequence') open.push(...next.items);
  }
  return false;
}

/** `frame['label']`, `frame.label`: one column, not the frame. */
function isColumn(source: Expr): boolean {
  return (
    (source.type === 'subscript' && source.indices[0]?.type === 'constant') || source.type === 'attribute'
  );
}

/** Tables of the leaky rows that moved statements read and none of them makes. */
function baseNames(plan: Plan, isRows: (name: string) => boolean): string[] {
  const bases = new Set<string>();
  for (const statement of plan.moved) {
    for (const { id } of namesIn(statement)) if (isRows(id) && !plan.created.has(id)) bases.add(id);
  }
  return [...bases];
}

/** The one expression over the one base table that all moved statements read: it can be split as it is. */
function singleInput(
  context: RepairContext,
  plan: Plan,
  value: Expr,
  bases: readonly string[],
): string | undefined {
  const [base] = bases;
  if (bases.length !== 1 || base === undefined || value.type !== 'name' || plan.changed.has(base))
    return undefined;
  const made = [...plan.created].filter(([, statement]) => plan.moved.includes(statement));
  const texts = new Set<string>();
  for (const statement of plan.moved) {
    for (const use of usesOf(statement, base))
      texts.add(context.source.slice(use.start, use.end).replaceAll(/\s+/g, ' '));
  }
  const [only] = texts;
  // A table that is only made on the way has no part of its own among the targets.
  const rowTables = made.filter(
    ([name]) =>
      name !== value.id &&
      [...plan.moved].some(
        (statement) =>
          statement.type === 'assign' && [...namesIn(statement)].some((read) => read.id === name),
      ),
  );
  return texts.size === 1 && rowTables.length <= 1 ? only : undefined;
}

/** Whether moved statements read one of some tables after another one of them is made: the value is gone if all are one variable. */
function readsReplaced(plan: Plan, base: string, made: readonly string[]): boolean {
  const together = new Set([base, ...made]);
  let current = base;
  for (const statement of plan.moved.flatMap((outer) => [...statementsIn(outer)])) {
    const targets = statement.type === 'assign' ? statement.targets : [];
    const stored = targets.flatMap((target) =>
      target.type === 'name' && together.has(target.id) ? [target] : [],
    );
    const isRead = ownExpressions(statement)
      .filter((own) => !stored.some((target) => target === own))
      .flatMap((own) => [...namesInExpression(own)])
      .some(({ id }) => together.has(id) && id !== current);
    if (isRead) return true;
    current = stored.at(-1)?.id ?? current;
  }
  return false;
}

/** Uses of a table, each as far as it is one column or some columns of it. */
function usesOf(statement: Stmt, base: string): Expr[] {
  const uses: Expr[] = [];
  const visit = (expression: Expr, parents: readonly Expr[]): void => {
    if (expression.type === 'name') {
      if (expression.id !== base) return;
      const [parent] = parents;
      const isPart = parent?.type === 'subscript' && parent.object === expression;
      uses.push(isPart ? parent : expression);
      return;
    }
    for (const part of partsOf(expression)) visit(part, [expression, ...parents]);
  };
  for (const own of ownExpressions(statement)) visit(own, []);
  return uses;
}
