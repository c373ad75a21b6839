/** PEP 263: a comment on the first two lines, of which the first holds no code. */
const DECLARATION = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/;
const NO_CODE = /^[ \t\f]*(?:#|$)/;

/** Encodings of Python that read other characters than ASCII's where a text holds those: what is a comment, or what ends it. */
const OTHER_TEXT = new RegExp(
  '^(?:utf_?7|u7|unicode_1_1_utf_7|utf_?16.*|utf_?32.*|u16|u32|unicode(?:big|little)unmarked|(?:raw_)?unicode_escape|' +
    'hz.*|(?:cs)?iso_?2022.*|s(?:hift)?_?jis_?(?:2004|x0213)|ebcdic.*|punycode|undefined|' +
    '(?:cp|ibm|csibm)?(?:037|039|273|424|500|864|875|1026|1140))$',
);

/** The encoding that a script declares (PEP 263). */
export function declaredEncoding(content: string): string | undefined {
  const lines = content
    .slice(0, 4_096)
    .replace(/^\uFEFF/, '')
    .split(/\r\n|[\r\n]/, 2);
  for (const line of lines) {
    const declared = DECLARATION.exec(line)?.[1];
    if (declared !== undefined || !NO_CODE.test(line)) return declared;
  }
  return undefined;
}

/**
 * The encoding that a script declares where Python would read another script by it than its text shows, such
 * as UTF-7, in which a comment may hold line breaks; undefined where it declares none of those.
 */
export function misleadingEncoding(content: string): string | undefined {
  const declared = declaredEncoding(content);
  if (declared === undefined) return undefined;
  return OTHER_TEXT.test(declared.toLowerCase().replace(/[^a-z0-9]+/g, '_')) ? declared : undefined;
}
