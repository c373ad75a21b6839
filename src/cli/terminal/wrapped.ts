import { COLOR } from './escape-control-chars.js';

const COLORS = new RegExp(COLOR, 'g');

/** Number of characters that a terminal shows. */
function shownLength(text: string): number {
  return [...text.replace(COLORS, '')].length;
}

/**
 * Text in lines that fit a width, each after an indentation; words that are longer get a line of their own. Without a
 * width the lines stay as they are: into a file or a pipe nothing is broken that somebody may search for.
 * @param further Indentation of the lines into which a line is broken, after the first one; default: the same.
 */
export function wrapped(
  text: string,
  indentation: string,
  width: number | undefined,
  further = indentation,
): string[] {
  if (width === undefined) return text.split('\n').map((line) => `${indentation}${line}`);
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [];
    let current = '';
    const indented = (part: string) => `${lines.length === 0 ? indentation : further}${part}`;
    for (const word of line.split(' ')) {
      const longer = current === '' ? word : `${current} ${word}`;
      const room = Math.max(20, width - (lines.length === 0 ? indentation : further).length);
      if (current !== '' && shownLength(longer) > room) {
        lines.push(indented(current));
        current = word;
      } else current = longer;
    }
    return [...lines, indented(current)];
  });
}

/** Columns of a terminal; undefined where the stream is none. */
export function widthOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number | undefined {
  return stream.isTTY === true ? stream.columns : undefined;
}
