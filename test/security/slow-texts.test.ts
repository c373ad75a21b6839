import { describe, expect, it } from 'vitest';
import { SHORT_TEXTS } from '../../scripts/regexps/short-texts.js';
import { checkFigures, planRefinement, summarizeAblation } from '../../src/ablation/index.js';
import { metricAtEnd } from '../../src/ablation/metric-names.js';
import { shorten } from '../../src/calls/provider-error.js';
import { visible } from '../../src/cli/terminal/visible.js';
import { shownAddress, withoutPasswords } from '../../src/cli/without-passwords.js';
import { escapeSource } from '../../src/contamination/report/escape.js';
import { fencedBlocks } from '../../src/contamination/text/fenced-code.js';
import { textKind } from '../../src/contamination/text/language.js';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { comparable } from '../../src/payloads/text-reference.js';
import { failedChildOf } from '../../src/queues/child-failure.js';
import { decodeFailure } from '../../src/queues/failure.js';
import { parseJobKey } from '../../src/queues/job-key.js';
import {
  extractCodeBlock,
  fitCorrection,
  introducesPlaceholder,
  locateBlock,
  neutraliseMagics,
  replaceBlock,
} from '../../src/solution/index.js';

/** Runs of these are where careless expressions try every way of dividing a text. */
const PIECES = [
  ...[' ', '\t', '\u00a0', '-', '=', '|', '"', '`', '[', '(', '1', '.', ',', '\r', 'a', '_', ': '],
  ...['a ', ' is a', '1 ', '=nan ', '\u001b[', '```', '{{', '`" ', ',- ', 'failed ', 'val moyenne ', ' stay'],
  ...['\r\n', ':', 'a-', 'a:', '\t\r', 'なし', ' удален', '\t\tA'],
];
const STARTS = [
  '',
  'failed',
  'failed -',
  'Ablation: ',
  'Score: ',
  'No ',
  '| a | ',
  '{"a": ',
  '# the rest of ',
  '[a',
  'child ',
  'redis://',
];

const ofLength = (start: string, piece: string, length: number): string =>
  `${start}${piece.repeat(Math.ceil(length / piece.length))}U`;

/** One long line, and lines of a length that is read whole: a cut elsewhere must not hide what a line costs. */
const SHAPES: readonly ((start: string, piece: string, size: number) => string)[] = [
  (start, piece, size) => ofLength(start, piece, size * 3_000),
  (start, piece, size) => Array.from({ length: 2 }, () => ofLength(start, piece, size * 950)).join('\n'),
  (start, piece, size) => Array.from({ length: 4 }, () => ofLength(start, piece, size * 95)).join('\n'),
];

const code = 'x = 1\n';
type Reader = (text: string) => unknown;
const READERS: Readonly<Record<string, Reader>> = {
  'summary of an output': (rawOutput) => summarizeAblation({ ablationCode: '', rawOutput }),
  'check of an output': (rawOutput) => checkFigures({ summary: 'a 0.5', rawOutput, ablationCode: '' }),
  'check of a summary': (summary) => checkFigures({ summary, rawOutput: 'a: 0.5', ablationCode: '' }),
  'settings of a script': (ablationCode) => checkFigures({ summary: 'a 1', rawOutput: '', ablationCode }),
  'plan of a summary': (summary) => planRefinement({ solution: code, summary, previousBlocks: [] }),
  'code of an answer': extractCodeBlock,
  'block in a script': (text) => locateBlock(`x\n${text}\ny`, `${text.slice(0, -1)}z`),
  'block replaced': (text) => replaceBlock({ content: `x\n${text}\ny` }, text, 'z'),
  correction: (text) => fitCorrection(`x\n${text}\ny`, { start: 2, end: 2 + text.length, text }, `${text}z`),
  placeholder: (text) => introducesPlaceholder(code, text),
  'notebook magics': neutraliseMagics,
  'error of a provider': shorten,
  'text for a terminal': visible,
  'address with passwords': (text) => withoutPasswords(`redis://x?${text}`),
  'source in a report': escapeSource,
  'fences of an answer': fencedBlocks,
  'kind of a text': textKind,
  'address that is shown': shownAddress,
  'metric at the end of a text': metricAtEnd,
  'reason of a failure': decodeFailure,
  'failure of a child': failedChildOf,
  'key of a job': parseJobKey,
  'text of a payload': comparable,
};

/** Processor time of reading a text so many times, in milliseconds. */
async function millisecondsOf(read: Reader, text: string, times: number): Promise<number> {
  const start = process.cpuUsage();
  for (let time = 0; time < times; time += 1) {
    try {
      await read(text);
    } catch (thrown) {
      // A refusal is an answer as well; what is measured is how long it takes.
      expect(thrown).toBeInstanceOf(Error);
    }
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** Below this the clock is most of what is measured. */
const NOISE_MS = 15;
const MAX_GROWTH = 12;
/** Sizes of the two texts, in relation to each other. */
const GROWTH = 4;

/** How much more work a text of four times the size is. */
async function growthOf(read: Reader, make: (size: number) => string): Promise<number> {
  let growth = 1;
  // A collection of garbage in between makes a growth of its own, so a longer measurement has to agree. Both sides read as
  // many characters, and so pay for as much garbage.
  for (const times of [1, 10]) {
    const large = await millisecondsOf(read, make(GROWTH), times);
    if (large < NOISE_MS * times) return 1;
    const small = await millisecondsOf(read, make(1), GROWTH * times);
    growth = (GROWTH * large) / Math.max(small, 1);
    if (growth < MAX_GROWTH) break;
  }
  return growth;
}

describe('texts on which expressions take for ever', () => {
  it.each(Object.keys(READERS))(
    '%s: four times the text is no more than a dozen times the work',
    async (name) => {
      const read = READERS[name] as Reader;
      for (const shape of SHAPES) {
        for (const start of STARTS) {
          for (const piece of PIECES.filter(
            (_, at) => start === '' || at % 3 === STARTS.indexOf(start) % 3,
          )) {
            const growth = await growthOf(read, (size) => shape(start, piece, size));
            expect(growth, JSON.stringify({ start, piece, shape: SHAPES.indexOf(shape) })).toBeLessThan(
              MAX_GROWTH,
            );
          }
        }
      }
    },
  );

  it('an expression that may be slow is given no more characters than are declared', () => {
    const [short, ...others] = SHORT_TEXTS;
    expect(others).toEqual([]);
    const phrase = metricAtEnd(`${'validation '.repeat(100)}rmse`);
    expect(phrase?.end).toBe(1_104);
    expect(phrase?.start).toBeGreaterThanOrEqual(1_104 - (short?.max ?? 0));
    // It reads that far: the bound is met, not undercut by something else.
    expect(phrase?.start).toBeLessThan(1_104 - (short?.max ?? 0) + 'validation '.length);
  });

  it('a condition of `query` with tabs on both sides of a quotation mark', async () => {
    const script = (size: number): string =>
      `df.query("""\`".<${'\t'.repeat(size)}\`${'\t'.repeat(size)}\n>""")\n`;
    expect(await growthOf(analyzeLeakage, (size) => script(size * 250))).toBeLessThan(MAX_GROWTH);
  });
});
