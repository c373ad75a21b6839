/** One request to an operation, and its answer. */
export interface OperationExample {
  /** Values of parameters in the path and the query, by their names. */
  readonly parameters?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  readonly status: number;
  /** The body of the answer; absent if there is none. */
  readonly answer?: unknown;
}

export type OperationExamples = Readonly<Record<string, OperationExample>>;
