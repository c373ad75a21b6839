/** `%time statement` and `%timeit statement` run Python code; every other magic does not. */
const CODE_MAGIC = /^(\s*)%(time|timeit|prun)(\s+)(?=[^\s-])/;
const LINE_MAGIC = /^(\s*)([%!?])(.*)$/;
const ASSIGNED_MAGIC = /^(\s*[\w., ]+=\s*)([!%])(?=[\w.{$/])(.*)$/;
const HELP_SUFFIX = /^(\s*)([\w.]+\?{1,2})\s*$/;

/** `0#` and as many more characters as needed: an expression and a comment, of the same length. */
function commented(text: string): string {
  return text.length < 2 ? '0'.repeat(text.length) : `0#${text.slice(2)}`;
}

function neutraliseLine(line: string): string {
  const code = CODE_MAGIC.exec(line);
  if (code !== null) {
    const [whole, indent = ''] = code;
    const width = whole.length - indent.length;
    return `${indent}0;${' '.repeat(width - 2)}${line.slice(whole.length)}`;
  }
  const magic = LINE_MAGIC.exec(line);
  if (magic !== null) {
    const [, indent = ''] = magic;
    return indent + commented(line.slice(indent.length));
  }
  const assigned = ASSIGNED_MAGIC.exec(line);
  if (assigned !== null) {
    const [, before = ''] = assigned;
    return before + commented(line.slice(before.length));
  }
  const help = HELP_SUFFIX.exec(line);
  if (help !== null) {
    const [, indent = ''] = help;
    return indent + commented(line.slice(indent.length));
  }
  return line;
}

/**
 * Replaces notebook magics by Python of the same length, so that offsets and lines stay what they were. Only
 * for text that does not parse as it is: in plain Python a line may start with `%` inside brackets.
 */
export function neutraliseMagics(source: string): string {
  return source
    .split('\n')
    .map((line) => (/[%!?]/.test(line) ? neutraliseLine(line) : line))
    .join('\n');
}
