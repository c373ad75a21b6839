import type { Solution } from '../../queues/common.js';
import { type LocatedBlock, locateBlock } from '../../solution/locate-block.js';
import type { CorrectionContext } from './correct-block.js';
import type { SourcedAnswer } from './missed-leaks.js';

/** Longest block that one request is for, in lines; longer ones are corrected leak by leak. */
const MAX_LINES = 60;

/** Several leaks, and the block that holds all of them. */
export interface SharedCorrection {
  readonly answers: readonly [SourcedAnswer, ...SourcedAnswer[]];
  readonly block: string;
}

interface Placed {
  readonly answer: SourcedAnswer;
  readonly located: LocatedBlock;
  /** The splits that its leaks have to move after: the offset of each, and of the end of its last line. */
  readonly splits: ReadonlyMap<number, number>;
}

/**
 * The leaks that one request can correct: those whose blocks overlap, or whose rows are divided by the same split. A block that
 * occurs more than once is left alone: nobody knows which one is meant.
 */
export async function sharedCorrections(
  leaky: readonly SourcedAnswer[],
  { content }: Solution,
  { corrections, runner, analyst }: CorrectionContext,
): Promise<SharedCorrection[]> {
  if (corrections === 'each' || runner.name === 'offline' || leaky.length < 2) return [];
  const { findings } = await analyst.analyze(content);
  const splitsIn = ({ start, end }: LocatedBlock) =>
    findings.flatMap(({ computations, flow }) =>
      flow.split !== undefined && computations.some((one) => start <= one.start && one.end <= end)
        ? [[flow.split.start, endOfLine(content, flow.split.end)] as const]
        : [],
    );
  const placed = leaky.flatMap((answer): Placed[] => {
    const located = locateBlock(answer.code_block, content);
    if (located === null || located.occurrences > 1) return [];
    return [{ answer, located, splits: new Map(splitsIn(located)) }];
  });
  return groupsOf(placed).flatMap((group): SharedCorrection[] => {
    const [first, ...others] = group.map(({ answer }) => answer);
    const start = Math.min(...group.map(({ located }) => located.start));
    // A correction moves the leaks behind their split, so that is part of its block.
    const ends = group.flatMap(({ located, splits }) => [located.end, ...splits.values()]);
    const block = content.slice(start, Math.max(...ends));
    const isUsable =
      first !== undefined &&
      others.length > 0 &&
      block.split('\n').length <= MAX_LINES &&
      locateBlock(block, content)?.occurrences === 1;
    return isUsable ? [{ answers: [first, ...others], block }] : [];
  });
}

/** Leaks that are connected, also by others between them. */
function groupsOf(placed: readonly Placed[]): Placed[][] {
  const groups: Placed[][] = [];
  for (const one of placed) {
    const connected = groups.filter((group) => group.some((other) => isConnected(one, other)));
    for (const group of connected) groups.splice(groups.indexOf(group), 1);
    groups.push([...connected.flat(), one]);
  }
  const order = (group: readonly Placed[]) => group.toSorted((a, b) => placed.indexOf(a) - placed.indexOf(b));
  return groups.map(order);
}

function isConnected(a: Placed, b: Placed): boolean {
  const overlaps = a.located.start < b.located.end && b.located.start < a.located.end;
  return overlaps || [...a.splits.keys()].some((split) => b.splits.has(split));
}

function endOfLine(content: string, offset: number): number {
  const end = content.indexOf('\n', offset);
  return end === -1 ? content.length : end;
}
