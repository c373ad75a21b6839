import type { Expr, Stmt } from '../../../syntax/ast.js';
import {
  expressionsIn,
  namesInExpression,
  ownExpressions,
  statementsIn,
  suitesOf,
} from '../../../syntax/walk.js';
import { countWork } from '../../../values/work.js';
import { OF_EXPERIMENT } from '../same-experiment.js';
import {
  loopsAround,
  plainText,
  type ScriptChange,
  statementsInBlock,
  textOf,
  type Version,
} from '../script-change.js';
import type { JointCall } from './evaluate-steps.js';
import { followSteps } from './follow-steps.js';
import type { Step, TableValue } from './table-value.js';

/** Kinds whose correction changes more than where something is learned. */
const OTHER_CHANGES = new Set([
  'selection',
  'early-stopping',
  'stacking',
  'training-rows',
  'pseudo-labels',
  'duplicated-rows',
  ...OF_EXPERIMENT,
]);

/**
 * Whether a variable that is read after the block would hold other values than before, except for what is learned on
 * other rows: a step that is lost, one too many, another order of steps, or other rows.
 */
export function otherSteps(change: ScriptChange): string | undefined {
  const { before, after, leaks } = change;
  if (leaks.some(({ kind }) => OTHER_CHANGES.has(kind))) return undefined;
  const isSampled = leaks.some(({ kind }) => kind === 'over-sampling');
  const was = followSteps(before).values;
  const is = followSteps(after).values;
  const { read, about } = readAfter(after);
  for (const name of [...read, ...about]) {
    const [old, now] = [was.get(name), is.get(name)];
    if (old === undefined || now === undefined || !old.isTable) continue;
    const problem = read.has(name)
      ? difference(old, now, isSampled)
      : differentSteps(reshaping(old.steps), reshaping(now.steps));
    if (problem !== undefined) return `\`${name}\` would ${problem}`;
  }
  return undefined;
}

/** Whether the tables of one call would come from different divisions of the rows, as features of one and labels of another. */
export function mixedRows(change: ScriptChange): string | undefined {
  if (change.leaks.some(({ kind }) => OTHER_CHANGES.has(kind))) return undefined;
  const [was, is] = [mixed(change.before), mixed(change.after)];
  const known = new Set(was.map(({ call }) => textOf(change.before.module, call)));
  const found = is.find(({ call }) => !known.has(textOf(change.after.module, call)));
  // A call that got such tables before, under other names, still does.
  if (found === undefined || is.length <= was.length) return undefined;
  return `\`${textOf(change.after.module, found.call)}\` would get rows of different parts`;
}

function mixed(version: Version): JointCall[] {
  return followSteps(version).jointCalls.filter(({ call, arguments: tables }) => {
    if (call.start < version.block.start) return false;
    const picks = tables.map((table) => orderedPicks(table, true).join('>'));
    return picks.some((pick) => pick !== picks[0]);
  });
}

/** Whether something else is fitted on other rows than before: a model of all rows that is only looked at. */
export function otherFits(change: ScriptChange): string | undefined {
  const { before, after, leaks } = change;
  if (leaks.some(({ kind }) => OTHER_CHANGES.has(kind))) return undefined;
  const now = new Set([...statementsInBlock(after)].map((statement) => plainText(after.module, statement)));
  const nodes = leaks.flatMap((leak) => [...leak.nodes]);
  const divided = Math.min(...leaks.map(({ split }) => split?.statement.start ?? 0));
  for (const statement of statementsInBlock(before)) {
    if (suitesOf(statement).length > 0 || statement.end > divided) continue;
    // Models of the folds are fitted in a loop.
    if (loopsAround(statement).length > 0 || now.has(plainText(before.module, statement))) continue;
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        const isFit = part.type === 'call' && part.callee.type === 'attribute' && part.callee.name === 'fit';
        if (isFit && !nodes.some((node) => node.start <= part.start && part.end <= node.end))
          return `\`${textOf(before.module, part)}\` would be fitted on other rows, though nothing leaks through it`;
      }
    }
  }
  return undefined;
}

/** Steps that leave the number of rows and columns as it is. */
const KEEPS_SHAPE =
  /^(set |[-+*/]\(|\.fillna\(|\w*(Scaler|Imputer|PowerTransformer|QuantileTransformer|Normalizer)$)/;

export function reshaping(steps: readonly Step[]): Step[] {
  return steps.filter(({ label }) => !KEEPS_SHAPE.test(label));
}

/**
 * Variables that statements after the block read before they get another value; those of which only the shape, the columns
 * or the index is read are separate.
 */
function readAfter({ module, block }: Version): { read: ReadonlySet<string>; about: ReadonlySet<string> } {
  const read = new Set<string>();
  const about = new Set<string>();
  const later = module.body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .filter(({ start }) => start >= block.end);
  const replaced = new Set<string>();
  for (const statement of later) {
    const stored = new Set<Expr>(storedIn(statement));
    const params = paramsAround(statement);
    for (const own of ownExpressions(statement)) {
      for (const name of namesInExpression(own))
        if (!stored.has(name) && !replaced.has(name.id) && !params.has(name.id)) {
          const next = module.source.slice(name.end, name.end + 30);
          (/^\s*\.\s*(columns|shape|index|dtypes)\b/.test(next) ? about : read).add(name.id);
        }
    }
    if (statement.suite === later[0]?.suite) for (const { id } of storedIn(statement)) replaced.add(id);
  }
  for (const name of read) about.delete(name);
  return { read, about };
}

/** Parameters of the functions around a statement: other variables, whatever they are called. */
function paramsAround(statement: Stmt): ReadonlySet<string> {
  const params = new Set<string>();
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    if (owner.type === 'function') for (const { name } of owner.params) params.add(name);
  }
  return params;
}

function storedIn(statement: Stmt) {
  if (statement.type !== 'assign') return [];
  return statement.targets
    .flatMap((target) => (target.type === 'sequence' ? target.items : [target]))
    .flatMap((target) => (target.type === 'name' ? [target] : []));
}

function difference(old: TableValue, now: TableValue, isSampled: boolean): string | undefined {
  const steps = differentSteps(old.steps, now.steps);
  if (steps !== undefined) return steps;
  const [was, is] = [orderedPicks(old, isSampled), orderedPicks(now, isSampled)];
  if (was.join('>') !== is.join('>'))
    return `hold other rows than before (${is.join(', ') || 'all'} instead of ${was.join(', ') || 'all'})`;
  const free = (value: TableValue): string =>
    value.picks
      .filter(({ isInOrder }) => !isInOrder)
      .map(({ label }) => label)
      .sort()
      .join();
  return free(old) === free(now) ? undefined : `hold other rows or columns than before`;
}

function orderedPicks({ picks }: TableValue, isSampled: boolean): string[] {
  return picks.flatMap(({ label, isInOrder }) =>
    isInOrder && !(isSampled && label === 'resample') ? [label] : [],
  );
}

/** The first step that one side has and the other has not, or has elsewhere. */
export function differentSteps(old: readonly Step[], now: readonly Step[]): string | undefined {
  countWork(old.length + now.length);
  const all = { old: new Set(old.map(({ label }) => label)), now: new Set(now.map(({ label }) => label)) };
  const was = old.filter(({ label, isCertain }) => isCertain || all.now.has(label));
  const is = now.filter(({ label, isCertain }) => isCertain || all.old.has(label));
  const lost = missing(was, is);
  if (lost !== undefined) return `lose a step (${lost})`;
  const added = missing(is, was);
  if (added !== undefined) return `go through a step more (${added})`;
  return haveSameOrder(was, is) ? undefined : 'go through its steps in another order';
}

function missing(wanted: readonly Step[], available: readonly Step[]): string | undefined {
  const left = available.map(({ label }) => label);
  for (const { label } of wanted) {
    const at = left.indexOf(label);
    if (at < 0) return label.length > 80 ? `${label.slice(0, 80)}…` : label;
    left.splice(at, 1);
  }
  return undefined;
}

/** Whether steps have the same order in both; those of different columns may change their order. */
function haveSameOrder(was: readonly Step[], is: readonly Step[]): boolean {
  countWork(was.length * was.length);
  const taken = new Set<number>();
  const positions = was.map(({ label }) => {
    const position = is.findIndex((step, at) => step.label === label && !taken.has(at));
    taken.add(position);
    return position;
  });
  return was.every((step, at) =>
    was.every(
      (later, index) => index <= at || (positions[at] ?? 0) < (positions[index] ?? 0) || !meet(step, later),
    ),
  );
}

/** Whether two steps may change the same values. */
function meet(one: Step, other: Step): boolean {
  if (one.columns === undefined || other.columns === undefined) return true;
  return [...one.columns].some((column) => other.columns?.has(column));
}
