import type { AgentAnswer } from '../agents/agent-runner.js';
import { AgentError } from '../errors.js';
import { addUsage, NO_USAGE, type Usage } from '../queues/usage.js';

/** Adds up the usage of one job's agent calls, so a job that fails halfway still shows its cost. */
export class UsageMeter {
  #total: Usage = NO_USAGE;

  get total(): Usage {
    return this.#total;
  }

  /**
   * Counts the usage of an answer, or of the error instead of it.
   * @throws AgentError what `answer` threw, with the job's total usage so far.
   */
  async count<Output>(answer: Promise<AgentAnswer<Output>>): Promise<AgentAnswer<Output>> {
    try {
      const settled = await answer;
      this.#total = addUsage(this.#total, settled.usage);
      return settled;
    } catch (thrown) {
      if (!(thrown instanceof AgentError)) throw thrown;
      this.#total = addUsage(this.#total, thrown.usage ?? NO_USAGE);
      throw new AgentError(thrown.code, thrown.message, {
        usage: this.#total,
        cause: thrown,
        ...(thrown.field === undefined ? {} : { field: thrown.field }),
        ...(thrown.rawAnswer === undefined ? {} : { rawAnswer: thrown.rawAnswer }),
      });
    }
  }
}
