/** Magics whose argument is Python that really runs, as notebooks converted to scripts call them. */
const CALL =
  /^get_ipython\(\)\.run_(?:cell_magic\((?<q>['"])(?:time|timeit|capture|prun)\k<q>\s*,\s*(?:'[^'\\\n]*'|"[^"\\\n]*")|line_magic\((?<r>['"])(?:time|timeit|prun)\k<r>)\s*,\s*(?<code>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")\s*\)[ \t]*$/gm;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** A script with the code that such calls run instead of the calls. */
export interface WithMagicCalls {
  readonly text: string;
  /** The calls whose code now is there. */
  readonly calls: readonly Span[];
}

/**
 * Replaces `get_ipython().run_cell_magic('time', '', 'x = f()\n')` by its code. Every offset stays that of the original text: an
 * escape keeps its length, and a line break replaces its letter.
 */
export function openMagicCalls(source: string): WithMagicCalls {
  const calls: Span[] = [];
  if (!source.includes('get_ipython()')) return { text: source, calls };
  const text = source.replaceAll(CALL, (call: string, ...rest: unknown[]) => {
    const { code = '' } = rest.at(-1) as { code?: string };
    const start = rest.at(-3) as number;
    const at = call.lastIndexOf(code);
    const opened = openLiteral(code.slice(1, -1));
    if (opened === undefined) return call;
    calls.push({ start, end: start + call.length });
    return `${' '.repeat(at)}\n${opened}${' '.repeat(call.length - at - code.length + 1)}`;
  });
  return { text, calls };
}

/** The text of a string literal, as long as the literal; undefined where an escape cannot be code. */
function openLiteral(literal: string): string | undefined {
  let text = '';
  /** The quote that a string of the code began with. */
  let quote = '';
  for (let at = 0; at < literal.length; at += 1) {
    const character = literal.charAt(at);
    if (character !== '\\') {
      quote = quoteAfter(quote, character);
      text += character;
      continue;
    }
    at += 1;
    const escaped = literal.charAt(at);
    if (escaped === 'n') {
      text += ' \n';
      quote = '';
    } else if (escaped === 't') text += ' \t';
    else if (escaped === '\\') {
      // In a string of the code, the next character is escaped once more.
      const next = literal.charAt(at + 1);
      if (quote === '' || next === '' || next === '\\') return undefined;
      text += ` \\${next}`;
      at += 1;
    } else if (escaped === "'" || escaped === '"') {
      const before = quote;
      quote = quoteAfter(quote, escaped);
      // The second character must not become part of the string.
      text += before === '' ? ` ${escaped}` : quote === '' ? `${escaped} ` : ` ${escaped}`;
    } else return undefined;
  }
  return text;
}

function quoteAfter(open: string, character: string): string {
  if (character !== "'" && character !== '"') return open;
  if (open === '') return character;
  return open === character ? '' : open;
}
