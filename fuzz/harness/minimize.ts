import type { Input } from '../target.js';

/** How many inputs one minimization tries, and its time in milliseconds. */
const MAX_TRIES = 300;

export interface Minimized {
  readonly input: Input;
  readonly tries: number;
}

/**
 * A smaller input that still fails in the same way: removes pieces of each text, larger ones first (delta debugging, Zeller
 * and Hildebrandt 2002, without its complements).
 * @param fails Whether an input fails in the same way.
 * @param maxMs Time after which it returns the best so far.
 */
export async function minimize(
  input: Input,
  fails: (input: Input) => Promise<boolean>,
  maxMs: number,
): Promise<Minimized> {
  const deadline = Date.now() + maxMs;
  let best = input;
  let tries = 0;
  const isSpent = () => tries >= MAX_TRIES || Date.now() >= deadline;
  for (let field = 0; field < input.length; field += 1) {
    for (let size = Math.ceil((best[field] ?? '').length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let at = 0; at < (best[field] ?? '').length && !isSpent(); ) {
        const text = best[field] ?? '';
        const smaller = best.with(field, text.slice(0, at) + text.slice(at + size));
        tries += 1;
        if (await fails(smaller)) best = smaller;
        else at += size;
      }
      if (isSpent()) return { input: best, tries };
    }
  }
  return { input: best, tries };
}
