import { type SolutionCheckPayload, type SolutionCheckResult, statusOf } from '../queues/solution-check.js';
import { withNotes } from './agent-provenance.js';
import { checkAndFixLeakage } from './leakage-check/check-and-fix-leakage.js';
import type { LocalWork, Processor, Work } from './processor.js';
import { checkContamination } from './script-contamination.js';

/**
 * Checks a script, with `verify: 'agent'` the corrected script once more (REQ-SF-020), and with `contamination` compares the
 * script that comes out with the known solutions.
 */
export const processSolutionCheck: Processor<'solution-check'> = async (payload, work) => {
  const checked = await checkTwice(payload, work);
  const { contamination } = payload;
  if (contamination === undefined) return checked;
  const { onlyIf, ...settings } = contamination;
  if (onlyIf !== undefined && !onlyIf.includes(checked.status)) return checked;
  work.progress('comparing the script with known solutions');
  return { ...checked, contamination: await checkContamination(checked.solution, settings, work.jobs) };
};

/** Checks a script once: what of a check can be done without a fleet. */
export function checkOnce(
  { solution, workspace, model, trial = false }: SolutionCheckPayload,
  work: LocalWork,
): Promise<SolutionCheckResult> {
  return checkAndFixLeakage(solution, work.runner, {
    analyst: work.analyst,
    signal: work.signal,
    ...(work.files === undefined ? {} : { files: work.files }),
    log: work.log,
    onProgress: (step) => work.progress(step),
    ...(trial ? { trials: work.trials } : {}),
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
  });
}

async function checkTwice(payload: SolutionCheckPayload, work: Work): Promise<SolutionCheckResult> {
  const { verify, workspace, model, trial } = payload;
  const first = await checkOnce(payload, work);
  const isCorrected = first.findings.some(({ outcome }) => outcome === 'corrected');
  if (verify === undefined || !isCorrected) return first;
  work.progress('checking the corrected script again');
  const second = await work.jobs.child(
    'solution-check',
    {
      solution: first.solution,
      ...(workspace === undefined ? {} : { workspace }),
      ...(model === undefined ? {} : { model }),
      ...(trial ? { trial } : {}),
    },
    { name: 'verify' },
  );
  return withSecondCheck(first, second);
}

/** The result of both checks: the leaks that the second one found come after those of the first. */
function withSecondCheck(first: SolutionCheckResult, second: SolutionCheckResult): SolutionCheckResult {
  const found = second.findings.filter(({ leakageStatus }) => leakageStatus === 'Yes Data Leakage');
  const findings = [...first.findings, ...found];
  const who = second.staticFirst?.decidedBy === 'analysis' ? 'static analysis' : 'the agent';
  const note =
    found.length === 0
      ? `${who} checked the corrected script again and found no leakage`
      : `${who} checked the corrected script again and found ${found.length} more; see the last findings`;
  return {
    ...first,
    status: statusOf(findings),
    solution: second.solution,
    findings,
    ...withNotes([...(first.notes ?? []), note, ...(second.notes ?? [])]),
  };
}
