import type { Module, Stmt } from '../../syntax/ast.js';
import { ownExpressions } from '../../syntax/walk.js';
import { columnOfLaterValue } from '../experiment/leave-out-column.js';
import { readSplitCall } from '../split-parts.js';
import { type ScriptChange, statementsInBlock, textOf, type Version } from './script-change.js';

/** Kinds whose correction is a change of the experiment itself: how rows are divided, or which values features are made of. */
export const OF_EXPERIMENT: ReadonlySet<string> = new Set([
  'group-overlap',
  'shuffled-time',
  'label-in-features',
  'future-values',
]);

/** What such a correction may change in a statement, each with the text that represents it in both versions. */
const MAY_DIFFER: readonly (readonly [RegExp, string])[] = [
  [/,(?:shuffle|center)=(?:True|False)/g, ''],
  [/,random_state=\w+/g, ''],
  [/,groups=[\w."'[\] -]+/g, ''],
  [/(?:TimeSeriesSplit|Stratified(?:Group)?KFold|(?:Group)?KFold)\((?:n_splits=)?/g, 'folds('],
  [/\.shift\(1\)\.rolling\(/g, '.rolling('],
  [/(?:\.(?:bfill|ffill|backfill|interpolate)\([^()]*\)|\.fillna\(method=["']\w+["']\))+/g, '.filled()'],
];

/** `frame = frame.sort_values("date", kind="stable")`: rows of several series are put in the order of their dates. */
const SORTED =
  /^assign (\w+) \1\.sort_values\((["'])[^"'()]+\2,kind=\2stable\2\)(\.reset_index\(drop=True\))?$/;

/** Whether a correction of the experiment changes more than the division of the rows, windows and fills. */
export function otherExperiment({ before, after, leaks }: ScriptChange): string | undefined {
  if (!leaks.every(({ kind }) => OF_EXPERIMENT.has(kind))) return undefined;
  const columns = leaks.flatMap((leak) => {
    const column = /^column `(.+)`$/.exec(leak.subject)?.[1] ?? columnOfLaterValue(leak);
    return column === undefined ? [] : [column];
  });
  const [was, is] = [before, after].map((version) =>
    linesOf(version).map((line) => columns.reduce(withoutColumn, line)),
  ) as [string[], string[]];
  for (const line of is.filter((one) => SORTED.test(one) && !was.includes(one)))
    is.splice(is.indexOf(line), 1);
  const lost = was.find((line) => !is.includes(line));
  if (lost !== undefined) return `\`${lost}\` would not be as it was`;
  return was.join('\n') === is.join('\n')
    ? undefined
    : 'the rewrite has other lines, or has them in another order';
}

/** A line without the name of a column in its lists, which a feature that says what the label is leaves or gets into. */
function withoutColumn(line: string, column: string): string {
  const name = `["']${column.replaceAll(/[^\w]/g, '\\$&')}["']`;
  return line
    .replaceAll(new RegExp(`,${name}(?=[,\\])}])|(?<=\\[)${name},|and\\w{1,80}!=${name}`, 'g'), '')
    .replaceAll(/\[(["'][^"'\][]*["'])\]/g, '$1');
}

/** The statements of a block without what may differ; a split is written as its parts, however it is made. */
function linesOf(version: Version): string[] {
  const lines: string[] = [];
  const statements = [...statementsInBlock(version)].filter(({ type }) => type !== 'import');
  for (const [at, statement] of statements.entries()) {
    const parts = partsOf(version.module, statement) ?? partsByPositions(version.module, statements, at);
    if (parts !== undefined) {
      lines.push(...parts.lines);
      // The lines that pick the parts are read with the one that divides the positions.
      statements.splice(at + 1, parts.more);
    } else if (!isSplitter(version.module, statement, statements[at + 1])) {
      lines.push(`${statement.type} ${ownText(version.module, statement)}`);
    }
  }
  return lines;
}

interface Parts {
  readonly lines: readonly string[];
  /** How many statements after it belong to the split. */
  readonly more: number;
}

/** `a, b = train_test_split(frame)` */
function partsOf(module: Module, statement: Stmt): Parts | undefined {
  const split = readSplitCall(statement);
  if (split === undefined || statement.type !== 'assign' || statement.value.type !== 'call') return undefined;
  const size = /,test_size=([\d.]+)/.exec(plain(module, statement))?.[1];
  const parts = split.parts.map(({ source, train, test }) => `${train},${test}: ${textOf(module, source)}`);
  return { lines: [...parts, `fraction ${Number(size ?? 0.25)}`], more: 0 };
}

/** `train_rows, test_rows = next(splitter.split(…))`, and the lines that pick these rows. */
function partsByPositions(module: Module, statements: readonly Stmt[], at: number): Parts | undefined {
  const statement = statements[at];
  const maker = statements[at - 1];
  if (statement === undefined || maker === undefined) return undefined;
  const [, train, test, splitter] = /^(\w+),(\w+)=next\((\w+)\.split\(/.exec(plain(module, statement)) ?? [];
  if (train === undefined || test === undefined || splitter === undefined) return undefined;
  const fraction = fractionOf(plain(module, maker), splitter);
  if (fraction === undefined) return undefined;
  const lines: string[] = [];
  for (const pick of statements.slice(at + 1)) {
    const picked = pickedIn(module, pick);
    if (picked === undefined || picked.rows.join() !== `${train},${test}`) break;
    lines.push(picked.line);
  }
  return { lines: [...lines, `fraction ${fraction}`], more: lines.length };
}

/** `X_train, X_test = X.iloc[train_rows], X.iloc[test_rows]`: as it is written of a split, with the positions. */
function pickedIn(module: Module, statement: Stmt): { line: string; rows: string[] } | undefined {
  if (statement.type !== 'assign' || statement.value.type !== 'sequence') return undefined;
  const picks = statement.value.items.map((item) => {
    const [index] = item.type === 'subscript' ? item.indices : [];
    if (item.type !== 'subscript' || index === undefined || item.indices.length > 1) return undefined;
    const { object } = item;
    const table = object.type === 'attribute' && object.name === 'iloc' ? object.object : object;
    return { table: textOf(module, table), rows: textOf(module, index) };
  });
  const [one, other, ...more] = picks;
  const [target] = statement.targets;
  if (one === undefined || other === undefined || more.length > 0 || one.table !== other.table)
    return undefined;
  const names = target === undefined ? '' : textOf(module, target).replaceAll(/\s+/g, '');
  return { line: `${names}: ${one.table}`, rows: [one.rows, other.rows] };
}

/** Which fraction of the rows a splitter by groups scores. */
function fractionOf(made: string, splitter: string): number | undefined {
  const [one, folds] =
    /^\w+=(?:GroupShuffleSplit\(n_splits=1,test_size=([\d.]+)|StratifiedGroupKFold\(n_splits=(\d+),shuffle=True)/
      .exec(made)
      ?.slice(1) ?? [];
  if (!made.startsWith(`${splitter}=`)) return undefined;
  if (one !== undefined) return Number(one);
  return folds === undefined ? undefined : 1 / Number(folds);
}

/** `splitter = GroupShuffleSplit(…)` before the line that divides by it. */
function isSplitter(module: Module, statement: Stmt, next: Stmt | undefined): boolean {
  const [, name] = /^(\w+)=(?:GroupShuffleSplit|StratifiedGroupKFold)\(/.exec(plain(module, statement)) ?? [];
  return (
    name !== undefined &&
    next !== undefined &&
    new RegExp(`=next\\(${name}\\.split\\(`).test(plain(module, next))
  );
}

function ownText(module: Module, statement: Stmt): string {
  const text = ownExpressions(statement)
    .map((own) => textOf(module, own).replaceAll(/\s+/g, '').replaceAll(/,\)/g, ')'))
    .join(' ');
  return MAY_DIFFER.reduce((rest, [what, same]) => rest.replaceAll(what, same), text);
}

function plain(module: Module, statement: Stmt): string {
  return textOf(module, statement).replaceAll(/\s+/g, '');
}
