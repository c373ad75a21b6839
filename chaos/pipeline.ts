import { type Job, Worker } from 'bullmq';
import { FleetClient } from '../src/producers/fleet-client.js';
import { checkedSolution } from '../src/producers/flows/checked-solution.js';
import { addGuardedEvaluation } from '../src/producers/flows/guarded-evaluation.js';
import { addRefinementStep } from '../src/producers/flows/refinement-step.js';
import { addSolutionCheck } from '../src/producers/solution-check.js';
import { workerConnection } from '../src/queues/connection.js';
import type { FollowUp } from '../src/queues/follow-ups/contract.js';

/** A job that the fleet accepted. */
export interface Accepted {
  readonly queue: string;
  readonly id: string;
  readonly marker: string;
  /** The script that was submitted. */
  readonly script: string;
  /** Whether it has a leak: its correction is then checked again in a child job. */
  readonly leaky: boolean;
  /** Whether it has follow-ups. */
  readonly chained?: boolean;
  /** What a child is for; undefined for a job that was submitted. */
  readonly role?: string;
  /** When the acceptance arrived, in milliseconds since 1970. */
  readonly acceptedAt: number;
}

interface Evaluated {
  readonly marker: string;
  readonly script: string;
}

/** A line that the provider calls a leak, and its correction. */
export const LEAKY_LINE = 'a = fit(all)\n';
export const CORRECTED_LINE = 'a = fit(train)\n';

/** A summary and the extraction that needs it, a comparison at the same time, and one that never starts. */
function followUps(marker: string, script: string): FollowUp[] {
  const compare: FollowUp = {
    kind: 'contamination',
    payload: { testCase: { id: marker, name: marker, difficulty: 'easy' } },
    from: { output: 'result.solution.content' },
  };
  return [
    {
      kind: 'summarize',
      when: { status: ['clean', 'corrected'] },
      payload: { ablationCode: `marker_${marker} = 1`, rawOutput: 'a: 1' },
      then: [
        {
          kind: 'extract',
          payload: { solution: { content: script }, previousBlocks: [] },
          from: { summary: 'result.summary' },
        },
      ],
    },
    compare,
    { ...compare, name: 'never', when: { status: 'uncorrected' } },
  ];
}

const SUBMIT_EVERY_MS = 150;
/** How often a full pipeline looks for room, in milliseconds. */
const LOOK_EVERY_MS = 150;
/** Number of unfinished jobs from which the pipeline waits. */
const MAX_OPEN = 60;

/** The user's side: submits flows with keys until it is stopped, and evaluates the checked scripts. */
export class Pipeline {
  readonly accepted: Accepted[] = [];
  /** Scripts that an evaluation ran, by the marker of its job. */
  readonly evaluated: readonly Evaluated[];
  refusedSubmissions = 0;
  readonly #fleet: FleetClient;
  readonly #evaluating: Worker;
  readonly #submitEveryMs: number;
  #stopped = false;
  #submitting: Promise<void> = Promise.resolve();

  private constructor(
    fleet: FleetClient,
    evaluating: Worker,
    evaluated: readonly Evaluated[],
    submitEveryMs: number,
  ) {
    this.evaluated = evaluated;
    this.#submitEveryMs = submitEveryMs;
    this.#fleet = fleet;
    this.#evaluating = evaluating;
  }

  static async open(redisUrl: string, prefix: string, submitEveryMs = SUBMIT_EVERY_MS): Promise<Pipeline> {
    const fleet = await FleetClient.open({ redisUrl, prefix });
    const evaluated: Evaluated[] = [];
    const evaluating = new Worker(
      'evaluate',
      async (job: Job) => {
        const { solution } = await checkedSolution(job);
        evaluated.push({ marker: String(job.data.marker), script: solution.content });
        return 'scored';
      },
      {
        connection: workerConnection(redisUrl),
        prefix,
        concurrency: 10,
        lockDuration: 5_000,
        stalledInterval: 2_000,
      },
    );
    evaluating.on('error', () => undefined);
    return new Pipeline(fleet, evaluating, evaluated, submitEveryMs);
  }

  get fleet(): FleetClient {
    return this.#fleet;
  }

  begin(): void {
    this.#submitting = this.#submitAll();
  }

  /** Stops submitting, and waits for the answer to the last submission. */
  async stopSubmitting(): Promise<void> {
    this.#stopped = true;
    await this.#submitting;
  }

  async close(): Promise<void> {
    await this.#evaluating.close();
    await this.#fleet.close();
  }

  async #submitAll(): Promise<void> {
    for (let number = 0; !this.#stopped; number += 1) {
      await this.#roomForMore();
      await this.#submit(number);
      await new Promise((resolve) => setTimeout(resolve, this.#submitEveryMs));
    }
  }

  /** Waits while many jobs are unfinished, so that the run measures the fleet and not the length of a queue. */
  async #roomForMore(): Promise<void> {
    while (!this.#stopped) {
      try {
        const counts = await Promise.all(
          this.#fleet.kindQueues.map(([, queue]) => queue.getJobCounts('prioritized', 'delayed', 'active')),
        );
        const open = counts
          .flatMap((byState) => Object.values(byState))
          .reduce((sum, count) => sum + count, 0);
        if (open < MAX_OPEN) return;
      } catch {
        // Redis is away; the submission will find out when it is back.
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }

  /** A submission that got no answer is sent again with its key until it gets one. */
  async #submit(number: number): Promise<void> {
    const marker = String(number);
    // Every tenth script is long enough to be stored separately from its job.
    const leaky = number % 3 === 1;
    const leak = leaky ? LEAKY_LINE : '';
    const script = `x = 1\nmarker_${marker} = 2\n${leak}${number % 10 === 0 ? '# padding\n'.repeat(8_000) : ''}`;
    for (;;) {
      try {
        const jobs = await this.#submitFlow(number, marker, script);
        const acceptedAt = Date.now();
        this.accepted.push(...jobs.map((job) => ({ ...job, leaky, acceptedAt })));
        return;
      } catch {
        this.refusedSubmissions += 1;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  async #submitFlow(
    number: number,
    marker: string,
    script: string,
  ): Promise<Omit<Accepted, 'acceptedAt' | 'leaky'>[]> {
    const key = `chaos ${marker}`;
    // Two of five can wait: their calls go into batches.
    const options = { key, ...(number % 5 < 2 ? { deadline: '+1d' } : {}) };
    const tags = { run: `run ${number % 3}` };
    if (number % 3 === 0) {
      const step = await addRefinementStep(
        this.#fleet,
        {
          ablationCode: `marker_${marker} = 1`,
          rawOutput: 'a: 1',
          solution: { content: script },
          previousBlocks: [],
          tags,
        },
        options,
      );
      return [step.extract, step.summarize].map(({ queue, id }) => ({ queue, id, marker, script }));
    }
    if (number % 6 === 5) {
      const payload = { solution: { content: script }, tags, then: followUps(marker, script) };
      const { queue, id } = await addSolutionCheck(this.#fleet, payload, options);
      return [{ queue, id, marker, script, chained: true }];
    }
    const { evaluation, check } = await addGuardedEvaluation(
      this.#fleet,
      {
        solution: { content: script },
        verify: 'agent',
        evaluation: { queue: 'evaluate', name: 'score', data: { marker } },
        tags,
      },
      options,
    );
    return [evaluation, check].map(({ queue, id }) => ({ queue, id, marker, script }));
  }
}
