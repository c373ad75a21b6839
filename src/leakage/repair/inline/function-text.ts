import type { FunctionDefinition, Span, Stmt } from '../../syntax/ast.js';
import { edited, type TextEdit } from '../context.js';
import { isCellMarker } from '../order/cells.js';

/** A string of several lines, or a line that goes on in the next one: its indentation may be part of it. */
function hasLongString(text: string): boolean {
  const start = text.search(/"""|'''/);
  return (start >= 0 && text.includes('\n', start)) || /\\\r?\n/.test(text);
}

export function lineStart(source: string, offset: number): number {
  return source.lastIndexOf('\n', offset - 1) + 1;
}

export function indentOf(source: string, { start }: Span): string {
  return source.slice(lineStart(source, start), start);
}

/** The lines of a function before its result, with another indentation; undefined where a string would change with it. */
export function bodyText(
  source: string,
  definition: FunctionDefinition,
  body: readonly Stmt[],
  renamings: readonly TextEdit[],
  indent: string,
): string[] | undefined {
  const result = body.at(-1)?.type === 'return' ? body.at(-1) : undefined;
  const [first, ...others] = result === undefined ? body : body.slice(0, -1);
  if (first === undefined) return [];
  const { end } = others.at(-1) ?? first;
  // The comment after the last line is part of it.
  const limit = result === undefined ? definition.end : lineStart(source, result.start);
  const next = source.indexOf('\n', end);
  const last = Math.min(next < 0 ? source.length : next, Math.max(limit, end));
  const text = indented(
    edited(source, { start: first.start, end: last }, renamings),
    indentOf(source, first),
    indent,
  );
  return text === undefined ? undefined : [text.replace(/\r$/, '')];
}

/** What a function gives, with the parentheses that let it go on over several lines; undefined as above. */
export function resultText(
  source: string,
  result: Stmt | undefined,
  renamings: readonly TextEdit[],
  indent: string,
): string | undefined {
  if (result === undefined) return 'None';
  const { start, end } = result;
  const keyword = /^return\s*/.exec(source.slice(start, end))?.[0] ?? '';
  const text = edited(source, { start: start + keyword.length, end }, renamings);
  return text === '' ? 'None' : indented(text, indentOf(source, result), indent);
}

function indented(text: string, from: string, to: string): string | undefined {
  if (from !== to && hasLongString(text)) return undefined;
  return text
    .split('\n')
    .map((line, at) => (at === 0 || !line.startsWith(from) ? line : to + line.slice(from.length)))
    .join('\n');
}

/** What is said of a function: the comment above it, and the one line that documents it. */
export function notesOf(source: string, definition: FunctionDefinition): string[] {
  const { start } = definitionLines(source, definition);
  const above = source.slice(start, lineStart(source, definition.start));
  const comments = above
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [first] = definition.body.statements;
  const text =
    first?.type === 'expression' && first.value.type === 'constant' ? first.value.value : undefined;
  const isLine = typeof text === 'string' && text.trim() !== '' && !text.trim().includes('\n');
  return isLine ? [...comments, `# ${text.trim()}`] : comments;
}

/** The lines of a definition, with the comment right above it and the empty lines below it. */
export function definitionLines(source: string, definition: Span): Span {
  let start = lineStart(source, definition.start);
  while (start > 0) {
    const above = lineStart(source, start - 1);
    const line = source.slice(above, start);
    if (!/^[ \t]*#(?!!)/.test(line) || isCellMarker(line)) break;
    start = above;
  }
  const next = source.indexOf('\n', definition.end);
  const after = next < 0 ? source.length : next + 1;
  const blank = /^(?:[ \t]*\r?\n)*/.exec(source.slice(after))?.[0] ?? '';
  return { start, end: after + blank.length };
}
