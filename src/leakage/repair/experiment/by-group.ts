import type { Leak } from '../../findings/find-leaks.js';
import type { Argument, Call, Expr, Module, Stmt } from '../../syntax/ast.js';
import { calleeName, expressionsIn, ownExpressions, rootName, statementsIn } from '../../syntax/walk.js';
import { sameRows } from '../../values/region.js';
import { countText } from '../../values/work.js';
import { freshName, type RepairContext, type TextEdit } from '../context.js';
import { tableKind } from '../rows-first/table-kind.js';
import { readSplitCall } from '../split-parts.js';
import { isConstant, keyword } from './arguments.js';
import type { Mending } from './mend-experiment.js';

const NOT_KNOWN = 'how to divide the groups is a decision about the experiment';
const SPLIT_OPTIONS = /^(test_size|random_state|stratify|shuffle)$/;
const FOLD_OPTIONS = /^(n_splits|shuffle|random_state)$/;

/**
 * Rows that are dealt out one by one, although several are of one patient or speaker, are dealt out group by group: by
 * `GroupShuffleSplit`, or by the folds of `scikit-learn` for groups, with the same options.
 */
export function divideByGroup(context: RepairContext, leak: Leak): Mending {
  const [, name] = /^the groups `(.+)`$/.exec(leak.subject) ?? [];
  if (name === undefined) return { declined: NOT_KNOWN };
  const { statement } = leak;
  const split = readSplitCall(statement);
  if (split !== undefined && statement.type === 'assign' && statement.value.type === 'call')
    return splitByGroup(context, statement, statement.value, name);
  return foldsByGroup(context, name);
}

/** `a, b = train_test_split(frame, …)`: the positions of the rows of each part, and then the parts. */
function splitByGroup(context: RepairContext, statement: Stmt, call: Call, name: string): Mending {
  const { source, module, lineEnding } = context;
  const tables = call.args.filter((argument) => argument.name === undefined);
  const [first] = tables;
  const options = call.args.filter((argument) => argument.name !== undefined);
  if (first === undefined || options.some((one) => !SPLIT_OPTIONS.test(one.name ?? '')))
    return { declined: NOT_KNOWN };
  if (keyword(call, 'shuffle') !== undefined && !isConstant(keyword(call, 'shuffle'), true))
    return { declined: NOT_KNOWN };
  const groups = groupsOf(context, first.value, name);
  if (groups === undefined) return { declined: `${NOT_KNOWN}: \`${name}\` of each row is not known` };
  const taken = new Set<string>();
  const [splitter, train, test] = ['splitter', 'train_rows', 'test_rows'].map((wanted) => {
    const fresh = freshName(source, wanted, taken);
    taken.add(fresh);
    return fresh;
  });
  const made = splitterFor(source, call);
  if (typeof made === 'object') return made;
  const targets = statement.type === 'assign' ? statement.targets[0] : undefined;
  if (targets?.type !== 'sequence' || train === undefined || test === undefined)
    return { declined: NOT_KNOWN };
  const indent = indentBefore(source, statement);
  if (indent === undefined) return { declined: `${NOT_KNOWN}: the split is not alone on its line` };
  const textOf = (part: Expr | undefined): string =>
    part === undefined ? '' : source.slice(part.start, part.end);
  const lines: string[] = [];
  for (const [at, { value }] of tables.entries()) {
    const how = rowsOf(module, value, statement);
    if (how === undefined)
      return { declined: `whether \`${textOf(value)}\` is a frame or an array is not known` };
    const [left, right] = [targets.items[2 * at], targets.items[2 * at + 1]];
    const pick = (rows: string): string => `${textOf(value)}${how}[${rows}]`;
    lines.push(`${textOf(left)}, ${textOf(right)} = ${pick(train)}, ${pick(test)}`);
  }
  const [splitterClass = ''] = made.split('(');
  const strata = keyword(call, 'stratify')?.value;
  const y = strata === undefined ? '' : `, ${textOf(strata)}`;
  const text = [
    `from sklearn.model_selection import ${splitterClass}`,
    `${splitter} = ${made}`,
    `${train}, ${test} = next(${splitter}.split(${textOf(first.value)}${y}, groups=${groups}))`,
    ...lines,
  ].join(`${lineEnding}${indent}`);
  return { edits: [{ start: statement.start, end: statement.end, text }] };
}

/** The call that makes the splitter; with strata, one of as many folds as parts of that size fit in. */
function splitterFor(source: string, call: Call): string | { readonly declined: string } {
  const size = keyword(call, 'test_size');
  const fraction = size === undefined ? 0.25 : size.value.type === 'constant' ? size.value.value : undefined;
  if (typeof fraction !== 'number' || fraction <= 0 || fraction >= 1)
    return { declined: `${NOT_KNOWN}: which fraction of the groups is to be scored is not known` };
  const seed = keyword(call, 'random_state');
  const seeded = seed === undefined ? '' : `, random_state=${source.slice(seed.value.start, seed.value.end)}`;
  if (keyword(call, 'stratify') === undefined || isConstant(keyword(call, 'stratify'), null))
    return `GroupShuffleSplit(n_splits=1, test_size=${fraction}${seeded})`;
  const folds = Math.round(1 / fraction);
  if (Math.abs(1 / fraction - folds) > 1e-6 || folds < 2)
    return { declined: `${NOT_KNOWN}: the split is stratified` };
  return `StratifiedGroupKFold(n_splits=${folds}, shuffle=True${seeded})`;
}

/** `.iloc` of a frame, nothing of an array; undefined where it is not known which it is. */
function rowsOf(module: Module, value: Expr, before: Stmt): string | undefined {
  if (value.type === 'attribute' && value.name === 'values') return '';
  if (value.type === 'call' && value.callee.type === 'attribute' && value.callee.name === 'to_numpy')
    return '';
  const isColumns =
    value.type === 'subscript' &&
    value.indices.length === 1 &&
    /^(name|constant|sequence)$/.test(value.indices[0]?.type ?? '');
  const named = isColumns ? value.object : value;
  if (named.type !== 'name') return undefined;
  const kind = tableKind(module, named.id, before);
  if (isColumns && kind !== 'frame') return undefined;
  return kind === 'frame' ? '.iloc' : kind === 'array' ? '' : undefined;
}

/** `KFold(…)` and `StratifiedKFold(…)`: the same for groups, which each division by them gets. */
function foldsByGroup(context: RepairContext, name: string): Mending {
  const { source, module, lineEnding } = context;
  const all = module.body.statements.flatMap((outer) => [...statementsIn(outer)]);
  const made = all.flatMap((one) =>
    callsIn(one)
      .filter((call) => /^(KFold|StratifiedKFold)$/.test(calleeName(call)))
      .map((call) => ({ call, statement: one })),
  );
  const [only, ...others] = made;
  if (only === undefined || others.length > 0) return { declined: NOT_KNOWN };
  const { call } = only;
  if (call.args.some((one, at) => !FOLD_OPTIONS.test(one.name ?? (at === 0 ? 'n_splits' : ''))))
    return { declined: NOT_KNOWN };
  const variable =
    only.statement.type === 'assign' && only.statement.value === call ? only.statement.targets[0] : undefined;
  const isSplitter = (part: Expr): boolean =>
    part === call || (variable?.type === 'name' && part.type === 'name' && part.id === variable.id);
  const edits: TextEdit[] = [];
  let uses = 0;
  let withGroups = 0;
  for (const one of all) {
    const parts = ownExpressions(one).flatMap((own) => [...expressionsIn(own)]);
    uses += parts.filter((part) => isSplitter(part) && part !== variable).length;
    for (const division of callsIn(one)) {
      const rows = dividedRows(division, isSplitter);
      if (rows === undefined) continue;
      uses -= 1;
      // A splitter that takes no account of the groups may get them all the same.
      if (keyword(division, 'groups') !== undefined) {
        withGroups += 1;
        continue;
      }
      const groups = groupsOf(context, rows, name);
      const last = division.args.at(-1)?.value.end;
      if (groups === undefined || last === undefined)
        return { declined: `${NOT_KNOWN}: \`${name}\` of each row is not known` };
      edits.push({ start: last, end: last, text: `, groups=${groups}` });
    }
  }
  // The call that makes a variable is a use of its own.
  if (uses !== (variable === undefined ? 0 : 1) || edits.length + withGroups === 0)
    return { declined: NOT_KNOWN };
  const isStratified = calleeName(call) === 'StratifiedKFold';
  const splitter = isStratified ? 'StratifiedGroupKFold' : 'GroupKFold';
  const indent = indentBefore(source, only.statement);
  if (indent === undefined) return { declined: NOT_KNOWN };
  const number = keyword(call, 'n_splits') ?? call.args.find((one) => one.name === undefined);
  const count = number === undefined ? '' : `n_splits=${source.slice(number.value.start, number.value.end)}`;
  const options = source.slice(call.callee.end, call.end);
  edits.push(
    {
      start: only.statement.start,
      end: only.statement.start,
      text: `from sklearn.model_selection import ${splitter}${lineEnding}${indent}`,
    },
    { start: call.start, end: call.end, text: `${splitter}${isStratified ? options : `(${count})`}` },
  );
  return { edits };
}

/** The table that a call divides by the splitter. */
function dividedRows(call: Call, isSplitter: (part: Expr) => boolean): Expr | undefined {
  const { callee, args } = call;
  if (callee.type === 'attribute' && callee.name === 'split' && isSplitter(callee.object))
    return args[0]?.value;
  const cv = keyword(call, 'cv');
  if (cv === undefined || !isSplitter(cv.value) || !/^cross_val/.test(calleeName(call))) return undefined;
  const positional = args.filter((one: Argument) => one.name === undefined);
  return positional[1]?.value;
}

/** Code for the group of each row of a table: a column of a table with the same rows, or a variable. */
function groupsOf(context: RepairContext, table: Expr, name: string): string | undefined {
  const { source, watched, watchedFrames } = context;
  const root = rootName(table);
  const rows = root === undefined ? undefined : watched.get(root);
  if (root === undefined || rows === undefined) return undefined;
  countText(source.length);
  const others = [...watchedFrames].filter((frame) => {
    const own = watched.get(frame);
    return frame !== root && own !== undefined && sameRows(own, rows);
  });
  for (const frame of [root, ...others]) {
    if (!watchedFrames.has(frame)) continue;
    const [, quote] =
      new RegExp(`\\b${frame}(?:\\.groupby\\(\\[?|\\[)(["'])${escaped(name)}\\1`).exec(source) ?? [];
    if (quote !== undefined && !isDropped(context.module, frame, name))
      return `${frame}[${quote}${name}${quote}]`;
  }
  const own = watched.get(name);
  return own !== undefined && sameRows(own, rows) ? name : undefined;
}

/** Whether a column is taken out of its own table. */
function isDropped({ body }: Module, frame: string, name: string): boolean {
  return body.statements
    .flatMap((outer) => [...statementsIn(outer)])
    .some((statement) => {
      const isStored =
        statement.type === 'assign' &&
        statement.targets.some((target) => target.type === 'name' && target.id === frame);
      return callsIn(statement).some(
        (call) =>
          call.callee.type === 'attribute' &&
          rootName(call.callee.object) === frame &&
          (call.callee.name === 'pop' ||
            (call.callee.name === 'drop' && (isStored || keyword(call, 'inplace') !== undefined))) &&
          call.args.some(({ value }) =>
            [...expressionsIn(value)].some((part) => part.type === 'constant' && part.value === name),
          ),
      );
    });
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function callsIn(statement: Stmt): Call[] {
  return ownExpressions(statement)
    .flatMap((own) => [...expressionsIn(own)])
    .filter((part): part is Call => part.type === 'call');
}

function indentBefore(source: string, { start }: Stmt): string | undefined {
  const indent = source.slice(source.lastIndexOf('\n', start - 1) + 1, start);
  return /\S/.test(indent) ? undefined : indent;
}
