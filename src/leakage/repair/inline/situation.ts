import type { Call, Expr, FunctionDefinition, Module, Stmt } from '../../syntax/ast.js';
import type { Scope } from './scopes.js';

/** A function that is to be inlined, and its call. */
export interface Situation {
  readonly module: Module;
  readonly definition: FunctionDefinition;
  /** Its statements that count. */
  readonly body: readonly Stmt[];
  /** What it gives in the end. */
  readonly result: Expr | undefined;
  readonly statement: Stmt;
  readonly call: Call;
  readonly scope: Scope;
}
