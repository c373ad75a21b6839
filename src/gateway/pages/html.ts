const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML that was made by `html`, so that it is not escaped again. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = string | number | Html | readonly HtmlValue[] | undefined | false;

/** Characters that change the text direction, and control characters except for tab and line breaks, are shown as �. */
function replaceControlChars(text: string): string {
  return text.replace(/(?![\t\n\r])[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd');
}

function render(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(render).join('');
  return replaceControlChars(String(value)).replace(
    /[&<>"']/g,
    (character) => ESCAPES[character] ?? character,
  );
}

/**
 * HTML from a template: every value is escaped for text and quoted attributes, unless it is `Html` itself. Attributes must be
 * quoted in the template, and no value may be in a script or a style, nor in the address of a link unless `address.ts` made it.
 */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(parts.reduce((text, part, index) => text + render(values[index - 1]) + part));
}

/** A sentence of the program's own with `code` in backticks. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}
