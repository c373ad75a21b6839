import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { classifyGrowth, type Evidence, type GrowthResult, repeatsWithoutEnd } from './regexps/growth.js';
import { type FoundExpression, regularExpressionsIn } from './regexps/inventory.js';
import { SHORT_TEXTS } from './regexps/short-texts.js';

const USAGE = `usage: npm run check:regexps [-- --all] [-- --record]

Whether every regular expression of the compiled code takes a time in proportion to its text, whatever the text
is. Expressions of scripts/regexps/recorded.json were decided before; others are decided now, each in up to half
a minute.
  --all     decides all of them again, in some ten minutes, and compares the recorded results
  --record  writes the results down
`;
const root = new URL('..', import.meta.url);
const RECORD = new URL('regexps/recorded.json', import.meta.url);
const AT_ONCE = 2;

/** How each expression, written `/source/flags`, was found to be linear. */
type Recorded = Readonly<Record<string, Evidence>>;

const keyOf = ({ source, flags }: FoundExpression): string => `/${source}/${flags}`;

function shortTextOf(one: FoundExpression): string | undefined {
  return SHORT_TEXTS.find(({ start }) => one.source.startsWith(start))?.start;
}

/** Decides several expressions at a time. */
async function decided(expressions: readonly FoundExpression[]): Promise<Map<FoundExpression, GrowthResult>> {
  const results = new Map<FoundExpression, GrowthResult>();
  const waiting = [...expressions];
  const work = async (): Promise<void> => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      results.set(one, await classifyGrowth(one.source, one.flags));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.some((arg) => arg !== '--all' && arg !== '--record')) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  const recorded: Recorded = z
    .record(z.string(), z.enum(['exact', 'searched']))
    .parse(JSON.parse(readFileSync(RECORD, 'utf8')));
  const { expressions, undeclared } = await regularExpressionsIn(fileURLToPath(new URL('dist', root)));
  const repeating = expressions.filter(({ source, flags }) => repeatsWithoutEnd(source, flags));
  const isDue = (one: FoundExpression): boolean =>
    args.includes('--all') || (recorded[keyOf(one)] === undefined && shortTextOf(one) === undefined);
  const results = await decided(repeating.filter(isDue));

  const objections = undeclared.map((one) => `cannot be followed: ${one}`);
  const evidence = new Map<string, Evidence>();
  const needed = new Set<string>();
  for (const one of repeating) {
    const [key, short, result, before] = [
      keyOf(one),
      shortTextOf(one),
      results.get(one),
      recorded[keyOf(one)],
    ];
    if (result === undefined) {
      if (before !== undefined) evidence.set(key, before);
    } else if ('evidence' in result) {
      evidence.set(key, result.evidence);
      // A loaded machine may decide less within its time; that is no contradiction.
      if (before !== undefined && before !== result.evidence) {
        console.log(`recorded as ${before}, now ${result.evidence}: ${key}`);
        if (before === 'exact') evidence.set(key, before);
      }
    } else if (short === undefined)
      objections.push(`${one.locations.join(', ')}\n  ${key}\n  ${result.objection}`);
    else needed.add(short);
  }
  for (const { start } of args.includes('--all') ? SHORT_TEXTS : []) {
    if (!needed.has(start)) objections.push(`short-texts.ts need not name ${start} any more`);
  }
  if (args.includes('--record')) {
    const sorted = [...evidence].sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
  }
  for (const objection of objections.sort()) console.error(objection);
  const exact = [...evidence.values()].filter((each) => each === 'exact').length;
  console.log(
    `${expressions.length} regular expressions: ${expressions.length - repeating.length} repeat nothing without end, ` +
      `${exact} are proven linear, ${evidence.size - exact} were searched for slow texts, ${objections.length} objections`,
  );
  if (results.size > 0 && !args.includes('--record')) {
    console.log(`${results.size} were decided now; record them with npm run check:regexps -- --record`);
  }
  if (objections.length > 0) process.exitCode = 1;
}

await main();
