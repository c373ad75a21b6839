/**
 * Text in lines that fit a width, each after an indentation; words that are longer get a line of their own. Without a
 * width the lines stay as they are: into a file or a pipe nothing is broken that somebody may search for.
 */
export function wrapped(text: string, indentation: string, width: number | undefined): string[] {
  if (width === undefined) return text.split('\n').map((line) => `${indentation}${line}`);
  const room = Math.max(20, width - indentation.length);
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [];
    let current = '';
    for (const word of line.split(' ')) {
      const longer = current === '' ? word : `${current} ${word}`;
      if (current !== '' && [...longer].length > room) {
        lines.push(current);
        current = word;
      } else current = longer;
    }
    return [...lines, current].map((part) => `${indentation}${part}`);
  });
}

/** Columns of a terminal; undefined where the stream is none. */
export function widthOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number | undefined {
  return stream.isTTY === true ? stream.columns : undefined;
}
