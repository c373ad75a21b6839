import type { Leak } from '../findings/judge.js';
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
    return { statement, parts: [{ source: data.value, train, test }], byCall: true };
  }
  if (targets.length !== sources.length * 2) return undefined;
  const parts = sources.map(({ value }, at) => ({
    source: value,
    train: targets[2 * at] ?? '',
    test: targets[2 * at + 1] ?? '',
  }));
  return { statement, parts, byCall: true };
}

/**
 * `train, valid = frame[~mask], frame[mask]`, or the same in two statements: rows of one table picked into two
 * variables, of which one is scored.
 */
export function readSelections(statements: readonly Stmt[], leak: Leak): SplitStatement | undefined {
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
  const last = train.statement.start > test.statement.start ? train.statement : test.statement;
  const source: Expr = { type: 'name', id: root, start: 0, end: 0 };
  return { statement: last, parts: [{ source, train: train.name, test: test.name }], byCall: false };
}

/** `frame[...]`, `frame.loc[...]`, `frame.head(n)`, `frame.query(...)`, each with or without a copy. */
function isSelection(value: Expr): boolean {
  if (value.type === 'subscript')
    return value.indices[0]?.type !== 'constant' && value.indices[0]?.type !== 'sequence';
  if (value.type !== 'call' || value.callee.type !== 'attribute') return false;
  if (/^(copy|reset_index)$/.test(value.callee.name)) return isSelection(value.callee.object);
  return /^(head|tail|query|filter|sample|drop|slice)$/.test(value.callee.name);
}
