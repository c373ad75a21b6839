export interface DynamicForm {
  /** File of the compiled code. */
  readonly file: string;
  /** The argument of `RegExp(…)` as the compiled code has it: who changes it looks at its forms again. */
  readonly argument: string;
  /** What the expression looks like with the longest and the oddest values that it is given. */
  readonly forms: readonly RegExp[];
}

/** Expressions that are built while the program runs, from names that a script or a table gives. */
export const FORMS_OF_DYNAMIC: readonly DynamicForm[] = [];
