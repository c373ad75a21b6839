/** A fenced block of a Markdown answer; offsets are those of its content. */
export interface FencedBlock {
  /** First word of the info string, in lower case; empty without one. */
  readonly tag: string;
  readonly start: number;
  readonly end: number;
}

const FENCE = /^(?:[ \t]*>)*(?:[ \t]{0,12}(?:[-*+]|\d{1,9}[.)]))?[ \t]*(`{3,}(?!`)|~{3,}(?!~))(.*)$/;

/**
 * The fenced blocks of a text. More tolerant than CommonMark, and never throws: a fence may be in a list or
 * a quotation, and one that is never closed runs to the end, since a cut-off answer is checked all the same.
 */
export function fencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { sign: string; length: number; tag: string; start: number } | undefined;
  for (let at = 0; at < text.length; ) {
    const lineEnd = endOfLine(text, at);
    const next = afterBreak(text, lineEnd);
    const line = text.slice(at, Math.min(lineEnd, at + MAX_FENCE_LINE));
    const fence = line.includes('```') || line.includes('~~~') ? FENCE.exec(line) : null;
    const marker = fence?.[1];
    if (marker !== undefined && open === undefined) {
      const info = (fence?.[2] ?? '').trim();
      // A backtick after the marker: that is inline code, no fence.
      if (marker[0] !== '`' || !info.includes('`')) {
        const tag = /^[\w+#.-]*/.exec(info)?.[0].toLowerCase() ?? '';
        open = { sign: marker[0] as string, length: marker.length, tag, start: next };
      }
    } else if (marker !== undefined && open !== undefined) {
      const closes =
        marker[0] === open.sign && marker.length >= open.length && (fence?.[2] ?? '').trim() === '';
      if (closes) {
        blocks.push({ tag: open.tag, start: open.start, end: at });
        open = undefined;
      }
    }
    at = next;
  }
  if (open !== undefined)
    blocks.push({ tag: open.tag, start: Math.min(open.start, text.length), end: text.length });
  return blocks;
}

/** A fence's line is short; of a longer line only the beginning is looked at. */
const MAX_FENCE_LINE = 500;

function endOfLine(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return at;
}

function afterBreak(text: string, lineEnd: number): number {
  return text[lineEnd] === '\r' && text[lineEnd + 1] === '\n' ? lineEnd + 2 : lineEnd + 1;
}

/** The text with everything outside the given ranges blanked: what remains keeps its offsets. */
export function blankOutside(
  text: string,
  ranges: readonly { readonly start: number; readonly end: number }[],
): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    parts.push(blank(text.slice(at, start)), text.slice(start, end));
    at = end;
  }
  parts.push(blank(text.slice(at)));
  return parts.join('');
}

export function blank(text: string): string {
  return text.replace(/[^\r\n]/g, ' ');
}
