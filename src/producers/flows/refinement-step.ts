import { type OptionNames, rejectUnknownOptions } from '../../known-options.js';
import type { ExtractPayload } from '../../queues/extract.js';
import type { SummarizePayload } from '../../queues/summarize.js';
import { preparePayload } from '../add-job.js';
import type { AddOptions } from '../add-options.js';
import type { FleetClient } from '../fleet-client.js';
import { JobHandle } from '../job-handle.js';
import { chooseJobId } from '../job-id.js';
import { jobOptions } from '../job-options.js';
import { checkSubmission } from '../submission-fields.js';
import { addFlow } from './add-flow.js';
import { contentOf } from './flow-content.js';

export interface RefinementStep {
  readonly ablationCode: string;
  /** What the ablation script printed; may be empty. */
  readonly rawOutput: string;
  readonly solution: { readonly content: string };
  /** Blocks that earlier steps refined. */
  readonly previousBlocks: readonly string[];
  readonly workspace?: string;
  readonly model?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

const STEP_FIELDS: OptionNames<RefinementStep> = {
  ablationCode: true,
  rawOutput: true,
  solution: true,
  previousBlocks: true,
  workspace: true,
  model: true,
  tags: true,
};

/** The jobs of a refinement step. */
export interface RefinementHandles {
  /** The parent: its result is the block and the plan. */
  readonly extract: JobHandle<'extract'>;
  readonly summarize: JobHandle<'summarize'>;
}

/**
 * One step of the outer loop (MLE-STAR, Algorithm 2, lines 7 and 8) as a flow: the ablation's output is summarized,
 * then the block with the most impact is extracted. The extract job starts when the summary is ready.
 *
 * @throws PayloadError with the invalid field; JobError `key-conflict`.
 */
export async function addRefinementStep(
  fleet: FleetClient,
  step: RefinementStep,
  options: AddOptions = {},
): Promise<RefinementHandles> {
  checkSubmission(options);
  rejectUnknownOptions(step, STEP_FIELDS);
  const { ablationCode, rawOutput, solution, previousBlocks, workspace, model, tags } = step;
  const common = {
    ...(model === undefined ? {} : { model }),
    ...(tags === undefined ? {} : { tags: { ...tags } }),
  };
  const extractPayload: ExtractPayload = {
    solution,
    previousBlocks: [...previousBlocks],
    ...common,
    ...(workspace === undefined ? {} : { workspace }),
  };
  const summarizePayload: SummarizePayload = { ablationCode, rawOutput, ...common };
  const isNamed = options.key !== undefined;
  const child = {
    isNamed,
    queue: 'summarize',
    name: 'summarize',
    id: chooseJobId('summarize', options.key),
    data: preparePayload(fleet, 'summarize', summarizePayload),
  };
  const id = chooseJobId('extract', options.key);
  const root = {
    isNamed,
    queue: 'extract',
    name: 'extract',
    id,
    data: preparePayload(fleet, 'extract', extractPayload),
    options: jobOptions(fleet, 'extract', id),
    children: [
      { ...child, options: { ...jobOptions(fleet, 'summarize', child.id), failParentOnFailure: true } },
    ],
  };
  const content = isNamed ? { content: await contentOf(fleet, root) } : {};
  const outcome = await addFlow(fleet, { ...root, ...content }, options);
  return {
    extract: new JobHandle(fleet, 'extract', root.id, outcome),
    summarize: new JobHandle(fleet, 'summarize', child.id, outcome),
  };
}
