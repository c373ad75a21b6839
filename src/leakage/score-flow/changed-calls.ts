import { FIT_METHODS, STATISTIC_METHODS } from '../library-models/methods.js';
import type { Call, Expr, Module, Span, Stmt } from '../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, rootName, statementsIn } from '../syntax/walk.js';
import { countText } from '../values/work.js';
import type { LeakSites } from './changed-statements.js';
import type { Difference } from './compare-tables.js';

/**
 * What a correction changes in calls, where the way to the score does not show it: a fit that is gone of an object that is
 * still used, an argument that is gone, and what is learned from the scored part. None of it is certain to be wrong.
 */
export function changedCalls(was: Module, is: Module, sites: LeakSites): Difference[] {
  const [before, after] = [linesOf(was), linesOf(is)];
  const removed = without(before, after);
  const added = without(after, before);
  const found = [
    ...lostFits(before, after),
    ...removed
      .filter(({ statement }) => !holds(statement, sites))
      .flatMap((line) => lostArgument(line, added) ?? []),
    ...learnedOfScored(was, is, added, sites),
  ];
  return [...new Set(found)].map((what) => ({ what, isCertain: false }));
}

interface Line {
  readonly statement: Stmt;
  readonly text: string;
  readonly calls: readonly Call[];
}

function linesOf({ body, source }: Module): Line[] {
  return body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) => {
      const own = statement.type === 'import' ? [] : ownExpressions(statement);
      if (own.length === 0) return [];
      const text = own.map((part) => textOf(source, part)).join(';');
      const calls = own.flatMap((part) => [...expressionsIn(part)].filter((one) => one.type === 'call'));
      return [{ statement, text, calls }];
    });
}

function textOf(source: string, { start, end }: Span): string {
  countText(end - start);
  return source.slice(start, end).replaceAll(/\s+/g, '').replaceAll("'", '"');
}

function without(lines: readonly Line[], others: readonly Line[]): Line[] {
  const left = new Map<string, number>();
  for (const { text } of others) left.set(text, (left.get(text) ?? 0) + 1);
  return lines.filter(({ text }) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}

function holds({ start, end }: Span, { computations }: LeakSites): boolean {
  return computations.some((span) => span.start >= start && span.end <= end);
}

/** `model.fit(X, y)` left out, of a model that still predicts. */
function lostFits(before: readonly Line[], after: readonly Line[]): string[] {
  const [was, is] = [fitsByName(before), fitsByName(after)];
  // One that a pipeline or a cross-validation takes is fitted there.
  const applied = namesOfCalls(after, APPLIES);
  return [...was].flatMap(([name, count]) =>
    (is.get(name) ?? 0) < count && applied.has(name) ? [`\`${name}\` is fitted less often`] : [],
  );
}

const APPLIES = /^(predict\w*|transform|decision_function|score|evaluate|kneighbors)$/;
const FITS = new RegExp(`^(${[...FIT_METHODS.keys()].join('|')})$`);

function fitsByName(lines: readonly Line[]): ReadonlyMap<string, number> {
  return namesOfCalls(lines, FITS);
}

/** How often methods of a variable are called, by its name. */
function namesOfCalls(lines: readonly Line[], methods: RegExp): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { calls } of lines)
    for (const { callee } of calls)
      if (callee.type === 'attribute' && methods.test(callee.name) && callee.object.type === 'name')
        counts.set(callee.object.id, (counts.get(callee.object.id) ?? 0) + 1);
  return counts;
}

/** The same calls in a new statement, without a keyword argument of one. */
function lostArgument({ calls, text }: Line, added: readonly Line[]): string | undefined {
  const keywords = (all: readonly Call[]): string[] =>
    all.flatMap((call) =>
      call.args.flatMap(({ name }) => (name === undefined ? [] : [`${calleeName(call)}.${name}`])),
    );
  const names = (all: readonly Call[]): string => all.map(calleeName).sort().join();
  const alike = added.find((other) => calls.length > 0 && names(other.calls) === names(calls));
  if (alike === undefined) return undefined;
  const now = new Set(keywords(alike.calls));
  const lost = keywords(calls).find((one) => !now.has(one));
  return lost === undefined
    ? undefined
    : `\`${lost.split('.').at(-1)}=\` is gone from \`${text.slice(0, 60)}\``;
}

/** What a new statement learns from the scored part: by a fit, a statistic, or a function of the script that learns. */
function learnedOfScored(was: Module, is: Module, added: readonly Line[], sites: LeakSites): string[] {
  const scored = scoredParts(is);
  const learning = new Set(functionsThatLearn(was, sites));
  return added.flatMap(({ statement, calls }) => {
    if (statement.type === 'expression' && !calls.some((call) => FIT_METHODS.has(calleeName(call))))
      return [];
    return calls.flatMap((call) => {
      const table = learnedFrom(call, learning);
      return table !== undefined && scored.has(table)
        ? [`\`${textOf(is.source, call).slice(0, 60)}\` learns from the scored part`]
        : [];
    });
  });
}

function functionsThatLearn({ body }: Module, sites: LeakSites): string[] {
  return body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .flatMap((statement) =>
      statement.type === 'function' && holds(statement, sites) ? [statement.name] : [],
    );
}

/** The variable whose rows are learned from. */
function learnedFrom({ callee, args: [first] }: Call, learning: ReadonlySet<string>): string | undefined {
  const rows = first === undefined ? undefined : rootName(first.value);
  if (callee.type === 'name') return learning.has(callee.id) ? rows : undefined;
  if (callee.type !== 'attribute') return undefined;
  if (FIT_METHODS.has(callee.name)) return rows;
  if (callee.object.type === 'name' && /^(np|numpy)$/.test(callee.object.id))
    return /^(nan)?(mean|median|std|var|min|max|percentile|quantile)$/.test(callee.name) ? rows : undefined;
  const isForRows = first?.name === 'axis' && first.value.type === 'constant' && first.value.value === 1;
  return STATISTIC_METHODS.has(callee.name) && !isForRows ? rootName(callee.object) : undefined;
}

/** The second part of each table that is divided, and what the second positions of a fold pick. */
function scoredParts({ body }: Module): ReadonlySet<string> {
  const scored = new Set<string>();
  for (const statement of body.statements.flatMap((outer) => [...statementsIn(outer)])) {
    const value = statement.type === 'assign' ? statement.value : undefined;
    const [target] = statement.type === 'assign' ? statement.targets : [];
    if (value?.type === 'call' && calleeName(value) === 'train_test_split' && target?.type === 'sequence')
      for (const part of target.items.filter((_, at) => at % 2 === 1))
        if (part.type === 'name') scored.add(part.id);
    if (statement.type === 'for') {
      const [, positions] = pairIn(statement.target) ?? [];
      const isOfFolds = [...expressionsIn(statement.iterable)].some(
        (part) => part.type === 'call' && calleeName(part) === 'split',
      );
      if (isOfFolds && positions?.type === 'name') addPicked(statement.body.statements, positions.id, scored);
    }
  }
  return scored;
}

function pairIn(target: Expr): readonly Expr[] | undefined {
  if (target.type !== 'sequence') return undefined;
  const nested = target.items.find((item) => item.type === 'sequence');
  return nested?.type === 'sequence' ? nested.items : target.items;
}

/** `part = frame.iloc[positions]`, alone or beside others. */
function addPicked(statements: readonly Stmt[], positions: string, scored: Set<string>): void {
  for (const statement of statements) {
    if (statement.type !== 'assign') continue;
    const [target] = statement.targets;
    const targets = target?.type === 'sequence' ? target.items : [target];
    const values =
      target?.type === 'sequence' && statement.value.type === 'sequence'
        ? statement.value.items
        : [statement.value];
    values.forEach((value, at) => {
      const name = targets[at];
      const isPicked = [...expressionsIn(value)].some(
        (part) => part.type === 'name' && part.id === positions,
      );
      if (name?.type === 'name' && isPicked && targets.length === values.length) scored.add(name.id);
    });
  }
}
