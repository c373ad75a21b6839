/**
 * Measures readers of texts in a separate thread. V8 compiles new expressions without optimization if a process has
 * many, as one that ran other tests has, and they have another growth then.
 */
import { parentPort } from 'node:worker_threads';
import { findUnsupportedNumbers, planRefinement, summarizeAblation } from '../../src/ablation/index.js';
import { metricAtEnd } from '../../src/ablation/metric-names.js';
import { shorten } from '../../src/calls/provider-error.js';
import { escapeControlChars } from '../../src/cli/terminal/escape-control-chars.js';
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
  neutralizeMagics,
  replaceBlock,
} from '../../src/solution/index.js';
import { attempts } from '../support/attempts.js';

/** For runs of these, careless expressions try every way of dividing a text. */
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
export const READERS: Readonly<Record<string, Reader>> = {
  'summary of an output': (rawOutput) => summarizeAblation({ ablationCode: '', rawOutput }),
  'check of an output': (rawOutput) =>
    findUnsupportedNumbers({ summary: 'a 0.5', rawOutput, ablationCode: '' }),
  'check of a summary': (summary) =>
    findUnsupportedNumbers({ summary, rawOutput: 'a: 0.5', ablationCode: '' }),
  'settings of a script': (ablationCode) =>
    findUnsupportedNumbers({ summary: 'a 1', rawOutput: '', ablationCode }),
  'plan of a summary': (summary) => planRefinement({ solution: code, summary, previousBlocks: [] }),
  'code of an answer': extractCodeBlock,
  'block in a script': (text) => locateBlock(`x\n${text}\ny`, `${text.slice(0, -1)}z`),
  'block replaced': (text) => replaceBlock({ content: `x\n${text}\ny` }, text, 'z'),
  correction: (text) => fitCorrection(`x\n${text}\ny`, { start: 2, end: 2 + text.length, text }, `${text}z`),
  placeholder: (text) => introducesPlaceholder(code, text),
  'notebook magics': neutralizeMagics,
  'error of a provider': shorten,
  'text for a terminal': escapeControlChars,
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
  // Tabs on both sides of a quotation mark once took forever there.
  'condition of `query`': (text) => analyzeLeakage(`df.query("""\`".<${text}\`${text}\n>""")\n`),
};

/** Processor time of reading a text so many times, in milliseconds. */
async function millisecondsOf(read: Reader, text: string, times: number): Promise<number> {
  const start = process.cpuUsage();
  for (let time = 0; time < times; time += 1) {
    try {
      await read(text);
    } catch (thrown) {
      // A rejection is an answer as well; the test measures how long it takes.
      if (!(thrown instanceof Error)) throw thrown;
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
  // A garbage collection in between looks like growth, so a longer measurement has to agree. Both sides read as
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

export interface Growth {
  readonly start: string;
  readonly piece: string;
  readonly shape: number;
  readonly growth: number;
}

/** Every start with every twelfth piece, others for each start and shape: `TEST_ATTEMPTS=10000` tries them all. */
const STRIDE = attempts(12) === 12 ? 12 : 1;

function piecesAfter(start: string, turn: number): readonly string[] {
  return start === '' ? PIECES : PIECES.filter((_, number) => (number - turn) % STRIDE === 0);
}

/** The texts that take a reader more than a dozen times the work for four times the length; it stops at the first. */
async function tooMuchGrowth(reader: string): Promise<Growth[]> {
  const read = READERS[reader];
  if (read === undefined) throw new RangeError(`there is no reader ${reader}`);
  for (const [shape, textOf] of SHAPES.entries()) {
    for (const [at, start] of STARTS.entries()) {
      for (const piece of piecesAfter(start, at + 2 * shape)) {
        const growth = await growthOf(read, (size) => textOf(start, piece, size));
        if (growth >= MAX_GROWTH) return [{ start, piece, shape, growth }];
      }
    }
  }
  return [];
}

parentPort?.on('message', (reader: string) => {
  void tooMuchGrowth(reader).then((found) => parentPort?.postMessage(found));
});
