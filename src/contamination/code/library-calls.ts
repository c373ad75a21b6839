import type { NormalStatement, Program } from './program.js';

/** What a collection of the language is changed with; an algorithm consists of such calls. */
const COLLECTION_METHOD =
  /^(?:append|appendleft|extend|add|insert|push|unshift|pop|popleft|shift|remove|discard|delete|update|set|sort|reverse|fill|splice|clear|heappush|heappop|heapify|heapreplace|insort|shuffle|enqueue|dequeue)$/;
const PLAIN = /^\|/;

/**
 * The statements that only call something of a library for its effect: they draw, print, parse arguments, configure, fit.
 * The library dictates them, so two people who use it write them alike. A library is what the program imports, and what
 * its calls return.
 */
export function libraryCalls(program: Program): ReadonlySet<number> {
  const names = importedNames(program);
  const found = new Set<number>();
  if (names.size === 0) return found;
  program.statements.forEach((statement, index) => {
    if (!PLAIN.test(statement.template)) return;
    const words = wordsOf(program, statement);
    const assignment = assignmentAt(words);
    const value = words.slice(assignment + 1);
    if (!names.has(value[0] ?? '') || !/^[.([]$/.test(value[1] ?? '')) return;
    if (assignment >= 0) {
      for (const word of words.slice(0, assignment)) if (/^[\p{L}_$][\w$]*$/u.test(word)) names.add(word);
    } else if (isCall(value)) found.add(index);
  });
  return found;
}

/** The template's words with the author's names put back. */
function wordsOf(program: Program, { template, variables }: NormalStatement): string[] {
  return template
    .slice(template.indexOf('|') + 1)
    .split(' ')
    .map((word) => {
      const slot = /^\$(\d+)$/.exec(word)?.[1];
      return slot === undefined ? word : (program.names[variables[Number(slot)] as number] as string);
    });
}

/** The names that imports bind: the last of `a.b as c`, each of `{ a, b as c }`, the first of `a.b`; also those of `require`. */
function importedNames(program: Program): Set<string> {
  const names = new Set<string>();
  for (const statement of program.statements) {
    const words = wordsOf(program, statement);
    if (statement.role === 'import') {
      words.forEach((word, at) => {
        const next = words[at + 1] ?? ',';
        const before = words[at - 1] ?? '';
        const ends = next === ',' || next === '}' || next === 'from' || next === ')';
        const isRoot = next === '.' && (before === 'import' || before === ',');
        if (/^[\p{L}_$][\w$]*$/u.test(word) && (ends || isRoot) && before !== 'from') names.add(word);
      });
    } else if (words.includes('require') && words[words.indexOf('require') + 1] === '(') {
      for (const word of words.slice(0, Math.max(0, assignmentAt(words))))
        if (/^[\p{L}_$][\w$]*$/u.test(word)) names.add(word);
    }
  }
  return names;
}

/** Where the first assignment outside brackets is; −1 without one. */
function assignmentAt(words: readonly string[]): number {
  let depth = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (/^[([{]$/.test(word)) depth += 1;
    else if (/^[)\]}]$/.test(word)) depth -= 1;
    else if (depth === 0 && /^[-+*/%|&^]?=$/.test(word)) return at;
  }
  return -1;
}

/** Whether the words are a call and nothing else, and not one that changes a collection. */
function isCall(words: readonly string[]): boolean {
  const open = words.indexOf('(');
  return open > 0 && words[words.length - 1] === ')' && !COLLECTION_METHOD.test(words[open - 1] as string);
}
