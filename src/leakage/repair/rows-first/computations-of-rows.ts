import type { Leak } from '../../findings/find-leaks.js';
import { FIT_METHODS, STATISTIC_METHODS } from '../../library-models/methods.js';
import type { Argument, Call, Expr, FunctionDefinition, Stmt } from '../../syntax/ast.js';
import {
  calleeName,
  expressionsIn,
  namesInExpression,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
} from '../../syntax/walk.js';
import { overlapOf, type Region, sameRows } from '../../values/region.js';
import { countText } from '../../values/work.js';
import { concatenatedItems } from '../concatenation.js';
import { edited, freshName, type RepairContext, type TextEdit } from '../context.js';
import { STOPS_AT_GAPS } from '../group-fallback.js';
import { helpersOf, type SummarizedCall, summarizedCall, whyNotOnlyLearned } from '../helper-calls.js';
import { dividedByNumberOfRows, dividedByRows, numberBehind, tableOfNumber } from '../number-of-rows.js';
import { isRowValue } from '../row-values.js';
import { whyWithoutValue } from '../values-of-groups.js';
import {
  clustersOfAllRows,
  type QuantileBins,
  readQuantileBins,
  sayQuantileBins,
} from './clusters-and-bins.js';
import { fillsAlike } from './fills-alike.js';
import {
  groupLoopAround,
  isOfOneGroup,
  lookupsWithFallback,
  readGroupwise,
  sayGroupwise,
} from './group-lookup.js';
import { isMadeOnce } from './known-before.js';
import type { EarlierDivision } from './later-split.js';
import { withFallbacks } from './mapped-groups.js';
import { tableKind } from './table-kind.js';

/** Fitted objects that cannot be applied to other rows, or apply themselves to their own in another way. */
const NOT_APPLIED =
  /TSNE|MDS|SpectralEmbedding|LabelEncoder|DBSCAN|Agglomerative|SpectralClustering|TargetEncoder|LeaveOneOut|CatBoostEncoder|JamesStein|MEstimate|WOE|OPTICS/;
const PREDICTS = /KMeans|GaussianMixture|Birch|MeanShift|AffinityPropagation|IsolationForest/;
const FUNCTIONS =
  /^(nan)?(mean|median|std|var|min|max|percentile|quantile|sum|ptp|amin|amax|average)$|^(mutual_info_(classif|regression)|f_(classif|regression)|chi2)$/;

/** What to call the table that a fit gives, where it has no name in the script. */
const NAMES_OF_RESULTS: Readonly<Record<string, string>> = {
  scaling: 'scaled',
  imputation: 'filled',
  vocabulary: 'counted',
};

/** Thrown where a computation cannot be said for some rows; the message says why. */
export class NotSaid extends Error {}

/** How the rows to learn from are taken, and the rows of the tables that they are taken of, where these are known. */
export type RowsToLearnFrom = Pick<EarlierDivision, 'ofFrame' | 'ofArray'> & {
  readonly divided?: readonly Region[];
};

/** Says the computations of the block for some rows. */
export class Saying {
  readonly #context: RepairContext;
  readonly #leak: Leak;
  readonly #anchor: Stmt;
  readonly #earlier: RowsToLearnFrom;
  /** Lines to put in before a statement. */
  readonly #lines = new Map<Stmt, readonly string[]>();
  readonly #taken = new Set<string>();
  /** The rows that are divided. */
  #rows: readonly Region[] | undefined;
  /** The statement that is being said: an earlier one of the block may have made an array of a frame. */
  #statement: Stmt;

  constructor(context: RepairContext, leak: Leak, anchor: Stmt, earlier: RowsToLearnFrom) {
    this.#context = context;
    this.#leak = leak;
    this.#anchor = anchor;
    this.#statement = anchor;
    this.#earlier = earlier;
  }

  edits(): TextEdit[] {
    const edits: TextEdit[] = [];
    const said: Expr[] = [];
    for (const leak of this.#context.leaks) {
      this.#statement = leak.statement;
      for (const node of new Set([leak.node, ...leak.nodes])) {
        const around = this.#groupwiseAround(leak.statement, node);
        const whole = around ?? node;
        if (said.some((other) => other.start <= whole.start && whole.end <= other.end)) continue;
        edits.push(...(around === undefined ? this.#onRows(leak, node) : this.#groupwise(leak, around)));
        said.push(whole);
      }
    }
    const fallbacks = withFallbacks(this.#context, this.#context.leaks, this.#earlier.ofFrame);
    if (typeof fallbacks === 'string') throw new NotSaid(fallbacks);
    // Several statistics of one loop over groups ask for the same edit.
    const isFirst = (edit: TextEdit, at: number): boolean =>
      edits.findIndex(
        ({ start, end, text }) => start === edit.start && end === edit.end && text === edit.text,
      ) === at;
    return this.#withFillsAlike([...edits.filter(isFirst), ...this.#numbersOfRows(), ...fallbacks]);
  }

  /** `counts / len(frame)`: of counts that are learned on some rows, by the number of these. */
  #numbersOfRows(): TextEdit[] {
    const learned = new Set<string>();
    const edits: TextEdit[] = [];
    const first = Math.min(...this.#context.leaks.map(({ statement }) => statement.start));
    for (const outer of this.#anchor.suite.statements) {
      for (const statement of outer.end <= first ? [] : statementsIn(outer)) {
        if (statement.end > this.#context.block.end || statement.type !== 'assign') continue;
        const isLeaky = this.#context.leaks.some((leak) => leak.statement === statement);
        const parts = ownExpressions(statement).flatMap((own) => [...expressionsIn(own)]);
        if (!isLeaky && !parts.some((part) => part.type === 'name' && learned.has(part.id))) continue;
        if (isLeaky)
          for (const target of statement.targets) if (target.type === 'name') learned.add(target.id);
        const number = dividedByNumberOfRows(this.#context.module, parts);
        if (number !== undefined) throw new NotSaid(`\`${number.id}\` is the number of all rows`);
        for (const name of dividedByRows(parts))
          if (hasRows(this.#context, this.#leak, name.id))
            edits.push({ start: name.end, end: name.end, text: this.#earlier.ofFrame });
      }
    }
    return edits;
  }

  /**
   * `test = test.fillna(train.mean())` after `train = train.fillna(train.mean())`: the mean of the filled table is the one that it
   * was filled with, and gets a name, so that both tables are filled with it.
   */
  #withFillsAlike(edits: TextEdit[]): TextEdit[] {
    let all = edits;
    for (const { statement, node } of this.#context.leaks) {
      const again = fillsAlike(this.#context, statement, node);
      if (again.length === 0) continue;
      const isWithin = ({ start, end }: TextEdit): boolean => start >= node.start && end <= node.end;
      const name = this.#fresh(`${rootName(node)}_${node.type === 'call' ? calleeName(node) : 'value'}`);
      const value = edited(this.#context.source, node, all.filter(isWithin));
      this.#lines.set(statement, [...(this.#lines.get(statement) ?? []), `${name} = ${value}`]);
      const named = [node, ...again].map(({ start, end }) => ({ start, end, text: name }));
      all = [...all.filter((edit) => !isWithin(edit)), ...named];
    }
    return all;
  }

  /** The edits, with the lines that have to be before their statements; the division comes before the anchor. */
  withLines(edits: readonly TextEdit[], division: readonly string[] = []): TextEdit[] {
    this.#lines.set(this.#anchor, [...division, ...(this.#lines.get(this.#anchor) ?? [])]);
    const all = [...edits];
    for (const [{ start }, lines] of this.#lines) {
      const indent = this.#context.source.slice(this.#context.source.lastIndexOf('\n', start - 1) + 1, start);
      if (/\S/.test(indent)) throw new NotSaid('the fit shares its line');
      const put = lines.map((line) => `${line}${this.#context.lineEnding}${indent}`).join('');
      // Lines put in before a statement join an edit at its very start.
      const at = all.findIndex((edit) => edit.start === start);
      const [first] = at < 0 ? [] : all.splice(at, 1);
      all.push({ start, end: first?.end ?? start, text: put + (first?.text ?? '') });
    }
    return all;
  }

  /** The `transform` by groups that a computation is, or whose function it is in. */
  #groupwiseAround(statement: Stmt, node: Expr): Call | undefined {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call' || calleeName(part) !== 'transform') continue;
        if (part.start <= node.start && part.end >= node.end && /groupby/.test(this.#text(part.callee)))
          return part;
      }
    }
    return undefined;
  }

  #groupwise(leak: Leak, node: Call): TextEdit[] {
    const values = readGroupwise(this.#context.module, leak.statement, node);
    if (values === undefined || !hasRows(this.#context, this.#leak, values.frame))
      throw new NotSaid('the statistic is computed inside a lambda, group by group');
    this.#check(values.frame);
    const { lines, text } = sayGroupwise(this.#context.source, values, this.#earlier.ofFrame, (wanted) =>
      this.#fresh(wanted),
    );
    this.#lines.set(leak.statement, [...(this.#lines.get(leak.statement) ?? []), ...lines]);
    return [{ start: node.start, end: node.end, text }];
  }

  #onRows(leak: Leak, node: Expr): TextEdit[] {
    if (node.type !== 'call') throw new NotSaid('no fit and no statistic in this block');
    const name = calleeName(node);
    const helpers = helpersOf(this.#context.module, node);
    if (helpers.length > 0) return this.#helper(leak, node, helpers);
    const groups = this.#groupLoop(leak, node);
    if (groups !== undefined) return groups;
    const bins = readQuantileBins(this.#context.source, node);
    if (bins !== undefined) return this.#quantileBins(leak, node, bins);
    if (node.callee.type === 'attribute' && FIT_METHODS.has(name)) return this.#fit(leak, node, node.callee);
    if (node.callee.type === 'attribute' && STATISTIC_METHODS.has(name) && !isModule(node.callee.object)) {
      if (insideLambda(leak.statement, node)) throw new NotSaid('the statistic is computed inside a lambda');
      return [...this.#pick(node), ...this.#ofOneGroup(leak, node)];
    }
    if (FUNCTIONS.test(name)) {
      const picked = node.args.filter(isPositional).flatMap(({ value }) => this.#pick(value, true));
      return [...picked, ...this.#ofOneGroup(leak, node)];
    }
    throw new NotSaid('what is computed over all rows gives a value for each row');
  }

  /** `means = means_of(frame, "city")`, `Preparation().fit(frame)`: a helper that learns gets the rows to learn from. */
  #helper(leak: Leak, node: Call, helpers: readonly FunctionDefinition[]): TextEdit[] {
    for (const helper of helpers) {
      const reason = whyNotOnlyLearned(this.#context.module, helper);
      if (reason !== undefined) throw new NotSaid(reason);
    }
    const { statement } = leak;
    const { source, module } = this.#context;
    const isNumberOfRows = ({ value }: Argument): boolean =>
      tableOfNumber(numberBehind(module, value, node)) !== undefined;
    if (node.args.some(isNumberOfRows)) throw new NotSaid('a helper gets the number of all rows');
    const summarized = this.#learnedFrom(node);
    if (summarized !== undefined) {
      const reason = whyWithoutValue(module, summarized, STOPS_AT_GAPS.test(source));
      if (reason !== undefined) throw new NotSaid(reason);
      return summarized.values.flatMap((value) => this.#pick(value));
    }
    const targets = statement.type === 'assign' ? statement.targets : [];
    for (const target of targets.flatMap((one) => (one.type === 'sequence' ? one.items : [one]))) {
      const name = rootName(target) ?? '';
      const rows = this.#context.watched.get(name) ?? [];
      if (target.type !== 'name' || (rows.length > 0 && overlapOf(rows, leak.rows) !== 'no'))
        throw new NotSaid('what a helper computes over all rows gives a value for each row');
    }
    if (statement.type !== 'assign' && !FIT_METHODS.has(calleeName(node)))
      throw new NotSaid('what a helper computes over all rows has no name');
    const edits = node.args.flatMap(({ value }) => this.#pick(value, true));
    if (edits.length === 0) throw new NotSaid('the rows of the fit have no name before it');
    return edits;
  }

  /** `add_means(frame, frame)`: the tables that a helper only takes statistics of, beside one that it gives back. */
  #learnedFrom(node: Call): SummarizedCall | undefined {
    const isOfRows = (value: Expr): boolean =>
      [...namesInExpression(value)].some(({ id }) => hasRows(this.#context, this.#leak, id));
    const summarized = summarizedCall(this.#context.module, node, isOfRows);
    // A helper that gives no rows back gets the rows to learn from alone.
    const isAll = node.args.every(({ value }) => summarized?.values.includes(value) || !isOfRows(value));
    return isAll ? undefined : summarized;
  }

  /** Statistics of one group after another: the loop goes over the groups of the training rows. */
  #groupLoop(leak: Leak, node: Call): TextEdit[] | undefined {
    const loop = groupLoopAround(leak.statement, node);
    if (loop === undefined || !hasRows(this.#context, this.#leak, loop.frame.id)) return undefined;
    const nodes = this.#context.leaks.flatMap((other) => [...other.nodes, other.node]);
    const isOnlyLearned = loop.uses.every((use) =>
      nodes.some((other) => use.start >= other.start && use.end <= other.end),
    );
    if (!isOnlyLearned) throw new NotSaid('the loop over groups does more than to learn from them');
    if (this.#check(loop.frame.id) !== 'frame') throw new NotSaid('the groups are not those of a frame');
    const { module, block } = this.#context;
    const lookups = lookupsWithFallback(module, block, leak.statement);
    if (lookups === undefined) throw new NotSaid('a group that the training rows lack would have no value');
    const { end } = loop.frame;
    return [{ start: end, end, text: this.#earlier.ofFrame }, ...lookups];
  }

  /** Statistics of one group after another, each taken from all rows by a condition: some get no rows to learn from. */
  #ofOneGroup(leak: Leak, node: Call): TextEdit[] {
    if (!isOfOneGroup(leak.statement, node)) return [];
    const { module, block } = this.#context;
    const lookups = lookupsWithFallback(module, block, leak.statement);
    if (lookups === undefined) throw new NotSaid('a group that the training rows lack would have no value');
    return lookups;
  }

  #quantileBins(leak: Leak, node: Call, bins: QuantileBins): TextEdit[] {
    const { column } = bins;
    const table = rootName(column);
    if (table === undefined || !hasRows(this.#context, this.#leak, table) || this.#check(table) !== 'frame')
      throw new NotSaid('the rows of the bins have no name before them');
    if (insideLambda(leak.statement, node)) throw new NotSaid('the statistic is computed inside a lambda');
    const index = column.type === 'subscript' ? column.indices[0] : undefined;
    const label = index?.type === 'constant' ? `${index.value}` : index?.type === 'name' ? index.id : 'bin';
    const { line, text } = sayQuantileBins(
      this.#context.source,
      bins,
      this.#earlier.ofFrame,
      this.#fresh(`${label}_edges`),
    );
    this.#lines.set(leak.statement, [...(this.#lines.get(leak.statement) ?? []), line]);
    return [{ start: node.start, end: node.end, text }];
  }

  #fit(leak: Leak, node: Call, callee: Expr & { type: 'attribute' }): TextEdit[] {
    const { name, object, end } = callee;
    const isModel = leak.kind === 'training-rows';
    const args = node.args.filter(
      (argument) => isPositional(argument) || /^(X|y)$/.test(argument.name ?? ''),
    );
    if (node.args.some((argument) => argument.star !== '' || isRowValue(argument.name)) || args.length > 2)
      throw new NotSaid('the fit takes more values for each row than features and labels');
    const [rows] = args;
    if (rows === undefined) throw new NotSaid('the fit has no rows');
    const input = this.#fittedInput(leak, rows.value);
    const made = this.#constructorText(object);
    if (!isModel && NOT_APPLIED.test(made) && !givesAllRowsAlike(this.#context.source, made))
      throw new NotSaid('what is fitted cannot be applied to other rows');
    if (/(OneHot|Ordinal)Encoder/.test(made) && !/handle_unknown/.test(made))
      throw new NotSaid('the encoder would refuse a category that the training part lacks');
    const picked = args.flatMap(({ value }) => {
      if (value === rows.value && input !== undefined) {
        const { start, end } = value;
        return [{ start, end, text: `${input}${this.#earlier.ofArray}` }];
      }
      const edits = this.#pick(value);
      if (edits.length === 0) throw new NotSaid('features and labels are not divided by one split');
      return edits;
    });
    if (name === 'fit') {
      const clusters = clustersOfAllRows(this.#context, node, object, rows.value, PREDICTS.test(made));
      if (clusters === undefined) throw new NotSaid('what is fitted says nothing about other rows');
      return [...picked, ...clusters];
    }
    const second = name === 'fit_transform' ? 'transform' : name === 'fit_predict' ? 'predict' : undefined;
    if (second === undefined || (second === 'predict' && !PREDICTS.test(made)))
      throw new NotSaid('what is fitted cannot be applied to other rows');
    return [
      { start: end - name.length, end, text: 'fit' },
      ...picked,
      { start: node.end, end: node.end, text: `.${second}(${input ?? this.#saidWithin(rows.value)})` },
    ];
  }

  /** `pca.fit_transform(scaler.fit_transform(X))`: a name for what the inner one gives, so that it is fitted once. */
  #fittedInput(leak: Leak, rows: Expr): string | undefined {
    const inner = this.#context.leaks.find(({ node }) => node === rows);
    if (inner === undefined || rows.type !== 'call' || rows.callee.type !== 'attribute') return undefined;
    if (rows.callee.name !== 'fit_transform') return undefined;
    if (
      /\bset_output\(|\btransform_output\b/.test(this.#context.source) ||
      inner.statement !== leak.statement
    )
      throw new NotSaid('whether what is fitted gives a frame or an array is not known');
    const value = edited(this.#context.source, rows, this.#fit(inner, rows, rows.callee));
    const name = this.#fresh(NAMES_OF_RESULTS[inner.kind] ?? 'prepared');
    this.#lines.set(leak.statement, [...(this.#lines.get(leak.statement) ?? []), `${name} = ${value}`]);
    return name;
  }

  /** All rows of a table, with what is computed in it said for the rows to learn from. */
  #saidWithin(table: Expr): string {
    const edits = this.#context.leaks.flatMap((leak) =>
      [...new Set([leak.node, ...leak.nodes])]
        .filter(({ start, end }) => start > table.start && end <= table.end)
        .flatMap((node) => this.#onRows(leak, node)),
    );
    return edits.length === 0 ? this.#text(table) : edited(this.#context.source, table, edits);
  }

  /** The rows of the training part instead of all, wherever a table is in an expression. */
  #pick(expression: Expr, optional = false): TextEdit[] {
    const edits: TextEdit[] = [];
    const visit = (part: Expr, parents: readonly Expr[]): void => {
      const put = this.#ofDividedTables(part);
      if (put !== undefined) {
        edits.push(put);
        return;
      }
      if (part.type === 'name') {
        if (hasRows(this.#context, this.#leak, part.id) && !isLength(parents))
          edits.push(this.#pickName(part, parents));
        else if (!isLength(parents)) this.#checkMadeBeside(part.id);
        return;
      }
      if (part.type === 'lambda') throw new NotSaid('the statistic is computed inside a lambda');
      for (const inner of partsOf(part)) visit(inner, [part, ...parents]);
    };
    visit(expression, []);
    if (edits.length === 0 && !optional) throw new NotSaid('the rows of the fit have no name before it');
    return edits;
  }

  /** Of `pd.concat([train["text"], test["text"]])`: what is of the table that is divided, without all others. */
  #ofDividedTables(expression: Expr): TextEdit | undefined {
    const { source } = this.#context;
    const { divided = [] } = this.#earlier;
    const items = concatenatedItems(source, expression);
    if (items === undefined || divided.length === 0 || expression.type !== 'call') return undefined;
    const rowsIn = (item: Expr): readonly Region[] =>
      [...namesInExpression(item)].flatMap(({ id }) => rowsOf(this.#context, id) ?? []);
    const own = items.filter((item) => overlapOf(rowsIn(item), divided) !== 'no');
    const areOthersKnown = items.every((item) => own.includes(item) || rowsIn(item).length > 0);
    if (own.length === 0 || own.length === items.length || !areOthersKnown) return undefined;
    const texts = own.map((item) => edited(source, item, this.#pick(item)));
    const { start, end } = expression;
    const [only] = texts;
    if (texts.length === 1 && only !== undefined) return { start, end, text: only };
    const list = expression.args[0]?.value;
    if (list?.type !== 'sequence' || calleeName(expression) === 'hstack') return undefined;
    const text = `${source.slice(start, list.start + 1)}${texts.join(', ')}${source.slice(list.end - 1, end)}`;
    return { start, end, text };
  }

  /** `shadow = X.apply(rng.permutation)` in the loop of the fit: it has all rows, and is not divided. */
  #checkMadeBeside(name: string): void {
    for (const inner of statementsIn(this.#anchor)) {
      if (inner === this.#anchor || inner.type !== 'assign') continue;
      const isMade = inner.targets.some((target) => rootName(target) === name);
      const isOfRows = [...namesInExpression(inner.value)].some(({ id }) =>
        hasRows(this.#context, this.#leak, id),
      );
      if (isMade && isOfRows) throw new NotSaid(`\`${name}\` is made of the rows beside the fit`);
    }
  }

  #pickName(name: Expr & { type: 'name' }, parents: readonly Expr[]): TextEdit {
    const kind = this.#check(name.id);
    if (kind === 'array') return { start: name.end, end: name.end, text: this.#earlier.ofArray };
    // `frame["column"].iloc[rows]` reads better than `frame.iloc[rows]["column"]`.
    const [parent] = parents;
    const [index, other] = parent?.type === 'subscript' && parent.object === name ? parent.indices : [];
    const isColumn = other === undefined && this.#isColumn(index);
    const { end } = isColumn && parent !== undefined ? parent : name;
    return { start: end, end, text: this.#earlier.ofFrame };
  }

  #isColumn(index: Expr | undefined): boolean {
    if (index?.type === 'name') return rowsOf(this.#context, index.id) === undefined;
    return index?.type === 'constant' || index?.type === 'sequence';
  }

  /** How rows of a table are taken; it has to hold the rows that are divided, and the same throughout the anchor. */
  #check(name: string): 'frame' | 'array' {
    const rows = rowsOf(this.#context, name) ?? [];
    this.#rows ??= rows;
    if (!sameRows(rows, this.#rows)) throw new NotSaid(`\`${name}\` has other rows than the table beside it`);
    for (const inner of statementsIn(this.#anchor)) {
      const isAgain =
        inner !== this.#anchor &&
        ((inner.type === 'assign' &&
          inner.targets.some((target) => target.type === 'name' && target.id === name)) ||
          (inner.type === 'for' && rootName(inner.target) === name));
      if (isAgain) throw new NotSaid(`\`${name}\` is assigned again beside the fit`);
    }
    const kind = this.#takenLater(name) ?? tableKind(this.#context.module, name, this.#statement);
    if (kind === undefined) throw new NotSaid(`whether \`${name}\` is a frame or an array is not known`);
    return kind;
  }

  /** How the folds take the same rows of a table: `X.iloc[tr]`, `y[tr]`. */
  #takenLater(name: string): 'frame' | 'array' | undefined {
    const [, rows] = /^\[(\w+)\]$/.exec(this.#earlier.ofArray) ?? [];
    if (rows === undefined) return undefined;
    const later = this.#context.source.slice(this.#anchor.end);
    countText(later.length);
    const isFrame = new RegExp(`(?<![\\w.])${name}\\.iloc\\[${rows}[\\],]`).test(later);
    const isArray = new RegExp(`(?<![\\w.])${name}\\[${rows}[\\],]`).test(later);
    return isFrame === isArray ? undefined : isFrame ? 'frame' : 'array';
  }

  #constructorText(object: Expr): string {
    if (object.type !== 'name') return this.#text(object);
    const made = [
      ...this.#context.source.matchAll(
        new RegExp(`(?<![\\w.])${object.id}\\s*=(?!=)([^\\n]*(?:\\n[ \\t]+[^\\n]*)*)`, 'g'),
      ),
    ];
    return made.map(([text]) => text).join('\n');
  }

  #fresh(wanted: string): string {
    const name = freshName(this.#context.source, wanted, this.#taken);
    this.#taken.add(name);
    return name;
  }

  #text({ start, end }: Expr): string {
    return this.#context.source.slice(start, end);
  }
}

/**
 * `category_encoders.TargetEncoder` gives its own rows what it gives others, as its kin do unless they add noise; that of
 * scikit-learn encodes its own rows out of fold.
 */
function givesAllRowsAlike(source: string, made: string): boolean {
  const [, owner, name] =
    /(?:\b(\w{1,60})\.)?(TargetEncoder|MEstimateEncoder|JamesSteinEncoder|WOEEncoder)\(/.exec(made) ?? [];
  if (name === undefined || /\brandomized\b/.test(made) || NOT_APPLIED.test(made.replace(name, '')))
    return false;
  if (owner === undefined)
    return new RegExp(`^from category_encoders(?:\\.\\w+)? import [^\\n]*\\b${name}\\b(?! as)`, 'm').test(
      source,
    );
  const [, module] = /^import category_encoders as (\w+)/m.exec(source) ?? [];
  return owner === (module ?? 'category_encoders');
}

export function isPositional({ name, star }: { name?: string; star: string }): boolean {
  return name === undefined && star === '';
}

function isModule(object: Expr): boolean {
  return object.type === 'name' && /^(np|numpy|torch|pd|scipy|stats)$/.test(object.id);
}

/** `len(frame)` and `frame.shape`: numbers of all rows, which say nothing about them. */
function isLength([parent, around]: readonly Expr[]): boolean {
  if (parent?.type === 'attribute')
    return /^(shape|columns|index|dtypes)$/.test(parent.name) && around?.type !== 'call';
  return parent?.type === 'call' && calleeName(parent) === 'len';
}

function insideLambda(statement: Stmt, node: Expr): boolean {
  return [...ownExpressions(statement)]
    .flatMap((own) => [...expressionsIn(own)])
    .some((part) => part.type === 'lambda' && part.start <= node.start && part.end >= node.end);
}

export function hasRows(context: RepairContext, leak: Leak, name: string): boolean {
  const rows = rowsOf(context, name);
  return rows !== undefined && overlapOf(rows, leak.rows) === 'yes';
}

/** The rows of a table before the first leak, or of one that the block makes once, for a later leak. */
function rowsOf(
  { module, block, watched, watchedEarlier }: RepairContext,
  name: string,
): readonly Region[] | undefined {
  const earlier = watchedEarlier.get(name);
  const later = earlier === undefined ? watched.get(name) : undefined;
  if (later === undefined) return earlier;
  return isMadeOnce(module, name, block.start, block.end) ? later : undefined;
}
