import { FleetError } from '../../errors.js';
import type { KindName } from '../../queues/registry.js';
import type { Admission } from './admission.js';

/** What became of jobs that were to be let in. */
export interface AdmittedJobs<Job> {
  readonly admitted: readonly Job[];
  readonly refused: ReadonlyMap<Job, FleetError>;
}

/** Lets the jobs of a batch in, a part at a time. */
export class BatchAdmission {
  readonly #admission: Admission;
  readonly #submitter: string;
  /** Kinds that have no more room: nobody asks again for each of thousands. */
  readonly #full = new Map<KindName, FleetError>();
  readonly #landed: (() => void)[] = [];

  constructor(admission: Admission, submitter: string) {
    this.#admission = admission;
    this.#submitter = submitter;
  }

  /**
   * Lets in as many of the jobs as there are places for, the first ones first.
   * @throws RedisError where there is no memory for jobs of this submitter.
   */
  async admit<Job extends { readonly kind: KindName }>(jobs: readonly Job[]): Promise<AdmittedJobs<Job>> {
    const refused = new Map<Job, FleetError>();
    for (const kind of new Set(jobs.map((job) => job.kind))) {
      const ofKind = jobs.filter((job) => job.kind === kind);
      const wholePart = this.#full.has(kind) || (await this.#refusal(kind, ofKind.length));
      if (wholePart === undefined) continue;
      for (const job of ofKind) {
        const refusal = this.#full.get(kind) ?? (await this.#refusal(kind, 1));
        if (refusal === undefined) continue;
        this.#full.set(kind, refusal);
        refused.set(job, refusal);
      }
    }
    return { admitted: jobs.filter((job) => !refused.has(job)), refused };
  }

  async #refusal(kind: KindName, count: number): Promise<FleetError | undefined> {
    try {
      this.#landed.push(await this.#admission.admit(kind, count, this.#submitter));
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof FleetError && thrown.code === 'too-many-waiting')) throw thrown;
      return thrown;
    }
  }

  /** To be called once the jobs that were let in are in Redis, or will not come. */
  land(): void {
    for (const land of this.#landed.splice(0)) land();
  }
}
