const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for HTML, in an element or in a quoted attribute. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] as string);
}

/** Control characters, lone surrogates, and what is invisible or turns the writing direction. */
const UNSEEN =
  /(?![\t\n])\p{Cc}|\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}|\p{Zl}|\p{Zp}|\p{Surrogate}/gu;

/** Source text for HTML: escaped, and with every character that does not show written out as its code. */
export function escapeSource(text: string): string {
  return escapeHtml(text.replace(/\r\n?/g, '\n')).replace(UNSEEN, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `<span class="unseen">U+${code}</span>`;
  });
}
