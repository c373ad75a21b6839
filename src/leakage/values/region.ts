import type { Expr, Stmt } from '../syntax/ast.js';
import { sidesDisjoint } from './comparison.js';
import { countWork } from './work.js';

/** A position among rows: a fraction of their number, and some rows more or fewer. */
export interface CutAt {
  readonly fraction: number;
  readonly offset: number;
}

/** Groups of rows that a division cuts through. */
export interface IgnoredGroups {
  readonly text: string;
  /** Columns that say which rows belong together, where the code names none for the division. */
  readonly columns?: readonly string[];
  /** The statement that made the splitter. */
  readonly madeBy?: Stmt;
}

/** One way of dividing the rows of a table: two different sides of one partition fraction no row. */
export interface Partition {
  readonly key: string;
  /** Folds of which only one is taken are a hold-out. */
  form: 'holdout' | 'folds' | 'selection';
  readonly node: Expr;
  readonly statement: Stmt;
  /** Of a cut: where it is, if that is known. */
  readonly at?: CutAt;
  /** How many partitions were made before it. */
  readonly order: number;
  /** Rows are dealt out at random, not in their order. */
  random?: boolean;
  /** No division: each row was split into several, as by `explode`. */
  readonly pieces?: string;
  /** The splitter was made to keep groups of rows together. */
  keepsGroups?: boolean;
  /** A column whose equal values are on one side, where it is known which one that is. */
  dividesBy?: string;
  /** Its side `yes` has all rows of this part, and perhaps others. */
  holds?: Region;
  /** One of its sides has no row of this part. */
  lacks?: { readonly side: string; readonly part: Region };
  /** The code knows groups of rows, and the division cuts through them. */
  ignoredGroups?: IgnoredGroups;
}

/**
 * A set of rows named by where it comes from: the rows of one source, or the part of another region that lies
 * on one side of a partition.
 */
export interface Region {
  readonly label: string;
  readonly parent: Region | undefined;
  readonly partition: Partition | undefined;
  readonly side: string;
  /** What the code says the part is for; by position in the result of a splitting function. */
  readonly role: 'train' | 'test' | undefined;
  readonly depth: number;
  readonly parts: Map<string, Region>;
  /** The statement that first took this part. */
  readonly madeBy: Stmt | undefined;
  /** For a source: the loop in which it is read, once in each round. */
  loop?: Stmt;
  /** For the rows of groups, one for each: the rows that were grouped. */
  grouped?: readonly Region[];
  /** For a source: its rows were read from a file, or belong to a data set of a library. */
  isFile?: boolean;
  /** The code puts its rows into a random order: which rows are next to each other means nothing. */
  isShuffled?: boolean;
  /** For a source: another one whose rows are beside its own, row by row. */
  beside?: Region;
  /** The first variable that held exactly these rows. */
  name?: string;
}

export function sourceRegion(label: string): Region {
  return {
    label,
    parent: undefined,
    partition: undefined,
    side: '',
    role: undefined,
    depth: 0,
    parts: new Map(),
    madeBy: undefined,
  };
}

function partKey({ key }: Partition, side: string): string {
  return `${key}\u0000${side}`;
}

/** The part of `parent` on one side of a partition; the same object for the same arguments. */
export function partOf(
  parent: Region,
  partition: Partition,
  side: string,
  role?: 'train' | 'test',
  madeBy?: Stmt,
): Region {
  const key = partKey(partition, side);
  const known = parent.parts.get(key);
  if (known !== undefined) return known;
  const part: Region = {
    label: parent.label,
    parent,
    partition,
    side,
    role,
    depth: parent.depth + 1,
    parts: new Map(),
    madeBy,
  };
  parent.parts.set(key, part);
  return part;
}

/** `crossing`: two random divisions of the same rows, so that each part has rows of each. */
export type Relation = 'same' | 'contains' | 'inside' | 'disjoint' | 'crossing' | 'unknown';

/** How the rows of `a` lie to the rows of `b`. */
export function relationOf(a: Region, b: Region): Relation {
  if (a === b) return 'same';
  countWork(1 + Math.abs(a.depth - b.depth));
  let upA: Region = a;
  let upB: Region = b;
  while (upA.depth > upB.depth && upA.parent !== undefined) upA = upA.parent;
  while (upB.depth > upA.depth && upB.parent !== undefined) upB = upB.parent;
  if (upA === upB) return a.depth < b.depth ? 'contains' : 'inside';
  while (upA.parent !== upB.parent && upA.parent !== undefined && upB.parent !== undefined) {
    countWork(1);
    upA = upA.parent;
    upB = upB.parent;
  }
  if (upA.parent !== upB.parent || upA.parent === undefined) {
    if (upB.beside === upA) return relationBeside(a, b, upA);
    return upA.beside === upB ? (opposite(relationBeside(b, a, upB)) ?? 'unknown') : 'disjoint';
  }
  // Children of one region: the partition decides; two different partitions may cut across each other.
  if (conditionsExclude(a, b, upA.parent)) return 'disjoint';
  const around = relationByValues(a, b, upA.parent) ?? opposite(relationByValues(b, a, upA.parent));
  if (around !== undefined) return around;
  if (upA.partition?.key === upB.partition?.key)
    return sidesDisjoint(upA.side, upB.side) ? 'disjoint' : 'unknown';
  if (cutsExclude(a, b, upA.parent)) return 'disjoint';
  if (areOverlappingSlices(a, b, upA.parent)) return 'crossing';
  return areCrossing(upA.partition, upB.partition) ? 'crossing' : 'unknown';
}

/** How `a` lies to `b`, whose rows are those of another source, side by side with rows of `origin`: divided alike, they are the same. */
function relationBeside(a: Region, b: Region, origin: Region): Relation {
  const path: Region[] = [];
  countWork(b.depth);
  for (let part: Region | undefined = b; part?.partition !== undefined; part = part.parent) path.push(part);
  let same = origin;
  for (const { partition, side } of path.reverse()) {
    const next = partition === undefined ? undefined : same.parts.get(partKey(partition, side));
    // A part that was taken of the other source alone.
    if (next === undefined) {
      const relation = relationOf(a, same);
      return relation === 'same' ? 'contains' : relation === 'inside' ? 'unknown' : relation;
    }
    same = next;
  }
  return relationOf(a, same);
}

/** How `a` lies to `b` if a step to `a` was to the rows that share a value with `b` or with rows around it, or to all others. */
function relationByValues(a: Region, b: Region, above: Region): Relation | undefined {
  for (let x: Region | undefined = a; x !== undefined && x !== above; x = x.parent) {
    const lacks = x.partition?.lacks;
    if (lacks !== undefined && x.side === lacks.side && isWithin(b, lacks.part)) return 'disjoint';
    const holds = x.partition?.holds;
    if (holds === undefined || !isWithin(b, holds)) continue;
    if (x.side === '!yes') return 'disjoint';
    if (x === a && x.parent === above && x.side === 'yes') return 'contains';
  }
  return undefined;
}

function isWithin(part: Region, around: Region): boolean {
  countWork(1 + Math.abs(part.depth - around.depth));
  let x: Region | undefined = part;
  while (x !== undefined && x.depth > around.depth) x = x.parent;
  return x === around;
}

function opposite(relation: Relation | undefined): Relation | undefined {
  return relation === 'contains' ? 'inside' : relation;
}

/** Two random divisions, or a random one and a condition from before it, which knows nothing of it. */
function areCrossing(a: Partition | undefined, b: Partition | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const isDealt = (partition: Partition): boolean =>
    partition.form === 'holdout' && partition.random === true;
  if (isDealt(a) && isDealt(b)) return true;
  return (isDealt(a) && isEarlier(b, a)) || (isDealt(b) && isEarlier(a, b));
}

function isEarlier(condition: Partition, { order }: Partition): boolean {
  return isCondition(condition) && condition.order < order;
}

export function isCut({ key }: Partition): boolean {
  return key.startsWith('cut:');
}

/** Rows that `sample` draws from a table without replacement. */
export function isSample({ key }: Partition): boolean {
  return key.startsWith('sample:');
}

/** The cuts through the rows of `above` that lead to a part. After a cut, positions count from there. */
function cutsBelow(above: Region, part: Region): readonly Region[] {
  const path: Region[] = [];
  countWork(part.depth - above.depth);
  for (let x: Region | undefined = part; x !== undefined && x !== above; x = x.parent) path.push(x);
  const cuts: Region[] = [];
  for (const region of path.reverse()) {
    if (region.partition === undefined || !isCut(region.partition)) break;
    cuts.push(region);
    if (region.side === 'after') break;
  }
  return cuts;
}

/** Whether one part ends where the other has not begun: the slices need not meet. */
function cutsExclude(a: Region, b: Region, above: Region): boolean {
  const [left, right] = [cutsBelow(above, a), cutsBelow(above, b)];
  countWork(left.length * right.length);
  const isShuffled = above.isShuffled === true;
  return left.some((x) =>
    right.some(
      (y) =>
        x.side !== y.side &&
        (x.side === 'before' ? endsBefore(x, y, isShuffled) : endsBefore(y, x, isShuffled)),
    ),
  );
}

/** Records that rows are in a random order. */
export function noteShuffled(rows: readonly Region[]): void {
  for (const region of rows) region.isShuffled = true;
}

/** Whether two slices of shuffled rows have rows in common, as the numbers say: no part needs the rows before it as history. */
function areOverlappingSlices(a: Region, b: Region, above: Region): boolean {
  if (above.isShuffled !== true) return false;
  const [left, right] = [endsOf(a, above), endsOf(b, above)];
  return (
    left !== undefined &&
    right !== undefined &&
    isBefore(left.start, right.end) &&
    isBefore(right.start, left.end)
  );
}

/** Where a slice begins and ends, if nothing but cuts led to it and all of them are known. */
function endsOf(part: Region, above: Region): { start: CutAt; end: CutAt } | undefined {
  const cuts = cutsBelow(above, part);
  if (cuts.length !== part.depth - above.depth) return undefined;
  let [start, end]: [CutAt, CutAt] = [
    { fraction: 0, offset: 0 },
    { fraction: 1, offset: 0 },
  ];
  for (const { side, partition } of cuts) {
    if (partition?.at === undefined) return undefined;
    if (side === 'after') start = partition.at;
    else if (isBefore(partition.at, end)) end = partition.at;
  }
  return { start, end };
}

/** Whether one position is before the other, however many rows there are. */
function isBefore(a: CutAt, b: CutAt): boolean {
  return a.fraction === b.fraction ? a.offset < b.offset : a.fraction < b.fraction;
}

/** Rows that a part may begin before the cut, to have history for its first window. */
const MAX_HISTORY = 1_000;
const MAX_HISTORY_FRACTION = 0.2;

function endsBefore({ partition: end }: Region, { partition: start }: Region, isShuffled: boolean): boolean {
  if (end === undefined || start === undefined) return false;
  if (end.key === start.key) return true;
  const [x, y] = [end.at, start.at];
  // `[:n]` and `[n - window:]`, whatever the two are.
  if (x === undefined || y === undefined) return /^[-+]\w+$/.test(rest(start.key, end.key));
  if (x.fraction === y.fraction) {
    if (isShuffled) return x.offset <= y.offset;
    const most = x.fraction === 0 ? x.offset * MAX_HISTORY_FRACTION : MAX_HISTORY;
    return x.offset - y.offset <= most;
  }
  return x.fraction < y.fraction;
}

/** What follows a text at the start of another one. */
function rest(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : '';
}

/** A condition on the values of a row, which holds however many others are put to it before and after. */
export function isCondition({ key }: Partition): boolean {
  return key.startsWith('compare:') || key.startsWith('text:');
}

/** Whether rows that are equal in one of some columns are all on one side of the division between two sets of rows. */
export function keepsEqual(
  a: readonly Region[],
  b: readonly Region[],
  isEqual: (partition: Partition, column: string | undefined) => boolean,
): boolean {
  return b.every((part) => {
    for (let x: Region | undefined = part; x?.partition !== undefined; x = x.parent) {
      const division: Region = x;
      if (!a.some((other) => isDividedBy(other, division))) continue;
      const { partition } = x;
      const compared = partition.key.startsWith('compare:')
        ? partition.key.slice('compare:'.length)
        : undefined;
      return isEqual(partition, compared ?? partition.dividesBy);
    }
    return false;
  });
}

/** Whether a part came about by the same division as another one. */
function isDividedBy(part: Region, { partition, parent }: Region): boolean {
  countWork(part.depth);
  for (let x: Region | undefined = part; x?.partition !== undefined; x = x.parent)
    if (x.partition === partition && x.parent === parent) return true;
  return false;
}

/** Whether conditions that were put to both below `above` exclude each other: one before a day, one after it. */
function conditionsExclude(a: Region, b: Region, above: Region): boolean {
  for (let x: Region | undefined = a; x !== undefined && x !== above; x = x.parent) {
    if (x.partition === undefined || !isCondition(x.partition)) continue;
    countWork(b.depth - above.depth);
    for (let y: Region | undefined = b; y !== undefined && y !== above; y = y.parent) {
      if (y.partition === x.partition && sidesDisjoint(x.side, y.side)) return true;
    }
  }
  return false;
}

/** The source that some rows come from. */
export function originOf(region: Region): Region {
  countWork(region.depth);
  let origin = region;
  while (origin.parent !== undefined) origin = origin.parent;
  return origin;
}

export type Overlap = 'yes' | 'no' | 'unknown';

/** Whether two sets of rows have rows in common. */
export function overlapOf(a: readonly Region[], b: readonly Region[]): Overlap {
  let result: Overlap = 'no';
  for (const left of a) {
    for (const right of b) {
      const relation = relationOf(left, right);
      if (relation === 'crossing') return 'yes';
      if (relation === 'unknown') result = 'unknown';
      else if (relation !== 'disjoint') return 'yes';
    }
  }
  return result;
}

/** Whether every region of `inner` lies within some region of `outer`. */
export function covers(outer: readonly Region[], inner: readonly Region[]): boolean {
  return inner.every((part) =>
    outer.some((region) => {
      const relation = relationOf(region, part);
      return relation === 'same' || relation === 'contains';
    }),
  );
}

/**
 * Whether rows of two sources were divided alike: features and labels that were read from two files are side by
 * side, row by row. Sources that were not divided at all count with `undivided`.
 */
export function dividedAlike(a: readonly Region[], b: readonly Region[], undivided: boolean): boolean {
  const [left, right] = [a[0], b[0]];
  if (a.length !== 1 || b.length !== 1 || left === undefined || right === undefined) return false;
  if (left.parent === undefined && !undivided) return false;
  let [x, y]: [Region, Region] = [left, right];
  let isSplit = false;
  while (x.parent !== undefined && y.parent !== undefined) {
    if (x.partition?.key !== y.partition?.key || x.side !== y.side) {
      // Of each source some rows were picked first, as those with a label in the other one.
      if (!isSplit) return false;
      break;
    }
    isSplit ||= x.partition?.form !== 'selection';
    [x, y] = [x.parent, y.parent];
  }
  // Windows that a loop takes out of rows were parts of them before all were divided.
  const isDivided = x !== left || y !== right;
  return isRoot(x, isDivided) && isRoot(y, isDivided) && originOf(x) !== originOf(y);
}

function isRoot(region: Region, isDivided: boolean): boolean {
  if (!isDivided) return region.parent === undefined;
  countWork(region.depth);
  for (let part: Region | undefined = region; part?.partition !== undefined; part = part.parent)
    if (part.partition.form !== 'selection') return false;
  return true;
}

export function sameRows(a: readonly Region[], b: readonly Region[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  countWork(a.length);
  return a.every((region) => b.includes(region));
}
