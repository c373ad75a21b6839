import { type Job, Worker } from 'bullmq';
import { type NewBlockAnswer, NewBlockRequestSchema } from '../../src/index.js';
import { refineBlock } from './stand-in-coder.js';

/** The queue in which the refinement loop asks for new blocks. */
export const CODER_QUEUE = 'coder';

/** The coding side: a worker of the pipeline's own, which answers each request with the next idea for the block. */
export function startCoder(redisUrl: string, prefix: string): Worker {
  const worker = new Worker(
    CODER_QUEUE,
    async (job: Job): Promise<NewBlockAnswer> => {
      const { codeBlock, round } = NewBlockRequestSchema.parse(job.data);
      const refined = refineBlock(codeBlock)[round - 1];
      return refined === undefined ? { codeBlock: null } : { codeBlock: refined.code, plan: refined.idea };
    },
    { connection: { url: redisUrl }, prefix },
  );
  worker.on('error', (error) => process.stderr.write(`coder: ${error.message}\n`));
  return worker;
}
