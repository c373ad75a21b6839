import { type Random, shuffled } from './corpus.js';

const SYNONYMS: Readonly<Record<string, string>> = {
  finds: 'locates',
  number: 'figure',
  kept: 'held',
  however: 'no matter how',
  large: 'big',
  slow: 'costly',
  small: 'little',
  walk: 'path',
  step: 'move',
  noise: 'jitter',
  choosing: 'picking',
  quickly: 'fast',
  memory: 'storage',
  position: 'place',
  frees: 'releases',
  follows: 'traces',
  objects: 'values',
  clean: 'sweep',
  answers: 'replies',
  simplest: 'easiest',
  removes: 'deletes',
  original: 'source',
  element: 'item',
  smallest: 'least',
  swap: 'exchange',
  usually: 'mostly',
  loss: 'error',
  exchange: 'swap',
  random: 'arbitrary',
  function: 'routine',
};

/** Single words put in place of others, sentences left as they are, paragraphs in another order. */
export function rewordProse(text: string, random: Random): string {
  const paragraphs = text.trim().split('\n\n');
  const moved = random() < 0.5 ? shuffled(random, paragraphs) : paragraphs;
  return `${moved
    .map((paragraph) =>
      paragraph.replace(/[a-z]+/g, (word) => (random() < 0.85 ? (SYNONYMS[word] ?? word) : word)),
    )
    .join('\n\n')}\n`;
}
