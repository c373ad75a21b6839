import type { Assign, Expr, FunctionDefinition, Lambda, Module, Stmt } from '../../../syntax/ast.js';
import { calleeName, namesInExpression, rootName, statementsIn } from '../../../syntax/walk.js';
import { isShown } from '../candidate-statements.js';
import { assignedNames } from './assigned-values.js';
import { freeNamesIn, freeNamesOf } from './free-names.js';
import { kindOfValue } from './kind-reader.js';
import type { OutOfFold } from './out-of-fold.js';
import { isOfRows, LEARNED, PLAIN, type RowKind } from './row-kinds.js';

const IN_PLACE = /^(sort|append|extend|insert|update|pop|clear|remove|fit|fill|setdefault|add)$/;

/** The statements of a suite after the predictions were made, and what their variables have to do with the rows. */
export class Tail {
  readonly statements: readonly Stmt[];
  readonly #oof: OutOfFold;
  readonly #kinds = new Map<string, RowKind>();
  readonly #functions = new Map<string, FunctionDefinition | Lambda>();
  /** Variables that a rewrite fills fold by fold. */
  readonly #filled = new Map<string, RowKind>();

  constructor(module: Module, oof: OutOfFold) {
    this.#oof = oof;
    this.statements = oof.outer.suite.statements;
    this.#collectFunctions(module);
    // What a function reads may be made below it.
    for (let size = -1; size !== this.#kinds.size; ) {
      size = this.#kinds.size;
      for (const statement of this.statements) if (statement.start > oof.outer.start) this.#note(statement);
    }
  }

  kindOf(name: string): RowKind {
    const known = this.#filled.get(name) ?? this.#oof.tables.get(name)?.kind ?? this.#kinds.get(name);
    if (known?.is === 'list' && known.of.isArray === true && known.of.like === undefined)
      return { is: 'list', of: { ...known.of, like: `${name}[0]` } };
    if (known !== undefined) return known.is === 'learned' ? LEARNED : known;
    const definition = this.#functions.get(name);
    if (definition === undefined) return PLAIN;
    return this.readsRows(name) ? LEARNED : { is: 'function', definition };
  }

  /** @param turns variables that candidates are tried by: like what is chosen */
  kindOfValue(expression: Expr, turns: ReadonlyMap<string, string> = new Map()): RowKind {
    return kindOfValue(expression, (name) => (turns.has(name) ? LEARNED : this.kindOf(name)));
  }

  /** A variable is filled fold by fold now: it has a value for each row, and nothing of all rows is in it. */
  noteFilled(name: string, kind: RowKind): void {
    this.#filled.set(name, kind);
  }

  /** The function that a name is, where it reads values of the rows from outside. */
  readsRows(name: string): boolean {
    const definition = this.#functions.get(name);
    if (definition === undefined) return false;
    return this.#readsRows(definition, new Set([name]));
  }

  #readsRows(definition: FunctionDefinition | Lambda, seen: Set<string>): boolean {
    const names = definition.type === 'lambda' ? freeNamesOf(definition) : freeNamesIn(definition);
    for (const { name } of names) {
      if (seen.has(name.id)) continue;
      seen.add(name.id);
      const inner = this.#functions.get(name.id);
      if (inner !== undefined ? this.#readsRows(inner, seen) : isOfRows(this.kindOf(name.id))) return true;
    }
    return false;
  }

  #collectFunctions({ body }: Module): void {
    const all = [...new Set([...body.statements, ...this.statements])];
    const seen = new Set<string>();
    const add = (name: string, definition: FunctionDefinition | Lambda): void => {
      if (seen.has(name)) this.#functions.delete(name);
      else this.#functions.set(name, definition);
      seen.add(name);
    };
    for (const statement of all) {
      if (statement.type === 'function') add(statement.name, statement);
      if (statement.type !== 'assign' || statement.value.type !== 'lambda') continue;
      for (const target of statement.targets) if (target.type === 'name') add(target.id, statement.value);
    }
  }

  #set(name: string, kind: RowKind): void {
    if (this.#oof.tables.has(name) || this.#functions.has(name)) return;
    const known = this.#kinds.get(name);
    this.#kinds.set(
      name,
      known === undefined || isAlike(known, kind)
        ? kind
        : isOfRows(known) || isOfRows(kind)
          ? LEARNED
          : PLAIN,
    );
  }

  #note(statement: Stmt): void {
    if (statement.type === 'assign') {
      this.#noteAssigned(statement);
      return;
    }
    if (statement.type === 'expression') {
      const changed = changedBy(statement);
      if (changed !== undefined && this.#isOfRows(statement)) this.#set(changed, LEARNED);
      return;
    }
    if (statement.type === 'function' || statement.type === 'class') return;
    if (!this.#isOfRows(statement)) return;
    const turns = new Set<string>();
    for (const inner of statementsIn(statement)) {
      const changed = inner.type === 'expression' ? changedBy(inner) : undefined;
      if (changed !== undefined) this.#set(changed, LEARNED);
      if (inner.type !== 'for' || isOfRows(this.kindOfValue(inner.iterable))) continue;
      for (const { id } of namesInExpression(inner.target)) turns.add(id);
    }
    for (const name of assignedNames(statement)) if (!turns.has(name)) this.#set(name, LEARNED);
  }

  #noteAssigned({ targets, value }: Assign): void {
    for (const target of targets) {
      if (target.type === 'sequence') {
        const isPairwise = value.type === 'sequence' && value.items.length === target.items.length;
        const whole = isPairwise ? PLAIN : this.kindOfValue(value);
        target.items.forEach((item, at) => {
          const part = isPairwise ? value.items[at] : undefined;
          const kind = part === undefined ? whole : this.kindOfValue(part);
          const name = rootName(item);
          if (name !== undefined)
            this.#set(
              name,
              item.type === 'name' && part !== undefined ? kind : isOfRows(kind) ? LEARNED : PLAIN,
            );
        });
        continue;
      }
      const name = rootName(target);
      if (name === undefined) continue;
      const kind = this.kindOfValue(value);
      if (target.type === 'name') this.#set(name, kind);
      else if (isOfRows(kind)) this.#set(name, LEARNED);
    }
  }

  #isOfRows(statement: Stmt): boolean {
    return [...freeNamesIn(statement)].some(
      ({ name: { id } }) => isOfRows(this.kindOf(id)) || this.readsRows(id),
    );
  }
}

/** The variable that a call changes: `scores.append(…)`, `rounder.fit(oof, y)`. */
export function changedBy(statement: Stmt): string | undefined {
  if (statement.type !== 'expression' || statement.value.type !== 'call' || isShown(statement))
    return undefined;
  const { callee } = statement.value;
  return callee.type === 'attribute' && IN_PLACE.test(calleeName(statement.value))
    ? rootName(callee)
    : undefined;
}

function isAlike(a: RowKind, b: RowKind): boolean {
  if (a.is !== b.is) return false;
  return (
    a.is !== 'rows' ||
    b.is !== 'rows' ||
    (a.axes === b.axes && a.isApplied === b.isApplied && a.isArray === b.isArray && a.type === b.type)
  );
}
