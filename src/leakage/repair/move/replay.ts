import type { Leak } from '../../findings/find-leaks.js';
import { FIT_METHODS, STATISTIC_METHODS } from '../../library-models/methods.js';
import type { Call, Expr, If, Span, Stmt, Suite } from '../../syntax/ast.js';
import {
  expressionsIn,
  namesIn,
  ownExpressions,
  partsOf,
  rootName,
  statementsIn,
  suitesOf,
} from '../../syntax/walk.js';
import { edited, freshName, type RepairContext, type TextEdit } from '../context.js';
import { COUNTS, missingWithoutKeys, STOPS_AT_GAPS } from '../group-fallback.js';
import { learnsInHelper } from '../helper-calls.js';
import { dividedByNumberOfRows, dividedByRows } from '../number-of-rows.js';
import { OrderedEffects } from '../order/ordered-effects.js';
import { worksRowByRow } from './dependence.js';
import { type GroupTransform, groupTransformIn } from './group-transform.js';
import type { Mapping, Parts } from './mapping.js';

/** The training part, the scored part, or a further piece of the table by its name. */
type Side = 'train' | 'test' | { readonly piece: string };

/** Conditions on the type of a column, which is the same in every part of it. */
const ON_TYPES =
  /^(not\s+)?(\w+(\[[^[\]]+\])?\.dtype(\.\w+)?\s*(==|!=|(not\s+)?in\b)[^&|]+|[\w.]*\bis_\w+_dtype\(\w+(\[[^[\]]+\])?\))$/;

/** Methods that change nothing, of which a cell shows what they give. */
const SHOWS =
  /^(head|tail|describe|value_counts|isna|isnull|sum|mean|corr|nunique|unique|sort_values|round)$/;

/** Estimators that only say something of the rows that they were fitted on. */
const WITHOUT_TRANSFORM =
  /\b(TSNE|MDS|SpectralEmbedding|DBSCAN|HDBSCAN|OPTICS|AgglomerativeClustering|SpectralClustering)\b/;

/** Thrown where a statement cannot be said for each part; the message says why. */
export class NotReplayable extends Error {}

/** Says moved statements again after the split: once for the training part, then for the other. */
export class Replay {
  readonly #context: RepairContext;
  readonly #leaks: readonly Leak[];
  readonly #mapping: Mapping;
  readonly #isRows: (name: string) => boolean;
  readonly #effects: OrderedEffects;
  readonly #taken = new Set<string>();
  /** Whether the statement that is being said goes to another depth. */
  #isShifted = false;

  constructor(
    context: RepairContext,
    leaks: readonly Leak[],
    mapping: Mapping,
    isRows: (name: string) => boolean,
  ) {
    this.#context = context;
    this.#leaks = leaks;
    this.#mapping = mapping;
    this.#isRows = isRows;
    this.#effects = new OrderedEffects(context.module);
  }

  /** Lines of one statement that is put at a depth, without the indentation of the first. */
  say(statement: Stmt, indent: string): string[] {
    this.#isShifted = this.#indentOf(statement) !== indent;
    return this.#lines(statement);
  }

  #lines(statement: Stmt): string[] {
    // Lines of a suite that goes elsewhere are indented one by one.
    const isSuite = this.#isShifted && suitesOf(statement).length > 0;
    if (!this.#touchesParts(statement) && !isSuite) {
      const isLeaky = this.#leaks.some(
        ({ node }) => node.start >= statement.start && node.end <= statement.end,
      );
      if (isLeaky) throw new NotReplayable('the fit works on a table that the split does not divide');
      return [this.#text(statement)];
    }
    if (suitesOf(statement).length > 0) return this.#compound(statement);
    const dummies = this.#dummies(statement);
    if (dummies !== undefined) return dummies;
    if (!worksRowByRow(statement))
      throw new NotReplayable('a step between the fit and the split works on all rows together');
    if (this.#givesNoRows(statement)) return [this.on('train', statement, new Map())];
    if (this.#isShown(statement)) {
      const other = [...namesIn(statement)].find(
        ({ id }) => this.#isRows(id) && !this.#mapping.names.has(id),
      );
      if (other !== undefined && this.#effects.draws(statement))
        throw new NotReplayable(`\`${other.id}\` is drawn beside a part, and the split does not divide it`);
      return [this.on('train', statement, new Map())];
    }
    if (this.#learnsAgain(statement))
      throw new NotReplayable('a function between the fit and the split learns from the rows that it gets');
    const byGroup = this.#groupTransform(statement);
    if (byGroup !== undefined) return byGroup;
    const lines: string[] = [];
    const named = new Map<Expr, string>();
    const names = new Map<string, string>();
    for (const node of this.#statisticsIn(statement)) {
      const known = names.get(this.#text(node));
      const name = known ?? this.#statisticName(node);
      named.set(node, name);
      names.set(this.#text(node), name);
      if (known === undefined) lines.push(`${name} = ${this.on('train', node, new Map())}`);
    }
    // The least value that is subtracted is no leak, but it is the one of the training part if the range is.
    for (const part of this.#expressionsOf(statement)) {
      const name = part.type === 'call' ? names.get(this.#text(part)) : undefined;
      const isNamed = [...named.keys()].some(({ start, end }) => start < part.end && part.start < end);
      if (name !== undefined && !isNamed) named.set(part, name);
    }
    for (const constructed of constructedFits(statement)) {
      const name = this.#fresh(objectName(constructed));
      named.set(constructed, name);
      lines.push(`${name} = ${this.#text(constructed)}`);
    }
    const sides: Side[] = ['train', 'test', ...this.#mapping.pieces.map((piece) => ({ piece }))];
    // A statement that only keeps what was learned is the same for all parts, and runs once.
    return [...lines, ...new Set(sides.map((side) => this.on(side, statement, named)))];
  }

  /** An expression over the undivided tables, for one part. */
  on(side: Side, span: Expr | Stmt, named: ReadonlyMap<Expr, string>): string {
    const edits: TextEdit[] = [...named].map(([node, text]) => ({ start: node.start, end: node.end, text }));
    const covered = (part: Span): boolean =>
      edits.some((edit) => part.start < edit.end && edit.start < part.end);
    const number = dividedByNumberOfRows(this.#context.module, this.#expressionsOf(span));
    if (number !== undefined) throw new NotReplayable(`\`${number.id}\` is the number of all rows`);
    const ofTraining = new Set<Expr>(dividedByRows(this.#expressionsOf(span)));
    for (const part of this.#expressionsOf(span)) {
      if (covered(part)) continue;
      const whole = this.#mapping.expressions.get(this.#text(part));
      const parts = part.type === 'name' ? this.#mapping.names.get(part.id) : undefined;
      if (whole !== undefined && part.type !== 'constant')
        edits.push({ start: part.start, end: part.end, text: partFor(whole, side) });
      else if (parts !== undefined)
        edits.push({
          start: part.start,
          end: part.end,
          text: partFor(parts, ofTraining.has(part) ? 'train' : side),
        });
    }
    if (side !== 'train') edits.push(...this.#transforms(span, covered));
    return edited(this.#context.source, span, edits);
  }

  *#expressionsOf(span: Expr | Stmt): Generator<Expr> {
    if (!('suite' in span)) {
      yield* expressionsIn(span);
      return;
    }
    for (const inner of statementsIn(span)) {
      for (const own of ownExpressions(inner)) yield* expressionsIn(own);
    }
  }

  #text(span: Span): string {
    return this.#context.source.slice(span.start, span.end);
  }

  #touchesParts(statement: Stmt): boolean {
    for (const part of this.#expressionsOf(statement)) {
      if (part.type === 'name' && this.#mapping.names.has(part.id)) return true;
      if (this.#mapping.expressions.has(this.#text(part))) return true;
    }
    return false;
  }

  /** Whether a function, called for each part, would learn from each of them. */
  #learnsAgain(statement: Stmt): boolean {
    const isLeaky = this.#leaks.some(
      ({ node }) => node.start >= statement.start && node.end <= statement.end,
    );
    return !isLeaky && learnsInHelper(this.#context.module, statement);
  }

  /** A fit alone, or an assignment of numbers: learned from the training part, for both. */
  #givesNoRows(statement: Stmt): boolean {
    const value =
      statement.type === 'expression' || statement.type === 'assign' ? statement.value : undefined;
    if (value === undefined) return false;
    if (
      value.type === 'call' &&
      value.callee.type === 'attribute' &&
      /^(fit|fit_on_texts|adapt)$/.test(value.callee.name)
    )
      return true;
    if (statement.type !== 'assign') return false;
    const targets = statement.targets.flatMap((target) =>
      target.type === 'sequence' ? target.items : [target],
    );
    return targets.every(
      (target) => target.type === 'name' && !this.#mapping.names.has(target.id) && !this.#isRows(target.id),
    );
  }

  /** A figure, a line that prints, or a table that a cell shows: one as before, that of the rows which the model learns from. */
  #isShown(statement: Stmt): boolean {
    if (statement.type !== 'expression') return false;
    if (this.#effects.draws(statement)) return true;
    let { value } = statement;
    if (value.type === 'call' && value.callee.type === 'name' && value.callee.id === 'print') return true;
    while (value.type !== 'name') {
      if (value.type === 'call') {
        if (value.callee.type !== 'attribute' || !SHOWS.test(value.callee.name)) return false;
        value = value.callee.object;
      } else if (value.type === 'subscript' || value.type === 'attribute') value = value.object;
      else return false;
    }
    return true;
  }

  /**
   * `X = pd.get_dummies(frame)`: each part by itself, with the columns of the training part. `drop_first` would drop
   * another category where a part lacks the first one.
   */
  #dummies(statement: Stmt): string[] | undefined {
    const [target, other] = statement.type === 'assign' ? statement.targets : [];
    if (statement.type !== 'assign' || target?.type !== 'name' || other !== undefined) return undefined;
    const { value } = statement;
    if (value.type !== 'call' || !/^(\w+\.)?get_dummies$/.test(this.#text(value.callee))) return undefined;
    if (value.args.some(({ name, star }) => name === 'drop_first' || star !== '')) return undefined;
    const same = `.reindex(columns=${this.on('train', target, new Map())}.columns, fill_value=0)`;
    const sides: Side[] = ['test', ...this.#mapping.pieces.map((piece) => ({ piece }))];
    return [
      this.on('train', statement, new Map()),
      ...sides.map((side) => `${this.on(side, statement, new Map())}${same}`),
    ];
  }

  /** Computations over all rows inside a statement, outermost first. */
  #statisticsIn(statement: Stmt): Expr[] {
    const nodes: Expr[] = [];
    for (const node of this.#leaks.flatMap(({ nodes: all }) => [...all])) {
      if (node.start < statement.start || node.end > statement.end || node.type !== 'call') continue;
      const name = node.callee.type === 'attribute' ? node.callee.name : '';
      if (FIT_METHODS.has(name)) continue;
      if (!isReduction(node))
        throw new NotReplayable('what is computed over all rows gives a value for each row');
      if (/^(transform|apply|qcut|cut|rank)$/.test(name) || node.callee.type === 'name')
        throw new NotReplayable('the statistic gives a value for each row and cannot be taken over as it is');
      if (insideLambda(statement, node))
        throw new NotReplayable('the statistic is computed inside a lambda, group by group');
      if (!nodes.some((other) => other.start <= node.start && other.end >= node.end)) nodes.push(node);
    }
    // Statistics that the analysis did not report for this block alone are computed again for each part otherwise.
    return nodes.map((node) => withSuffix(statement, node));
  }

  /** A statistic per group, computed on the training part and looked up by the group of each row. */
  #groupTransform(statement: Stmt): string[] | undefined {
    const found = groupTransformIn(this.#context.module, statement);
    const parts = found === undefined ? undefined : this.#mapping.names.get(found.frame);
    if (found === undefined || parts === undefined) return undefined;
    const inside = this.#leaks.every(
      ({ node }) =>
        node.start < statement.start ||
        node.end > statement.end ||
        (node.start >= found.node.start && node.end <= found.node.end),
    );
    if (!inside) return undefined;
    const { keys, column, statistic } = found;
    const name = this.#nameOfGroups(statement, found);
    const looked = (part: string): string => {
      const values = this.#lookedUp(part, parts.train, name, found);
      return found.fills ? `${part}[${column}].fillna(${values})` : values;
    };
    const renamed = keys.length > 1 ? `.rename("${name}")` : '';
    return [
      `${name} = ${parts.train}.groupby(${this.#text(found.by)})[${column}].${statistic}()${renamed}`,
      this.on('train', statement, new Map([[found.node, looked(parts.train)]])),
      this.on('test', statement, new Map([[found.node, looked(parts.test)]])),
      ...this.#mapping.pieces.map((piece) =>
        this.on({ piece }, statement, new Map([[found.node, looked(piece)]])),
      ),
    ];
  }

  /** `si_mean` of `frame["si_mean"] = …`, or what the statistic is of. */
  #nameOfGroups(statement: Stmt, { keys, statistic, fills, label }: GroupTransform): string {
    const [target] = statement.type === 'assign' ? statement.targets : [];
    const [made] = target?.type === 'subscript' ? target.indices : [];
    if (keys.length > 1 && !fills && made?.type === 'constant' && /^[a-z]\w*$/.test(`${made.value}`))
      return this.#fresh(`${made.value}_by_group`);
    const plain = freshName(this.#context.source, label, this.#taken);
    const isOther = /_\d+$/.test(plain) && !/_\d+$/.test(label);
    return this.#fresh(isOther ? label.replace('_by_', `_${statistic}_by_`) : label);
  }

  /** The statistic of the group of each row of a part. */
  #lookedUp(part: string, train: string, name: string, found: GroupTransform): string {
    const { keys, column, statistic } = found;
    const [key] = keys;
    // What rows get whose group the training part lacks is decided where one key is looked up.
    if (keys.length === 1) return `${part}[${key}].map(${name})`;
    const { source } = this.#context;
    const list = `[${keys.join(', ')}]`;
    const values = `${part}[${list}].join(${name}, on=${list})["${name}"]`;
    const isCounted = COUNTS.test(statistic);
    if (part === train || (!isCounted && !STOPS_AT_GAPS.test(source))) return values;
    // The script says what a group without a value gets, here or in a later line.
    const after = source.slice(found.node.end);
    const isFilled = /^\s*\.\s*fillna\(/.test(after) || after.includes(`[${column}].fillna(`);
    if (!isCounted && isFilled) return values;
    const overall = isCounted ? '0' : `${train}[${column}].${statistic}()`;
    return `${values}.fillna(${overall})${missingWithoutKeys(source, part, keys)}`;
  }

  #compound(statement: Stmt): string[] {
    const own = this.#indentOf(statement);
    if (statement.type === 'for') {
      if (statement.orelse !== undefined) throw new NotReplayable('the fit is in a loop with an `else`');
      const header = `for ${this.#text(statement.target)} in ${this.#turns(statement.iterable)}:`;
      return [header, ...this.#suite(statement.start, statement.body, own)];
    }
    if (statement.type !== 'if') throw new NotReplayable('the fit is in a compound statement');
    let from = statement.start;
    return statement.branches.flatMap(({ test, body }, at) => {
      const word =
        test === undefined ? 'else' : `${at === 0 ? 'if' : 'elif'} ${this.#condition(test, statement)}`;
      const lines = [`${word}:`, ...this.#suite(from, body, own)];
      from = body.statements.at(-1)?.end ?? from;
      return lines;
    });
  }

  /** White space before a statement on its line. */
  #indentOf({ start }: Stmt): string {
    const line = this.#context.source.slice(this.#context.source.lastIndexOf('\n', start - 1) + 1, start);
    return /^\s*/.exec(line)?.[0] ?? '';
  }

  /** What a loop goes over: columns and what was learned are those of the training part, tables are all parts. */
  #turns(iterable: Expr): string {
    if (iterable.type !== 'sequence') {
      if (this.#goesOverRows(iterable)) throw new NotReplayable('the fit is in a loop over rows');
      return this.on('train', iterable, new Map());
    }
    const items = iterable.items.flatMap((item) => {
      const parts = item.type === 'name' ? this.#mapping.names.get(item.id) : undefined;
      if (parts !== undefined) return [parts.train, parts.test];
      if (this.#goesOverRows(item)) throw new NotReplayable('the fit is in a loop over tables');
      return [this.on('train', item, new Map())];
    });
    const pieces = items.length > iterable.items.length ? this.#mapping.pieces : [];
    const all = [...items, ...pieces.filter((piece) => !items.includes(piece))].join(', ');
    return iterable.form === 'list' ? `[${all}]` : `(${all}${items.length === 1 ? ',' : ''})`;
  }

  /** Whether a divided table is used for more than its columns, types, distinct values or statistics. */
  #goesOverRows(expression: Expr): boolean {
    if (expression.type === 'attribute' && /^(columns|dtypes|shape)$/.test(expression.name)) return false;
    if (expression.type === 'call' && expression.callee.type === 'attribute') {
      const { name } = expression.callee;
      if (/^(select_dtypes|unique|keys|value_counts)$/.test(name) || isReduction(expression)) return false;
    }
    if (expression.type === 'name') return this.#mapping.names.has(expression.id);
    if (expression.type !== 'constant' && this.#mapping.expressions.has(this.#text(expression))) return true;
    return partsOf(expression).some((part) => this.#goesOverRows(part));
  }

  /** The statements of a suite, as deep below the header as they were; `from` is where the header begins. */
  #suite(from: number, { statements }: Suite, indent: string): string[] {
    const [first] = statements;
    if (first === undefined) throw new NotReplayable('the fit is in a branch without statements');
    const header = this.#text({ start: from, end: first.start });
    if (!header.includes('\n') || header.includes('#'))
      throw new NotReplayable('the fit is in a compound statement on one line');
    const inner = header.slice(header.lastIndexOf('\n') + 1);
    if (!inner.startsWith(indent)) throw new NotReplayable('tabs and spaces are mixed in the indentation');
    return statements.flatMap((part) =>
      this.#lines(part).map((line) => `${inner.slice(indent.length)}${line}`),
    );
  }

  /** A branch is taken for both parts together: by what they have in common, or where either of them asks for it. */
  #condition(test: Expr, { branches }: If): string {
    const [train, other] = [this.on('train', test, new Map()), this.on('test', test, new Map())];
    if (train === other || ON_TYPES.test(this.#text(test))) return train;
    if (branches.length > 1) throw new NotReplayable('the fit is in a branch that depends on the rows');
    return `${train} or ${other}`;
  }

  /** `fit_transform(X, y)` on the training part is `transform(X)` on the other. */
  #transforms(span: Expr | Stmt, covered: (part: Span) => boolean): TextEdit[] {
    const edits: TextEdit[] = [];
    for (const part of this.#expressionsOf(span)) {
      if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
      const { name, end } = part.callee;
      if (name !== 'fit_transform' && name !== 'fit_predict') continue;
      const word = { start: end - name.length, end };
      if (covered(word)) continue;
      const made = this.#text(part.callee.object);
      if (WITHOUT_TRANSFORM.test(made) || WITHOUT_TRANSFORM.test(this.#madeBy(part.callee.object)))
        throw new NotReplayable(`\`${made}\` cannot be applied to rows that it was not fitted on`);
      edits.push({ ...word, text: name === 'fit_transform' ? 'transform' : 'predict' });
      const [first, second] = part.args;
      if (first !== undefined && second !== undefined)
        edits.push({ start: first.value.end, end: part.end - 1, text: '' });
    }
    return edits;
  }

  /** The constructor calls that the script assigns to a name. */
  #madeBy(object: Expr): string {
    if (object.type !== 'name') return '';
    return this.#context.module.body.statements
      .flatMap((outer) => [...statementsIn(outer)])
      .flatMap((statement) =>
        statement.type === 'assign' &&
        statement.value.type === 'call' &&
        statement.targets.some((target) => target.type === 'name' && target.id === object.id)
          ? [this.#text(statement.value.callee)]
          : [],
      )
      .join(' ');
  }

  #fresh(wanted: string): string {
    const name = freshName(this.#context.source, wanted, this.#taken);
    this.#taken.add(name);
    return name;
  }

  #statisticName(node: Expr): string {
    const call = [...expressionsIn(node)].find(
      (part): part is Call => part.type === 'call' && part.callee.type === 'attribute',
    );
    const callee = call?.callee.type === 'attribute' ? call.callee : undefined;
    const column = callee?.object.type === 'subscript' ? callee.object.indices.at(-1) : undefined;
    const subject =
      column?.type === 'constant'
        ? String(column.value)
        : column?.type === 'name'
          ? column.id
          : callee?.object.type === 'attribute'
            ? callee.object.name
            : 'train';
    return this.#fresh(`${subject}_${callee?.name ?? 'statistic'}`);
  }
}

function partFor(parts: Parts, side: Side): string {
  return typeof side === 'string' ? parts[side] : side.piece;
}

/** `column.median()`, `np.mean(column)`: a few numbers for many rows. */
function isReduction(node: Call): boolean {
  const { callee } = node;
  if (callee.type !== 'attribute') return false;
  if (callee.object.type === 'name' && /^(np|numpy|torch)$/.test(callee.object.id)) {
    return /^(nan)?(mean|median|std|var|min|max|percentile|quantile|sum)$/.test(callee.name);
  }
  return STATISTIC_METHODS.has(callee.name);
}

/** `frame['zone'].mode()[0]`: what is taken from the statistic belongs to it. */
function withSuffix(statement: Stmt, node: Expr): Expr {
  let whole = node;
  for (const inner of statementsIn(statement)) {
    for (const own of ownExpressions(inner)) {
      for (const part of expressionsIn(own)) {
        const holds = (part.type === 'subscript' || part.type === 'attribute') && part.object === whole;
        if (holds && part.end > whole.end) whole = part;
      }
    }
  }
  return whole;
}

function insideLambda(statement: Stmt, node: Expr): boolean {
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.type === 'lambda' && part.start <= node.start && part.end >= node.end) return true;
    }
  }
  return false;
}

/** `StandardScaler()` in `StandardScaler().fit_transform(X)`: it needs a name to transform the other part with. */
function constructedFits(statement: Stmt): Call[] {
  const objects: Call[] = [];
  for (const own of ownExpressions(statement)) {
    for (const part of expressionsIn(own)) {
      if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
      if (!/^fit_(transform|predict)$/.test(part.callee.name)) continue;
      if (part.callee.object.type === 'call') objects.push(part.callee.object);
    }
  }
  return objects;
}

function objectName(call: Call): string {
  const name = call.callee.type === 'attribute' ? call.callee.name : (rootName(call.callee) ?? 'transformer');
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2');
}
