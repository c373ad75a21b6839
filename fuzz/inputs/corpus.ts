import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packagePath } from '../../src/package-root.js';

/** Longest used text of the corpora, in code units: for longer ones, mutations would mostly copy. */
const MAX_LENGTH = 12_000;

/** Read at the first call; later calls return the same list. */
function once<T>(read: () => readonly T[]): () => readonly T[] {
  let texts: readonly T[] | undefined;
  return () => {
    texts ??= read();
    return texts;
  };
}

function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !name.includes('node_modules'))
    .sort()
    .map((name) => readFileSync(join(packagePath(folder), name), 'utf8'));
}

/** Every text in JSON data with a minimum length. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length > 30 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function jsonLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
}

/** Texts below headings of the form `=== a | b | c`. */
function sections(text: string): string[] {
  return text.split(/^=== .*\n/m).filter((section) => section.trim() !== '');
}

const short = (texts: readonly string[]) => texts.filter((text) => text.length <= MAX_LENGTH);

/** Leaky, clean and corrected scripts. */
export const PYTHON_SCRIPTS = once(() =>
  short([
    ...filesIn('examples', /\.py$/),
    ...filesIn('test/leakage/cases', /\.txt$/).flatMap(sections),
    ...filesIn('test/leakage/cases', /\.jsonl$/)
      .flatMap(jsonLines)
      .flatMap(textsIn),
  ]),
);

/** Outputs of ablation scripts, with their scripts and notes. */
export const ABLATION_TEXTS = once(() =>
  short([
    ...filesIn('examples/refinement', /\.(txt|py)$/),
    ...filesIn('test/ablation/outputs', /\.jsonl$/)
      .flatMap(jsonLines)
      .flatMap(textsIn),
  ]),
);

/** Programs in several languages, and prose. */
export const CONTAMINATION_TEXTS = once(() =>
  short(filesIn('test/contamination/pairs', /\.txt$/).flatMap(sections)),
);

export const PROMPT_FILES = once(() => filesIn('prompts', /\.md$/));
