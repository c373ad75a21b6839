import type { AgentAnswer, AgentRunner } from '../agents/agent-runner.js';
import type { AgentProvenance } from '../queues/common.js';

/** The agent and the model that produced a result. */
export function agentProvenance(runner: AgentRunner, answer: AgentAnswer<unknown>): AgentProvenance {
  return {
    runner: runner.name,
    ...(answer.model === undefined ? {} : { model: answer.model }),
    ...(answer.promptDigest === undefined ? {} : { promptDigest: answer.promptDigest }),
  };
}

/** Notes of a result; a result without notes has no such field. */
export function withNotes(notes: readonly string[]): { notes?: string[] } {
  return notes.length === 0 ? {} : { notes: [...notes] };
}
