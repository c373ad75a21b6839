import type { Solution } from '../queues/common.js';
import type { ContaminationJobResult } from '../queues/contamination.js';
import { digestOf } from '../queues/digest.js';
import type { ContaminationSettings, ScriptContamination } from '../queues/test-case.js';
import type { ChildWork } from './processor.js';

/** Compares a script with the fleet's known solutions in a child job of the kind `contamination`. */
export async function checkContamination(
  { content }: Solution,
  { testCase, config }: ContaminationSettings,
  jobs: ChildWork,
): Promise<ScriptContamination> {
  const payload = { output: content, testCase, ...(config === undefined ? {} : { config }) };
  const result = await jobs.child('contamination', payload, { name: 'contamination' });
  return {
    status: statusOf(result),
    digest: digestOf(content),
    testCaseId: testCase.id,
    ...(result.reason === undefined ? {} : { reason: result.reason }),
    confidence: result.confidence,
  };
}

/** A script that was compared with nothing is not clean: nobody looked. */
function statusOf({ contaminated, checks }: ContaminationJobResult): ScriptContamination['status'] {
  if (contaminated) return 'contaminated';
  const { exact, containment, evidence, fingerprint, wording, crossTask } = checks;
  const compared = [exact, containment, evidence, fingerprint, wording, crossTask].some(
    (check) => check?.status === 'ran',
  );
  return compared || checks.similarity !== undefined ? 'clean' : 'not-compared';
}
