import { BlockNotFoundError } from '../errors.js';
import { searchText } from './search.js';

/**
 * Puts `text` where the span is. For a block found by `locateBlock` this is the safe way: a text that was
 * matched by whole lines may also occur earlier, as a part of another line, and `replaceBlock` would hit that.
 */
export function replaceSpan(
  content: string,
  span: { readonly start: number; readonly end: number },
  text: string,
): string {
  return content.slice(0, span.start) + text + content.slice(span.end);
}

/**
 * A new solution in which the first occurrence of `oldBlock` is replaced by `newBlock`. Both are taken
 * literally: `$&`, `$1` and regular-expression characters mean nothing (REQ-DM-010).
 *
 * @throws BlockNotFoundError if `oldBlock` is empty or not an exact substring of the solution.
 */
export function replaceBlock(
  solution: { readonly content: string },
  oldBlock: string,
  newBlock: string,
): { content: string } {
  if (oldBlock === '') {
    throw new BlockNotFoundError(
      'The block to be replaced is empty; pass the text that is in the solution.',
      {
        field: 'oldBlock',
      },
    );
  }
  const found = searchText(oldBlock, solution.content);
  if (found === null) {
    throw new BlockNotFoundError(
      `The block to be replaced (${oldBlock.length} characters, beginning with ${JSON.stringify(oldBlock.slice(0, 60))}) ` +
        'is not in the solution; locate it first and pass the located text.',
      { field: 'oldBlock' },
    );
  }
  const span = { start: found.first, end: found.first + oldBlock.length };
  return { content: replaceSpan(solution.content, span, newBlock) };
}
