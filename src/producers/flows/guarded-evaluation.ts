import type { JobsOptions } from 'bullmq';
import { type OptionNames, rejectUnknownOptions } from '../../known-options.js';
import { digestOf } from '../../queues/digest.js';
import {
  CHECK_STATUSES,
  type RequiredStatuses,
  type SolutionCheckPayload,
} from '../../queues/solution-check.js';
import type { ContaminationSettings } from '../../queues/test-case.js';
import { preparePayload } from '../add-job.js';
import type { AddOptions } from '../add-options.js';
import type { FleetClient } from '../fleet-client.js';
import { JobHandle, QueuedJob } from '../job-handle.js';
import { chooseJobId } from '../job-id.js';
import { jobOptions, retention } from '../job-options.js';
import { checkSubmission } from '../submission-fields.js';
import { addFlow } from './add-flow.js';
import { checkEvaluation } from './check-evaluation.js';
import { checkKnownSolutions, checkRequired } from './check-required.js';
import { allowedStatuses, type EvaluationGuard, GUARD_FIELD } from './evaluation-guard.js';
import { contentOf } from './flow-content.js';
import type { FlowNode } from './flow-jobs.js';

/** The pipeline's evaluation job. Its queue has the fleet's prefix. */
export interface Evaluation {
  /** The pipeline's queue. */
  readonly queue: string;
  /** Name of the job in that queue. */
  readonly name: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly opts?: JobsOptions;
}

/** Options of a script's check. */
export interface CheckSettings {
  readonly workspace?: string;
  readonly model?: string;
  /** With `agent`, a corrected script is checked once more by the agent. */
  readonly verify?: 'agent';
  /**
   * Runs each corrected script beside the original on made-up data, in a sandbox of the worker; default: nothing is run. A
   * worker without a sandbox fails the check with `trial-unavailable`.
   */
  readonly trial?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
  /** Compares the script that the check leaves with the fleet's known solutions, in a child job of the check. */
  readonly contamination?: ContaminationSettings;
  /**
   * What happens to a script with a leak that could not be corrected: it is evaluated, and its status says so
   * (REQ-SF-021, default), or `checkedSolution` refuses to return it.
   */
  readonly onUncorrected?: EvaluationGuard['onUncorrected'];
  /**
   * Statuses without which `checkedSolution` refuses to return the script. `leakage` replaces `onUncorrected`;
   * `contamination` needs the settings of the same name.
   */
  readonly require?: RequiredStatuses;
  /**
   * Evaluates a script although nobody checked its score (`notAnalyzed` of the check); default: `checkedSolution` refuses to
   * return it.
   */
  readonly allowUnjudged?: boolean;
}

export interface GuardedEvaluation extends CheckSettings {
  readonly solution: { readonly content: string };
  readonly evaluation: Evaluation;
}

export const CHECK_SETTINGS: OptionNames<CheckSettings> = {
  workspace: true,
  model: true,
  verify: true,
  trial: true,
  tags: true,
  contamination: true,
  onUncorrected: true,
  require: true,
  allowUnjudged: true,
};
const REQUEST_FIELDS: OptionNames<GuardedEvaluation> = {
  ...CHECK_SETTINGS,
  solution: true,
  evaluation: true,
};

/** The jobs of a guarded evaluation. */
export interface GuardedEvaluationHandles {
  readonly evaluation: QueuedJob;
  readonly check: JobHandle<'solution-check'>;
}

/**
 * An evaluation that can only start after its script was checked (REQ-SF-022): the pipeline's job is the parent, the
 * solution-check its child. A check that fails permanently fails the evaluation, which then never runs. The evaluating
 * side gets the script from `checkedSolution(job)`.
 *
 * @throws PayloadError with the invalid field; JobError `key-conflict`.
 */
export async function addGuardedEvaluation(
  fleet: FleetClient,
  request: GuardedEvaluation,
  options: AddOptions = {},
): Promise<GuardedEvaluationHandles> {
  checkSubmission(options);
  rejectUnknownOptions(request, REQUEST_FIELDS);
  const { root, checkId } = guardedEvaluationNode(fleet, request, options.key);
  await checkKnownSolutions(fleet, request);
  const content = root.isNamed ? { content: await contentOf(fleet, root) } : {};
  // The check is what calls the agent.
  const outcome = await addFlow(fleet, { ...root, ...content }, { ...options, payer: checkId });
  return {
    evaluation: new QueuedJob(fleet, root.queue, root.id, outcome),
    check: new JobHandle(fleet, 'solution-check', checkId, outcome),
  };
}

/** A guarded evaluation as a node of a flow. */
export function guardedEvaluationNode(
  fleet: FleetClient,
  {
    solution,
    evaluation,
    workspace,
    model,
    verify,
    trial,
    tags,
    contamination,
    allowUnjudged,
    ...required
  }: GuardedEvaluation,
  key: string | undefined,
): { root: FlowNode; checkId: string } {
  checkEvaluation(evaluation, fleet);
  checkRequired({ ...required, ...(contamination === undefined ? {} : { contamination }) });
  const { onUncorrected = 'evaluate', require } = required;
  const payload: SolutionCheckPayload = {
    solution,
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
    ...(verify === undefined ? {} : { verify }),
    ...(trial === undefined ? {} : { trial }),
    ...(tags === undefined ? {} : { tags: { ...tags } }),
    ...(contamination === undefined
      ? {}
      : { contamination: { ...contamination, ...comparedIf({ onUncorrected, require }) } }),
  };
  const isNamed = key !== undefined;
  const check = {
    isNamed,
    queue: 'solution-check',
    name: 'solution-check',
    id: chooseJobId('solution-check', key === undefined ? undefined : `${evaluation.queue}\0${key}`),
    data: preparePayload(fleet, 'solution-check', payload),
  };
  const guard: EvaluationGuard = {
    v: 1,
    check: check.id,
    digest: digestOf(solution.content),
    onUncorrected,
    ...(require === undefined ? {} : { require }),
    ...(allowUnjudged === true ? { allowUnjudged } : {}),
  };
  return {
    checkId: check.id,
    root: {
      isNamed,
      queue: evaluation.queue,
      name: evaluation.name,
      id: chooseJobId(evaluation.queue, key),
      data: { ...evaluation.data, [GUARD_FIELD]: guard },
      options: { ...retention(fleet), ...evaluation.opts, ...(tags && { fleet: { tags: { ...tags } } }) },
      children: [
        {
          ...check,
          options: { ...jobOptions(fleet, 'solution-check', check.id), failParentOnFailure: true },
        },
      ],
    },
  };
}

/** A script that is not evaluated anyway need not be compared. */
function comparedIf(
  required: Pick<EvaluationGuard, 'onUncorrected' | 'require'>,
): Pick<NonNullable<SolutionCheckPayload['contamination']>, 'onlyIf'> {
  const statuses = allowedStatuses(required);
  return statuses.length === CHECK_STATUSES.length ? {} : { onlyIf: statuses };
}
