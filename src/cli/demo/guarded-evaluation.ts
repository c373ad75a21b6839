import { readFile } from 'node:fs/promises';
import { Worker } from 'bullmq';
import { packagePath } from '../../package-root.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { checkedSolution } from '../../producers/flows/checked-solution.js';
import { addGuardedEvaluation } from '../../producers/flows/guarded-evaluation.js';
import { waitForJob } from '../../producers/wait-for-job.js';
import { workerConnection } from '../../queues/connection.js';
import type { Colors } from '../terminal/colors.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print } from '../terminal/print.js';

const QUEUE = 'evaluate';
const EXAMPLE = 'leaky_scaler.py';

/** One guarded evaluation, with the pipeline's evaluating side played here: it gets its script from the check alone. */
export async function showGuardedEvaluation(
  fleet: FleetClient,
  redisUrl: string,
  colors: Colors,
  signal: AbortSignal,
): Promise<void> {
  const content = await readFile(packagePath('examples', 'scripts', EXAMPLE), 'utf8');
  print(`\n${colors.bold('solution-check → evaluation')}: one guarded evaluation\n`);
  const evaluating = new Worker(
    QUEUE,
    async (job) => {
      const { solution, status } = await checkedSolution(job);
      return `got ${EXAMPLE} ${status}, ${solution.content === content ? 'as it was' : 'with its corrections'}`;
    },
    { connection: workerConnection(redisUrl), prefix: fleet.prefix },
  );
  try {
    const { evaluation } = await addGuardedEvaluation(fleet, {
      solution: { content },
      evaluation: { queue: QUEUE, name: 'score' },
    });
    print(`the evaluating side ${escapeControlCharsInLine(String(await evaluation.returned({ signal })))}`);
    const unguarded = await fleet.queue(QUEUE).add('score', { script: content });
    const { error } = await waitForJob(fleet, unguarded.id ?? '', { signal }, QUEUE);
    print(`a job made without the check: ${escapeControlCharsInLine(error?.message ?? 'was let through')}`);
  } finally {
    await evaluating.close();
  }
}
