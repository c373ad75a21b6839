import { isForbidden } from './correction-rules.js';
import type { SyntaxNode } from './python-syntax.js';

/** Escapes of a literal that can stand for the signs of an address or a name. No name of a sign has 100 characters. */
const ESCAPE =
  /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|N\{([^{}\\]{1,100})\}|\r?\n)/g;

/** The text of a string literal as Python reads it, except for escapes of single signs. Those by name stand for a slash. */
export function decoded(literal: string): string {
  return literal.replace(
    ESCAPE,
    (whole, x?: string, u?: string, long?: string, octal?: string, name?: string) => {
      const code = x ?? u ?? long;
      if (code !== undefined) return signOf(parseInt(code, 16), whole);
      if (octal !== undefined) return signOf(parseInt(octal, 8), whole);
      return name === undefined ? '' : '/';
    },
  );
}

function signOf(code: number, otherwise: string): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : otherwise;
}

/** A local variable's attribute, item or call in the text of a query. */
const REACHES = /@\s*\w+\s*[.([]|__/;

/**
 * Whether `name` is that of a call `table.query("…")` whose text is a literal that reaches no attribute of a variable and
 * calls nothing forbidden: pandas evaluates it.
 */
export function isPlainQuery(name: SyntaxNode): boolean {
  const call = name.parent?.parent;
  if (call?.type !== 'call' || call.childForFieldName('function')?.id !== name.parent?.id) return false;
  const text = call.childForFieldName('arguments')?.firstNamedChild;
  if (text?.type !== 'string' || text.descendantsOfType('interpolation').length > 0) return false;
  const plain = decoded(text.text);
  return (
    !REACHES.test(plain) && !(plain.match(/\.\s*\w+/g) ?? []).some((at) => isForbidden(at.replace(/\s/g, '')))
  );
}
