import { countWork } from '../../../values/work.js';

/** One step that rows went through on their way into a variable. */
export interface Step {
  readonly label: string;
  /** Columns that it changes, if it changes only some and their names are known. */
  readonly columns?: ReadonlySet<string>;
  /** It changes some columns, whichever. */
  readonly isPartial: boolean;
  /** False if the columns that were picked afterwards may not be those that it changed. */
  readonly isCertain: boolean;
}

/** How rows of a table were picked, left out or put in another order. */
interface Pick {
  readonly label: string;
  /** Picks by a variable may pick columns; those of other columns may come before or after. */
  readonly isInOrder: boolean;
}

/**
 * What a variable holds, as far as the text of a script tells: where its values come from, the steps that they went
 * through, and how their rows were picked. What was learned from rows has no steps of its own.
 */
export interface TableValue {
  readonly steps: readonly Step[];
  readonly picks: readonly Pick[];
  /** Whether it holds rows; other values are named by a text. */
  readonly isTable: boolean;
  /** Class of a transformer or a model. */
  readonly made?: string;
  /** What a call gives to several names. */
  readonly items?: readonly TableValue[];
  /** Positions of the rows that a division picks: the label of that pick. */
  readonly positionsOf?: string;
}

const MAX_STEPS = 200;

export const NOTHING: TableValue = { steps: [], picks: [], isTable: false };

/** A number or a text that is not made from rows. */
export function plainValue(label: string): TableValue {
  return { ...NOTHING, steps: [{ label, isPartial: false, isCertain: true }] };
}

/** A statistic, or anything that was learned from rows. */
export function learnedValue(how: string): TableValue {
  return plainValue(`~${how}`);
}

export function sourceTable(label: string): TableValue {
  return { steps: [{ label, isPartial: false, isCertain: true }], picks: [], isTable: true };
}

export function withStep(
  value: TableValue,
  label: string,
  columns?: ReadonlySet<string> | 'some',
): TableValue {
  countWork(value.steps.length);
  const step: Step = {
    label: label.slice(0, 400),
    isPartial: columns !== undefined,
    isCertain: true,
    ...(columns === undefined || columns === 'some' ? {} : { columns }),
  };
  return { steps: [...value.steps, step].slice(-MAX_STEPS), picks: value.picks, isTable: value.isTable };
}

export function withPick(value: TableValue, label: string, isInOrder = true): TableValue {
  countWork(value.picks.length);
  const pick = { label: label.slice(0, 400), isInOrder };
  return { steps: value.steps, picks: [...value.picks, pick].slice(-MAX_STEPS), isTable: value.isTable };
}

/** Some columns of a table: steps of other columns are not in them. */
export function onlyColumns(value: TableValue, columns: readonly string[]): TableValue {
  countWork(value.steps.length);
  const steps = value.steps.flatMap((step): Step[] => {
    if (!step.isPartial) return [step];
    if (step.columns === undefined) return [{ ...step, isCertain: false }];
    return columns.some((column) => step.columns?.has(column)) ? [step] : [];
  });
  return { steps, picks: value.picks, isTable: value.isTable };
}

/** All columns but some. */
export function withoutColumns(value: TableValue, columns: readonly string[]): TableValue {
  countWork(value.steps.length);
  const steps = value.steps.filter(
    (step) => step.columns === undefined || [...step.columns].some((column) => !columns.includes(column)),
  );
  return { steps, picks: value.picks, isTable: value.isTable };
}

/** Picks of columns whose names are not known: any step of some columns may be gone. */
export function anyColumns(value: TableValue): TableValue {
  const steps = value.steps.map((step) => (step.isPartial ? { ...step, isCertain: false } : step));
  return { steps, picks: value.picks, isTable: value.isTable };
}

/** The steps of a value that another one does not share, as a text. */
export function stepsAfter(value: TableValue, shared: TableValue | undefined): string {
  const known = shared?.steps ?? [];
  countWork(value.steps.length + known.length);
  let from = 0;
  const own: string[] = [];
  for (const { label } of value.steps) {
    const at = known.findIndex((step, index) => index >= from && step.label === label);
    if (at < 0) own.push(label);
    else from = at + 1;
  }
  return own.join('>');
}

/** A step that adds to a column, or fills it with, what is learned for each group of its rows. */
export const BY_GROUP = 'group';
/** Looked up by the group of each row, whatever became of the column with the groups. */
const FROM_GROUP = /(^|>)group$/;

/** A value that is made of several: what the first table went through, and what the others did beyond it. */
export function combined(label: string, values: readonly TableValue[]): TableValue {
  const first = values.find(({ isTable }) => isTable);
  if (first === undefined)
    return plainValue(`${label}(${values.map((value) => stepsAfter(value, undefined)).join(',')})`);
  const parts = values.map((value) =>
    value === first ? '.' : stepsAfter(value, value.isTable ? first : undefined),
  );
  const isByGroup =
    parts.some((part) => FROM_GROUP.test(part)) &&
    parts.every((part) => /^\.?$/.test(part) || FROM_GROUP.test(part));
  // `(x - mean) / deviation`, both by group, is one step.
  const isGoingOn =
    first.steps.at(-1)?.label === BY_GROUP &&
    parts.every((part) => /^\.?$|^set [^>]*$/.test(part) || FROM_GROUP.test(part));
  if (isGoingOn && parts.length > 1) return first;
  return withStep(first, isByGroup ? BY_GROUP : `${label}(${parts.join(',')})`);
}
