import { pick, type Random } from '../../test/contamination/pairs/corpus.js';

const NAMES =
  'items values total node graph row cell key count best start end left right queue stack seen text word index limit cost path depth size table parts'.split(
    ' ',
  );
const METHODS =
  'append extend pop sort get keys items split strip join add remove update index count find replace lower'.split(
    ' ',
  );
const CALLS = 'len sum min max sorted abs int str list set range enumerate reversed any all round'.split(' ');
const OPERATORS = ['+', '-', '*', '//', '%', '&', '|'];

function expression(random: Random, depth = 0): string {
  const name = (): string => pick(random, NAMES);
  const way = depth > 2 ? random() * 0.4 : random();
  if (way < 0.25) return name();
  if (way < 0.4) return String(Math.floor(random() * 30));
  if (way < 0.55) return `${name()}[${expression(random, depth + 1)}]`;
  if (way < 0.7) return `${pick(random, CALLS)}(${expression(random, depth + 1)})`;
  if (way < 0.8) return `${name()}.${pick(random, METHODS)}(${expression(random, depth + 1)})`;
  return `${expression(random, depth + 1)} ${pick(random, OPERATORS)} ${expression(random, depth + 1)}`;
}

function block(random: Random, indent: string, lines: number, depth: number): string[] {
  const out: string[] = [];
  while (out.length < lines) {
    const name = pick(random, NAMES);
    const way = random();
    const deeper = (): string[] => block(random, `${indent}    `, 1 + Math.floor(random() * 3), depth + 1);
    if (way < 0.3 || depth > 2) out.push(`${indent}${name} = ${expression(random)}`);
    else if (way < 0.45)
      out.push(`${indent}${name} ${pick(random, ['+=', '-=', '*='])} ${expression(random)}`);
    else if (way < 0.55) out.push(`${indent}${name}.${pick(random, METHODS)}(${expression(random)})`);
    else if (way < 0.7)
      out.push(`${indent}for ${pick(random, NAMES)} in ${expression(random)}:`, ...deeper());
    else if (way < 0.85)
      out.push(
        `${indent}if ${expression(random)} ${pick(random, ['<', '==', '!=', '>='])} ${expression(random)}:`,
        ...deeper(),
      );
    else if (way < 0.92) out.push(`${indent}while ${name} < ${expression(random)}:`, ...deeper());
    else out.push(`${indent}${name}[${expression(random)}] = ${expression(random)}`);
  }
  return out;
}

/** A meaningless Python program of about 32 lines that looks like the solution of a small task. */
export function randomProgram(random: Random): string {
  const functions = 1 + Math.floor(random() * 3);
  const lines: string[] = [];
  for (let i = 0; i < functions; i++) {
    lines.push(
      `def ${pick(random, NAMES)}_${Math.floor(random() * 1_000)}(${pick(random, NAMES)}, ${pick(random, NAMES)}_b):`,
    );
    lines.push(
      ...block(random, '    ', Math.ceil(26 / functions), 0),
      `    return ${expression(random)}`,
      '',
      '',
    );
  }
  return lines.join('\n');
}
