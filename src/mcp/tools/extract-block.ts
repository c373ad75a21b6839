import { z } from 'zod';
import type { ExtractResult } from '../../queues/extract.js';
import { scriptOf } from '../arguments.js';
import { doJob, jobFields } from '../jobs.js';
import { tool } from '../tool.js';

/** The block that was picked. */
const extractFields = {
  outcome: z.string().optional(),
  block: z.string().optional(),
  plan: z.string().optional(),
  reason: z.string().optional(),
};

export const extractBlock = tool({
  name: 'extract_block',
  description:
    'From a solution script and the summary of its ablation: the exact block with most impact, and a plan to refine it.',
  input: z.strictObject({
    script: z.string().optional().describe('Text of the solution script'),
    scriptFile: z.string().optional().describe('Or its path'),
    summary: z.string().describe('From summarize_ablation'),
    previousBlocks: z.array(z.string()).default([]).describe('Blocks that were refined before'),
  }),
  fileFields: ['scriptFile'],
  output: z.object({ ...extractFields, ...jobFields }),
  role: 'submit',
  submits: true,
  handle: async ({ script, scriptFile, summary, previousBlocks }, call) => {
    const names = { text: 'script', file: 'scriptFile' };
    const { content } = await scriptOf({ text: script, file: scriptFile }, names, call);
    const payload = { solution: { content }, summary, previousBlocks };
    if (call.host.jobs === undefined)
      return blockOf(await (await call.host.analysis()).extract(payload, call.signal));
    const done = await doJob('extract', payload, call);
    return 'job' in done ? done.job : blockOf(done.result);
  },
});

export function blockOf({ outcome, codeBlock, plan, reason }: ExtractResult) {
  return {
    outcome,
    ...(codeBlock === undefined ? {} : { block: codeBlock }),
    ...(plan === undefined ? {} : { plan }),
    ...(reason === undefined ? {} : { reason }),
  };
}
