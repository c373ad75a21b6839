import type { Region } from '../values/region.js';
import type { Leak } from './find-leaks.js';

/** A division that the scored rows went through, and the groups that it cuts through. */
interface IgnoredGroups extends Pick<Leak, 'subject' | 'node' | 'statement' | 'joinedBy'> {}

/** The groups that a division of these rows cuts through. */
export function ignoredGroups(rows: readonly Region[]): IgnoredGroups | undefined {
  for (const row of rows) {
    let shuffled: Region | undefined;
    for (let current: Region | undefined = row; current !== undefined; current = current.parent) {
      const { partition } = current;
      if (partition === undefined) continue;
      const { node, statement, ignoredGroups: ignored, pieces } = partition;
      if (ignored !== undefined) {
        return { subject: `the groups \`${ignored.text}\``, node, statement, joinedBy: undefined };
      }
      if (partition.random === true && partition.keepsGroups !== true) shuffled = current;
      if (pieces === undefined || shuffled?.partition === undefined) continue;
      // Rows were taken apart before they were dealt out.
      const split = shuffled.madeBy ?? shuffled.partition.statement;
      return {
        subject: `which rows ${pieces} made of one`,
        node: shuffled.partition.node,
        statement: split,
        joinedBy: statement,
      };
    }
  }
  return undefined;
}
