import type { Call, Expr, Lambda, Module, Name, Span, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { edited, type TextEdit } from '../context.js';
import { COUNTS, isCount, missingWithoutKey, missingWithoutKeys } from '../group-fallback.js';
import { nameOf, transformOfGroups } from '../move/group-transform.js';

/** `frame.groupby(keys)[column].transform(how)`: values per group, put on every row of the group. */
export interface GroupwiseValues {
  readonly node: Call;
  readonly frame: string;
  readonly keys: readonly string[];
  readonly column: Expr;
  /** Text of the arguments of `groupby`. */
  readonly grouping: string;
  /** Statistics by name, where each is written in `how`; the whole `how` is one name otherwise. */
  readonly how: { readonly name: string } | { readonly lambda: Lambda; readonly uses: readonly Call[] };
}

const STATISTICS = /^(mean|median|std|var|min|max|sum|count|nunique|first|last|skew|quantile)$/;

export function readGroupwise(module: Module, statement: Stmt, node: Call): GroupwiseValues | undefined {
  const { source } = module;
  const transform = transformOfGroups(node);
  if (transform === undefined) return undefined;
  const { frame, grouped, columns } = transform;
  const { args } = node;
  const [column] = columns;
  if (frame.type !== 'name' || columns.length !== 1) return undefined;
  if (column?.type !== 'constant' && !(column?.type === 'name' && isOneColumn(source, column.id)))
    return undefined;
  const by = grouped.args.find(({ name }, at) => name === 'by' || (name === undefined && at === 0))?.value;
  const keys = by === undefined ? undefined : keysOf(module, statement, by);
  const known = grouped.args.every(
    ({ name, star }) => star === '' && (name === undefined || /^(by|observed|sort)$/.test(name)),
  );
  if (keys === undefined || !known || args.length !== 1) return undefined;
  const how = readHow(args[0]?.value);
  if (how === undefined) return undefined;
  const [first, last] = [grouped.args[0], grouped.args.at(-1)];
  const grouping =
    first === undefined || last === undefined ? '' : source.slice(grouped.callee.end + 1, grouped.end - 1);
  return { node, frame: frame.id, keys, column, grouping, how };
}

/** Whether a variable holds one name: a list of them would make a table of the statistic, which `map` cannot look up. */
function isOneColumn(source: string, variable: string): boolean {
  const values = [...source.matchAll(new RegExp(`(?<![\\w.])${variable}[ \\t]*=(?!=)[ \\t]*(\\S)`, 'g'))];
  return values.every(([, first]) => first === '"' || first === "'");
}

/** Texts of the keys: constants, or variables that hold one. */
function keysOf(module: Module, statement: Stmt, by: Expr): readonly string[] | undefined {
  const { source } = module;
  const items = by.type === 'sequence' ? by.items : [by];
  const plain = items.every(
    (item) =>
      (item.type === 'constant' && typeof item.value === 'string') ||
      (item.type === 'name' && (by !== item || nameOf(module, statement, item) !== undefined)),
  );
  return plain && items.length > 0 ? items.map((item) => source.slice(item.start, item.end)) : undefined;
}

function readHow(how: Expr | undefined): GroupwiseValues['how'] | undefined {
  if (how?.type === 'constant')
    return typeof how.value === 'string' && STATISTICS.test(how.value) ? { name: how.value } : undefined;
  if (how?.type === 'attribute' && how.object.type === 'name' && /^(np|numpy)$/.test(how.object.id))
    return /^(mean|median|std|min|max|sum)$/.test(how.name) ? { name: how.name } : undefined;
  if (how?.type !== 'lambda') return undefined;
  const [parameter, ...others] = how.params;
  if (parameter === undefined || others.length > 0 || parameter.star !== '') return undefined;
  const uses: Call[] = [];
  const covered = new Set<Expr>();
  for (const part of expressionsIn(how.body)) {
    if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
    const { object, name } = part.callee;
    if (object.type !== 'name' || object.id !== parameter.name || !STATISTICS.test(name)) continue;
    // Of a group without training rows there is nothing to count, and what follows from 0 is not known.
    if (COUNTS.test(name)) return undefined;
    if (part.args.some(({ value }) => value.type !== 'constant')) return undefined;
    uses.push(part);
    covered.add(object);
  }
  // What else is done with the rows of the group has to be done row by row.
  for (const part of expressionsIn(how.body)) {
    if (part.type === 'lambda' || part.type === 'comprehension' || part.type === 'subscript')
      return undefined;
    if (part.type === 'call' && !uses.includes(part) && !isRowwise(part)) return undefined;
    if (part.type === 'conditional') return undefined;
  }
  return uses.length === 0 ? undefined : { lambda: how, uses };
}

function isRowwise({ callee }: Call): boolean {
  if (callee.type !== 'attribute') return false;
  return /^(fillna|clip|abs|log|log1p|exp|expm1|sqrt|round|astype)$/.test(callee.name);
}

/** Whether the next line fills the gaps of the column that a line makes: `frame["age"] = frame["age"].fillna(28)`. */
function isFilledNext(source: string, node: Span): boolean {
  const lineStart = source.lastIndexOf('\n', node.start) + 1;
  const [, target] = /^\s*(\w+\[[^\]\n]+\]) =/.exec(source.slice(lineStart, node.start)) ?? [];
  const lineEnd = source.indexOf('\n', node.end);
  if (target === undefined || lineEnd < 0) return false;
  const [next = ''] = source
    .slice(lineEnd + 1, lineEnd + 1_000)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  return next.startsWith(`${target} = ${target}.fillna(`);
}

/** Lines that compute the statistics on some rows, and the expression that puts them on all rows. */
export function sayGroupwise(
  source: string,
  values: GroupwiseValues,
  ofFrame: string,
  fresh: (wanted: string) => string,
  /** Another table that the statistics are learned from. */
  learned?: string,
): { readonly lines: readonly string[]; readonly text: string } {
  const { frame, keys, column, grouping, how } = values;
  const columnText = source.slice(column.start, column.end);
  const taken = learned ?? `${frame}${ofFrame}`;
  const lines: string[] = [];
  const names = new Map<string, string>();
  const lookUp = (call: string): string => {
    let name = names.get(call);
    if (name === undefined) {
      const label = column.type === 'constant' ? `${column.value}` : source.slice(column.start, column.end);
      name = fresh(`${label}_${call.replace(/\(.*/s, '')}`);
      names.set(call, name);
      lines.push(`${name} = ${taken}.groupby(${grouping})[${columnText}].${call}`);
    }
    // Groups that these rows do not have get the statistic of all of them; there are none to count.
    const overall = COUNTS.test(call.replace(/\(.*/s, ''))
      ? '0'
      : `${learned ?? frame}[${columnText}]${ofFrame}.${call}`;
    return `${looked(source, frame, keys, name)}.fillna(${overall})`;
  };
  // The script says what a group without a value gets.
  const isFilled = /^\s*\.\s*fillna\(/.test(source.slice(values.node.end, values.node.end + 40));
  if ('name' in how && (isFilled || isFilledNext(source, values.node))) {
    lookUp(`${how.name}()`);
    return { lines, text: looked(source, frame, keys, names.get(`${how.name}()`) ?? '') };
  }
  const missing = missingWithoutKeys(source, frame, keys);
  if ('name' in how) return { lines, text: `${lookUp(`${how.name}()`)}${missing}` };
  const edits: TextEdit[] = how.uses.map((use) => ({
    start: use.start,
    end: use.end,
    text: lookUp(
      source.slice(
        use.callee.type === 'attribute' ? use.callee.end - use.callee.name.length : use.start,
        use.end,
      ),
    ),
  }));
  const [parameter] = how.lambda.params;
  for (const name of namesInExpression(how.lambda.body)) {
    const inside = how.uses.some((use) => name.start >= use.start && name.end <= use.end);
    if (name.id === parameter?.name && !inside)
      edits.push({ start: name.start, end: name.end, text: `${frame}[${columnText}]` });
  }
  const body = edited(source, how.lambda.body, edits);
  return { lines, text: `${how.lambda.body.type === 'call' ? body : `(${body})`}${missing}` };
}

function looked(source: string, frame: string, keys: readonly string[], name: string): string {
  const [key] = keys;
  if (keys.length > 1) {
    const list = `[${keys.join(', ')}]`;
    return `${frame}[${list}].join(${name}.rename("${name}"), on=${list})["${name}"]`;
  }
  // A categorical key would make the result categorical.
  const asNumbers = /categor/.test(source) ? '.astype(float)' : '';
  return `${frame}[${key}].map(${name})${asNumbers}`;
}

/** `for key, part in frame.groupby("key")`: a loop that takes one group of rows after another. */
export interface GroupLoop {
  readonly frame: Name;
  /** Every location in the loop where the group is read. */
  readonly uses: readonly Name[];
}

/** The loop over groups whose group a computation is about. */
export function groupLoopAround(statement: Stmt, node: Expr): GroupLoop | undefined {
  const group = rootName(node);
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    if (owner.type !== 'for' || owner.target.type !== 'sequence' || owner.iterable.type !== 'call') continue;
    const part = owner.target.items.at(-1);
    const { iterable } = owner;
    if (part?.type !== 'name' || part.id !== group || calleeName(iterable) !== 'groupby') continue;
    const frame = iterable.callee.type === 'attribute' ? iterable.callee.object : undefined;
    const isByColumns = iterable.args.every(
      ({ value, star }) => star === '' && [...namesInExpression(value)].length === 0,
    );
    if (frame?.type !== 'name' || !isByColumns) return undefined;
    const uses = owner.body.statements.flatMap((inner) => [...namesIn(inner)]);
    return { frame, uses: uses.filter(({ id }) => id === group) };
  }
  return undefined;
}

/**
 * Whether a computation takes the rows of one group alone, where a loop or a comprehension takes one group after another:
 * `for city in frame["city"].unique(): … frame.loc[frame["city"] == city, "fare"].median()`. Groups that are listed are
 * known, so they are left out, and so are numbers of folds.
 */
export function isOfOneGroup(statement: Stmt, node: Expr): boolean {
  const turns: { target: Expr; iterable: Expr; body: readonly Stmt[] }[] = [];
  for (let owner = statement.suite.owner; owner !== undefined; owner = owner.suite.owner) {
    if (owner.type === 'for')
      turns.push({ target: owner.target, iterable: owner.iterable, body: owner.body.statements });
  }
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.type !== 'comprehension' || part.start > node.start || part.end < node.end) continue;
      turns.push(...part.clauses.map((clause) => ({ ...clause, body: [] })));
    }
  }
  return turns.some(({ target, iterable, body }) => {
    if (target.type !== 'name' || iterable.type === 'sequence') return false;
    if (iterable.type === 'call' && calleeName(iterable) === 'range') return false;
    const masks = new Set<string>();
    for (const inner of body.flatMap((outer) => [...statementsIn(outer)])) {
      const [name] = inner.type === 'assign' ? inner.targets : [];
      if (inner.type === 'assign' && name?.type === 'name' && comparesWith(inner.value, target.id))
        masks.add(name.id);
    }
    const usesMask = [...namesInExpression(node)].some(({ id }) => masks.has(id));
    return usesMask || comparesWith(node, target.id);
  });
}

/** `frame["city"] == city`, `groups.get_group(city)` */
function comparesWith(expression: Expr, name: string): boolean {
  const isName = (part: Expr | undefined): boolean => part?.type === 'name' && part.id === name;
  return [...expressionsIn(expression)].some(
    (part) =>
      (part.type === 'compare' && part.operands.some(isName)) ||
      (part.type === 'call' && /^(get_group|eq|isin)$/.test(calleeName(part)) && isName(part.args[0]?.value)),
  );
}

function calleeObject({ callee }: Call): Expr {
  return callee.type === 'attribute' ? callee.object : callee;
}

/** `len(part)`, `part["a"].nunique()`; of a comprehension, the values. */
function isNumberOfRows({ source }: Module, value: Expr): boolean {
  const text = source
    .slice(value.start, value.end)
    .replace(/^\{[^:\n]*:/, '')
    .replace(/\bfor\b.*$/s, '');
  return /^\s*len\([^()]*\)\s*$/.test(text) || isCount(text);
}

/**
 * What is looked up in a dictionary that a loop over groups fills: a group that the loop did not see gets the mean of
 * those it saw; bounds of `clip` may be missing. Nothing where a lookup would fail.
 */
export function lookupsWithFallback(module: Module, block: Span, statement: Stmt): TextEdit[] | undefined {
  if (statement.type !== 'assign') return undefined;
  const [target] = statement.targets;
  const isWhole = target?.type === 'name' && statement.value.type === 'comprehension';
  const filled = isWhole || target?.type === 'subscript' ? rootName(target) : undefined;
  if (filled === undefined) return undefined;
  const pandas = /^import pandas as (\w+)/m.exec(module.source)?.[1];
  const edits: TextEdit[] = [];
  for (const outer of module.body.statements) {
    for (const inner of statementsIn(outer)) {
      if (inner.start < statement.start || inner === statement) continue;
      const parts = ownExpressions(inner).flatMap((own) => [...expressionsIn(own)]);
      const uses = parts.filter((part) => part.type === 'name' && part.id === filled);
      for (const use of uses) {
        const lookup = parts.find(
          (part) => part.type === 'call' && calleeName(part) === 'map' && part.args[0]?.value === use,
        );
        if (lookup === undefined) return undefined;
        const isBound = parts.some(
          (part) =>
            part.type === 'call' &&
            calleeName(part) === 'clip' &&
            part.args.some(({ value }) => value.start <= lookup.start && lookup.end <= value.end),
        );
        if (isBound) continue;
        if (pandas === undefined || lookup.start < block.start || lookup.end > block.end) return undefined;
        const { start, end } = lookup.type === 'call' ? calleeObject(lookup) : lookup;
        const missing = missingWithoutKey(module.source, module.source.slice(start, end));
        const fallback = isNumberOfRows(module, statement.value) ? '0' : `${pandas}.Series(${filled}).mean()`;
        edits.push({ start: lookup.end, end: lookup.end, text: `.fillna(${fallback})${missing}` });
      }
    }
  }
  return edits;
}
