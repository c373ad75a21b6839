/**
 * Text of users made safe for a terminal: control characters, which could move the cursor, change colours or
 * retitle the window, are written out. Line breaks and tabs stay. So do no invisible or direction-changing ones.
 */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** C0 and C1 controls but tab and line feed; zero-width, bidirectional and other format characters; lone surrogates. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}](?<![\t\n])/gu;
