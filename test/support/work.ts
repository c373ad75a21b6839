import type { AgentRunner } from '../../src/agents/agent-runner.js';
import { IN_PLACE_ANALYST } from '../../src/agents/script-analyst.js';
import { ContaminationDetector } from '../../src/contamination/index.js';
import { askAgents } from '../../src/processors/ask-agents.js';
import type { ChildWork, Work } from '../../src/processors/processor.js';
import { Trials } from '../../src/trial/trials.js';

/** What a processor works with, and what it said while it did. */
export interface RecordedWork extends Work {
  readonly steps: string[];
  readonly warnings: string[];
}

const refuse = () => Promise.reject(new Error('this test starts no children'));
const NO_CHILDREN: ChildWork = {
  child: refuse,
  childIn: refuse,
  children: refuse,
  evaluation: refuse,
  ids: new Map(),
};

export function workWith(runner: AgentRunner): RecordedWork {
  const steps: string[] = [];
  const warnings: string[] = [];
  const work: RecordedWork = {
    runner,
    ask: askAgents(() => work),
    analyst: IN_PLACE_ANALYST,
    contamination: {
      check: (input) =>
        new ContaminationDetector(input.config).checkContamination(input.output, input.testCase),
    },
    jobs: NO_CHILDREN,
    trials: new Trials({ sandbox: 'off' }),
    signal: new AbortController().signal,
    log: { info: () => undefined, warn: (message) => void warnings.push(message) },
    progress: (step) => void steps.push(step),
    steps,
    warnings,
  };
  return work;
}
