import { pino } from 'pino';
import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { FleetWorker } from '../../src/fleet/worker.js';
import { cancelJob } from '../../src/producers/cancel-job.js';
import { FleetClient } from '../../src/producers/fleet-client.js';
import { addRefinementStep } from '../../src/producers/flows/refinement-step.js';
import { listJobs } from '../../src/producers/list-jobs.js';
import { addSolutionCheck } from '../../src/producers/solution-check.js';
import { checkInvariants } from '../support/invariants.js';

const SCRIPT = 'a = fit(all)\nprint(a)\n';

/** A fleet on some Redis: a producer's connection and a worker with the offline runner. */
export class FleetOnRedis {
  private constructor(
    readonly fleet: FleetClient,
    readonly worker: FleetWorker,
    /** What the worker logged, one line each. */
    readonly log: readonly string[],
    readonly prefix: string,
  ) {}

  static async start(redisUrl: string, prefix: string): Promise<FleetOnRedis> {
    const log: string[] = [];
    const fleet = await FleetClient.open({ redisUrl, prefix, waitForSlow: true });
    const worker = await FleetWorker.start({
      redisUrl,
      prefix,
      runner: createOfflineRunner(),
      logger: pino({ level: 'warn' }, { write: (line: string) => void log.push(line) }),
      concurrency: 5,
      lockMs: 30_000,
    });
    return new FleetOnRedis(fleet, worker, log, prefix);
  }

  /** Submits a check and waits for it; gives the id. */
  async check(content: string): Promise<string> {
    const job = await addSolutionCheck(this.fleet, { solution: { content } });
    const view = await job.wait();
    if (view.state !== 'completed') throw new Error(`the check ended as ${JSON.stringify(view)}`);
    return job.id;
  }

  /** A job, a delayed one that is cancelled, a flow, a list: gives the states of all jobs, by kind. */
  async runCore(): Promise<string[]> {
    await this.check('x = 1\n');
    const later = await addSolutionCheck(
      this.fleet,
      { solution: { content: 'x = 2\n' } },
      { delayMs: 3_600_000 },
    );
    await cancelJob(this.fleet, later.id);
    const step = await addRefinementStep(this.fleet, {
      ablationCode: 'print("x")',
      rawOutput: 'a: 1',
      solution: { content: SCRIPT },
      previousBlocks: [],
    });
    await step.extract.wait();
    const jobs = await listJobs(this.fleet, {});
    return jobs.map(({ kind, state }) => `${kind} ${state}`).sort();
  }

  /** Stops both, and holds what they left against the fleet's invariants. */
  async close(): Promise<void> {
    await this.worker.stop(5_000);
    await checkInvariants(this.fleet.client, this.prefix);
    await this.fleet.close();
  }

  /** Stops both; for a user who may not run what the look at the invariants needs. */
  async closeUnexamined(): Promise<void> {
    await this.worker.stop(5_000);
    await this.fleet.close();
  }
}
