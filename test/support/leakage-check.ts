import { expect } from 'vitest';
import {
  checkAndFixLeakage,
  type LeakageCheckOptions,
} from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import { SolutionCheckResultSchema } from '../../src/queues/solution-check.js';
import { runnerFor } from './agent-answers.js';
import { type Script, startMessagesApi } from './messages-api.js';

/** Checks a script with an agent that answers by script; gives the result and the requests that the agent made. */
export async function checkWith(content: string, reply: Script, options: LeakageCheckOptions = {}) {
  const api = await startMessagesApi({ reply });
  try {
    const result = await checkAndFixLeakage({ content }, runnerFor(api), options);
    expect(SolutionCheckResultSchema.safeParse(result).error).toBeUndefined();
    return { result, requests: api.requests };
  } finally {
    await api.close();
  }
}
