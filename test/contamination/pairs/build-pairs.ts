import { type CorpusText, pick, type Random, readCorpus, seeded, shuffled } from './corpus.js';
import * as js from './javascript-disguises.js';
import { rewordProse } from './prose-disguises.js';
import * as py from './python-disguises.js';

/** A known solution, an output, and whether the output is a copy of it. */
export interface Pair {
  readonly id: string;
  readonly kind: string;
  readonly label: 'contaminated' | 'clean';
  readonly language: CorpusText['language'];
  readonly task: string;
  readonly known: string;
  readonly output: string;
}

/** The part that thresholds were chosen on, and two parts that were only looked at afterwards. */
export type Part = 'tuning' | 'unseen' | 'fresh';

type Disguise = (text: string, random: Random) => string;

const CODE_FILES: Record<Part, readonly string[]> = {
  tuning: ['tuning-python-1.txt', 'tuning-python-2.txt', 'tuning-javascript.txt'],
  unseen: ['unseen-python.txt', 'unseen-javascript.txt'],
  fresh: ['fresh-python-1.txt', 'fresh-python-2.txt', 'fresh-javascript.txt'],
};

const DISGUISES: Record<'python' | 'javascript', Record<string, Disguise>> = {
  python: {
    verbatim: (text) => `\n\n${text.replace(/\n/g, '\r\n')}\n`,
    reformatted: py.reformatPython,
    recommented: py.recommentPython,
    renamed: py.renamePython,
    'renamed-reformatted': (text, random) => py.reformatPython(py.renamePython(text, random), random),
    reordered: py.reorderPython,
    'dead-code': py.deadCodePython,
    'loop-form': py.loopFormPython,
    constants: py.constantsPython,
    combined: (text, random) =>
      [
        py.recommentPython,
        py.loopFormPython,
        py.deadCodePython,
        py.reorderPython,
        py.renamePython,
        py.reformatPython,
      ].reduce((each, disguise) => disguise(each, random), text),
  },
  javascript: {
    verbatim: (text) => `\n\n${text.replace(/\n/g, '\r\n')}\n`,
    reformatted: js.reformatJavaScript,
    recommented: js.recommentJavaScript,
    renamed: js.renameJavaScript,
    'renamed-reformatted': (text, random) => js.reformatJavaScript(js.renameJavaScript(text, random), random),
    reordered: js.reorderJavaScript,
    'dead-code': js.deadCodeJavaScript,
    'loop-form': js.loopFormJavaScript,
    constants: js.constantsJavaScript,
    combined: (text, random) =>
      [
        js.recommentJavaScript,
        js.loopFormJavaScript,
        js.deadCodeJavaScript,
        js.reorderJavaScript,
        js.renameJavaScript,
        js.reformatJavaScript,
      ].reduce((each, disguise) => disguise(each, random), text),
  },
};

/** Four programs for each task, and a copy of the first one that was written again by hand. */
const INDEPENDENT_FILES = ['independent-algorithms.txt', 'independent-scripts.txt'];

/** Below this a program is too small to prove anything by. */
const MIN_TOKENS = 80;

const family = (text: CorpusText): 'python' | 'javascript' =>
  text.language === 'python' ? 'python' : 'javascript';
const tokenCount = (text: string): number =>
  (
    text
      .replace(/"""[\s\S]*?"""|\/\*[\s\S]*?\*\/|#.*|\/\/.*/g, '')
      .match(/'[^'\n]*'|"[^"\n]*"|[\w$]+|[^\s\w]/g) ?? []
  ).length;

const SEEDS: Record<Part, number> = { tuning: 11, unseen: 23, fresh: 37 };

/** Every pair of one part; the same every time for the same seed, which decides how copies are disguised. */
export function buildPairs(part: Part, seed = SEEDS[part]): Pair[] {
  const random = seeded(seed);
  const code = CODE_FILES[part].flatMap(readCorpus);
  return numbered(part, [...copies(code, random), ...cleanCode(code, part, random), ...prose(part, random)]);
}

function numbered(prefix: string, drafts: readonly Draft[]): Pair[] {
  return drafts.map((draft, i) => ({ ...draft, id: `${prefix[0]}${String(i + 1).padStart(4, '0')}` }));
}

/**
 * Copies that no check is made for: translations between Python and JavaScript, and the same algorithm rewritten statement
 * by statement. They show what is missed.
 */
export function buildRewrites(): Pair[] {
  return copiesIn('rewrites.txt', [...CODE_FILES.tuning, ...CODE_FILES.unseen]);
}

/** Copies of the fresh programs that were disguised by hand. */
export function buildHandmade(): Pair[] {
  return copiesIn('fresh-copies.txt', CODE_FILES.fresh);
}

/** Every ordered pair of honest solutions of one fresh task. */
export function buildFreshHonest(): Pair[] {
  return numbered('fresh', sameTaskPairs(CODE_FILES.fresh.flatMap(readCorpus)));
}

/** Every ordered pair of independent solutions of one task, and the first solutions with their rewritten copies. */
export function buildIndependent(): Pair[] {
  const honest = numbered('independent', sameTaskPairs(INDEPENDENT_FILES.flatMap(readCorpus)));
  return [...honest, ...copiesIn('independent-copies.txt', INDEPENDENT_FILES)];
}

/** Copies whose headers name the original's task and author, and as their own author the kind of the copy. */
function copiesIn(file: string, originalFiles: readonly string[]): Pair[] {
  const originals = originalFiles.flatMap(readCorpus);
  const drafts = readCorpus(file).map(({ task, author: kind, language, text }): Draft => {
    const original = originals.find((each) => `${each.task} ${each.author}` === task);
    if (original === undefined) throw new Error(`no original of ${task}`);
    return { kind, label: 'contaminated', language, task, known: original.text, output: text };
  });
  return numbered(file, drafts);
}

type Draft = Omit<Pair, 'id'>;

/** Honest solutions of one task, each compared with each other one. */
function sameTaskPairs(code: readonly CorpusText[]): Draft[] {
  return code.flatMap((known) =>
    code
      .filter((other) => other !== known && other.task === known.task)
      .map(
        ({ text: output }): Draft => ({
          kind: 'same-task-independent',
          label: 'clean',
          language: known.language,
          task: known.task,
          known: known.text,
          output,
        }),
      ),
  );
}

function copies(code: readonly CorpusText[], random: Random): Draft[] {
  return code.flatMap((source) => {
    if (tokenCount(source.text) < MIN_TOKENS) return [];
    const others = code.filter((other) => family(other) === family(source) && other.task !== source.task);
    const draft = (kind: string, output: string): Draft[] =>
      output.trim() === source.text.trim() && kind !== 'verbatim'
        ? []
        : [
            {
              kind,
              label: 'contaminated',
              language: source.language,
              task: source.task,
              known: source.text,
              output,
            },
          ];
    const disguised = Object.entries(DISGUISES[family(source)]).flatMap(([kind, disguise]) =>
      draft(kind, disguise(source.text, random)),
    );
    return [
      ...disguised,
      ...draft('embedded-prose', answer(source, source.text, random)),
      ...draft('embedded-code', amongOthers(source, others, random)),
      ...draft('partial', partOf(source, others, random)),
    ];
  });
}

function answer(source: CorpusText, code: string, random: Random): string {
  const opening = pick(random, [
    "Sure! Here's how I'd solve it. Don't worry about the edge cases, they're handled.",
    "The idea is simple (it isn't the fastest, but it works):",
    "Let's go through it step by step. We'll need one helper.",
  ]);
  const closing = pick(random, [
    "That's it. Let me know if it doesn't fit.",
    'Complexity: linear in the input.',
    "Hope that's clear!",
  ]);
  const fence = random() < 0.2 ? '~~~~' : '```';
  const tag = random() < 0.7 ? source.language : '';
  return `${opening}\n\n${fence}${tag}\n${code}${fence}\n\n${closing}\n`;
}

function amongOthers(source: CorpusText, others: readonly CorpusText[], random: Random): string {
  const chosen = shuffled(random, others);
  const filler: string[] = [];
  while (filler.join('').length < 3 * source.text.length && chosen.length > 0)
    filler.push(chosen.pop()?.text ?? '');
  const at = Math.floor(random() * (filler.length + 1));
  return [...filler.slice(0, at), source.text, ...filler.slice(at)].join('\n\n');
}

/** Between 50 and 78 % of the known solution's tokens, from its beginning or its end, and unrelated code. */
function partOf(source: CorpusText, others: readonly CorpusText[], random: Random): string {
  const lines = source.text.trimEnd().split('\n');
  const wanted = 0.5 + random() * 0.28;
  const fromEnd = random() < 0.5;
  const total = tokenCount(source.text);
  let kept = 0;
  while (kept < lines.length) {
    kept += 1;
    const part = fromEnd ? lines.slice(-kept) : lines.slice(0, kept);
    if (tokenCount(part.join('\n')) >= wanted * total) break;
  }
  const part = (fromEnd ? lines.slice(-kept) : lines.slice(0, kept)).join('\n');
  const rest = pick(random, others).text;
  return fromEnd ? `${rest}\n\n${part}\n` : `${part}\n\n\n${rest}`;
}

function cleanCode(code: readonly CorpusText[], part: Part, random: Random): Draft[] {
  const drafts: Draft[] = [];
  const clean = (kind: string, known: CorpusText, output: string): void => {
    drafts.push({
      kind,
      label: 'clean',
      language: known.language,
      task: known.task,
      known: known.text,
      output,
    });
  };
  for (const known of code) {
    for (const other of code) {
      if (known === other || family(known) !== family(other)) continue;
      if (known.task === other.task) {
        clean('same-task-independent', known, other.text);
        if (random() < 0.3) clean('same-task-embedded', known, answer(other, other.text, random));
      }
    }
    const unrelated = code.filter((other) => family(other) === family(known) && other.task !== known.task);
    for (const other of shuffled(random, unrelated).slice(0, 2)) clean('different-task', known, other.text);
  }
  const starters = readCorpus('starters.txt').filter(
    (text) => text.task.startsWith(part) && text.author !== 'starter',
  );
  for (const known of starters) {
    for (const other of starters) if (other !== known) clean('shared-starter', known, other.text);
  }
  const textbook = readCorpus('textbook.txt').filter((text) => text.task.startsWith(part));
  for (const known of textbook) {
    for (const other of textbook)
      if (other !== known && other.task === known.task) clean('same-task-textbook', known, other.text);
  }
  const boilerplate = code.filter((text) => text.task.endsWith('-like'));
  for (const known of boilerplate) {
    for (const other of boilerplate) if (other !== known) clean('shared-boilerplate', known, other.text);
  }
  if (part === 'tuning') {
    const short = readCorpus('short.txt');
    for (const known of short) {
      for (const other of short)
        if (other !== known && other.task === known.task) clean('short-trivial', known, other.text);
    }
  }
  return drafts;
}

function prose(part: Part, random: Random): Draft[] {
  const texts = readCorpus('prose.txt').filter((text) => text.task.startsWith(part));
  return texts.flatMap((known) => {
    const row = (kind: string, label: Draft['label'], output: string): Draft => ({
      kind,
      label,
      language: 'prose',
      task: known.task,
      known: known.text,
      output,
    });
    const others = texts.filter((other) => other.task !== known.task);
    const [first, second] = shuffled(random, others) as [CorpusText, CorpusText];
    return [
      row('prose-verbatim', 'contaminated', known.text.replace(/\n/g, '\r\n')),
      row('prose-light-reword', 'contaminated', rewordProse(known.text, random)),
      row('prose-embedded', 'contaminated', [first.text, known.text, second.text].join('\n')),
      ...texts
        .filter((other) => other.task === known.task && other !== known)
        .map((other) => row('prose-same-topic', 'clean', other.text)),
      row('prose-different-topic', 'clean', first.text),
    ];
  });
}
