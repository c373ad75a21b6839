import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { mapInChunks } from '../../event-loop.js';
import { NOW } from '../../producers/add-options.js';
import { jobOfKey } from '../../producers/job-handle.js';
import { addSolutionCheck } from '../../producers/solution-check.js';
import type { Solution } from '../../queues/common.js';
import { withSession } from '../session.js';
import { warnWithoutWorker } from '../warn-without-worker.js';
import { checkFile } from './check-file.js';
import type { CheckFiles } from './checking.js';

/** Checks files by jobs: of the workers of a configured Redis, or of a worker of this command. */
export const checkByFleet: CheckFiles = ({
  config,
  files,
  write,
  trial,
  workspace,
  budgetUsd,
  onChecked,
}) => {
  // The files share a budget as the jobs of one run do.
  const budget = budgetUsd === undefined ? undefined : { budgetUsd, run: `check ${randomUUID()}` };
  const fields = {
    ...(workspace === undefined ? {} : { workspace: resolve(workspace) }),
    ...(trial ? { trial } : {}),
    ...(budget === undefined ? {} : { tags: { run: budget.run } }),
  };
  // Somebody waits for it: no call goes into a batch.
  const options = { deadline: NOW, ...(budget === undefined ? {} : { budgetUsd: budget.budgetUsd }) };
  return withSession(
    config,
    { work: true, isolated: true, workspace },
    async (fleet, submissions, failureOf) => {
      await warnWithoutWorker(fleet, config, 'solution-check');
      const check = async (solution: Solution) => {
        try {
          const handle = await submissions.addThroughOutage(
            (key) => addSolutionCheck(fleet, { solution, ...fields }, { ...options, key }),
            (key) => jobOfKey(fleet, 'solution-check', key),
          );
          return await handle.result();
        } catch (thrown) {
          throw await failureOf(thrown);
        }
      };
      // A folder may hold more files than a process may open at the same time.
      return mapInChunks(files, async (file) => {
        const outcome = await checkFile(file, { config, write, check });
        onChecked();
        return outcome;
      });
    },
  );
};
