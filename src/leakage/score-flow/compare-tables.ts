import { countWork } from '../values/work.js';
import { columnsText, droppedOf, isDropped, type Step, type Table, touches } from './table.js';
import { HARMLESS, isSameMeaning, meaningOf } from './words.js';

/** A difference, and whether it is one for certain. */
export interface Difference {
  readonly what: string;
  readonly isCertain: boolean;
}

/** A step that one of two tables has gone through and the other has not. */
interface OddStep {
  readonly label: string;
  readonly isLost: boolean;
  /** Of all columns. */
  readonly isOfAll: boolean;
  readonly isCertain: boolean;
}

/** What rows lost or gained on the way, column by column, and columns that they lost or gained. */
export function valueDifferences(was: Table, is: Table): Difference[] {
  const odd = oddSteps(was, is);
  const columns = columnDifferences(was, is);
  // The same step for a column of another name: what is read under which name is not followed.
  const isRenamed = (step: OddStep): boolean =>
    odd.some((other) => other.isLost !== step.isLost && other.label === step.label);
  const isUnclear = odd.some(({ isCertain }) => !isCertain);
  const steps = odd
    .filter(({ isLost, label }) => !(isLost && label === ''))
    .map((step) => ({
      ...step,
      isCertain: step.isCertain && !isRenamed(step) && !(isUnclear && isVague(step.label)),
    }))
    .map(({ label, isLost, isCertain }) => ({
      what:
        label === ORDER ? label : `${isLost ? 'lose a step' : 'go through a step more'} (${shown(label)})`,
      isCertain,
    }));
  const hasRenamed = odd.some(isRenamed);
  return unique([
    ...steps,
    ...neighborDifferences(was, is),
    ...columns.map(({ what, isCertain }) => ({ what, isCertain: isCertain && !hasRenamed })),
  ]);
}

/** What these compute for a row depends on the rows next to it. A rank or a fill may be the leak itself. */
const BY_NEIGHBORS = /^(group\[.*\] )?(shift|diff|pct_change|rolling|expanding|ewm|cum\w+)\b/;

/** Steps across rows that both tables went through, over rows that had been picked in another way. */
function neighborDifferences(was: Table, is: Table): Difference[] {
  const left = was.state.steps.filter(({ rowsBefore }) => rowsBefore !== undefined);
  const { names } = is.state.columns;
  const isFollowed = was.state.isFollowed && is.state.isFollowed && was.state.source === is.state.source;
  return is.state.steps.flatMap((step) => {
    const { label, rowsBefore } = step;
    const isRead = names === undefined || names.some((name) => touches(step, name));
    if (rowsBefore === undefined || !isRead) return [];
    const at = left.findIndex((other) => other.label === label);
    const [same] = at < 0 ? [] : left.splice(at, 1);
    const before = same?.rowsBefore;
    if (before === undefined || before.join('>') === rowsBefore.join('>')) return [];
    const isMoved = before.every((pick, index) => pick === rowsBefore[index]);
    const isShuffled = rowsBefore.slice(before.length).some(isShuffledDivision);
    return [
      {
        what: `compute ${shown(label)} over other rows than before`,
        isCertain: isFollowed && isMoved && isShuffled && BY_NEIGHBORS.test(label),
      },
    ];
  });
}

/** After it, the next row of a part is no longer the next row of the table. */
function isShuffledDivision(pick: string): boolean {
  return pick.startsWith('split ')
    ? !/shuffle=false/i.test(pick)
    : /^fold .*shuffle=true|^fold Shuffle/i.test(pick);
}

export function unique(differences: readonly Difference[]): Difference[] {
  const found = new Map<string, Difference>();
  for (const difference of differences) {
    const known = found.get(difference.what);
    if (known === undefined || (difference.isCertain && !known.isCertain))
      found.set(difference.what, difference);
  }
  return [...found.values()];
}

const ORDER = 'go through the steps in another order';

function oddSteps(was: Table, is: Table): OddStep[] {
  const columns = columnsOf([was, is]);
  countWork(columns.length * (was.state.steps.length + is.state.steps.length));
  const isWhole = [was, is].every(({ state }) => state.columns.selections.length === 0);
  const isSliced = [was, is].every(({ state }) => state.columns.selections.every(isSlice));
  const isNamed = [was, is].some(({ state }) => state.columns.names !== undefined);
  const isFollowed = was.state.isFollowed && is.state.isFollowed && was.state.source === is.state.source;
  return columns.flatMap((column) => {
    const own = (table: Table): Step[] => table.state.steps.filter((step) => touches(step, column));
    // Columns that are picked by type or in a loop may not be among those that are named.
    // Nor may those of a table of groups that was merged: their names are not known.
    const isMerged = column.startsWith('?group[');
    const isSure = isWhole && !isMerged && !(isNamed && column.startsWith('?') && column !== OTHERS);
    return sequenceDifferences(own(was), own(is)).map((step) => ({
      ...step,
      isCertain: step.isCertain && isFollowed && (isSure || (step.isOfAll && isSliced)),
    }));
  });
}

const OTHERS = '?others';

/** Columns that a step of either table names and that both may have, and one that stands for the others. */
function columnsOf(tables: readonly Table[]): string[] {
  const named = new Set<string>();
  let hasOthers = true;
  for (const { state } of tables) {
    for (const { columns } of state.steps) if (columns !== '*') for (const name of columns) named.add(name);
    if (state.columns.names !== undefined) {
      for (const name of state.columns.names) named.add(name);
      hasOthers = false;
    }
  }
  const has = ({ state: { columns } }: Table, name: string): boolean =>
    name.startsWith('?') || (columns.names?.includes(name) ?? !isDropped(columns, name));
  // A helper column that is dropped again is in neither.
  const holds = (table: Table, name: string): boolean =>
    has(table, name) &&
    (table.state.columns.names !== undefined ||
      table.state.steps.some(({ columns }) => columns !== '*' && columns.includes(name)));
  const common = [...named].filter((name) => tables.some((table) => holds(table, name)));
  return hasOthers || common.length === 0 ? [...common, OTHERS] : common;
}

function sequenceDifferences(was: readonly Step[], is: readonly Step[]): OddStep[] {
  const lost = without(was, is);
  const added = without(is, was).filter(({ label }) => !HARMLESS.test(label));
  if (lost.length === 0 && added.length === 0) {
    const order = (steps: readonly Step[]): string[] =>
      steps.map(({ label }) => label).filter((label) => !HARMLESS.test(label));
    const [before, after] = [order(was), order(is)];
    // Dummies leave columns of numbers as they are.
    const isKnown = before.every((label) => !/^(dummies|undefined)$/.test(`${meaningOf(label)}`));
    return before.join('>') === after.join('>')
      ? []
      : [{ label: ORDER, isLost: false, isOfAll: false, isCertain: isKnown }];
  }
  const isSwapped = isOtherFormula(lost, added);
  return [
    ...lost.map(({ label, columns }) => ({
      label,
      isLost: true,
      isOfAll: columns === '*',
      isCertain:
        isSwapped ||
        (!HARMLESS.test(label) &&
          !isRowsOfOther(label) &&
          !added.some((step) => mayBeSame(label, step.label))),
    })),
    ...added.map(({ label, columns }) => ({
      label,
      isLost: false,
      isOfAll: columns === '*',
      isCertain:
        isSwapped ||
        (meaningOf(label) !== undefined &&
          !label.includes('#len') &&
          !lost.some((step) => mayBeSame(step.label, label))),
    })),
  ];
}

function isRowsOfOther(label: string): boolean {
  return /^(=@|rows of another part)/.test(label);
}

/** `a / b` instead of `b / a`: the same columns, computed in another way. */
function isOtherFormula(lost: readonly Step[], added: readonly Step[]): boolean {
  const isPlain = (steps: readonly Step[]): boolean =>
    steps.length > 0 && steps.every(({ label }) => /^(=@|[-/]\(\.,@)[^?]*$/.test(label));
  const bareOf = (steps: readonly Step[]): string => steps.map(({ label }) => bare(label)).join('>');
  return isPlain(lost) && isPlain(added) && bareOf(lost) !== bareOf(added) && lost.length === added.length;
}

/** Whether two steps may be one, written in two ways. */
function mayBeSame(one: string, other: string): boolean {
  const [first, second] = [bare(one), bare(other)];
  // A copy of a column is no step that learns.
  if (first.startsWith('=@') !== second.startsWith('=@')) return meaningOf(first) === meaningOf(second);
  if (first !== second) return isSameMeaning(first, second) || isArithmetic(one) || isArithmetic(other);
  // The same computation of a column that went through other steps.
  const [was, is] = [innerSteps(one), innerSteps(other)];
  const lost = was.filter((label) => !is.includes(label));
  const added = is.filter((label) => !was.includes(label));
  // A table of groups that is merged leaves the other columns as they are.
  const isKnown = (labels: readonly string[]): boolean =>
    labels.every((label) => meaningOf(label) !== undefined && !label.startsWith('group['));
  return lost.length > 0 === added.length > 0 || !isKnown([...lost, ...added]);
}

/** Says little if other steps are not clear. */
function isVague(label: string): boolean {
  return isArithmetic(label) || label.startsWith('rows of another part');
}

function isArithmetic(label: string): boolean {
  return meaningOf(label) === 'arithmetic';
}

const BRACES = /\{[^{}]*\}/g;

function bare(label: string): string {
  let text = label;
  for (let at = 0; at < 5 && text.includes('{'); at += 1) text = text.replaceAll(BRACES, '');
  return text;
}

function innerSteps(label: string): string[] {
  return [...label.matchAll(BRACES)].flatMap(([text]) => text.slice(1, -1).split('>'));
}

function shown(label: string): string {
  return label.length > 80 ? `${label.slice(0, 80)}…` : label;
}

function without(wanted: readonly Step[], available: readonly Step[]): Step[] {
  const left = available.map(({ label }) => label);
  return wanted.filter(({ label }) => {
    const at = left.indexOf(label);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function columnDifferences(was: Table, is: Table): Difference[] {
  const [old, now] = [was.state.columns, is.state.columns];
  const isFollowed = was.state.isFollowed && is.state.isFollowed && was.state.source === is.state.source;
  const listed = (what: string, names: readonly string[]): Difference[] => {
    if (names.length === 0) return [];
    const isCertain = isFollowed && names.every((name) => !name.startsWith('?'));
    return [{ what: `${what} ${shown(names.join(', '))}`, isCertain }];
  };
  if (old.names !== undefined && now.names !== undefined) {
    const lost = old.names.filter((name) => !now.names?.includes(name));
    const more = now.names.filter((name) => !old.names?.includes(name));
    return [...listed('lose the column', lost), ...listed('get the column', more)];
  }
  if (columnsText(old) === columnsText(now)) {
    const isGone = (name: string): boolean => !now.added.includes(name) && isDropped(now, name);
    return listed('lose the column', old.added.filter(isGone));
  }
  const hasSelections = old.selections.length + now.selections.length > 0;
  if (old.names === undefined && now.names !== undefined && !hasSelections)
    return [{ what: `keep only the columns ${shown(now.names.join(', '))}`, isCertain: isFollowed }];
  const isBySlices = [old, now].every(
    ({ names, selections }) => names === undefined && selections.length > 0 && selections.every(isSlice),
  );
  if (isBySlices) return [{ what: `hold the columns ${now.selections.join()}`, isCertain: isFollowed }];
  if (hasSelections || (now.names === undefined) !== (old.names === undefined))
    return [{ what: 'hold other columns', isCertain: false }];
  const lost = droppedOf(now).filter((name) => !old.dropped.includes(name));
  const more = droppedOf(old).filter((name) => !now.dropped.includes(name));
  return [...listed('lose the column', lost), ...listed('get the column', more)];
}

/** Columns by position. */
function isSlice(selection: string): boolean {
  return /^\?[-\d:,[\]]+$/.test(selection);
}

const KNOWN_PICK =
  /^(split|fold|resample|dropna|drop_duplicates|sample|sort_values|sort_index|head|tail|shuffle|permutation|drop)\b|^\[[^a-z@]*(#len[^a-z@]*)?:/;

/** Which rows a table holds. Rows that were made up count only for the training. */
export function rowDifferences(was: Table, is: Table, isSampled: boolean): Difference[] {
  const [old, now] = [was.state, is.state];
  if (old.source !== now.source) return [{ what: 'come from other data', isCertain: false }];
  const [before, after] = [old, now].map(({ picks }) =>
    picks.filter((pick) => !isSampled || !isResampling(pick)),
  );
  if (before === undefined || after === undefined || before.join('>') === after.join('>')) return [];
  const odd = [
    ...before.filter((pick) => !after.includes(pick)),
    ...after.filter((pick) => !before.includes(pick)),
  ];
  const isCertain = old.isFollowed && now.isFollowed && odd.every(isKnownPick);
  const text = (picks: readonly string[]): string =>
    shown(picks.find((pick) => odd.includes(pick)) ?? picks.at(-1) ?? 'all');
  return [{ what: `hold other rows than before (${text(after)} instead of ${text(before)})`, isCertain }];
}

function isKnownPick(pick: string): boolean {
  return KNOWN_PICK.test(pick) && !pick.includes('{');
}

export function isResampling(pick: string): boolean {
  return pick.startsWith('resample');
}

/** Whether features and labels, or labels and predictions, are of the same rows. */
export function areRowsOfOne(one: Table, other: Table): boolean {
  if (one.state.source.split(' #')[0] !== other.state.source.split(' #')[0]) return true;
  const picksOf = ({ state }: Table): string[] =>
    state.picks.map((pick) => (isResampling(pick) ? pick.replace(/ labels$/, '') : pick));
  const [first, second] = [picksOf(one), picksOf(other)];
  if (first.join('>') === second.join('>')) return true;
  // Conditions and lists of rows may pick the same rows, written in two ways.
  return ![...first, ...second].every(isKnownPick);
}
