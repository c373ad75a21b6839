import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { competingRepetitions, superLinear } from './regexps/growth.js';
import { type FoundExpression, regularExpressionsIn } from './regexps/inventory.js';

/**
 * `npm run check:regexps [-- --all]`: whether every regular expression of the compiled code takes a time in
 * proportion to its text, whatever the text is. What was found linear before is known by its digest; `--all`
 * analyzes every expression again.
 */
const root = new URL('..', import.meta.url);
const KNOWN = new URL('./regexps/linear.json', import.meta.url);
const AT_ONCE = 3;

const digestOf = ({ source, flags }: FoundExpression): string =>
  createHash('sha256').update(`${flags}/${source}`).digest('base64url').slice(0, 16);

function knownLinear(): Set<string> {
  return new Set(JSON.parse(readFileSync(KNOWN, 'utf8')) as string[]);
}

async function main(): Promise<void> {
  const isFull = process.argv.includes('--all');
  const { expressions, undeclared } = await regularExpressionsIn(fileURLToPath(new URL('dist', root)));
  const known = isFull ? new Set<string>() : knownLinear();
  const linear: string[] = [];
  const objections: string[] = [...undeclared.map((one) => `not declared in dynamic-forms.ts: ${one}`)];
  const waiting = [...expressions];
  const work = async (): Promise<void> => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      const { source, flags, places } = one;
      const objection = known.has(digestOf(one))
        ? competingRepetitions(source, flags)
        : await superLinear(source, flags);
      if (objection === undefined) linear.push(digestOf(one));
      else objections.push(`${places.join(', ')}\n  /${source}/${flags}\n  ${objection}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  writeFileSync(KNOWN, `${JSON.stringify(linear.sort(), undefined, 2)}\n`);
  for (const objection of objections.sort()) console.error(objection);
  console.log(`${expressions.length} regular expressions, ${objections.length} objections`);
  if (objections.length > 0) process.exitCode = 1;
}

await main();
