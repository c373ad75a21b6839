import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IN_PLACE_ANALYST } from '../../src/agents/script-analyst.js';
import { AnalysisThread } from '../../src/fleet/analysis-thread.js';
import { featureScript } from '../support/feature-script.js';
import { watchMainThread } from '../support/main-thread.js';

const LARGE = featureScript(100);

let thread: AnalysisThread;
beforeEach(() => {
  thread = new AnalysisThread();
});
afterEach(() => thread.close());

function analyst(signal = new AbortController().signal) {
  return thread.analystFor({ tenant: '', signal });
}

describe('the analysis thread', () => {
  it('computes what functions in place compute', async () => {
    const threaded = analyst();
    const analysis = await threaded.analyze(LARGE);
    expect(analysis).toEqual(await IN_PLACE_ANALYST.analyze(LARGE));
    const [finding] = analysis.findings;
    const block = finding?.codeBlock ?? '';
    const repaired = await threaded.repair(LARGE, block);
    expect(repaired.ok).toBe(true);
    expect(repaired).toEqual(await IN_PLACE_ANALYST.repair(LARGE, block));

    const start = LARGE.indexOf('df = ');
    const line = LARGE.slice(start, LARGE.indexOf('\n', start));
    const located = { start, end: start + line.length, text: line };
    expect(await threaded.lostNames(located, 'other = 1', LARGE)).toEqual(['df']);

    const rawOutput = Array.from({ length: 200 }, (_, at) => `No part ${at}: 0.${at + 1_000}`).join('\n');
    const study = { ablationCode: LARGE, rawOutput };
    const summary = await threaded.summarize(study);
    expect(summary).toBe(await IN_PLACE_ANALYST.summarize(study));
    const numbers = { summary: `${summary} 77.123`, ...study };
    expect(await threaded.findUnsupportedNumbers(numbers)).toEqual(
      await IN_PLACE_ANALYST.findUnsupportedNumbers(numbers),
    );
    const refinement = { solution: LARGE, summary: 'The scaler matters most.', previousBlocks: [] };
    expect(await threaded.plan(refinement)).toEqual(await IN_PLACE_ANALYST.plan(refinement));
  });

  it('takes a correction of many lines out of its answer while the event loop goes on', async () => {
    await analyst().analyze(LARGE);
    const line = 'x = 1';
    const content = `${line}\ny = 2\n`;
    const located = { start: 0, end: line.length, text: line };
    const code = `# ...\n${'"a"\n'.repeat(8_000)}`;
    const answer = `\`\`\`python\n${code}\`\`\``;
    const expectDoneInThread = await watchMainThread('solution');
    const taken = await analyst().takeCorrection(answer, located, content, true);
    expect(taken).toMatchObject({ ok: true });
    await expectDoneInThread(async () => {
      expect(await IN_PLACE_ANALYST.takeCorrection(answer, located, content, true)).toEqual(taken);
    });
    expect(await analyst().neutralize('!ls\n')).toBe('0  \n');
  });

  it('gives up a task in the middle of its computing, and goes on with the ones that wait', async () => {
    await analyst().analyze(LARGE);
    const cancelled = new AbortController();
    const pending = analyst(cancelled.signal).analyze(featureScript(20_000));
    const waiting = analyst().analyze(LARGE);
    const rejected = expect(pending).rejects.toMatchObject({ name: 'AbortError' });
    cancelled.abort('cancelled');
    await rejected;
    expect((await waiting).findings).not.toEqual([]);
  });

  it('ends with its worker, whatever it computes, and takes no more', async () => {
    await analyst().analyze(LARGE);
    const running = expect(analyst().analyze(featureScript(20_000))).rejects.toThrow();
    await thread.close();
    await running;
    await expect(analyst().analyze(LARGE)).rejects.toMatchObject({ code: 'internal' });
  });
});
