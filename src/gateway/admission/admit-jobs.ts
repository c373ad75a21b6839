import { FleetError } from '../../errors.js';
import type { KindName } from '../../queues/registry.js';
import type { Admission } from './admission.js';

/** Which jobs were admitted. */
export interface AdmittedJobs<Job> {
  readonly admitted: readonly Job[];
  readonly refused: ReadonlyMap<Job, FleetError>;
}

/** Admits the jobs of a batch, a part at a time. */
export class BatchAdmission {
  readonly #admission: Admission;
  readonly #submitter: string;
  /** Kinds without room: they are not checked again for each of thousands of jobs. */
  readonly #full = new Map<KindName, FleetError>();
  readonly #landed: (() => void)[] = [];

  constructor(admission: Admission, submitter: string) {
    this.#admission = admission;
    this.#submitter = submitter;
  }

  /**
   * Admits as many of the jobs as there is room for, the first ones first.
   * @throws RedisError if there is no memory for jobs of this submitter.
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

  /** Call it once the admitted jobs are in Redis, or will never be. */
  land(): void {
    for (const land of this.#landed.splice(0)) land();
  }
}
