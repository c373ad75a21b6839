import type { Landmarks } from './landmarks.js';

/**
 * A small abstract syntax of Python: only what the analysis looks at. Offsets are UTF-16 code units of the
 * source text; `end` is exclusive.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type ConstantValue = string | number | boolean | null;

export interface Argument {
  /** Keyword name; `undefined` for a positional argument. */
  readonly name?: string;
  readonly star: '' | '*' | '**';
  readonly value: Expr;
}

export interface Parameter {
  readonly name: string;
  readonly star: '' | '*' | '**';
  readonly fallback?: Expr;
}

export interface ComprehensionClause {
  readonly target: Expr;
  readonly iterable: Expr;
  readonly conditions: Expr[];
}

export interface Name extends Span {
  readonly type: 'name';
  readonly id: string;
}
export interface Attribute extends Span {
  readonly type: 'attribute';
  readonly object: Expr;
  readonly name: string;
}
export interface Subscript extends Span {
  readonly type: 'subscript';
  readonly object: Expr;
  /** One expression per comma-separated index. */
  readonly indices: Expr[];
}
export interface Slice extends Span {
  readonly type: 'slice';
  readonly lower?: Expr;
  readonly upper?: Expr;
  readonly step?: Expr;
}
export interface Call extends Span {
  readonly type: 'call';
  readonly callee: Expr;
  readonly args: Argument[];
}
interface Constant extends Span {
  readonly type: 'constant';
  readonly value: ConstantValue;
}
interface FormattedString extends Span {
  readonly type: 'formatted';
  readonly parts: Expr[];
}
interface Sequence extends Span {
  readonly type: 'sequence';
  readonly form: 'tuple' | 'list' | 'set';
  readonly items: Expr[];
}
interface Dictionary extends Span {
  readonly type: 'dictionary';
  readonly entries: { readonly key?: Expr; readonly value: Expr }[];
}
interface Binary extends Span {
  readonly type: 'binary';
  readonly operator: string;
  readonly left: Expr;
  readonly right: Expr;
}
export interface Compare extends Span {
  readonly type: 'compare';
  readonly operators: string[];
  readonly operands: Expr[];
}
interface Unary extends Span {
  readonly type: 'unary';
  readonly operator: string;
  readonly operand: Expr;
}
export interface Lambda extends Span {
  readonly type: 'lambda';
  readonly params: Parameter[];
  readonly body: Expr;
}
export interface Comprehension extends Span {
  readonly type: 'comprehension';
  readonly form: 'list' | 'set' | 'dict' | 'generator';
  readonly key?: Expr;
  readonly element: Expr;
  readonly clauses: ComprehensionClause[];
}
interface Conditional extends Span {
  readonly type: 'conditional';
  readonly test: Expr;
  readonly whenTrue: Expr;
  readonly whenFalse: Expr;
}
interface Starred extends Span {
  readonly type: 'starred';
  readonly value: Expr;
}
interface Walrus extends Span {
  readonly type: 'walrus';
  readonly target: Expr;
  readonly value: Expr;
}
/** Anything else (await, yield, an error in the source): its parts are evaluated, nothing is concluded. */
interface Other extends Span {
  readonly type: 'other';
  readonly parts: Expr[];
}

export type Expr =
  | Name
  | Attribute
  | Subscript
  | Slice
  | Call
  | Constant
  | FormattedString
  | Sequence
  | Dictionary
  | Binary
  | Compare
  | Unary
  | Lambda
  | Comprehension
  | Conditional
  | Starred
  | Walrus
  | Other;

export interface Suite {
  readonly statements: Stmt[];
  /** The compound statement whose body this is; `undefined` for the module. Set once, while lowering. */
  owner: Stmt | undefined;
}

interface StatementBase extends Span {
  /** The suite this statement is in. */
  readonly suite: Suite;
}
export interface Assign extends StatementBase {
  readonly type: 'assign';
  readonly targets: Expr[];
  readonly value: Expr;
}
interface AugmentedAssign extends StatementBase {
  readonly type: 'augmented';
  readonly target: Expr;
  readonly operator: string;
  readonly value: Expr;
}
interface ExpressionStatement extends StatementBase {
  readonly type: 'expression';
  readonly value: Expr;
}
export interface If extends StatementBase {
  readonly type: 'if';
  readonly branches: { readonly test?: Expr; readonly body: Suite }[];
}
export interface For extends StatementBase {
  readonly type: 'for';
  readonly target: Expr;
  readonly iterable: Expr;
  readonly body: Suite;
  readonly orelse?: Suite;
}
interface While extends StatementBase {
  readonly type: 'while';
  readonly test: Expr;
  readonly body: Suite;
  readonly orelse?: Suite;
}
export interface Try extends StatementBase {
  readonly type: 'try';
  readonly body: Suite;
  readonly handlers: Suite[];
  readonly orelse?: Suite;
  readonly final?: Suite;
}
interface With extends StatementBase {
  readonly type: 'with';
  readonly items: { readonly value: Expr; readonly target?: Expr }[];
  readonly body: Suite;
}
export interface FunctionDefinition extends StatementBase {
  readonly type: 'function';
  readonly name: string;
  readonly params: Parameter[];
  readonly body: Suite;
  readonly decorators: Expr[];
}
export interface ClassDefinition extends StatementBase {
  readonly type: 'class';
  readonly name: string;
  readonly bases: Expr[];
  readonly body: Suite;
  readonly decorators: Expr[];
}
interface Return extends StatementBase {
  readonly type: 'return';
  readonly value?: Expr;
}
export interface Import extends StatementBase {
  readonly type: 'import';
  readonly bindings: { readonly name: string; readonly path: string }[];
  /** Module of a `from … import *`. */
  readonly star?: string;
}
interface Delete extends StatementBase {
  readonly type: 'delete';
  readonly targets: Expr[];
}
interface Jump extends StatementBase {
  readonly type: 'jump';
  readonly keyword: 'break' | 'continue' | 'raise';
}
interface Global extends StatementBase {
  readonly type: 'global';
  readonly names: string[];
  /** `nonlocal`: those of the function around. */
  readonly isOuter?: boolean;
}
interface OtherStatement extends StatementBase {
  readonly type: 'other';
  readonly parts: Expr[];
  readonly suites: Suite[];
  readonly error: boolean;
}

export type Stmt =
  | Assign
  | AugmentedAssign
  | ExpressionStatement
  | If
  | For
  | While
  | Try
  | With
  | FunctionDefinition
  | ClassDefinition
  | Return
  | Import
  | Delete
  | Jump
  | Global
  | OtherStatement;

export interface Module {
  readonly body: Suite;
  readonly source: string;
  /** False where the grammar found an error; the parts around it are still there. */
  readonly parsed: boolean;
  /** Number of syntax nodes: the measure of the work the analysis may do. */
  readonly size: number;
  readonly landmarks: Landmarks;
  /** Parts that are nested too deeply to be read. */
  readonly unread: readonly Span[];
  /** Calls of magics whose code was read out of their strings. */
  readonly magicCalls: readonly Span[];
}

/** A function from an offset to its line number, counted from 1. Lines end with LF, CR LF or a lone CR. */
export function lineIndex(source: string): (offset: number) => number {
  const starts = [0];
  for (let at = 0; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === 10 || (code === 13 && source.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
  }
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
