import type { Call, Expr, Stmt } from '../../syntax/ast.js';
import { calleeName, namesIn, namesInExpression, rootName, statementsIn } from '../../syntax/walk.js';
import { declined, edited, freshName, type RepairContext, type Rewrite, type TextEdit } from '../context.js';
import { learnsFromRows } from '../learns-from-rows.js';
import { worksRowByRow } from '../move/dependence.js';
import type { Parts } from '../move/mapping.js';
import { readSplitCall } from '../split-parts.js';
import { type Copying, copyingOf } from './copying.js';
import { laterThan } from './later-statements.js';
import { NotCopies } from './row-copies.js';

/**
 * Rows are copied, altered or sampled before `train_test_split`: the table is divided first, and only its training part goes
 * through the lines that copy. What both parts are made into afterwards is said of both, what is shown is that of the
 * training part.
 */
export function divideBeforeCopying(context: RepairContext): Rewrite {
  try {
    const split = laterSplit(context);
    if (split === undefined) return declined('the split is not in the block in a form that can be rewritten');
    const copying = copyingOf(context, split.statement);
    return new DividedFirst(context, copying, split).rewrite();
  } catch (error) {
    if (error instanceof NotCopies) return declined(error.message);
    throw error;
  }
}

interface LaterSplit {
  readonly statement: Stmt;
  readonly call: Call;
  readonly sources: readonly Expr[];
  /** Variables of the parts; nothing if a function returns them. */
  readonly parts: readonly Parts[] | undefined;
}

/** The `train_test_split` that divides the copied rows, assigned or returned, in the suite in which they are copied. */
function laterSplit({ leaks }: RepairContext): LaterSplit | undefined {
  const [leak] = leaks;
  if (leak === undefined || leaks.some(({ split }) => split?.statement !== leak.split?.statement))
    return undefined;
  const { statement } = leak;
  return statement.suite.statements
    .filter((other) => other.start > statement.start)
    .map(readLaterSplit)
    .find((found) => found !== undefined);
}

function readLaterSplit(statement: Stmt): LaterSplit | undefined {
  const call = statement.type === 'return' || statement.type === 'assign' ? statement.value : undefined;
  if (call?.type !== 'call' || calleeName(call) !== 'train_test_split') return undefined;
  const sources = call.args.filter(({ name }) => name === undefined).map(({ value }) => value);
  if (call.args.some(({ star }) => star !== '')) return undefined;
  if (statement.type === 'return') return { statement, call, sources, parts: undefined };
  const split = readSplitCall(statement);
  return split === undefined ? undefined : { statement, call, sources, parts: split.parts };
}

class DividedFirst {
  readonly #context: RepairContext;
  readonly #copying: Copying;
  readonly #split: LaterSplit;
  readonly #taken = new Set<string>();
  /** Parts of the tables that are divided, by their names before. */
  readonly #parts = new Map<string, Parts>();
  /** Parts of what is made of the copied rows and divided. */
  readonly #made = new Map<string, Parts>();

  constructor(context: RepairContext, copying: Copying, split: LaterSplit) {
    this.#context = context;
    this.#copying = copying;
    this.#split = split;
  }

  rewrite(): Rewrite {
    const { source, lineEnding } = this.#context;
    const { statements, first } = this.#copying;
    const { statement, sources } = this.#split;
    const indent = this.#copying.indent;
    this.#nameParts();
    const bases = [...this.#parts.keys()];
    const line = `${bases.map((base) => this.#namesOf(base)).join(', ')} = train_test_split(${[...bases, ...this.#options()].join(', ')})`;
    const edits: TextEdit[] = [
      {
        start: first.start,
        end: first.start,
        text: [...this.#imports(), line].map((text) => `${text}${lineEnding}${indent}`).join(''),
      },
    ];
    for (const one of statements) edits.push(...this.#said(one));
    edits.push(this.#instead(sources));
    this.#checkLater(statement);
    const block = {
      start: source.lastIndexOf('\n', first.start - 1) + 1,
      end: Math.max(statement.end, this.#context.block.end),
    };
    return { text: edited(source, block, joinedAt(edits, first.start)), block };
  }

  /** A table that is divided as it is keeps the names of its parts; what is made of one before gets names of its own. */
  #nameParts(): void {
    const { finals } = this.#copying;
    const { sources, parts } = this.#split;
    const fresh = (wanted: string): string => {
      const name = freshName(this.#context.source, wanted, this.#taken);
      this.#taken.add(name);
      return name;
    };
    sources.forEach((value, at) => {
      const name = value.type === 'name' ? value.id : undefined;
      const base = name === undefined ? undefined : finals.get(name);
      const own = parts?.[at] ?? {
        train: fresh(`${name ?? 'part'}_train`),
        test: fresh(`${name ?? 'part'}_test`),
      };
      if (base !== undefined) {
        if (this.#parts.has(base)) throw new NotCopies(`\`${base}\` is divided twice`);
        this.#parts.set(base, own);
      } else if (name !== undefined) this.#made.set(name, own);
    });
    for (const base of this.#copying.bases) {
      if (this.#parts.has(base)) continue;
      this.#parts.set(base, { train: fresh(`${base}_train`), test: fresh(`${base}_test`) });
    }
    for (const name of this.#copying.projections) {
      if (!this.#made.has(name) && !finals.has(name))
        this.#made.set(name, { train: fresh(`${name}_train`), test: fresh(`${name}_test`) });
    }
  }

  #namesOf(base: string): string {
    const parts = this.#parts.get(base);
    return `${parts?.train}, ${parts?.test}`;
  }

  #imports(): string[] {
    const { callee } = this.#split.call;
    if (callee.type !== 'name') throw new NotCopies('the split is called by the name of its module');
    const { first } = this.#copying;
    const isImported = this.#context.module.body.statements.some(
      (statement) =>
        statement.type === 'import' &&
        statement.start < first.start &&
        statement.bindings.some(({ name }) => name === callee.id),
    );
    const isInSuite = this.#copying.statements.some(
      (statement) => statement.type === 'import' && statement.bindings.some(({ name }) => name === callee.id),
    );
    if (!isImported && !isInSuite) throw new NotCopies('where the split is imported is not known');
    return isImported ? [] : ['from sklearn.model_selection import train_test_split'];
  }

  /** The options of the split, with the labels as they are before the rows are copied. */
  #options(): string[] {
    const { finals, statements } = this.#copying;
    const assigned = new Set(
      statements.flatMap((statement) =>
        [...statementsIn(statement)].flatMap((inner) =>
          inner.type === 'assign' ? inner.targets.flatMap((target) => rootName(target) ?? []) : [],
        ),
      ),
    );
    return this.#split.call.args.flatMap(({ name, value }) => {
      if (name === undefined) return [];
      const text = this.#before(value);
      const isKnown = [...namesInExpression(value)].every(
        ({ id }) => finals.has(id) || this.#made.has(id) || !assigned.has(id),
      );
      if (!isKnown || text === undefined)
        throw new NotCopies(`\`${name}\` of the split is not known before the rows are copied`);
      return [`${name}=${text}`];
    });
  }

  /** An expression over copied rows, said of the rows before they are copied. */
  #before(value: Expr): string | undefined {
    const edits: TextEdit[] = [];
    for (const name of namesInExpression(value)) {
      const base = this.#copying.finals.get(name.id);
      if (base !== undefined) edits.push({ start: name.start, end: name.end, text: base });
      else if (this.#made.has(name.id)) {
        const made = this.#madeBefore(name.id);
        if (made === undefined) return undefined;
        edits.push({ start: name.start, end: name.end, text: made });
      }
    }
    return edited(this.#context.source, value, edits);
  }

  /** `y = frame["label"]`: the value of the only line that makes it. */
  #madeBefore(name: string): string | undefined {
    const values = this.#copying.statements.flatMap((statement) => {
      if (statement.type !== 'assign') return [];
      return statement.targets.flatMap((target) => {
        if (target.type === 'name' && target.id === name) return [statement.value];
        if (target.type !== 'sequence' || statement.value.type !== 'sequence') return [];
        const at = target.items.findIndex((item) => item.type === 'name' && item.id === name);
        return at < 0 ? [] : [statement.value.items[at]];
      });
    });
    const [only, ...others] = values;
    if (only === undefined || others.length > 0) return undefined;
    const isFinal = [...namesInExpression(only)].every(({ id }) => !this.#made.has(id));
    return isFinal ? this.#before(only) : undefined;
  }

  #said(statement: Stmt): TextEdit[] {
    const { source, lineEnding } = this.#context;
    const { indent } = this.#copying;
    const role = this.#copying.roles.get(statement);
    if (role === undefined) return [];
    if (role !== 'projects') return this.#renamed(statement, 'train');
    if (!worksRowByRow(statement) || learnsFromRows(this.#context.module, statement))
      throw new NotCopies('a step between the copying and the split works on all rows together');
    const lines = (['train', 'test'] as const).map((side) =>
      edited(source, statement, this.#renamed(statement, side)),
    );
    const whole = edited(source, statement, this.#ofBases(statement));
    if (this.#isReadLater(statement)) lines.unshift(whole);
    return [
      {
        start: statement.start,
        end: statement.end,
        text: lines.join(`${lineEnding}${indent}`),
      },
    ];
  }

  #renamed(statement: Stmt, side: keyof Parts): TextEdit[] {
    const { finals, bases, copiedFrom } = this.#copying;
    return [...namesIn(statement)].flatMap(({ id, start, end }) => {
      // A table is still whole where its copied rows have a name of their own.
      const isCopiedNow = bases.includes(id) && end <= (copiedFrom.get(id) ?? 0);
      const base = finals.get(id) ?? (isCopiedNow ? id : undefined);
      const parts = this.#made.get(id) ?? (base === undefined ? undefined : this.#parts.get(base));
      return parts === undefined ? [] : [{ start, end, text: parts[side] }];
    });
  }

  #ofBases(statement: Stmt): TextEdit[] {
    return [...namesIn(statement)].flatMap(({ id, start, end }) => {
      const base = this.#copying.finals.get(id);
      return base === undefined ? [] : [{ start, end, text: base }];
    });
  }

  /** What stands for the split: nothing, or the columns that it took. */
  #instead(sources: readonly Expr[]): TextEdit {
    const { source, lineEnding } = this.#context;
    const { statement, parts } = this.#split;
    const lines: string[] = [];
    const returned: string[] = [];
    sources.forEach((value, at) => {
      const known = value.type === 'name' ? (this.#partsOf(value.id) ?? undefined) : undefined;
      if (known !== undefined) {
        returned.push(known.train, known.test);
        return;
      }
      const own = parts?.[at];
      if (own === undefined) throw new NotCopies('what is divided has no name');
      const said = (side: keyof Parts): string =>
        edited(
          source,
          value,
          [...namesInExpression(value)].flatMap((name) => {
            const part = this.#partsOf(name.id);
            return part === undefined ? [] : [{ start: name.start, end: name.end, text: part[side] }];
          }),
        );
      if (said('train') === said('test')) throw new NotCopies('something else is divided as well');
      lines.push(`${own.train}, ${own.test} = ${said('train')}, ${said('test')}`);
    });
    if (statement.type === 'return')
      return { start: statement.start, end: statement.end, text: `return ${returned.join(', ')}` };
    return lines.length === 0
      ? { start: lineBreakBefore(source, statement), end: statement.end, text: '' }
      : {
          start: statement.start,
          end: statement.end,
          text: lines.join(`${lineEnding}${this.#copying.indent}`),
        };
  }

  #partsOf(name: string): Parts | undefined {
    const base = this.#copying.finals.get(name);
    return this.#made.get(name) ?? (base === undefined ? undefined : this.#parts.get(base));
  }

  /** Whether a later line reads what a statement makes. */
  #isReadLater(statement: Stmt): boolean {
    const targets = new Set(
      statement.type === 'assign'
        ? statement.targets.flatMap((target) => [...namesInExpression(target)].map(({ id }) => id))
        : [],
    );
    return [...laterThan(this.#split.statement)].some((later) =>
      [...namesIn(later)].some(({ id }) => targets.has(id)),
    );
  }

  /** Tables that hold other rows now: later lines may read their columns, nothing else. */
  #checkLater(split: Stmt): void {
    const { module, source } = this.#context;
    const changed = this.#copying.changed;
    const replaced = new Set<string>(
      [...this.#parts.values(), ...this.#made.values()].flatMap(({ train, test }) => [train, test]),
    );
    const check = (statement: Stmt, unless: ReadonlySet<string>): void => {
      for (const { id, end, start } of namesIn(statement)) {
        if (!changed.has(id) || replaced.has(id) || unless.has(id)) continue;
        if (/^\s*\.\s*(columns\b|dtypes\b|shape\[-?1)/.test(source.slice(end, end + 30))) continue;
        if (isStored(statement, start)) continue;
        throw new NotCopies(
          `\`${id}\` is read again after the split (line ${source.slice(0, start).split('\n').length})`,
        );
      }
    };
    const known = new Set<string>();
    for (const later of laterThan(split)) {
      if (later.type !== 'function' && later.type !== 'class') check(later, known);
      if (later.type === 'assign')
        for (const target of later.targets) if (target.type === 'name') known.add(target.id);
    }
    for (const outer of module.body.statements) {
      for (const inner of statementsIn(outer)) {
        if (inner.type !== 'function' || holds(inner, split)) continue;
        const own = new Set(inner.params.map(({ name }) => name));
        for (const part of inner.body.statements.flatMap((one) => [...statementsIn(one)])) {
          if (part.type === 'assign')
            for (const target of part.targets.flatMap((one) => (one.type === 'sequence' ? one.items : [one])))
              if (target.type === 'name') own.add(target.id);
          if (part.type === 'for') for (const { id } of namesInExpression(part.target)) own.add(id);
        }
        check(inner, own);
      }
    }
  }
}

/** Where the line break before a statement is; the statement itself if there is none. */
function lineBreakBefore(source: string, { start }: Stmt): number {
  const at = source.lastIndexOf('\n', start - 1);
  return at < 0 ? start : source[at - 1] === '\r' ? at - 1 : at;
}

function isStored(statement: Stmt, at: number): boolean {
  return (
    statement.type === 'assign' &&
    statement.targets.some((target) => target.type === 'name' && target.start === at)
  );
}

function holds(outer: Stmt, inner: Stmt): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** Lines put in before a statement come before an edit at its very start. */
function joinedAt(edits: readonly TextEdit[], at: number): TextEdit[] {
  const [put, ...more] = edits.filter((edit) => edit.start === at);
  const next = more.find((edit) => edit.end > at);
  if (put === undefined || next === undefined) return [...edits];
  return [...edits.filter((edit) => edit !== put && edit !== next), { ...next, text: put.text + next.text }];
}
