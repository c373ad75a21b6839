import { afterEach, describe, expect, it } from 'vitest';
import { summarizeAblation } from '../../src/ablation/index.js';
import { analyzeLeakage, repairLeak } from '../../src/leakage/index.js';
import { doesSomething, firstSyntaxError, lostNames, parsesAsPython } from '../../src/solution/index.js';
import { withoutManyComments } from '../../src/solution/python-syntax.js';

const environment = process.env.FLEET_PYTHON;
afterEach(() => {
  if (environment === undefined) delete process.env.FLEET_PYTHON;
  else process.env.FLEET_PYTHON = environment;
});

/** Processor time of a run, in milliseconds. */
async function costOf(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** A script of which a part is commented out, as people do it. */
const commented = (count: number) =>
  `def train(frame):\n    x = 1\n${'    # model.fit(frame[["a", "b"]], frame["target"])  # the old way\n'.repeat(count)}    return x\n\nprint(train(1))\n`;

describe('rows of comment lines', () => {
  it('take time by their length, not by its square', async () => {
    await analyzeLeakage(commented(100));
    const small = await costOf(() => analyzeLeakage(commented(1_000)));
    const large = await costOf(() => analyzeLeakage(commented(8_000)));
    expect(large / Math.max(small, 20)).toBeLessThan(24);
  });

  it.each([
    ['few', 'x = 1\n# a\n# b\ny = 2\n'],
    ['in a text', `x = """\n${'# kept\n'.repeat(100)}"""\n`],
    ['after code', 'x = 1  # kept\n'.repeat(100)],
  ])('are left as they are: %s', (_what, source) => {
    expect(withoutManyComments(source)).toBe(source);
  });

  it.each([
    ['of a function', commented(100)],
    ['in brackets', `x = [\n${'    # gone\n'.repeat(100)}    1,\n]\n`],
    ['at the end', `x = 1\n${'# gone\n'.repeat(100)}`],
    ['with other line ends', `x = 1\r\n${'  # gone\r\n'.repeat(100)}y = 2\r\n`],
  ])('keep every position: %s', (_what, source) => {
    const thinned = withoutManyComments(source);
    expect(thinned).not.toBe(source);
    expect(thinned.split('\n').map((line) => line.length)).toEqual(
      source.split('\n').map((line) => line.length),
    );
    const codeOf = (text: string) => text.split(/\r?\n/).map((line) => line.replace(/\s*#.*$/, '').trimEnd());
    expect(codeOf(thinned)).toEqual(codeOf(source));
  });
});

describe('texts that the parser reads again and again', () => {
  const ENDLESS: readonly [string, string][] = [
    ['lines that go on', `${'\\\n'.repeat(30_000)}x = 1\n`],
    ['signs that begin nothing', '--:='.repeat(2_000)],
    ['marks of HTML', '<!--:='.repeat(3_000)],
  ];

  it.each(ENDLESS)('are given up, and are not said to be Python: %s', async (_what, text) => {
    process.env.FLEET_PYTHON = '';
    const scale = Math.max(1, text.length / 65_536);
    const cost = await costOf(() =>
      expect(parsesAsPython(text)).rejects.toMatchObject({ code: 'analysis-limit' }),
    );
    // Processor time, which is counted for the whole process here: twice what the parser may take is room enough.
    expect(cost).toBeLessThan(1_000 * scale);
    // The parser is not left in the middle of the text.
    expect((await analyzeLeakage('x = 1\n')).parsed).toBe(true);
  });

  it('leave a summary without what the script would add', async () => {
    const ablationCode = '--:='.repeat(2_000);
    const rawOutput = 'Baseline: accuracy 0.9\nWithout scaler: accuracy 0.8\n';
    expect(await summarizeAblation({ rawOutput, ablationCode })).toBe(
      await summarizeAblation({ rawOutput, ablationCode: '' }),
    );
  });
});

describe('nesting without end', () => {
  // Without the limit of the analysis, half of these rows exhaust the stack.
  const DEEP: readonly [string, string][] = [
    ['brackets', `x = ${'('.repeat(5_000)}1${')'.repeat(5_000)}\n`],
    ['open brackets', `x = ${'['.repeat(10_000)}`],
    ['signs', `x = ${'-'.repeat(5_000)}1\n`],
    ['attributes', `x = a${'.b'.repeat(5_000)}\n`],
    ['calls', `x = a${'()'.repeat(5_000)}\n`],
    ['targets', `${'('.repeat(4_000)}a${',)'.repeat(4_000)} = 1\n`],
    ['assignments', `${'a = '.repeat(8_000)}1\n`],
    ['sums', `x = ${'1 + '.repeat(5_000)}1\n`],
    ['texts in texts', `x = ${'f"{'.repeat(5_000)}`],
    ['blocks', Array.from({ length: 400 }, (_, at) => `${' '.repeat(at)}if a:`).join('\n')],
    ['decorators', `${'@a\n'.repeat(8_000)}def f(): pass\n`],
    ['texts that do not end', `x = """${'"'.repeat(8_001)}`],
  ];

  it.each(DEEP)('%s exhaust no stack', async (_kind, text) => {
    const located = { start: 0, end: text.length, text };
    expect((await analyzeLeakage(text)).findings).toEqual([]);
    await repairLeak(`${text}\n`, text);
    await firstSyntaxError(text);
    await doesSomething(text);
    await lostNames(located, text, `${text}\nprint(x, a)\n`);
    expect((await parsesAsPython(text)).exact).toBeTypeOf('boolean');
  });
});
