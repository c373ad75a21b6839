import type { Leak } from '../findings/judge.js';
import { FIT_METHODS } from '../knowledge/methods.js';
import type { Call, Expr, Span, Stmt } from '../syntax/ast.js';
import {
  expressionsIn,
  namesIn,
  namesInExpression,
  ownExpressions,
  rootName,
  statementsIn,
  suitesOf,
} from '../syntax/walk.js';
import {
  declined,
  edited,
  freshName,
  type RepairContext,
  type Rewrite,
  statementsOf,
  type TextEdit,
} from './context.js';
import { readSelections, readSplitCall, type SplitPart, type SplitStatement } from './split-parts.js';

const MOVABLE = new Set([
  'scaling',
  'imputation',
  'encoding',
  'target-encoding',
  'projection',
  'vocabulary',
  'clustering',
  'binning',
  'statistics',
  'group-statistics',
  'feature-selection',
]);

/** Columns are taken from a frame, or the frame is copied: its other columns stay what they were. */
const DERIVING = /^(drop|copy|get_dummies|reset_index|select_dtypes|pop|astype)$/;

type Side = 'train' | 'test';

/**
 * Moves fits and statistics behind the split: the split gets what they were applied to, then each of them is
 * made on the training part and applied to both parts.
 */
export function moveBehindSplit(context: RepairContext): Rewrite {
  const leaks = context.leaks.filter((leak) => MOVABLE.has(leak.kind));
  const statements = statementsOf(context);
  const [leak] = leaks;
  if (leak === undefined) return declined('no fit of this block can be moved');
  const split =
    statements.map(readSplitCall).find((found) => found !== undefined) ?? readSelections(statements, leak);
  if (split === undefined)
    return declined('the split does not stand in the block in a form that can be rewritten');
  return new Mover(context, leaks, statements, split).run();
}

class Mover {
  private readonly moved: Stmt[] = [];
  private readonly after: Stmt[] = [];
  private readonly newRows = new Map<string, { source: Expr; statement: Stmt }>();
  private readonly statistics = new Set<string>();
  private readonly fitted = new Set<string>();
  /** Frames that a moved statement changes in place, and frames made from them. */
  private readonly changed = new Map<string, string>();
  private readonly taken = new Set<string>();

  constructor(
    private readonly context: RepairContext,
    private readonly leaks: readonly Leak[],
    private readonly statements: readonly Stmt[],
    private readonly split: SplitStatement,
  ) {}

  run(): Rewrite {
    const before = this.statements.filter((statement) => statement.start < this.split.statement.start);
    for (const statement of before) {
      const problem = this.sort(statement);
      if (problem !== undefined) return declined(problem);
    }
    if (this.moved.length === 0) return declined('nothing in the block can be moved behind the split');
    const mapping = this.mapping();
    if (typeof mapping === 'string') return declined(mapping);
    const problem = this.usedLater(mapping) ?? this.overwritten(before);
    if (problem !== undefined) return declined(problem);
    const lines: string[] = [];
    for (const statement of this.moved) {
      const text = this.replay(statement, mapping, '');
      if (typeof text !== 'string') return declined(text.problem);
      lines.push(text);
    }
    for (const statement of this.after)
      lines.push(this.indented(this.context.source.slice(statement.start, statement.end)));
    return { text: this.assemble(lines, mapping) };
  }

  private text(span: Span): string {
    return this.context.source.slice(span.start, span.end);
  }

  private isLeaky(statement: Stmt): boolean {
    return this.leaks.some((leak) => leak.node.start >= statement.start && leak.node.end <= statement.end);
  }

  /** Decides whether a statement stays, moves, or only comes later. A text says why neither is possible. */
  private sort(statement: Stmt): string | undefined {
    const reads = new Set([...namesIn(statement)].map((name) => name.id));
    const touches =
      this.isLeaky(statement) ||
      [...reads].some((name) => this.newRows.has(name) || this.statistics.has(name));
    if (touches) {
      this.moved.push(statement);
      this.note(statement);
      return undefined;
    }
    if ([...reads].some((name) => this.fitted.has(name))) {
      if (
        statement.type === 'assign' &&
        statement.value.type === 'call' &&
        !this.mentions(statement.value, this.fitted)
      )
        return undefined;
      this.after.push(statement);
      return undefined;
    }
    const frames = [...reads].filter((name) => this.changed.has(name));
    if (frames.length === 0) return undefined;
    return this.derives(statement, frames);
  }

  private mentions(expression: Expr, names: ReadonlySet<string>): boolean {
    return [...namesInExpression(expression)].some((name) => names.has(name.id));
  }

  /** What a moved statement leaves behind: fitted objects, statistics, new tables, changed frames. */
  private note(statement: Stmt): void {
    for (const inner of statementsIn(statement)) {
      for (const own of ownExpressions(inner)) {
        for (const part of expressionsIn(own)) {
          if (part.type !== 'call' || part.callee.type !== 'attribute') continue;
          const owner = part.callee.object;
          if (FIT_METHODS.has(part.callee.name) && owner.type === 'name') this.fitted.add(owner.id);
          if (part.args.some((argument) => argument.name === 'inplace')) {
            const frame = rootName(owner);
            if (frame !== undefined) this.changed.set(frame, frame);
          }
        }
      }
      if (inner.type !== 'assign' && inner.type !== 'augmented') continue;
      const [target] = inner.type === 'assign' ? inner.targets : [inner.target];
      if (target?.type === 'subscript' || target?.type === 'attribute') {
        const frame = rootName(target);
        if (frame !== undefined) this.changed.set(frame, frame);
      } else if (target?.type === 'name') {
        const value = inner.type === 'assign' ? inner.value : undefined;
        if (value !== undefined && this.isStatistic(value)) this.statistics.add(target.id);
        else if (value !== undefined && this.mentionsName(value, target.id))
          this.changed.set(target.id, target.id);
        else if (value?.type === 'call' && value.callee.type === 'attribute' && value.callee.name === 'fit')
          this.fitted.add(target.id);
        else if (value !== undefined) this.newRows.set(target.id, { source: value, statement });
      }
    }
  }

  private mentionsName(expression: Expr, id: string): boolean {
    return [...namesInExpression(expression)].some((name) => name.id === id);
  }

  /** An expression that gives numbers over all rows, and no rows. */
  private isStatistic(value: Expr): boolean {
    const inside = this.leaks.filter((leak) => leak.node.start >= value.start && leak.node.end <= value.end);
    const [only] = inside;
    if (only === undefined || !/^(statistics|group-statistics|feature-selection)$/.test(only.kind))
      return false;
    const { node } = only;
    if (node.type === 'call' && node.callee.type === 'attribute' && node.callee.name === 'transform')
      return false;
    return [...namesInExpression(value)].every(
      (name) =>
        inside.some((leak) => name.start >= leak.node.start && name.end <= leak.node.end) ||
        /^(np|pd|float|int|list|dict)$/.test(name.id) ||
        !this.isRowName(name.id),
    );
  }

  private isRowName(id: string): boolean {
    return this.leaks.some((leak) => [...namesInExpression(leak.node)].some((name) => name.id === id));
  }

  /** A statement that reads a changed frame may stay only where it takes columns from it. */
  private derives(statement: Stmt, frames: readonly string[]): string | undefined {
    const line = `line ${this.context.source.slice(0, statement.start).split('\n').length}`;
    if (
      statement.type === 'expression' &&
      statement.value.type === 'call' &&
      rootName(statement.value.callee) === 'print'
    )
      return undefined;
    if (statement.type !== 'assign') return `${line} reads what the fit changes`;
    const pairs: [Expr | undefined, Expr][] =
      statement.targets[0]?.type === 'sequence' && statement.value.type === 'sequence'
        ? statement.value.items.map((value, at) => [
            statement.targets[0]?.type === 'sequence' ? statement.targets[0].items[at] : undefined,
            value,
          ])
        : [[statement.targets[0], statement.value]];
    for (const [target, value] of pairs) {
      if (![...namesInExpression(value)].some((name) => frames.includes(name.id))) continue;
      const frame = this.derivation(value);
      if (frame === undefined || target?.type !== 'name') return `${line} computes with what the fit changes`;
      this.changed.set(target.id, this.changed.get(frame) ?? frame);
    }
    return undefined;
  }

  private derivation(value: Expr): string | undefined {
    if (value.type === 'name') return value.id;
    if (value.type === 'attribute') return value.object.type === 'name' ? value.object.id : undefined;
    if (value.type === 'subscript') {
      const [index] = value.indices;
      const columns =
        index?.type === 'constant' ||
        index?.type === 'sequence' ||
        index?.type === 'name' ||
        index?.type === 'binary' ||
        index?.type === 'comprehension';
      return value.object.type === 'name' && columns ? value.object.id : undefined;
    }
    if (value.type !== 'call' || value.callee.type !== 'attribute' || !DERIVING.test(value.callee.name))
      return undefined;
    const [first] = value.args;
    if (value.callee.name === 'get_dummies') return first?.value.type === 'name' ? first.value.id : undefined;
    return this.derivation(value.callee.object);
  }

  /** For each variable that moved statements work on: the variables of its two parts, and the new split. */
  private mapping(): Mapping | string {
    const sides = new Map<string, SplitPart>();
    const edits: TextEdit[] = [];
    const expressions: { text: string; part: SplitPart }[] = [];
    for (const part of this.split.parts) {
      const { source } = part;
      if (source.type !== 'name') {
        const frame = this.derivation(source);
        if (frame !== undefined && this.changed.has(frame)) sides.set(this.changed.get(frame) ?? frame, part);
        else if (frame !== undefined && !sides.has(frame))
          expressions.push({ text: this.text(source), part });
        continue;
      }
      const made = this.newRows.get(source.id);
      if (made !== undefined) {
        const input = this.inputOf(source.id);
        if (input === undefined || !this.split.byCall)
          return `what \`${source.id}\` is made from is not one table`;
        edits.push({ start: source.start, end: source.end, text: this.text(input) });
        sides.set(source.id, part);
        if (input.type === 'name') sides.set(input.id, part);
        else expressions.push({ text: this.text(input), part });
        continue;
      }
      sides.set(source.id, part);
      const root = this.changed.get(source.id);
      if (root !== undefined && !sides.has(root)) sides.set(root, part);
    }
    return { sides, expressions, edits };
  }

  /** The one table expression that a new table is computed from, through other new tables. */
  private inputOf(id: string): Expr | undefined {
    const inputs = new Map<string, Expr>();
    const visit = (name: string, depth: number): boolean => {
      const made = this.newRows.get(name);
      if (made === undefined || depth > 6) return false;
      for (const input of this.tableInputs(made.source)) {
        if (input.type === 'name' && this.newRows.has(input.id)) {
          if (!visit(input.id, depth + 1)) return false;
        } else inputs.set(this.text(input), input);
      }
      return true;
    };
    if (!visit(id, 0) || inputs.size !== 1) return undefined;
    return [...inputs.values()][0];
  }

  /** Arguments of the fits and the other calls in an expression that are tables. */
  private tableInputs(value: Expr): Expr[] {
    if (value.type === 'name') return [value];
    if (value.type === 'subscript' || value.type === 'attribute') {
      return value.type === 'attribute' && value.object.type === 'call'
        ? this.tableInputs(value.object)
        : [value];
    }
    if (value.type === 'binary')
      return [...this.tableInputs(value.left), ...this.tableInputs(value.right)].filter(
        (part) => !(part.type === 'name' && this.statistics.has(part.id)),
      );
    if (value.type !== 'call') return [];
    const { callee } = value;
    const inputs =
      callee.type === 'attribute' && !this.isObject(callee.object) ? this.tableInputs(callee.object) : [];
    for (const argument of value.args) {
      if (argument.name !== undefined && !/^(X|data)$/.test(argument.name)) continue;
      if (argument.value.type !== 'constant') inputs.push(...this.tableInputs(argument.value));
    }
    const first = inputs[0];
    // A second positional argument of a fit is the label.
    const isFit = callee.type === 'attribute' && FIT_METHODS.has(callee.name);
    return isFit && first !== undefined ? [first] : inputs;
  }

  private isObject(owner: Expr): boolean {
    return (
      owner.type === 'call' ||
      (owner.type === 'name' && (this.fitted.has(owner.id) || /^(np|pd|pl|torch)$/.test(owner.id)))
    );
  }

  /** New tables and changed frames may not be read after the split: they hold something else then. */
  private usedLater(mapping: Mapping): string | undefined {
    const { suite } = this.split.statement;
    const at = suite.statements.indexOf(this.split.statement);
    const later = suite.statements.slice(at + 1);
    const gone = [...this.newRows.keys(), ...this.changed.keys()];
    for (const statement of later) {
      for (const name of namesIn(statement)) {
        if (!gone.includes(name.id)) continue;
        const parts = [...mapping.sides.values()];
        if (parts.some((part) => part.train === name.id || part.test === name.id)) continue;
        const isStored = statement.type === 'assign' && statement.targets.some((target) => target === name);
        if (isStored) {
          gone.splice(gone.indexOf(name.id), 1);
          continue;
        }
        const line = this.context.source.slice(0, name.start).split('\n').length;
        return `\`${name.id}\` is read again after the split (line ${line})`;
      }
      if (gone.length === 0) break;
    }
    return undefined;
  }

  /** Statements that stay must not change what moved statements read. */
  private overwritten(before: readonly Stmt[]): string | undefined {
    for (const statement of this.moved) {
      const reads = new Set([...namesIn(statement)].map((name) => name.id));
      for (const other of before) {
        if (other.start <= statement.start || this.moved.includes(other) || other.type !== 'assign') continue;
        for (const target of other.targets) {
          if (target.type === 'name' && reads.has(target.id) && !this.changed.has(target.id))
            return `\`${target.id}\` is assigned between the fit and the split`;
        }
      }
    }
    return undefined;
  }

  /** The text of a moved statement after the split: once for the training part, once for the test part. */
  private replay(statement: Stmt, mapping: Mapping, indent: string): string | { problem: string } {
    const suites = suitesOf(statement);
    if (suites.length > 0) return this.replayCompound(statement, mapping, indent);
    if (
      statement.type === 'assign' &&
      statement.targets[0]?.type === 'name' &&
      this.statistics.has(statement.targets[0].id)
    ) {
      return this.forSide(statement, mapping, 'train', new Map());
    }
    const extracted = new Map<Expr, string>();
    const lines: string[] = [];
    for (const leak of this.leaks) {
      const { node } = leak;
      if (node.start < statement.start || node.end > statement.end || !this.isStatisticNode(node)) continue;
      const name = this.statisticName(node);
      extracted.set(node, name);
      lines.push(`${name} = ${this.forSide(node, mapping, 'train', new Map())}`);
    }
    const constructed = this.constructedFit(statement);
    if (constructed !== undefined) {
      lines.push(`${constructed.name} = ${this.text(constructed.node)}`);
      extracted.set(constructed.node, constructed.name);
    }
    const touchesRows =
      [...namesIn(statement)].some((name) => mapping.sides.has(name.id)) ||
      mapping.expressions.some(({ text }) => this.text(statement).includes(text));
    if (!touchesRows) return { problem: 'a moved statement does not say which rows it works on' };
    lines.push(this.forSide(statement, mapping, 'train', extracted));
    const test = this.forSide(statement, mapping, 'test', extracted);
    if (!this.onlyFits(statement)) lines.push(test);
    if (this.onlyFits(statement) && extracted.size > 0)
      return { problem: 'a statistic is not applied where it is computed' };
    return lines.join(`\n${indent}`);
  }

  private replayCompound(statement: Stmt, mapping: Mapping, indent: string): string | { problem: string } {
    if (statement.type !== 'for' && statement.type !== 'if')
      return { problem: 'the fit stands in a compound statement' };
    const suites = suitesOf(statement);
    const [body] = suites;
    const [firstInner] = body?.statements ?? [];
    if (suites.length !== 1 || body === undefined || firstInner === undefined)
      return { problem: 'the fit stands in a branch' };
    const header = this.text({ start: statement.start, end: firstInner.start });
    const colon = header.lastIndexOf(':');
    if (!header.includes('\n') || header.includes('#'))
      return { problem: 'the fit stands in a one-line compound statement' };
    const inner = `${indent}${this.innerIndent(statement, firstInner)}`;
    const own = ownExpressions(statement);
    const condition = statement.type === 'if' ? own[0] : undefined;
    let head = this.forSide(
      { start: statement.start, end: statement.start + colon },
      mapping,
      'train',
      new Map(),
    );
    if (
      condition !== undefined &&
      [...namesInExpression(condition)].some((name) => mapping.sides.has(name.id))
    ) {
      const [a, b] = [
        this.forSide(condition, mapping, 'train', new Map()),
        this.forSide(condition, mapping, 'test', new Map()),
      ];
      head = `if ${a} or ${b}`;
    }
    const lines = [`${head}:`];
    for (const part of body.statements) {
      const touches =
        this.isLeaky(part) ||
        [...namesIn(part)].some((name) => mapping.sides.has(name.id) || this.statistics.has(name.id));
      if (!touches) {
        lines.push(this.indented(this.text(part)));
        continue;
      }
      const text = this.replay(part, mapping, inner);
      if (typeof text !== 'string') return text;
      lines.push(text);
    }
    return lines.join(`\n${inner}`);
  }

  private innerIndent(outer: Stmt, inner: Stmt): string {
    return ' '.repeat(Math.max(1, this.column(inner) - this.column(outer)));
  }

  private column(span: Span): number {
    return span.start - (this.context.source.lastIndexOf('\n', span.start - 1) + 1);
  }

  private indented(text: string): string {
    return text;
  }

  /** Whether a statement fits something and gives no rows (`scaler.fit(X)`). */
  private onlyFits(statement: Stmt): boolean {
    const value =
      statement.type === 'expression' || statement.type === 'assign' ? statement.value : undefined;
    return (
      value?.type === 'call' &&
      value.callee.type === 'attribute' &&
      /^(fit|fit_on_texts|adapt)$/.test(value.callee.name)
    );
  }

  private isStatisticNode(node: Expr): boolean {
    if (node.type !== 'call') return false;
    const { callee } = node;
    const name = callee.type === 'attribute' ? callee.name : '';
    return !FIT_METHODS.has(name) && name !== 'transform';
  }

  private statisticName(node: Expr): string {
    const callee = node.type === 'call' && node.callee.type === 'attribute' ? node.callee : undefined;
    const column = callee?.object.type === 'subscript' ? callee.object.indices[0] : undefined;
    const subject =
      column?.type === 'constant'
        ? String(column.value)
        : column?.type === 'name'
          ? column.id
          : callee?.object.type === 'attribute'
            ? callee.object.name
            : 'train';
    const name = freshName(this.context.source, `${subject}_${callee?.name ?? 'statistic'}`, this.taken);
    this.taken.add(name);
    return name;
  }

  /** `StandardScaler().fit_transform(X)`: the object needs a name to transform the other part with. */
  private constructedFit(statement: Stmt): { node: Call; name: string } | undefined {
    for (const own of ownExpressions(statement)) {
      for (const part of expressionsIn(own)) {
        if (part.type !== 'call' || part.callee.type !== 'attribute' || !FIT_METHODS.has(part.callee.name))
          continue;
        const { object } = part.callee;
        if (
          object.type !== 'call' ||
          (object.callee.type === 'attribute' && FIT_METHODS.has(object.callee.name))
        )
          continue;
        const base = rootName(object.callee) ?? 'transformer';
        const plain = (object.callee.type === 'attribute' ? object.callee.name : base).replaceAll(
          /([a-z0-9])([A-Z])/g,
          '$1_$2',
        );
        const name = freshName(this.context.source, plain, this.taken);
        this.taken.add(name);
        return { node: object, name };
      }
    }
    return undefined;
  }

  /** Text with the variables of one part in place of the undivided ones. */
  private forSide(
    span: Span | Stmt | Expr,
    mapping: Mapping,
    side: Side,
    extracted: ReadonlyMap<Expr, string>,
  ): string {
    const edits: TextEdit[] = [...extracted].map(([node, name]) => ({
      start: node.start,
      end: node.end,
      text: name,
    }));
    const isCovered = (part: Span): boolean =>
      edits.some((edit) => part.start < edit.end && edit.start < part.end);
    for (const statement of this.moved) {
      for (const part of this.allExpressions(statement)) {
        if (part.start < span.start || part.end > span.end || isCovered(part)) continue;
        const whole = mapping.expressions.find(
          ({ text }) => (part.type === 'subscript' || part.type === 'attribute') && this.text(part) === text,
        );
        if (whole !== undefined) edits.push({ start: part.start, end: part.end, text: whole.part[side] });
        else if (part.type === 'name') {
          const found = mapping.sides.get(part.id);
          const label = this.split.parts.find((candidate) => this.text(candidate.source) === part.id);
          const text = found?.[side] ?? label?.[side];
          if (text !== undefined) edits.push({ start: part.start, end: part.end, text });
        }
      }
    }
    if (side === 'test') edits.push(...this.transformInstead(span));
    return edited(this.context.source, span, edits);
  }

  private *allExpressions(statement: Stmt): Generator<Expr> {
    for (const inner of statementsIn(statement)) {
      for (const own of ownExpressions(inner)) yield* expressionsIn(own);
    }
  }

  /** `fit_transform(X, y)` on the training part is `transform(X)` on the other. */
  private transformInstead(span: Span): TextEdit[] {
    const edits: TextEdit[] = [];
    for (const statement of this.moved) {
      for (const part of this.allExpressions(statement)) {
        if (
          part.type !== 'call' ||
          part.callee.type !== 'attribute' ||
          part.start < span.start ||
          part.end > span.end
        )
          continue;
        const { name, end } = part.callee;
        if (name !== 'fit_transform' && name !== 'fit_predict') continue;
        edits.push({
          start: end - name.length,
          end,
          text: name === 'fit_transform' ? 'transform' : 'predict',
        });
        const [first, second] = part.args;
        if (first !== undefined && second !== undefined)
          edits.push({ start: first.value.end, end: part.end - 1, text: '' });
      }
    }
    return edits;
  }

  /** The block: statements that stay, the split, then what was moved; other lines as they were. */
  private assemble(lines: readonly string[], mapping: Mapping): string {
    const { source, block, lineEnding } = this.context;
    const gone = [...this.moved, ...this.after];
    const kept: string[] = [];
    let at = block.start;
    const take = (end: number): void => {
      kept.push(source.slice(at, end));
      at = end;
    };
    for (const statement of [...gone].sort((a, b) => a.start - b.start)) {
      const lineStart = source.lastIndexOf('\n', statement.start - 1) + 1;
      const lineEnd = source.indexOf('\n', Math.max(statement.end - 1, statement.start));
      if (lineStart >= at) take(lineStart);
      at = lineEnd < 0 || lineEnd > block.end ? block.end : lineEnd + 1;
    }
    const rest = { start: at, end: block.end };
    kept.push(edited(source, rest, mapping.edits));
    const indent = ' '.repeat(this.column(this.split.statement));
    const added = lines.map((line) => `${indent}${line}`).join('\n');
    const text = kept
      .join('')
      .replaceAll('\r\n', '\n')
      .replace(/^\n+(?=\S)/, '');
    return `${text}\n${added}`.replaceAll('\r\n', '\n').replaceAll('\n', lineEnding);
  }
}

interface Mapping {
  readonly sides: ReadonlyMap<string, SplitPart>;
  readonly expressions: readonly { readonly text: string; readonly part: SplitPart }[];
  readonly edits: readonly TextEdit[];
}
