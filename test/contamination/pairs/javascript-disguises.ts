import { pick, type Random, shuffled } from './corpus.js';
import { renameWords } from './renaming.js';

/** Ways to disguise a JavaScript or TypeScript program; each keeps its meaning. */

const indentOf = (line: string): string => /^\s*/.exec(line)?.[0] ?? '';
const isStatement = (line: string): boolean =>
  /^\s*[\w$.[\]]+.*;\s*$/.test(line) && !/^\s*(?:return|break|continue|throw|\*|\/\/)/.test(line);

export function reformatJavaScript(text: string, random: Random): string {
  const unit = pick(random, ['\t', '    ', '   ', '      ']);
  const ownLine = random() < 0.5;
  return text
    .split('\n')
    .flatMap((line) => {
      const indent = indentOf(line);
      const deep = unit.repeat(Math.floor(indent.length / 2));
      let body = line.slice(indent.length);
      if (!/["'`/]/.test(body))
        body = body.replace(/ ([-+*%]|[<>]=?|={1,3}|!==?|&&|\|\|) /g, '$1').replace(/, /g, ',');
      else if (/^[^"'`]*'[^"'`\\]*'[^"'`]*$/.test(body)) body = body.replace(/'/g, '"');
      if (ownLine && /^(?:if|for|while|function)\b.*\) \{$/.test(body))
        return [`${deep}${body.slice(0, -2)}`, `${deep}{`];
      return [deep + body];
    })
    .join('\n');
}

const REMARKS = ['as before', 'keep in step with the caller', "it's fine", 'TODO', 'two cases'];

export function recommentJavaScript(text: string, random: Random): string {
  const bare = text.replace(/^[ \t]*\/\*\*[\s\S]*?\*\/[ \t]*\n/gm, '').replace(/^[ \t]*\/\/.*\n/gm, '');
  return bare
    .split('\n')
    .flatMap((line) => {
      if (line.trim() === '' || random() > 0.3) return [line];
      return random() < 0.5
        ? [`${indentOf(line)}// ${pick(random, REMARKS)}`, line]
        : [`${indentOf(line)}/* ${pick(random, REMARKS)} */`, line];
    })
    .join('\n');
}

const DEAD: readonly ((indent: string, n: number) => string[])[] = [
  (i, n) => [`${i}const trace${n} = [];`],
  (i, n) => [`${i}if (${n} > ${n + 1}) {`, `${i}  throw new Error('no ${n}');`, `${i}}`],
  (i, n) => [`${i}let spare${n} = { a: ${n}, b: [${n}] };`],
  (i, n) => [`${i}while (false) {`, `${i}  console.log(${n});`, `${i}}`],
  (i, n) => [`${i}const idle${n} = () => ${n};`],
];

export function deadCodeJavaScript(text: string, random: Random, rate = 0.3): string {
  let count = 0;
  const lines = text.split('\n');
  const padded = lines.flatMap((line) => {
    if (
      !isStatement(line) ||
      /^\s*(?:case|#|private|public|readonly|\w+ =|[\w]+: )/.test(line) ||
      random() > rate
    )
      return [line];
    count += 1;
    return [line, ...pick(random, DEAD)(indentOf(line), count)];
  });
  const helper = [
    '',
    'function auditLog(entry, level = 1) {',
    '  const record = { entry, level };',
    '  if (level > 3) record.loud = true;',
    '  return record;',
    '}',
    '',
  ];
  return [...padded, ...(random() < 0.5 ? helper : [])].join('\n');
}

export function loopFormJavaScript(text: string, random: Random): string {
  let count = 0;
  const lines = text.split('\n');
  const out: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    const indent = indentOf(line);
    const each = /^\s*for \(const (.+?) of ([\w.]+(?:\(\))?)\) \{$/.exec(line);
    if (each !== null) {
      count += 1;
      out.push(
        `${indent}const row${count} = Array.from(${each[2]});`,
        `${indent}for (let at${count} = 0; at${count} < row${count}.length; at${count} += 1) {`,
        `${indent}  const ${each[1]} = row${count}[at${count}];`,
      );
      continue;
    }
    const counting = /^\s*for \(let (\w+) = (.+?); (.+?); (.+?)\) \{$/.exec(line);
    const end = counting === null ? -1 : lines.findIndex((other, j) => j > i && other === `${indent}}`);
    const body = lines.slice(i + 1, end);
    if (counting !== null && end > 0 && !body.some((inner) => /\bcontinue\b/.test(inner)) && random() < 0.9) {
      const [, counter, from, condition, step] = counting;
      out.push(
        `${indent}var ${counter} = ${from};`,
        `${indent}for (;;) {`,
        `${indent}  if (!(${condition})) break;`,
      );
      out.push(
        ...loopFormJavaScript(body.join('\n'), random).split('\n'),
        `${indent}  ${step};`,
        `${indent}}`,
      );
      i = end;
      continue;
    }
    out.push(line);
  }
  return out.join('\n');
}

/** Top-level functions and the methods of a class in another order. */
export function reorderJavaScript(text: string, random: Random): string {
  return reorderBlocks(text.split('\n'), '', random).join('\n');
}

function reorderBlocks(lines: readonly string[], indent: string, random: Random): string[] {
  const out: string[] = [];
  let blocks: string[][] = [];
  const settle = (): void => {
    out.push(...shuffled(random, blocks).flat());
    blocks = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    const opens = new RegExp(`^${indent}[^\\s].*\\{$`).test(line);
    const end = opens
      ? lines.findIndex((other, j) => j > i && new RegExp(`^${indent}\\}\\)?;?$`).test(other))
      : -1;
    if (end < 0) {
      if (line.trim() === '') continue;
      settle();
      out.push(line);
      continue;
    }
    const inner = lines.slice(i + 1, end);
    const isClass = /\bclass\b/.test(line);
    const body = isClass ? reorderBlocks(inner, `${indent}  `, random) : inner;
    const block = [line, ...body, lines[end] as string, ''];
    if (
      isClass ||
      /^\s*(?:async )?(?:function |(?:export )?(?:const|function|async function) \w+ ?(?:=.*=>|\()|(?:private |get |static )?#?\w+\(.*\) ?(?::.*)?\{)/.test(
        line,
      )
    )
      blocks.push(block);
    else {
      settle();
      out.push(...block);
    }
    i = end;
  }
  settle();
  return out;
}

export function constantsJavaScript(text: string, random: Random): string {
  const hoisted = new Set<string>();
  const changed = text.split('\n').map((line) => {
    if (/["'`/]/.test(line)) return line.replace(/'([A-Za-z ]{6,})'/g, "'voici: $1'");
    return line.replace(/(?<![\w.])(\d+)(?![\w.])/g, (digits) => {
      const value = Number(digits);
      const way = random();
      if (value < 2) return digits;
      if (way < 0.3) {
        hoisted.add(`const LIMIT_${value} = ${value};`);
        return `LIMIT_${value}`;
      }
      return way < 0.6 ? `(${value - 1} + 1)` : String(value + 1);
    });
  });
  return [...hoisted, ...changed].join('\n');
}

export const renameJavaScript = (text: string, random: Random): string =>
  renameWords(text, 'javascript', random);
