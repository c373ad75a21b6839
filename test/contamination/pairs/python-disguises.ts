import { pick, type Random, shuffled } from './corpus.js';
import { renameWords } from './renaming.js';

/** Ways to disguise a Python program that a careless reader would not see through; each keeps its meaning. */

const indentOf = (line: string): string => /^\s*/.exec(line)?.[0] ?? '';

/** Whole lines: not inside brackets or a docstring. */
function plainLines(text: string): { line: string; whole: boolean }[] {
  let depth = 0;
  let quoted = false;
  return text.split('\n').map((line) => {
    const startsWhole = depth === 0 && !quoted;
    const fences = line.split('"""').length - 1;
    if (fences % 2 === 1) quoted = !quoted;
    if (!quoted && fences === 0) {
      const bare = line.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, '').replace(/#.*/, '');
      depth += (bare.match(/[([{]/g)?.length ?? 0) - (bare.match(/[)\]}]/g)?.length ?? 0);
    }
    return { line, whole: startsWhole && depth === 0 && !quoted && fences === 0 };
  });
}

export function reformatPython(text: string, random: Random): string {
  const unit = pick(random, ['  ', '\t', '   ', '        ']);
  const tight = random() < 0.5;
  return plainLines(text)
    .flatMap(({ line, whole }) => {
      const indent = indentOf(line);
      const body = line.slice(indent.length);
      const deeper = unit.repeat(Math.floor(indent.length / 4)) + ' '.repeat(indent.length % 4);
      const spaced =
        whole && tight && !/['"]/.test(body)
          ? body.replace(/ ([-+*/%]|[<>!=]=|<|>) /g, '$1').replace(/, /g, ',')
          : body;
      const requoted =
        whole && /^[^"'\\]*'[^"'\\]*'[^"'\\]*$/.test(spaced) ? spaced.replace(/'/g, '"') : spaced;
      const wrapped =
        whole && /^if [^:]+:$/.test(requoted) && random() < 0.5
          ? requoted.replace(/^if (.+):$/, 'if ($1):')
          : requoted;
      return whole && body !== '' && random() < 0.15 ? [deeper + wrapped, ''] : [deeper + wrapped];
    })
    .join('\n');
}

const REMARKS = [
  'keep this in mind',
  'TODO: measure',
  'the usual trick',
  'see the notes',
  'step two',
  "don't touch",
];

export function recommentPython(text: string, random: Random): string {
  const bare = text.replace(/^[ \t]*"""[\s\S]*?"""[ \t]*\n/gm, '').replace(/^[ \t]*#.*\n/gm, '');
  return plainLines(bare)
    .flatMap(({ line, whole }) => {
      if (!whole || line.trim() === '') return [line];
      const commented = random() < 0.2 ? `${line}  # ${pick(random, REMARKS)}` : line;
      const before = random() < 0.25 ? [`${indentOf(line)}# ${pick(random, REMARKS)}`] : [];
      const after = /^\s*def .*:$/.test(line) ? [`${indentOf(line)}    """${pick(random, REMARKS)}."""`] : [];
      return [...before, /:\s*$/.test(line) ? line : commented, ...after];
    })
    .join('\n');
}

const DEAD: readonly ((indent: string, n: number) => string[])[] = [
  (i, n) => [`${i}trace_${n} = []`],
  (i, n) => [`${i}assert ${n} < ${n + 1}`],
  (i, n) => [`${i}if ${n} > ${n + 1}:`, `${i}    raise KeyError(${n})`],
  (i, n) => [`${i}while False:`, `${i}    trace_${n} = None`],
  (i, n) => [`${i}spare_${n} = {'a': ${n}, 'b': [${n}, ${n}]}`],
  (i, n) => [`${i}dummy_${n} = lambda q: q + ${n}`],
  (i, n) => [`${i}for ghost_${n} in ():`, `${i}    print(ghost_${n})`],
];

export function deadCodePython(text: string, random: Random, rate = 0.3): string {
  let count = 0;
  const lines = plainLines(text);
  const padded = lines.flatMap(({ line, whole }, index) => {
    const body = line.trim();
    const ends =
      body === '' ||
      body.endsWith(':') ||
      body.startsWith('@') ||
      body.startsWith('return') ||
      body.startsWith('elif') ||
      body.startsWith('else') ||
      body.startsWith('except') ||
      body.startsWith('continue') ||
      body.startsWith('break');
    const next = lines[index + 1]?.line ?? '';
    if (!whole || ends || /^\s*(?:elif|else|except|finally)\b/.test(next) || random() > rate) return [line];
    count += 1;
    return [line, ...pick(random, DEAD)(indentOf(line), count)];
  });
  const helper = [
    '',
    '',
    'def audit_log(entry, level=1):',
    '    record = {"entry": entry, "level": level}',
    '    if level > 3:',
    '        record["loud"] = True',
    '    return record',
    '',
  ];
  return [...padded, ...(random() < 0.5 ? helper : [])].join('\n');
}

/** `for x in xs:` over an index; counting loops as endless ones with a way out. */
export function loopFormPython(text: string, random: Random): string {
  let count = 0;
  const lines = plainLines(text);
  const out: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const { line, whole } = lines[i] as { line: string; whole: boolean };
    const indent = indentOf(line);
    const each = whole ? /^\s*for (\w+(?:, \w+)*) in ([\w.]+(?:\([\w.]*\))?):$/.exec(line) : null;
    if (each !== null) {
      count += 1;
      const [, target, source] = each;
      out.push(
        `${indent}row${count} = tuple(${source})`,
        `${indent}for at${count} in range(len(row${count})):`,
        `${indent}    ${target} = row${count}[at${count}]`,
      );
      continue;
    }
    const range = whole ? /^\s*for (\w+) in range\(([\w.()]+)\):$/.exec(line) : null;
    const body = blockAfter(
      lines.map((each) => each.line),
      i,
    );
    if (range !== null && !body.some((inner) => /\bcontinue\b/.test(inner)) && random() < 0.8) {
      const [, counter, bound] = range;
      const step = `${indent}    ${counter} += 1`;
      out.push(
        `${indent}${counter} = 0`,
        `${indent}while True:`,
        `${indent}    if not ${counter} < ${bound}:`,
        `${indent}        break`,
      );
      out.push(...loopFormPython(body.join('\n'), random).split('\n'), step);
      i += body.length;
      continue;
    }
    const comp = whole ? /^(\s*)(\w+) = \[(.+?) for (\w+) in ([\w.()]+)(?: if (.+))?\]$/.exec(line) : null;
    if (comp !== null) {
      const [, , name, element, target, source, condition] = comp;
      out.push(`${indent}${name} = list()`, `${indent}for ${target} in ${source}:`);
      if (condition !== undefined)
        out.push(`${indent}    if ${condition}:`, `${indent}        ${name}.append(${element})`);
      else out.push(`${indent}    ${name}.append(${element})`);
      continue;
    }
    out.push(line);
  }
  return out.join('\n');
}

function blockAfter(lines: readonly string[], header: number): string[] {
  const indent = indentOf(lines[header] as string).length;
  let end = header + 1;
  while (
    end < lines.length &&
    ((lines[end] as string).trim() === '' || indentOf(lines[end] as string).length > indent)
  )
    end += 1;
  while (end > header + 1 && (lines[end - 1] as string).trim() === '') end -= 1;
  return lines.slice(header + 1, end);
}

/** Top-level definitions and methods in another order. */
export function reorderPython(text: string, random: Random): string {
  const reordered = reorderBlocks(text.split('\n'), '', random);
  return reordered.join('\n');
}

function reorderBlocks(lines: readonly string[], indent: string, random: Random): string[] {
  const head: string[] = [];
  const blocks: string[][] = [];
  const tail: string[] = [];
  let i = 0;
  const isDefinition = (line: string): boolean => new RegExp(`^${indent}(?:def|class|async def) `).test(line);
  while (i < lines.length) {
    const line = lines[i] as string;
    if (isDefinition(line)) {
      const body = blockAfter(lines, i);
      const inner = /^\s*class /.test(line) ? reorderBlocks(body, `${indent}    `, random) : body;
      blocks.push([line, ...inner, '']);
      i += 1 + body.length;
      continue;
    }
    if (line.trim() !== '') (blocks.length === 0 ? head : tail).push(line);
    i += 1;
  }
  // A decorator must stay with its function, and code between definitions where it is.
  if ([...head, ...tail].some((line) => line.trim().startsWith('@'))) return [...lines];
  return [...head, ...shuffled(random, blocks).flat(), ...tail];
}

export function constantsPython(text: string, random: Random): string {
  const hoisted: string[] = [];
  const changed = plainLines(text)
    .map(({ line, whole }) => {
      if (!whole) return line;
      return line.replace(/(?<![\w.'"]|e-)(\d+)(?![\w.'"])/g, (digits) => {
        const value = Number(digits);
        const way = random();
        if (line.includes("'") || line.includes('"') || value < 2) return digits;
        if (way < 0.3) {
          hoisted.push(`LIMIT_${value} = ${value}`);
          return `LIMIT_${value}`;
        }
        if (way < 0.6) return `(${value - 1} + 1)`;
        return way < 0.8 ? `0x${value.toString(16)}` : String(value + 1);
      });
    })
    .map((line) =>
      line.replace(/'([a-z ]{6,})'/g, "'es ist: $1'").replace(/"([a-z ]{6,})"/g, '"es ist: $1"'),
    );
  return [...new Set(hoisted), '', ...changed].join('\n');
}

export const renamePython = (text: string, random: Random): string => renameWords(text, 'python', random);
