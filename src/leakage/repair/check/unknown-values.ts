import type { Call, Expr, Module, Span, Stmt } from '../../syntax/ast.js';
import {
  expressionsIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { COUNTS, hasMissingKeys, isCount, missingWithoutKey, STOPS_AT_GAPS } from '../group-fallback.js';
import {
  changesIn,
  loopsAround,
  newStatements,
  partPairs,
  type ScriptChange,
  statementsInBlock,
  textOf,
} from './script-change.js';

const COUNT_CALL = /\.(count|size|nunique|sum|value_counts)\(/;
const COUNT_NAMED = /["'](count|size|nunique|sum)["']/;
const NUMBERS = /\.(mean|median|std|var|sum|count|size|min|max|quantile|agg|aggregate)\(/;

/** A lookup of values by group, for rows of another part, that leaves rows of unknown groups without a value. */
export interface OpenLookup {
  readonly statement: Stmt;
  /** `part[key].map(means)`, or the whole `part.merge(means, …)`. */
  readonly lookup: Span;
  /** What to put after the lookup; nothing where it is not known. */
  readonly fallback: string | undefined;
}

/**
 * Lookups that a rewrite puts on a part with statistics by group that were taken over another part: a group that the
 * training part lacks has none. Only where a model of the script stops at missing values, or the statistic is a count.
 */
export function openLookups(change: ScriptChange): OpenLookup[] {
  const { module } = change.after;
  const stops = STOPS_AT_GAPS.test(module.source);
  const learned = learnedByGroup(change);
  const scored = new Set(partPairs(change).map(({ test }) => test));
  const found: OpenLookup[] = [];
  for (const statement of newStatements(change)) {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
        const isMap = part.callee.name === 'map';
        const [first, second] = part.args;
        const isFunction = rootName(part.callee) === 'pd' && part.callee.name === 'merge';
        const rows = isFunction ? first?.value : part.callee.object;
        const values = isFunction ? second?.value : first?.value;
        if (!isMap && part.callee.name !== 'merge') continue;
        if (rows === undefined || values === undefined || !scored.has(rootName(rows) ?? '')) continue;
        const maker = makerOf(learned, values);
        if (maker === undefined || isFilled(own, part, module)) continue;
        if (!stops && !maker.counts) continue;
        const fallback = isMap
          ? mappedFallback(module, rows, values, maker)
          : mergedFallback(module, part, values, maker);
        found.push({ statement, lookup: part, fallback });
      }
    }
  }
  return found;
}

export function leavesGroupsOut(change: ScriptChange): string | undefined {
  return openLookups(change).length === 0 && !fillsKnownGroupsAlone(change)
    ? undefined
    : 'rows of a group that the training part lacks would have no value, at which the model stops';
}

/** How the values of a lookup are made: `means`, `counts / len(part)`. */
function makerOf(learned: ReadonlyMap<string, LearnedByGroup>, values: Expr): LearnedByGroup | undefined {
  const maker = learned.get(rootName(values) ?? '');
  if (maker !== undefined || values.type !== 'binary') return maker;
  const makers = [...namesInExpression(values)].flatMap(({ id }) => learned.get(id) ?? []);
  const [first] = makers;
  const isProduct = values.operator === '/' || values.operator === '*';
  const counts = isProduct && values.left.type === 'name' && makers.length === 1 && first?.counts === true;
  return first === undefined ? undefined : { text: '', isDictionary: false, counts };
}

/** How a variable with a statistic for each group is made. */
interface LearnedByGroup {
  readonly text: string;
  readonly isDictionary: boolean;
  /** The statistic is 0 for a group without rows. */
  readonly counts: boolean;
}

/** Variables of the block that hold a statistic for each group. */
function learnedByGroup({ after }: ScriptChange): Map<string, LearnedByGroup> {
  const { module } = after;
  const learned = new Map<string, LearnedByGroup>();
  for (const statement of statementsInBlock(after)) {
    if (statement.type !== 'assign') continue;
    const [target] = statement.targets;
    const text = textOf(module, statement.value);
    if (target?.type === 'name' && /\.(groupby|value_counts)\(/.test(text))
      learned.set(target.id, {
        text,
        isDictionary: text.includes('.to_dict('),
        counts: /\.value_counts\(/.test(text) || isCount(text),
      });
    const derived = target?.type === 'name' ? makerOf(learned, statement.value) : undefined;
    if (target?.type === 'name' && derived !== undefined) learned.set(target.id, derived);
    const loop = loopOverGroups(module, statement);
    const filled = target?.type === 'subscript' ? rootName(target) : undefined;
    const [key] = target?.type === 'subscript' ? target.indices : [];
    if (
      loop !== undefined &&
      filled !== undefined &&
      key?.type === 'name' &&
      key.id === rootName(loop.target)
    )
      learned.set(filled, {
        text: textOf(module, loop),
        isDictionary: true,
        counts: isCount(textOf(module, valueInTurn(statement))),
      });
  }
  return learned;
}

/** What an assignment gives, where that has a name of its own in the same turn of the loop. */
function valueInTurn({ value, suite }: Stmt & { type: 'assign' }): Expr {
  const made = suite.statements.find(
    (other) =>
      other.type === 'assign' &&
      value.type === 'name' &&
      other.targets.some((target) => target.type === 'name' && target.id === value.id),
  );
  return made?.type === 'assign' ? made.value : value;
}

/** The loop around a statement that takes one group of a table's rows after another. */
function loopOverGroups(module: Module, statement: Stmt): (Stmt & { type: 'for' }) | undefined {
  for (const loop of loopsAround(statement)) {
    if (loop.type !== 'for' || loop.target.type !== 'name') continue;
    if (/\b(unique|set)\s*\(/.test(textOf(module, loop.iterable))) return loop;
  }
  return undefined;
}

/** A loop over the groups of the training part puts values on the rows of another part: other groups stay as they are. */
function fillsKnownGroupsAlone(change: ScriptChange): boolean {
  const { module } = change.after;
  if (!STOPS_AT_GAPS.test(module.source)) return false;
  const pairs = partPairs(change);
  return newStatements(change).some((statement) => {
    const loop = loopOverGroups(module, statement);
    const learnsFrom =
      loop === undefined ? undefined : new Set([...namesInExpression(loop.iterable)].map(({ id }) => id));
    if (learnsFrom === undefined) return false;
    return changesIn(module, statement).some(({ name }) =>
      pairs.some(({ train, test }) => test === name && learnsFrom.has(train)),
    );
  });
}

function isFilled(whole: Expr, lookup: Expr, module: Module): boolean {
  return /^\s*(?:\)\s*)?\.fillna\(/.test(module.source.slice(lookup.end, whole.end));
}

function mappedFallback(module: Module, rows: Expr, values: Expr, maker: LearnedByGroup): string | undefined {
  const missing = hasMissingKeys(maker.text) ? '' : missingWithoutKey(module.source, textOf(module, rows));
  if (maker.counts) return `.fillna(0)${missing}`;
  if (!NUMBERS.test(maker.text)) return undefined;
  const text = textOf(module, values);
  if (!maker.isDictionary) return `.fillna(${text}.mean())${missing}`;
  const pandas = /^import pandas as (\w+)/m.exec(module.source)?.[1];
  return pandas === undefined ? undefined : `.fillna(${pandas}.Series(${text}).mean())${missing}`;
}

/** `agg(rating=("stars", "mean"), n=("stars", "count"))`: the columns, each with its statistic. */
const NAMED_STATISTIC = /\b(\w{1,60})=\(["'][^"'\n]{0,80}["'],["'](\w{1,20})["']\)/g;

/** What each column of a table of groups gets, where some hold counts; nothing where the columns are not told. */
function fallbackByColumn(values: string, maker: string): string | undefined {
  const named = [...maker.replaceAll(/\s/g, '').matchAll(NAMED_STATISTIC)];
  const size = /\.(?:size|count|nunique|sum)\(\)\.reset_index\(name ?= ?(["'][^"'\n]{1,80}["'])\)$/.exec(
    maker,
  )?.[1];
  if (size !== undefined) return `.fillna({${size}: 0})`;
  if (named.length === 0 || named.length !== [...maker.matchAll(/=\s?\(/g)].length) return undefined;
  const columns = named.map(([, column = '', statistic = '']) =>
    COUNTS.test(statistic) ? `"${column}": 0` : `"${column}": ${values}["${column}"].mean()`,
  );
  return `.fillna({${columns.join(', ')}})`;
}

function mergedFallback(
  module: Module,
  merge: Call,
  values: Expr,
  { text: maker }: LearnedByGroup,
): string | undefined {
  const key = merge.args.find(({ name }) => name === 'on')?.value;
  if (COUNT_CALL.test(maker) || (/\.agg(regate)?\(/.test(maker) && COUNT_NAMED.test(maker)))
    return values.type === 'name' ? fallbackByColumn(values.id, maker) : undefined;
  const hasKey = /\.reset_index\(\s*\)|as_index\s*=\s*False/.test(maker);
  if (key === undefined || !hasKey || values.type !== 'name' || !NUMBERS.test(maker)) return undefined;
  return `.fillna(${values.id}.drop(columns=${textOf(module, key)}).mean(numeric_only=True))`;
}

/**
 * Encoders of scikit-learn that stop at a category which they were not fitted on, with the arguments that make them go
 * on; none where nothing does. Source: scikit-learn's reference of `sklearn.preprocessing`.
 */
const TOLERANT: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
  OneHotEncoder: { handle_unknown: '"ignore"' },
  OrdinalEncoder: { handle_unknown: '"use_encoded_value"', unknown_value: '-1' },
  LabelEncoder: undefined,
  LabelBinarizer: undefined,
};

/** A transformation that would stop at unknown categories. */
export interface StrictEncoder {
  /** The variable that holds the encoder, or something with it in it. */
  readonly variable: string;
  /** Name of the encoder's class. */
  readonly encoder: string;
  readonly constructed: Call;
  /** The encoder is a step of what the variable holds. */
  readonly isStep: boolean;
  /** Arguments that make it go on, by name. */
  readonly tolerant: Readonly<Record<string, string>> | undefined;
}

/**
 * Encoders by which a rewrite transforms rows that they have not seen, and that stop at categories which they do not
 * know: fitted on all rows, they knew them all.
 */
export function strictEncoders(change: ScriptChange): StrictEncoder[] {
  const { module } = change.after;
  const found = new Map<string, StrictEncoder>();
  for (const statement of newStatements(change)) {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call' || part.callee.type !== 'attribute' || part.callee.name !== 'transform')
          continue;
        const { object } = part.callee;
        const strict = object.type === 'name' ? strictIn(module, object.id) : undefined;
        if (strict !== undefined) found.set(strict.variable, strict);
      }
    }
  }
  return [...found.values()];
}

export function rejectsCategories(change: ScriptChange): string | undefined {
  const [strict] = strictEncoders(change);
  return strict === undefined
    ? undefined
    : `\`${strict.encoder}\` stops at a category that only the scored rows have, unless it is told what to do with it`;
}

function strictIn(module: Module, variable: string): StrictEncoder | undefined {
  const statements = module.body.statements.flatMap((outer) => [...statementsIn(outer)]);
  if (statements.some((statement) => setsOption(module, statement, variable))) return undefined;
  for (const statement of statements) {
    if (statement.type !== 'assign') continue;
    if (!statement.targets.some((target) => target.type === 'name' && target.id === variable)) continue;
    for (const part of expressionsIn(statement.value)) {
      const encoder = part.type === 'call' ? rejecting(module, part) : undefined;
      if (encoder === undefined || part.type !== 'call') continue;
      const isStep = part !== statement.value;
      return { variable, encoder, constructed: part, isStep, tolerant: TOLERANT[encoder] };
    }
  }
  return undefined;
}

/** `encoder.set_params(handle_unknown="ignore")` */
function setsOption(module: Module, statement: Stmt, variable: string): boolean {
  if (statement.type !== 'expression') return false;
  return textOf(module, statement).startsWith(`${variable}.set_params(handle_unknown=`);
}

function rejecting(module: Module, call: Call): string | undefined {
  const name = textOf(module, call.callee).split('.').at(-1) ?? '';
  if (!Object.hasOwn(TOLERANT, name) || !isOfSklearn(module, rootName(call.callee) ?? '')) return undefined;
  const isTolerant = call.args.some(
    ({ star, name: argument }) => star !== '' || argument === 'handle_unknown',
  );
  // Categories that are listed do not depend on the rows.
  const isListed = call.args.some(({ name: argument }) => argument === 'categories');
  return isTolerant || (isListed && TOLERANT[name] !== undefined) ? undefined : name;
}

/** Other libraries have encoders of these names that go on by themselves. */
function isOfSklearn(module: Module, root: string): boolean {
  const bindings = module.body.statements.flatMap((statement) =>
    statement.type === 'import' ? statement.bindings.filter(({ name }) => name === root) : [],
  );
  return bindings.length === 0 || bindings.some(({ path }) => path.startsWith('sklearn'));
}
