import type { Module, Span } from '../../syntax/ast.js';
import type { WorkAllowance } from '../../values/work.js';
import type { TextEdit } from '../context.js';
import { doubledBlankLines, emptyCells } from './blank-lines.js';
import { type Draft, draftOf, textOfDraft, withEdits } from './draft.js';
import { importsAmongImports } from './imports.js';
import {
  positionsBeforeLoops,
  repeatedSplits,
  splitsAtKnownRows,
  splitsMadeBelow,
} from './repeated-splits.js';
import { unreadNames } from './unread-names.js';

/** One thing that a person would write otherwise. Edits of the rewritten script; none where there is nothing left to do. */
type Pass = (draft: Draft) => TextEdit[];

/** Names go one after the other: a line that goes may have been the last reader of another name. */
const PASSES: readonly Pass[] = [
  importsAmongImports,
  repeatedSplits,
  positionsBeforeLoops,
  unreadNames,
  emptyCells,
  doubledBlankLines,
];
const MAX_ROUNDS = 12;

/** A rewrite and the lines that it replaces. */
export interface Tidied {
  readonly block: Span;
  readonly text: string;
}

/**
 * The rewrite as a person would write it, the tidiest first: without what it left without a reader, its imports among the
 * imports, no split made twice. `isOnlyLeak`: no other correction of the script will follow. The caller checks each, and the rewrite as it is where none of them passes.
 */
export async function* tidied(
  before: Module,
  { block, text }: Tidied,
  isOnlyLeak: boolean,
  work: WorkAllowance,
): AsyncGenerator<Tidied> {
  const draft = await draftOf(before, block, text);
  if (!draft.after.parsed) return;
  const plain = await passed(draft, PASSES, work);
  // A later correction reads the options of the split.
  const once = isOnlyLeak
    ? await passed(draft, [splitsMadeBelow, splitsAtKnownRows, ...PASSES], work)
    : plain;
  const versions = once.after.source === plain.after.source ? [plain] : [once, plain];
  for (const version of versions)
    if (version !== draft) yield { block: version.block, text: textOfDraft(version) };
}

async function passed(start: Draft, passes: readonly Pass[], work: WorkAllowance): Promise<Draft> {
  let draft = start;
  for (const pass of passes) {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const edits = work.run(() => pass(draft));
      if (edits.length === 0) break;
      draft = await withEdits(draft, edits);
      if (!draft.after.parsed) return start;
    }
  }
  return draft;
}
