import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { cancelJob } from '../../producers/cancel-job.js';
import { locationOf } from '../../producers/find-job.js';
import type { FleetClient } from '../../producers/fleet-client.js';
import { hasFailure } from '../../producers/follow-up-views.js';
import { JOB_STATES, type JobState, type JobView, viewJob } from '../../producers/job-view.js';
import { listJobs } from '../../producers/list-jobs.js';
import { retryJob } from '../../producers/retry-job.js';
import { assertKindLoaded } from '../../producers/unloaded-kinds.js';
import { waitForJob } from '../../producers/wait-for-job.js';
import { noteUnloadedKinds } from '../note-unloaded-kinds.js';
import { detailLines, jobLine, printJob } from '../print-job.js';
import { withSession } from '../session.js';
import { colorsFor } from '../terminal/colors.js';
import { print, printJson, printNote } from '../terminal/print.js';
import { widthOf } from '../terminal/wrapped.js';

interface JsonOption {
  readonly json?: true;
}

interface OneJobOptions extends JsonOption {
  readonly follow?: boolean;
}

/** The commands that look at one job, or do something with it, by its id. */
export function addJobCommands(program: Command): void {
  oneJob(program, 'get', 'Show a job.', { work: false }, async () => undefined);
  const wait = oneJob(
    program,
    'wait',
    'Wait until a job has ended, and show it.',
    { work: true },
    async (fleet, id, { follow = true }) => {
      await waitForJob(fleet, id, { follow });
    },
  );
  wait.option('--no-follow', 'wait for the result of the job, and not for its follow-ups');
  oneJob(program, 'cancel', 'Cancel a job wherever it is.', { work: false }, (fleet, id) =>
    cancelJob(fleet, id),
  );
  oneJob(program, 'retry', 'Run a failed job again.', { work: false }, (fleet, id) => retryJob(fleet, id));
  addListCommand(program);
}

function oneJob(
  program: Command,
  name: string,
  description: string,
  session: { readonly work: boolean },
  action: (fleet: FleetClient, id: string, options: OneJobOptions) => Promise<void>,
): Command {
  return program
    .command(name)
    .description(description)
    .argument('<id>', 'id that submit printed')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OneJobOptions) => {
      const view = await withSession(loadConfig(), session, async (fleet): Promise<JobView> => {
        await assertKindLoaded(fleet, id);
        await action(fleet, id, options);
        return viewJob(fleet, locationOf(fleet, id));
      });
      printJob(view, options.json === true);
      if (name === 'wait' && hasFailure(view, options)) process.exitCode = 2;
    });
}

interface ListOptions extends JsonOption {
  readonly kind?: string;
  readonly state?: JobState;
  readonly run?: string;
  readonly limit: number;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('expected a whole number above 0');
  return value;
}

function addListCommand(program: Command): void {
  program
    .command('list')
    .description('List jobs.')
    .option('--kind <kind>', 'only jobs of this kind, or in this pipeline queue')
    .addOption(new Option('--state <state>', 'only jobs in this state').choices(JOB_STATES))
    .option('--run <run>', 'only jobs of this pipeline run (tags.run)')
    .option('--limit <n>', 'most jobs to list', wholeNumber, 100)
    .option('--json', 'print JSON')
    .action(async ({ json, ...filter }: ListOptions) => {
      const views = await withSession(loadConfig(), { work: false }, async (fleet) => {
        const found = await listJobs(fleet, filter);
        if (filter.kind === undefined) await noteUnloadedKinds(fleet);
        return found;
      });
      if (json) {
        printJson(views, 2);
        return;
      }
      const colors = colorsFor(process.stdout);
      for (const view of views) {
        print(jobLine(view, colors));
        for (const line of detailLines(view, colors, widthOf(process.stdout))) print(line);
      }
      if (views.length === 0) printNote('no jobs');
    });
}
