import type { Argument, Call, Expr } from '../../../syntax/ast.js';
import { plainValue, type TableValue } from './table-value.js';

/** Gives the same values in the same rows. */
export const NEUTRAL =
  /^(copy|reset_index|to_numpy|to_frame|toarray|todense|set_output|reindex|flatten|ravel|squeeze|compute|values|iloc|loc|at|iat|str|dt|cat|array|asarray|DataFrame|Series|set_axis|astype|rename|set_index|reshape|T|set_params)$/;
/** Numbers about a table that say nothing about its values. */
export const ABOUT = /^(shape|height|width|columns|index|dtypes|dtype|size|ndim|feature_names_in_)$/;
/** What a model says, or how well: it may change with what is learned. */
export const RESULT =
  /^(fit_predict|predict\w*|decision_function|score|evaluate|cross_val\w*|cross_validate|learning_curve|accuracy\w*|\w+_(score|error|loss|report|matrix|curve))$/;
/** Index of rows, rather than of columns. */
const PICKS_ROWS =
  /[<>=!~&|]|\b(is\w+|not\w+|between|where|nonzero|sample|choice|permutation|duplicated|argsort)\b/;
/** Conditions on rows. */
const CONDITION = /\b(is\w+|not\w+|between|duplicated|eq|ne|gt|ge|lt|le|startswith|contains|where|nonzero)$/;
/** Functions without a table that give no table either. */
export const NO_TABLE =
  /^(int|float|str|bool|len|range|list|dict|set|tuple|sum|max|min|round|abs|sorted|zip|enumerate|print|open|time|Path|join|getLogger|seed|default_rng|RandomState|format|col|lit)$/;
/** Leaves rows out, or puts them in another order. */
export const ROWS =
  /^(dropna|drop_duplicates|sample|head|tail|query|sort_values|sort_index|explode|nlargest|nsmallest|delete|shuffle|take|truncate|resample|repeat|append|permutation)$/;
export const APPLIES =
  /^(fit_transform|transform|fit_predict|predict|predict_proba|decision_function|texts_to_sequences|texts_to_matrix)$/;
export const RESAMPLES = /^fit_(re)?sample$/;
export const NUMPY_STATISTIC =
  /^(nan)?(mean|median|std|var|min|max|percentile|quantile|sum|average|histogram|bincount|unique)$/;
export const BINS = /^(qcut|cut|digitize|searchsorted)$/;
export const FOR_GROUPS = /\bgroupby\(/;

export const RESULT_VALUE = plainValue('#result');

export function named(id: string, value: TableValue): TableValue {
  return isLearned(value) ? value : plainValue(id);
}

export function isLearned({ isTable, steps }: TableValue): boolean {
  return !isTable && steps.some(({ label }) => label.includes('~'));
}

/** Whether an index made from a table picks rows: `frame[frame["a"] > 1]`, but not `frame[numbers_of(frame)]`. */
export function isRowCondition(index: Expr, { steps }: TableValue, text: string): boolean {
  if (index.type === 'call') return CONDITION.test(text.split('(', 1)[0] ?? '');
  return PICKS_ROWS.test(steps.at(-1)?.label ?? '');
}

/** Values outside of learned edges go into the outermost bins. */
export function withoutClipping(value: TableValue): TableValue {
  const last = value.steps.at(-1)?.label ?? '';
  return last.startsWith('.clip(') && last.includes('~')
    ? { ...value, steps: value.steps.slice(0, -1) }
    : value;
}

/** `pd.cut(ages, 5)`, `pd.cut(ages, edges)`: bins that are learned. */
export function isLearnedOrNumber(value: TableValue | undefined, call: Call): boolean {
  const second = call.args[1]?.value;
  return (
    (value !== undefined && isLearned(value)) ||
    (second?.type === 'constant' && typeof second.value === 'number')
  );
}

export function isAll(index: Expr): boolean {
  return (
    index.type === 'slice' &&
    index.lower === undefined &&
    index.upper === undefined &&
    index.step === undefined
  );
}

/** Column names: one text, or a list of texts. */
export function textsOf(index: Expr): string[] | undefined {
  if (index.type === 'constant' && typeof index.value === 'string') return [index.value];
  if (index.type !== 'sequence' || index.items.length === 0) return undefined;
  const texts = index.items.map((item) =>
    item.type === 'constant' && typeof item.value === 'string' ? item.value : undefined,
  );
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** `frame.sum(axis=1)`: a value for each row from the row itself. */
export function isAcrossColumns(call: Call): boolean {
  return call.args.some(
    ({ name, value }) =>
      name === 'axis' && value.type === 'constant' && (value.value === 1 || value.value === 'columns'),
  );
}

export function isRowArgument(argument: Argument | undefined, at: number): boolean {
  return (
    argument !== undefined && (argument.name === undefined ? at < 2 : /^(X|y|labels?)$/.test(argument.name))
  );
}

export function* namesOf(target: Expr): Generator<string> {
  if (target.type === 'name') yield target.id;
  if (target.type === 'sequence') for (const item of target.items) yield* namesOf(item);
}
