/**
 * Gives long lists to their readers, in a thread with half of the usual stack: a call can have fewer arguments there, so
 * shorter lists are too long for it.
 */
import { parentPort } from 'node:worker_threads';
import { readAblation } from '../../src/ablation/index.js';
import { colorsFor } from '../../src/cli/terminal/colors.js';
import { renderCheck } from '../../src/cli/terminal/render-check.js';
import { renderRefinement } from '../../src/cli/terminal/render-refinement.js';
import { ContaminationDetector } from '../../src/contamination/index.js';
import type { ExtractResult } from '../../src/queues/extract.js';
import type { SolutionCheckResult } from '../../src/queues/solution-check.js';
import { NO_USAGE } from '../../src/queues/usage.js';

export const STACK_MB = 0.5;
/** More than a call can have arguments with this stack. */
export const MANY = 50_000;

const colors = colorsFor({}, {});
const many = 'x\n'.repeat(MANY);
const agent = { runner: 'offline' } as const;

/** Texts with so many items that are compared with known solutions. */
export const OUTPUTS = {
  'names that a statement binds': `${'a,'.repeat(MANY)}b = 1\n`,
  'names that a pattern of JavaScript binds': `const {${'a,'.repeat(MANY)}b} = x;\n`,
  lines: many,
};

async function confidenceOf(output: string): Promise<number> {
  const detector = new ContaminationDetector();
  detector.addToTrainingSet('task', output.slice(0, 1_000));
  const testCase = { id: 'task', name: 'task', difficulty: 'easy' as const };
  return (await detector.checkContamination(output, testCase)).confidence;
}

const linesOf = (text: string) => text.split('\n').length;

function shownScript(): number {
  const result: SolutionCheckResult = {
    status: 'corrected',
    solution: { content: 'x\n' },
    solutionDigest: '',
    findings: [
      { leakageStatus: 'Yes Data Leakage', codeBlock: many, outcome: 'corrected', source: 'analysis' },
    ],
    usage: NO_USAGE,
    agent,
  };
  return linesOf(renderCheck({ file: 'a.py', script: many, result }, colors, { explain: true }));
}

function shownReason(): number {
  const result: SolutionCheckResult = {
    status: 'uncorrected',
    solution: { content: 'x\n' },
    solutionDigest: '',
    findings: [
      {
        leakageStatus: 'Yes Data Leakage',
        codeBlock: 'x',
        outcome: 'uncorrected',
        source: 'agent',
        reason: many,
        notes: [many],
      },
    ],
    notes: [many],
    usage: NO_USAGE,
    agent,
  };
  return linesOf(renderCheck({ file: 'a.py', script: 'x\n', result }, colors));
}

async function variantsOfTable(): Promise<number> {
  const rows = Array.from({ length: MANY }, (_, row) => `without step${row}   0.${1_000 + row}`);
  const rawOutput = ['variant   accuracy', 'baseline   0.9', ...rows].join('\n');
  const { variants } = await readAblation({ rawOutput, ablationCode: '' });
  return variants.length;
}

function shownBlock(): string {
  const extracted: ExtractResult = {
    outcome: 'selected',
    codeBlock: many,
    plan: 'plan',
    attempts: 1,
    plans: [],
    solutionDigest: '',
    usage: NO_USAGE,
    agent,
  };
  return renderRefinement(many, 'summary', extracted, colors);
}

/** What the thread can be asked for. */
export const READINGS = {
  ...Object.fromEntries(Object.entries(OUTPUTS).map(([name, text]) => [name, () => confidenceOf(text)])),
  'one call': () => Math.max(...new Array<number>(MANY).fill(0)),
  'lines of a script': shownScript,
  'lines of a reason and of notes': shownReason,
  'rows of a table': variantsOfTable,
  'lines of a block': shownBlock,
} satisfies Record<string, () => unknown>;

parentPort?.on('message', (name: string) => {
  const read = (READINGS as Record<string, () => unknown>)[name];
  void (async () => read?.())().then(
    (value) => parentPort?.postMessage({ value }),
    (thrown) => parentPort?.postMessage({ error: String(thrown) }),
  );
});
