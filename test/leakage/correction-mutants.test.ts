import { expect, it } from 'vitest';
import { analyzeLeakage } from '../../src/leakage/analyze.js';
import { proveCorrection } from '../../src/leakage/score-flow/prove-correction.js';
import { MODEL_CORRECTIONS } from './model-corrections.js';

/** A change of one line of a correction. */
interface Mutant {
  readonly line: string;
  readonly how: string;
  readonly text: string;
}

const NUMBER = /(?<![\w."'])\d+(?:\.\d+)?(?![\w"'])/g;
const NAME = /(?<![\w."'])[A-Za-z_]\w*(?![\w"'(]|\s*=[^=])/g;
const KEYWORDS = /^(for|in|if|def|return|lambda|not|and|or|None|True|False)$/;

/** Both sides of `a, b = f(a), f(b)`, in any order: such a line says the same if its names change places. */
function pairs(line: string): string {
  const [left = '', right = ''] = line.trim().split(/ = (.*)/s);
  const rights = right.split(/,\s*(?![^(]*\))/);
  return left
    .split(/,\s*/)
    .map((target, at) => `${target}=${rights[at]}`)
    .sort()
    .join(';');
}

/** The lines of a correction that a mutant may change: a copy of rows changes no value. */
function* mutants(answer: string): Generator<Mutant> {
  const lines = answer.split('\n');
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || line.trim().startsWith('#') || line.includes('.copy()')) continue;
    yield { line, how: 'left out', text: lines.toSpliced(at, 1).join('\n') };
    for (const { index, 0: number } of line.matchAll(NUMBER)) {
      const other = Number(number) === 0 ? '1' : `${Number(number) * 2}`;
      const changed = line.slice(0, index) + other + line.slice(index + number.length);
      yield { line, how: `${number} is ${other}`, text: lines.with(at, changed).join('\n') };
    }
    const names = new Set([...line.matchAll(NAME)].map(([name]) => name));
    const [one, two] = [...names].filter((name) => !KEYWORDS.test(name));
    if (one === undefined || two === undefined) continue;
    const swapped = line.replaceAll(NAME, (name) => (name === one ? two : name === two ? one : name));
    const isSame = pairs(swapped) === pairs(line);
    if (!isSame)
      yield { line, how: `${one} and ${two} are swapped`, text: lines.with(at, swapped).join('\n') };
  }
}

it('REQ-SF-019: no right correction is proven any more if a line, a number or two names in it change', async () => {
  const proven: string[] = [];
  let count = 0;
  for (const { name, script, block, right } of MODEL_CORRECTIONS) {
    const kinds = (await analyzeLeakage(script)).findings.map(({ kind }) => kind);
    for (const [way, answer] of Object.entries(right)) {
      if ((await proveCorrection(script, script.replace(block, answer), kinds)).outcome !== 'proven')
        continue;
      for (const { line, how, text } of mutants(answer)) {
        count += 1;
        const { outcome } = await proveCorrection(script, script.replace(block, text), kinds);
        if (outcome === 'proven') proven.push(`${name}, ${way}: ${how} in \`${line}\``);
      }
    }
  }
  expect(proven).toEqual([]);
  expect(count).toBeGreaterThan(250);
});
