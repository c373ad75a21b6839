import type { Call, Expr } from '../syntax/ast.js';
import type { Table, TableState, Value } from '../values/value.js';
import type { Interpreter } from './interpreter.js';

/** Arguments of a call, evaluated. */
export interface Arguments {
  readonly positional: readonly Value[];
  readonly keywords: ReadonlyMap<string, Value>;
  /** Expressions of the arguments, for texts: positions, then names. */
  readonly expressions: readonly Expr[];
  readonly keywordExpressions: ReadonlyMap<string, Expr>;
  readonly all: readonly Value[];
}

export function argument(args: Arguments, position: number, ...names: readonly string[]): Value | undefined {
  for (const name of names) {
    const value = args.keywords.get(name);
    if (value !== undefined) return value;
  }
  return args.positional[position];
}

export function argumentExpression(
  args: Arguments,
  position: number,
  ...names: readonly string[]
): Expr | undefined {
  for (const name of names) {
    const expression = args.keywordExpressions.get(name);
    if (expression !== undefined) return expression;
  }
  return args.expressions[position];
}

export function flag(args: Arguments, name: string): boolean | undefined {
  const value = args.keywords.get(name);
  return value?.type === 'constant' ? Boolean(value.value) : undefined;
}

export function argumentsOf(values: readonly Value[], expressions: readonly Expr[] = []): Arguments {
  return { positional: values, keywords: new Map(), expressions, keywordExpressions: new Map(), all: values };
}

/** A call of a method of a table, as its handler gets it. */
export interface TableCall {
  readonly interp: Interpreter;
  readonly table: Table;
  readonly state: TableState;
  readonly name: string;
  readonly args: Arguments;
  readonly call: Call;
}
