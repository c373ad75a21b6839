import { pythonLines } from './logical-lines.js';

/** So many lines of comments in a row are left to the grammar as they are. */
const MAX_COMMENT_LINES = 32;

/** Whether so many lines in a row begin with a `#`: a look that costs little, and finds nothing in most scripts. */
function hasManyCommentLines(source: string): boolean {
  let row = 0;
  for (let start = 0; start < source.length; ) {
    let at = start;
    while (source[at] === ' ' || source[at] === '\t') at += 1;
    row = source[at] === '#' ? row + 1 : 0;
    if (row > MAX_COMMENT_LINES) return true;
    const next = source.indexOf('\n', at);
    if (next < 0) return false;
    start = next + 1;
  }
  return false;
}

/**
 * The source with long rows of comment lines blanked, except for the first and the last ones, and every offset as it was. The
 * scanner of the grammar reads all comments up to the next code again after each of them, so that a commented-out part of
 * a script takes time by the square of its length.
 */
export function withoutManyComments(source: string): string {
  if (!hasManyCommentLines(source)) return source;
  const parts: string[] = [];
  let copied = 0;
  let row: { start: number; end: number }[] = [];
  const blankRow = () => {
    for (const { start, end } of row.slice(MAX_COMMENT_LINES / 2, -MAX_COMMENT_LINES / 2)) {
      parts.push(source.slice(copied, start), ' '.repeat(end - start));
      copied = end;
    }
    row = [];
  };
  for (const { start, end, comment, context } of pythonLines(source)) {
    const isComment = comment >= 0 && source.slice(start, comment).trim() === '';
    if (isComment && (context === 'code' || context === 'bracket')) row.push({ start: comment, end });
    else blankRow();
  }
  blankRow();
  parts.push(source.slice(copied));
  return parts.join('');
}
