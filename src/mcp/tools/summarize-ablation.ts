import { z } from 'zod';
import { textOf } from '../arguments.js';
import { doJob, jobFields } from '../jobs.js';
import { tool } from '../tool.js';

export const summarizeAblation = tool({
  name: 'summarize_ablation',
  description:
    'From an ablation script and what it printed: which component matters most for the score, in a short text for extract_block.',
  input: z.strictObject({
    ablation: z.string().optional().describe('Text of the ablation script'),
    ablationFile: z.string().optional().describe('Or its path'),
    output: z.string().optional().describe('What it printed'),
    outputFile: z.string().optional().describe('Or its path'),
  }),
  fileFields: ['ablationFile', 'outputFile'],
  output: z.object({ summary: z.string().optional(), ...jobFields }),
  role: 'submit',
  submits: true,
  handle: async ({ ablation, ablationFile, output, outputFile }, call) => {
    const payload = {
      ablationCode: await textOf(
        { text: ablation, file: ablationFile },
        { text: 'ablation', file: 'ablationFile' },
        call,
      ),
      rawOutput: await textOf(
        { text: output, file: outputFile },
        { text: 'output', file: 'outputFile' },
        call,
        'output',
      ),
    };
    if (call.host.jobs === undefined) {
      const { summary } = await (await call.host.analysis()).summarize(payload, call.signal);
      return { summary };
    }
    const done = await doJob('summarize', payload, call);
    return 'job' in done ? done.job : { summary: done.result.summary };
  },
});
