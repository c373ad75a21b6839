import { z } from 'zod';
import { textOf } from '../arguments.js';
import { doJob, jobFields } from '../jobs.js';
import { tool } from '../tool.js';

/** A result without the measures of each check. */
const resultFields = {
  contaminated: z.boolean().optional(),
  confidence: z.number().optional(),
  reason: z.string().optional(),
  note: z.string().optional(),
};

export const checkContamination = tool({
  name: 'check_contamination',
  description:
    'Finds copies of known solutions, also reworded ones. Compares with the file `known`, or without it with the known solutions of the fleet.',
  input: z.strictObject({
    answer: z.string().optional().describe('Text of the answer'),
    answerFile: z.string().optional().describe('Or its path'),
    known: z.string().optional().describe('Path of a JSONL file with testCaseId and solution a line'),
    testCase: z.string().describe('Id of the task'),
    difficulty: z.enum(['easy', 'medium', 'hard']).default('medium'),
  }),
  fileFields: ['answerFile', 'known'],
  output: z.object({ ...resultFields, ...jobFields }),
  role: 'submit',
  submits: true,
  handle: async ({ answer, answerFile, known, testCase: id, difficulty }, call) => {
    const names = { text: 'answer', file: 'answerFile' };
    const output = await textOf({ text: answer, file: answerFile }, names, call);
    const testCase = { id, name: id, difficulty };
    const { files } = call.host;
    if (known !== undefined && files !== undefined)
      return shortComparison(await files.compare(known, { output, testCase }));
    const done = await doJob('contamination', { output, testCase }, call);
    return 'job' in done ? done.job : shortComparison(done.result);
  },
});

interface ShortComparison {
  readonly contaminated: boolean;
  readonly confidence: number;
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
}

export function shortComparison({
  contaminated,
  confidence,
  reason,
  note,
}: ShortComparison): ShortComparison {
  return {
    contaminated,
    confidence,
    ...(reason === undefined ? {} : { reason }),
    ...(note === undefined ? {} : { note }),
  };
}
