/**
 * Text of users made safe for a terminal: control characters, which could move the cursor, change colors or retitle the
 * window, are written out, and so are invisible and direction-changing characters, exotic line separators and lone
 * surrogates. Line breaks and tabs stay.
 */
export function escapeControlChars(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, escaped);
}

/** The same for what must stay within one line, as a name or a path: line breaks are written out as well. */
export function escapeControlCharsInLine(text: string): string {
  return text.replace(UNSAFE_IN_A_LINE, escaped);
}

/** The same for lines that hold colors of this program's own. */
export function escapeControlCharsExceptColors(text: string): string {
  return text.replace(COLOR_OR_UNSAFE, (found) =>
    found.length > 1 && found.endsWith('m') ? found : escaped(found),
  );
}

function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** What picocolors writes, as a regular expression. */
export const COLOR = String.raw`\u001b\[[\d;]*m`;

/** C0 and C1 controls, DEL; format characters (zero-width, bidirectional, tags); lone surrogates; U+2028 and U+2029. */
const UNSAFE_IN_A_LINE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}](?<!\t)/gu;
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}](?<![\t\n])/gu;
const COLOR_OR_UNSAFE = new RegExp(`${COLOR}|${UNSAFE.source}`, 'gu');
