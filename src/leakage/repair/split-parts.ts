import type { Leak } from '../findings/find-leaks.js';
import type { Assign, Call, Expr, Stmt } from '../syntax/ast.js';
import { rootName } from '../syntax/walk.js';

/** One table that a statement divides, and the variables that hold its two parts. */
export interface SplitPart {
  readonly source: Expr;
  readonly train: string;
  readonly test: string;
}

export interface SplitStatement {
  readonly statement: Stmt;
  readonly parts: readonly SplitPart[];
  /** All statements that take the parts. */
  readonly statements: readonly Stmt[];
  /** Whether the divided tables are arguments that can be replaced by other expressions. */
  readonly byCall: boolean;
}

function isSplitCall(value: Expr): value is Call {
  if (value.type !== 'call') return false;
  const { callee } = value;
  const name = callee.type === 'name' ? callee.id : callee.type === 'attribute' ? callee.name : '';
  return name === 'train_test_split' || name === 'random_split';
}

function isRandomSplit({ callee }: Call): boolean {
  return (
    (callee.type === 'name' ? callee.id : callee.type === 'attribute' ? callee.name : '') === 'random_split'
  );
}

function names(targets: readonly Expr[]): readonly string[] | undefined {
  const [only] = targets;
  if (targets.length !== 1 || only?.type !== 'sequence') return undefined;
  const ids = only.items.map((item) => (item.type === 'name' ? item.id : undefined));
  return ids.every((id): id is string => id !== undefined) ? ids : undefined;
}

/** `a, b, c, d = train_test_split(x, y)`: what it divides, and into which variables. */
export function readSplitCall(statement: Stmt): SplitStatement | undefined {
  if (statement.type !== 'assign' || !isSplitCall(statement.value)) return undefined;
  const targets = names(statement.targets);
  const sources = statement.value.args.filter((argument) => argument.name === undefined);
  if (targets === undefined || sources.some((argument) => argument.star !== '')) return undefined;
  const [data] = sources;
  if (isRandomSplit(statement.value)) {
    if (data === undefined || targets.length !== 2) return undefined;
    const [train = '', test = ''] = targets;
    return { statement, parts: [{ source: data.value, train, test }], statements: [statement], byCall: true };
  }
  if (targets.length !== sources.length * 2) return undefined;
  const parts = sources.map(({ value }, at) => ({
    source: value,
    train: targets[2 * at] ?? '',
    test: targets[2 * at + 1] ?? '',
  }));
  return { statement, parts, statements: [statement], byCall: true };
}

/**
 * `train, valid = frame[~mask], frame[mask]`, or the same in two statements: rows of one table picked into two
 * variables, of which one is scored.
 */
export function readSelections(
  source: string,
  statements: readonly Stmt[],
  leak: Leak,
): SplitStatement | undefined {
  const bound: { name: string; value: Expr; statement: Assign }[] = [];
  for (const statement of statements) {
    if (statement.type !== 'assign') continue;
    const ids = names(statement.targets);
    const [target] = statement.targets;
    if (
      ids !== undefined &&
      statement.value.type === 'sequence' &&
      statement.value.items.length === ids.length
    ) {
      statement.value.items.forEach((value, at) => {
        bound.push({ name: ids[at] ?? '', value, statement });
      });
    } else if (target?.type === 'name' && statement.targets.length === 1) {
      bound.push({ name: target.id, value: statement.value, statement });
    }
  }
  const test = bound.find(({ name, value }) => leak.scoredNames.includes(name) && isSelection(value));
  if (test === undefined) return undefined;
  const root = rootName(test.value);
  const others = bound.filter(
    (other) =>
      other !== test && rootName(other.value) === root && isSelection(other.value) && other.name !== root,
  );
  const [train] = others;
  if (root === undefined || train === undefined || others.length !== 1) return undefined;
  const parts = [{ source: nameOf(root), train: train.name, test: test.name }];
  // Labels are picked in the same way from another table.
  const how = (part: { value: Expr }): string => selectorOf(source, part.value);
  for (const label of bound) {
    const other = rootName(label.value);
    if (other === undefined || other === root || how(label) !== how(train)) continue;
    const scored = bound.find((part) => rootName(part.value) === other && how(part) === how(test));
    if (scored !== undefined) parts.push({ source: nameOf(other), train: label.name, test: scored.name });
  }
  const takes = [train.statement, test.statement].toSorted((a, b) => a.start - b.start);
  return { statement: takes.at(-1) ?? test.statement, parts, statements: takes, byCall: false };
}

function nameOf(id: string): Expr {
  return { type: 'name', id, start: 0, end: 0 };
}

/** The text of a selection without the table that it picks from. */
function selectorOf(source: string, value: Expr): string {
  const text = source.slice(value.start, value.end);
  return text.slice(rootName(value)?.length ?? 0).replace(/^\.iloc/, '');
}

/** `frame[...]`, `frame.loc[...]`, `frame.head(n)`, `frame.query(...)`, each with or without a copy. */
function isSelection(value: Expr): boolean {
  if (value.type === 'subscript')
    return value.indices[0]?.type !== 'constant' && value.indices[0]?.type !== 'sequence';
  if (value.type !== 'call' || value.callee.type !== 'attribute') return false;
  if (/^(copy|reset_index)$/.test(value.callee.name)) return isSelection(value.callee.object);
  return /^(head|tail|query|filter|sample|drop|slice)$/.test(value.callee.name);
}
