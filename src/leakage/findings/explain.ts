import { LEAK_KINDS } from '../kinds.js';
import type { Leak } from './find-leaks.js';

/** The flow of a leak in one sentence with line numbers. */
export function explain(leak: Leak, lineOf: (offset: number) => number): string {
  const at = (offset: number): string => `line ${lineOf(offset)}`;
  const scored = `scored at ${at(leak.scoreNode.start)}`;
  const rows = leak.rowsText === '' ? 'rows' : `\`${leak.rowsText}\``;
  const held = leak.scoredText === '' ? 'the scored rows' : `\`${leak.scoredText}\``;
  const reach =
    leak.split === undefined ? `${held}, ${scored}` : `${held} (${at(leak.split.node.start)}), ${scored}`;
  switch (leak.kind) {
    case 'selection':
      return `${sentence(leak.subject)} is chosen by the score at ${at(leak.node.start)} on ${held}, the rows that are ${scored}.`;
    case 'early-stopping':
      return `Training watches ${rows} (${at(leak.node.start)}) to decide when to stop, and ${held} are ${scored}.`;
    case 'training-rows':
    case 'pseudo-labels':
    case 'stacking':
      return `${sentence(leak.subject)} is trained on ${rows} (${at(leak.node.start)}), whose rows include ${reach}.`;
    case 'group-overlap':
      return `The split at ${at(leak.node.start)} ignores ${leak.subject}, so one group is on both sides of ${held}, ${scored}.`;
    case 'shuffled-time':
      return `${sentence(leak.subject)} (${at(leak.node.start)}) takes labels of earlier rows into the features, and the rows are dealt out at random into ${reach}.`;
    case 'label-in-features':
      return `${sentence(leak.subject)} is made from the label (${at(leak.statement.start)}) and is among the features of ${held}, ${scored}.`;
    case 'future-values':
      return `${sentence(leak.subject)} takes values of later rows (${at(leak.node.start)}) into the features of ${reach}.`;
    case 'statistics':
    case 'group-statistics':
    case 'target-encoding':
    case 'binning':
    case 'feature-selection':
      return `${sentence(leak.subject)} is computed over ${rows} (${at(leak.node.start)}), whose rows reach ${reach}.`;
    default:
      return `${sentence(leak.subject)} is fitted on ${rows} (${at(leak.node.start)}), whose rows reach ${reach}.`;
  }
}

function sentence(subject: string): string {
  return subject.startsWith('`') ? subject : subject.charAt(0).toUpperCase() + subject.slice(1);
}

export function whatToDo(leak: Leak): string {
  return LEAK_KINDS[leak.kind].whatToDo;
}
