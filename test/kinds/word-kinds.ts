/**
 * Kinds as a user defines them; `fleet worker --kinds-from` loads this module in tests. It loads no more of the package than
 * that takes, as several processes load it.
 */
import { z } from 'zod';
import { defineAgent } from '../../src/agents/define-agent.js';
import { PayloadError } from '../../src/errors.js';
import { defineKind } from '../../src/processors/define-kind.js';
import { WAIT_LIMIT_MS } from '../support/wait-limit-ms.js';

export { defineAgent, defineKind, z };

const critic = defineAgent({
  promptFile: new URL('./critic.md', import.meta.url),
  offline: () => 'nothing',
});
const grader = defineAgent({
  promptFile: new URL('./critic.md', import.meta.url),
  outputSchema: z.strictObject({ grade: z.int() }),
  offline: ({ count }) => ({ grade: Number(count) }),
});

export const wordCount = defineKind({
  name: 'word-count',
  summary: 'Counts words.',
  payload: z.object({ text: z.string().min(1), least: z.int().default(1) }),
  result: z.strictObject({ words: z.int() }),
  limits: { largeTexts: ['text'], timeoutMs: WAIT_LIMIT_MS },
  defaults: { attempts: 2, backoffMs: 10 },
  process: async ({ text, least }) => {
    const words = text.split(/\s+/).filter((word) => word.length >= least).length;
    if (text === 'broken') return { words: 0.5 };
    if (text === 'refused') throw new PayloadError('invalid-payload', 'no such text', { field: 'text' });
    if (text === 'thrown') throw new Error('the author of the kind threw this');
    return { words };
  },
});

/** Asks two agents, and starts a child of each sort. */
export const review = defineKind({
  name: 'word-count-review',
  payload: z.object({ text: z.string(), model: z.string().optional() }),
  result: z.strictObject({ topic: z.string(), grade: z.int(), words: z.int(), summary: z.string() }),
  process: async ({ text, model }, work) => {
    work.progress('counting');
    const { words } = await work.jobs.child(wordCount, { text }, { name: 'count' });
    const question = { text, count: String(words) };
    const options = model === undefined ? {} : { model };
    const { output: topic } = await work.ask(critic, question, options);
    const { output } = await work.ask(grader, question, options);
    const summarized = { ablationCode: 'print("a: 1")', rawOutput: 'baseline: 0.9\nwithout a: 0.8\n' };
    const { summary } = await work.jobs.child('summarize', summarized, { name: 'summary' });
    return { topic, grade: output.grade, words, summary };
  },
});
