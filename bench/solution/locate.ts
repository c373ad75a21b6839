/**
 * Time of the locator on large scripts: `npx tsx bench/solution/locate.ts`. Each line is the median of 15 runs in ms, on
 * texts of a tenth of a MiB and of one MiB, and their ratio. The last column is `String.prototype.indexOf` on a tenth of a
 * MiB: faster, until a block nearly matches.
 */
import { performance } from 'node:perf_hooks';
import { locateBlock } from '../../src/solution/index.js';

const MIB = 1 << 20;
const RUNS = 15;

interface Case {
  readonly name: string;
  /** A script of about `size` characters and a block to look for. */
  readonly texts: (size: number) => { readonly content: string; readonly block: string };
}

const statement = `${'frame["column"] = scaler.fit_transform(frame[["column"]]).astype("float32")  # scaled'.padEnd(104)}\n`;

const cases: readonly Case[] = [
  {
    name: '10,000 nearly matching lines, not found',
    texts: (size) => {
      const lines = Math.floor(size / statement.length);
      return { content: statement.repeat(lines), block: `${statement.repeat(lines / 2)}other = 1\n` };
    },
  },
  {
    name: '10,000 nearly matching lines, found by whole lines',
    texts: (size) => {
      const lines = Math.floor(size / statement.length);
      const block = `${statement.trimEnd()}\n`.repeat(lines / 2);
      return { content: `${statement.repeat(lines)}last = 1\n`, block: `${block}last = 1 \n` };
    },
  },
  {
    name: 'different lines, block at the end',
    texts: (size) => {
      const lines = Array.from({ length: size / 32 }, (_, index) =>
        `x_${index} = f(x_${index - 1})`.padEnd(31),
      );
      return { content: lines.join('\n'), block: lines.slice(-50).join('\n') };
    },
  },
  {
    name: 'one character again and again',
    texts: (size) => ({
      content: 'a'.repeat(size),
      block: `${'a'.repeat(size / 4)}b${'a'.repeat(size / 4)}`,
    }),
  },
  {
    name: 'blank lines',
    texts: (size) => ({ content: '\n'.repeat(size), block: `${'\n'.repeat(size / 2)}x` }),
  },
];

function medianMs(run: () => unknown): number {
  const times = Array.from({ length: RUNS }, () => {
    const begun = performance.now();
    run();
    return performance.now() - begun;
  });
  return times.sort((a, b) => a - b)[Math.floor(RUNS / 2)] ?? Number.NaN;
}

console.log(
  `${'case'.padEnd(52)}${'0.1 MiB'.padStart(9)}${'1 MiB'.padStart(9)}${'ratio'.padStart(8)}${'indexOf'.padStart(10)}`,
);
for (const { name, texts } of cases) {
  const small = texts(Math.floor(MIB / 10));
  const large = texts(MIB);
  const smallMs = medianMs(() => locateBlock(small.block, small.content));
  const largeMs = medianMs(() => locateBlock(large.block, large.content));
  const begun = performance.now();
  small.content.indexOf(small.block);
  const indexOfMs = performance.now() - begun;
  const details = [
    smallMs.toFixed(2),
    largeMs.toFixed(1),
    (largeMs / smallMs).toFixed(1),
    indexOfMs.toFixed(1),
  ];
  console.log(
    name.padEnd(52) + details.map((detail, index) => detail.padStart([9, 9, 8, 10][index] ?? 9)).join(''),
  );
}
