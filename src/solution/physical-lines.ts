/** One line of a text, as offsets into it. */
export interface PhysicalLine {
  readonly start: number;
  /** Offset of the line break, or of the end of the text. */
  readonly end: number;
  /** Offset after the line break. */
  readonly next: number;
}

/**
 * The lines of a text as Python and CommonMark count them: `\n`, `\r\n` and a lone `\r` end a line. The text
 * after the last line break is a line too, unless it is empty.
 */
export function physicalLines(text: string): PhysicalLine[] {
  const lines: PhysicalLine[] = [];
  let start = 0;
  const endLine = (end: number, next: number) => {
    lines.push({ start, end, next });
    start = next;
  };
  let feed = text.indexOf('\n');
  let carriage = text.indexOf('\r');
  while (feed !== -1 || carriage !== -1) {
    if (carriage === -1 || (feed !== -1 && feed < carriage)) endLine(feed, feed + 1);
    else endLine(carriage, carriage + 1 === feed ? feed + 1 : carriage + 1);
    if (feed !== -1 && feed < start) feed = text.indexOf('\n', start);
    if (carriage !== -1 && carriage < start) carriage = text.indexOf('\r', start);
  }
  if (start < text.length) lines.push({ start, end: text.length, next: text.length });
  return lines;
}

/** The line break that a script uses: the more frequent one, `\n` where both are equal or there is none. */
export function solutionLineEnding(content: string): '\n' | '\r\n' {
  let withReturn = 0;
  let without = 0;
  for (let at = content.indexOf('\n'); at !== -1; at = content.indexOf('\n', at + 1)) {
    if (content[at - 1] === '\r') withReturn += 1;
    else without += 1;
  }
  return withReturn > without ? '\r\n' : '\n';
}
