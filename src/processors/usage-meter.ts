import type { AgentAnswer } from '../agents/agent-runner.js';
import { AgentError } from '../errors.js';
import { addUsage, NO_USAGE, type Usage } from '../queues/usage.js';

/** Adds up what the agent calls of one job use, so that a job that fails half-way still shows its cost. */
export class UsageMeter {
  #total: Usage = NO_USAGE;

  get total(): Usage {
    return this.#total;
  }

  /**
   * Counts the usage of an answer, or of the error that came instead.
   * @throws AgentError what `answer` threw, with the whole job's usage so far.
   */
  async count<Output>(answer: Promise<AgentAnswer<Output>>): Promise<AgentAnswer<Output>> {
    try {
      const given = await answer;
      this.#total = addUsage(this.#total, given.usage);
      return given;
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
