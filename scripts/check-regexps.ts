import { fileURLToPath } from 'node:url';
import { competingRepetitions, superLinear } from './regexps/growth.js';
import { type FoundExpression, regularExpressionsIn } from './regexps/inventory.js';
import { SHORT_TEXTS } from './regexps/short-texts.js';

/**
 * `npm run check:regexps [-- --all]`: whether every regular expression of the compiled code takes a time in
 * proportion to its text, whatever the text is. Seconds; with `--all` each is analyzed exactly as well, which
 * takes many minutes.
 */
const root = new URL('..', import.meta.url);
const AT_ONCE = 3;

async function main(): Promise<void> {
  const isFull = process.argv.includes('--all');
  const { expressions, undeclared } = await regularExpressionsIn(fileURLToPath(new URL('dist', root)));
  const objections = undeclared.map((one) => `cannot be followed: ${one}`);
  const needed = new Set<string>();
  const waiting = [...expressions];
  const judge = async (one: FoundExpression): Promise<void> => {
    const { source, flags, places } = one;
    const objection = isFull ? await superLinear(source, flags) : competingRepetitions(source, flags);
    if (objection === undefined) return;
    const short = SHORT_TEXTS.find((given) => source.startsWith(given.start));
    if (short === undefined) objections.push(`${places.join(', ')}\n  /${source}/${flags}\n  ${objection}`);
    else needed.add(short.start);
  };
  const work = async (): Promise<void> => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) await judge(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  for (const { start } of isFull ? SHORT_TEXTS : []) {
    if (!needed.has(start)) objections.push(`short-texts.ts need not name ${start} any more`);
  }
  for (const objection of objections.sort()) console.error(objection);
  console.log(`${expressions.length} regular expressions, ${objections.length} objections`);
  if (objections.length > 0) process.exitCode = 1;
}

await main();
