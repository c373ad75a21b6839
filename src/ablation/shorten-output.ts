export interface ShortenedOutput {
  readonly text: string;
  /** Characters (UTF-16 code units) of the output that are not in `text`. */
  readonly removed: number;
}

const omissionNote = (removed: number): string =>
  `\n\n[... ${removed} characters in the middle of the output were left out here ...]\n\n`;

/** Fraction of the room that the start gets; the scores of a study are at the end. */
const START_FRACTION = 0.25;
/** How far a cut is moved to fall between two lines. */
const LINE_REACH = 400;

/** Moves a cut so that it does not fall between the two halves of one character. */
function besideSurrogates(text: string, position: number, toward: -1 | 1): number {
  const isHigh = /[\ud800-\udbff]/.test(text[position - 1] ?? '');
  const isLow = /[\udc00-\udfff]/.test(text[position] ?? '');
  return isHigh && isLow ? position + toward : position;
}

function startCut(text: string, position: number): number {
  const line = text.lastIndexOf('\n', position - 1) + 1;
  return line > 0 && position - line <= LINE_REACH ? line : besideSurrogates(text, position, -1);
}

function endCut(text: string, position: number): number {
  const line = text.indexOf('\n', position) + 1;
  return line > 0 && line < text.length && line - position <= LINE_REACH
    ? line
    : besideSurrogates(text, position, 1);
}

/**
 * Cuts the middle out of an output that is too long for a prompt, and says there how much is missing.
 *
 * @param maxCharacters maximum number of characters of the answer, the note included. Where that leaves no room for the
 *   note, the answer is the end of the output, after an ellipsis.
 * @throws RangeError if `maxCharacters` is not a whole number of at least 0.
 */
export function shortenOutput(rawOutput: string, maxCharacters: number): ShortenedOutput {
  if (!Number.isSafeInteger(maxCharacters) || maxCharacters < 0) {
    throw new RangeError(
      `maxCharacters must be a whole number of at least 0, got ${maxCharacters}: pass the room that is left in the prompt`,
    );
  }
  if (rawOutput.length <= maxCharacters) return { text: rawOutput, removed: 0 };
  const room = maxCharacters - omissionNote(rawOutput.length).length;
  if (room < 40) {
    if (maxCharacters === 0) return { text: '', removed: rawOutput.length };
    const from = besideSurrogates(rawOutput, rawOutput.length - maxCharacters + 1, 1);
    return { text: `…${rawOutput.slice(from)}`, removed: from };
  }
  const start = startCut(rawOutput, Math.floor(room * START_FRACTION));
  const end = endCut(rawOutput, rawOutput.length - (room - start));
  const removed = end - start;
  return { text: rawOutput.slice(0, start) + omissionNote(removed) + rawOutput.slice(end), removed };
}
