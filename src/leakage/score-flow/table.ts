import { countWork } from '../values/work.js';
import type { Prediction } from './values.js';

/** Columns by name; names that only the data know are stood for by a text with `?`. `*`: all of a table. */
export type ColumnSet = '*' | readonly string[];

/** What a step was learned from. */
interface Learning {
  /** The table that they are rows of. */
  readonly source?: string;
  /** How the rows it was learned from had been picked. */
  readonly picks: readonly string[];
  /** Whether they had gone through other steps than the rows that it is applied to. */
  readonly isMixed: boolean;
}

/** One computation that rows went through. Those that come from one statement are the same object. */
export interface Step {
  readonly label: string;
  readonly columns: ColumnSet;
  readonly learning?: Learning;
  /** Whether it computes across rows, so that its position among the picks of rows matters: how the rows were picked until then. */
  readonly rowsBefore?: readonly string[];
  /** It puts predictions into a column. */
  readonly prediction?: Prediction;
}

/** Which columns of its source a table has. */
export interface Columns {
  /** Their names, if all are known. */
  readonly names: readonly string[] | undefined;
  /** Names that were added or left out, if not all are known. */
  readonly added: readonly string[];
  readonly dropped: readonly string[];
  /** Selections that only the data know. */
  readonly selections: readonly string[];
}

export const ALL_COLUMNS: Columns = { names: undefined, added: [], dropped: [], selections: [] };

interface TableState {
  readonly source: string;
  readonly steps: readonly Step[];
  readonly picks: readonly string[];
  readonly columns: Columns;
  /** Numbers or labels of rows, rather than values. */
  readonly isPositions?: boolean;
  /** A condition for each row. */
  readonly isMask?: boolean;
  /** Whether all that happened to it was followed. */
  readonly isFollowed: boolean;
  /** The tables that are under each other in it. */
  readonly stack?: readonly Pick<TableState, 'source' | 'picks'>[] | undefined;
}

/** Comes before the name of a dropped column that the script had added. */
const HELPER = '~';

const MAX_STEPS = 300;
const MAX_LABEL = 300;

/** Rows of a table, and how they came about. Assignments to its columns change it, as they do in Python. */
export class Table {
  readonly kind = 'table';
  state: TableState;

  constructor(state: TableState) {
    this.state = state;
  }

  static from(source: string): Table {
    return new Table({ source, steps: [], picks: [], columns: ALL_COLUMNS, isFollowed: true });
  }

  with(change: Partial<TableState>): Table {
    countWork(this.state.steps.length + this.state.picks.length);
    return new Table({ ...this.state, isMask: false, ...change });
  }

  withStep(step: Step): Table {
    const steps = [...this.state.steps, { ...step, label: step.label.slice(0, MAX_LABEL) }];
    return this.with({ steps: steps.slice(-MAX_STEPS) });
  }

  withPick(label: string): Table {
    const part = partOfStack(this.state.stack, label);
    if (part !== undefined) return this.with({ ...part, stack: undefined });
    return this.with({ picks: [...this.state.picks, label.slice(0, MAX_LABEL)].slice(-MAX_STEPS) });
  }

  /** Some columns of it. */
  only(columns: ColumnSet): Table {
    if (columns === '*') return this.with({});
    if (columns.some((name) => name.startsWith('?'))) {
      const { columns: all } = this.state;
      return this.with({
        columns: { ...all, names: undefined, selections: [...all.selections, columns.join()] },
      });
    }
    return this.with({ columns: { ...ALL_COLUMNS, names: [...columns] } });
  }

  without(dropped: ColumnSet): Table {
    const { columns } = this.state;
    if (dropped === '*') return this.with({});
    if (columns.names !== undefined && dropped.every((name) => !name.startsWith('?'))) {
      return this.with({
        columns: { ...columns, names: columns.names.filter((name) => !dropped.includes(name)) },
      });
    }
    return this.with({
      columns: {
        ...columns,
        added: columns.added.filter((name) => !dropped.includes(name)),
        // A column that was added before was never one of the data.
        dropped: [
          ...new Set([
            ...columns.dropped,
            ...dropped.map((name) => (columns.added.includes(name) ? `${HELPER}${name}` : name)),
          ]),
        ],
      },
    });
  }

  /** What the table is, as a text. */
  get key(): string {
    const { source, steps, picks, columns } = this.state;
    countWork(steps.length + picks.length);
    const made = steps.map(({ label }) => label).join('>');
    return `${source}${columnsText(columns)}{${made}}[${picks.join('>')}]`;
  }

  /** Puts new values into some of its columns. */
  set(columns: ColumnSet, steps: readonly Step[], isFollowed = true, isNewColumn = true): void {
    const { state } = this;
    countWork(state.steps.length + steps.length);
    const all = state.columns;
    const isNew = (name: string): boolean =>
      isNewColumn && !name.startsWith('?') && !(all.names ?? all.added).includes(name);
    const added = columns === '*' ? [] : columns.filter(isNew);
    this.state = {
      ...state,
      steps: [...state.steps, ...steps.map((step) => ({ ...step, columns }))].slice(-MAX_STEPS),
      columns:
        all.names === undefined
          ? {
              ...all,
              added: [...all.added, ...added],
              dropped: all.dropped.filter((name) => !added.includes(name.replace(HELPER, ''))),
            }
          : { ...all, names: [...all.names, ...added] },
      isFollowed: state.isFollowed && isFollowed,
    };
  }
}

/** `both[:len(train)]`, `both[len(train):]`: the rows of one of two tables again. */
function partOfStack(
  stack: readonly Pick<TableState, 'source' | 'picks'>[] | undefined,
  label: string,
): Pick<TableState, 'source' | 'picks'> | undefined {
  if (stack?.length !== 2) return undefined;
  if (label === '[:#len:]') return stack[0];
  return label === '[#len::]' ? stack[1] : undefined;
}

/** Labels of the steps that some columns went through. */
export function madeBy({
  steps,
  columns: { names },
}: {
  steps: readonly Step[];
  columns: Columns;
}): string[] {
  return (
    steps
      .filter(
        (step) =>
          names === undefined ||
          names.some((name) => touches(step, name)) ||
          (step.columns !== '*' && step.columns.some((name) => name.startsWith('?'))),
      )
      .map(({ label }) => label)
      // Dummies leave columns of numbers as they are.
      .filter((label) => !label.startsWith('get_dummies('))
  );
}

/** Columns of the data that are left out. */
export function droppedOf({ dropped }: Columns): string[] {
  return dropped.filter((name) => !name.startsWith(HELPER));
}

export function isDropped({ dropped }: Columns, name: string): boolean {
  return dropped.includes(name) || dropped.includes(`${HELPER}${name}`);
}

export function columnsText(columns: Columns): string {
  const { names, selections } = columns;
  const dropped = droppedOf(columns);
  if (names !== undefined) return `.${[...names].sort().join('+')}`;
  const less = dropped.length === 0 ? '' : `-${[...dropped].sort().join('-')}`;
  return less + selections.map((one) => `.${one}`).join('');
}

/** Whether a step is applied to a column. */
export function touches(step: Step, column: string): boolean {
  return step.columns === '*' || step.columns.includes(column);
}
