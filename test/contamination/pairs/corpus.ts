import { readFileSync } from 'node:fs';

/** One text of the corpus: written for this project, in the style of one author. */
export interface CorpusText {
  readonly task: string;
  readonly language: 'python' | 'javascript' | 'typescript' | 'java' | 'go' | 'prose';
  readonly author: string;
  readonly text: string;
}

const HEADER = /^=== (.+?) \| (python|javascript|typescript|java|go|prose) \| (\w+)$/;

/** Reads a file of texts, each under a header line `=== task | language | author`. */
export function readCorpus(name: string): CorpusText[] {
  const texts: (Omit<CorpusText, 'text'> & { lines: string[] })[] = [];
  for (const line of readFileSync(new URL(name, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')) {
    const header = HEADER.exec(line);
    if (header === null) {
      texts[texts.length - 1]?.lines.push(line);
      continue;
    }
    const [, task = '', language, author = ''] = header;
    texts.push({ task, language: language as CorpusText['language'], author, lines: [] });
  }
  return texts.map(({ lines, ...text }) => ({ ...text, text: `${lines.join('\n')}\n` }));
}

/** A repeatable stream of numbers in [0, 1) (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

export function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}
