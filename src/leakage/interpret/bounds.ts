import { type PendingStatistic, type Positions, type Step, UNKNOWN, type Value } from '../values/value.js';
import { countWork } from '../values/work.js';

/** Texts that code puts together are known up to this many characters. */
const MAX_TEXT = 10_000;

/** Steps from a table to a part of it, one after the other; pending statistics of one column expression. */
const MAX_STEPS = 256;

/** Characters of a dotted path into a library. */
const MAX_PATH = 500;

/** Two texts together; undefined where that is too long to be followed. */
export function boundedText(a: string, b: string): string | undefined {
  const length = a.length + b.length;
  if (length > MAX_TEXT) return undefined;
  countWork(length >> 4);
  return a + b;
}

/** Positions after further steps; unknown where these are too many. */
export function afterSteps(positions: Positions, added: readonly Step[]): Value {
  const steps = [...positions.steps, ...added];
  countWork(steps.length);
  return steps.length > MAX_STEPS ? UNKNOWN : { ...positions, steps };
}

/** Both masks; undefined where their steps are too many to be followed. */
export function bothMasks(a: readonly Step[], b: readonly Step[]): Step[] | undefined {
  countWork(a.length + b.length);
  return a.length + b.length > MAX_STEPS
    ? undefined
    : [...a, ...b].map(({ isWhole: _isWhole, ...step }) => step);
}

/** Statistics of several column expressions in one: each once. */
export function pendingTogether(...parts: readonly (readonly PendingStatistic[])[]): PendingStatistic[] {
  const all = new Set<PendingStatistic>();
  for (const part of parts) {
    countWork(part.length);
    for (const statistic of part) if (all.size < MAX_STEPS) all.add(statistic);
  }
  return [...all];
}

/** A name within a library, which code can make longer without end: `m = m.a`. */
export function libraryMember(path: string, name: string): Value {
  const member = `${path}.${name}`;
  return member.length > MAX_PATH ? UNKNOWN : { type: 'library', path: member };
}
