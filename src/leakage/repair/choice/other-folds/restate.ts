import type { Expr, Module, Stmt } from '../../../syntax/ast.js';
import { statementsIn } from '../../../syntax/walk.js';
import { edited, type TextEdit } from '../../context.js';
import { isShown } from '../candidate-statements.js';
import { type FreeName, freeNamesIn, freeNamesOf } from './free-names.js';
import { NotCrossFitted } from './not-cross-fitted.js';
import { isNotOfRows, isOfKeys } from './not-of-rows.js';
import type { OutOfFold } from './out-of-fold.js';
import { type RowKind, rowsTaken } from './row-kinds.js';
import type { Tail } from './tail.js';

/** Says code once more for some of the rows. */
export class Restated {
  readonly #module: Module;
  readonly #oof: OutOfFold;
  readonly #tail: Tail;
  /** The names of the fold. */
  readonly #names: ReadonlyMap<string, string>;
  /** The statement before which the code is put: what it reads has to be as it was then. */
  readonly #site: Stmt;

  constructor(module: Module, oof: OutOfFold, tail: Tail, names: ReadonlyMap<string, string>, site: Stmt) {
    this.#module = module;
    this.#oof = oof;
    this.#tail = tail;
    this.#names = names;
    this.#site = site;
  }

  /**
   * What is applied, said of rows that it was not chosen on.
   * @param turns by which variable the candidates are tried, with the one that holds the best of them
   */
  applied(expression: Expr, rows: string, turns: ReadonlyMap<string, string>): string {
    const edits = [...freeNamesOf(expression)].flatMap((free) => {
      const { start, end, id } = free.name;
      const best = turns.get(id);
      if (best !== undefined) return [{ start, end, text: this.#names.get(best) ?? best }];
      const kind = this.#tail.kindOf(id);
      const isMade = kind.is === 'rows' || kind.is === 'list';
      if (isMade && this.#names.has(id))
        return [{ start, end, text: inside(free, this.applied(this.#definitionOf(id), rows, turns)) }];
      if (this.#tail.readsRows(id)) throw new NotCrossFitted(`\`${id}\` reads the rows from outside`);
      return this.#editsFor(free, rows);
    });
    return edited(this.#module.source, expression, edits);
  }

  #expression(expression: Expr, rows: string): string {
    const edits = [...freeNamesOf(expression)].flatMap((name) => this.#editsFor(name, rows));
    return edited(this.#module.source, expression, edits);
  }

  /** The lines of a statement, as they are where it is not indented. */
  lines(statement: Stmt, rows: string): string[] {
    const { source } = this.#module;
    const text = source.slice(statement.start, statement.end);
    if (/'''|"""/.test(text)) throw new NotCrossFitted('the choice holds a text over several lines');
    const edits = [...freeNamesIn(statement)].flatMap((name) => this.#editsFor(name, rows));
    if (statement.type === 'function') edits.push(...this.#named(statement.start, statement.name));
    const shown = [...statementsIn(statement)].filter((inner) => inner !== statement && isShown(inner));
    for (const inner of shown) {
      if (inner.suite.statements.every(isShown))
        throw new NotCrossFitted('the choice prints in a branch of its own');
      edits.push(this.#withoutLine(inner));
    }
    const ownEdits = edits.filter(
      (edit) =>
        !shown.some((inner) => edit.start >= inner.start && edit.end <= inner.end && edit.text !== ''),
    );
    const before = source.slice(source.lastIndexOf('\n', statement.start - 1) + 1, statement.start);
    const indent = before.trim() === '' ? before : '';
    return edited(source, statement, ownEdits)
      .split(/\r?\n/)
      .map((line, at) => (at > 0 && line.startsWith(indent) ? line.slice(indent.length) : line));
  }

  #withoutLine({ start, end }: Stmt): TextEdit {
    const { source } = this.#module;
    const from = source.lastIndexOf('\n', start - 1);
    if (/\S/.test(source.slice(from + 1, start))) throw new NotCrossFitted('two statements share a line');
    return { start: from, end, text: '' };
  }

  #named(from: number, name: string): TextEdit[] {
    const at = this.#module.source.indexOf(name, from + 'def'.length);
    const text = this.#names.get(name);
    return text === undefined ? [] : [{ start: at, end: at + name.length, text }];
  }

  #editsFor({ name, around }: FreeName, rows: string): TextEdit[] {
    const { start, end, id } = name;
    const renamed = this.#names.get(id);
    if (renamed !== undefined) return [{ start, end, text: renamed }];
    const table = this.#oof.tables.get(id);
    if (isNumberOfColumns(around)) return [];
    const kind = this.#tail.kindOf(id);
    if (table !== undefined) {
      if (kind.is === 'entries') return [entryEdit(this.#module, name, around, rows)];
      return [{ start, end, text: rowsTaken(id, table.access, rows) }];
    }
    return this.#editsOfMade({ name, around }, kind, rows);
  }

  /** Variables that were made after the folds. */
  #editsOfMade({ name, around }: FreeName, kind: RowKind, rows: string): TextEdit[] {
    const { start, end, id } = name;
    const [call] = around;
    switch (kind.is) {
      case 'rows':
        if (kind.isArray === true && !kind.isApplied) return [{ start, end, text: `${id}[${rows}]` }];
        return [
          { start, end, text: inside({ name, around }, this.#expression(this.#definitionOf(id), rows)) },
        ];
      case 'list':
      case 'entries':
        return [{ start, end, text: this.#expression(this.#definitionOf(id), rows) }];
      case 'learned':
        throw new NotCrossFitted(`where \`${id}\` is learned is not clear`);
      default:
        if (this.#tail.readsRows(id)) throw new NotCrossFitted(`\`${id}\` reads the rows from outside`);
        if (call?.type === 'call' && isOfKeys(this.#module, call, this.#site)) return [];
        if (kind.is !== 'function' && !isNotOfRows(this.#module, id, this.#site))
          throw new NotCrossFitted(`how the rows of \`${id}\` are taken is not known`);
        return [];
    }
  }

  #definitionOf(name: string): Expr {
    const made = this.#tail.statements.flatMap((statement) =>
      statement.type === 'assign' && statement.start < this.#site.start
        ? statement.targets.flatMap((target) =>
            target.type === 'name' && target.id === name ? [statement.value] : [],
          )
        : [],
    );
    const [value, ...others] = made;
    if (value === undefined || others.length > 0)
      throw new NotCrossFitted(`\`${name}\` is not made in one line`);
    return value;
  }
}

/** Code instead of a name: an argument needs no parentheses. */
function inside({ name, around: [parent] }: FreeName, text: string): string {
  return parent?.type === 'call' && parent.callee !== name ? text : `(${text})`;
}

/** `P.shape[1]`: the same for some of the rows. */
function isNumberOfColumns([attribute, subscript]: readonly Expr[]): boolean {
  if (attribute?.type !== 'attribute' || attribute.name !== 'shape' || subscript?.type !== 'subscript')
    return false;
  const [index] = subscript.indices;
  return index?.type === 'constant' && index.value === 1;
}

/** `oof[name]`, `oof.values()` of a dictionary of tables. */
function entryEdit(
  { source }: Module,
  name: FreeName['name'],
  [parent, call]: readonly Expr[],
  rows: string,
): TextEdit {
  if (parent?.type === 'subscript' && parent.object === name && parent.indices.length === 1)
    return { start: parent.end, end: parent.end, text: `[${rows}]` };
  const isCalled =
    parent?.type === 'attribute' && call?.type === 'call' && call.callee === parent && call.args.length === 0;
  if (isCalled && parent.name === 'values') {
    const text = source.slice(call.start, call.end);
    return { start: call.start, end: call.end, text: `[part[${rows}] for part in ${text}]` };
  }
  throw new NotCrossFitted(`how the rows of \`${name.id}\` are taken is not known`);
}
