import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import type { Config } from '../../config/settings.js';
import { TrialError } from '../../errors.js';
import { examine } from '../../fleet/doctor/examine.js';
import { PROBLEMS } from '../../fleet/doctor/problem.js';
import { findRefusedWrites } from '../../fleet/doctor/refused-writes.js';
import { findUnservedKinds, findUnservedQueues } from '../../fleet/doctor/unserved-kinds.js';
import { findUnservedChildren } from '../../fleet/doctor/waiting-parents.js';
import { Trials } from '../../trial/trials.js';
import { withSession } from '../session.js';
import { colorsFor } from '../terminal/colors.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson } from '../terminal/print.js';
import { configuredTrials } from '../trial-settings.js';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Check the data of the fleet for stuck, lost and duplicated jobs, idle reservations and missing texts; and whether this machine can try scripts out.',
    )
    .option('--repair', 'repair what can be repaired')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 nothing is wrong (any more), 1 something is.')
    .action(doctor);
}

async function doctor(options: { readonly repair?: true; readonly json?: true }): Promise<void> {
  const repair = options.repair === true;
  const config = loadConfig();
  const trials = await trialsHere(config);
  const { problems, left, isRepairable } = await withSession(
    config,
    { work: false },
    async ({ client, prefix, kinds }) => {
      const examined = await examine(client, prefix, { repair, kinds: kinds.names });
      // Only a worker that serves the kind helps.
      const unserved = [
        ...(await findUnservedChildren(client, prefix, kinds.names)),
        ...(await findUnservedKinds(client, prefix, kinds.names)),
        ...(await findUnservedQueues(client, prefix, kinds.names)),
      ];
      const beyondRepair = [...unserved, ...(await findRefusedWrites(client, prefix))];
      return {
        problems: [...examined.problems, ...beyondRepair],
        left: [...examined.left, ...beyondRepair],
        isRepairable: examined.left.length > 0,
      };
    },
  );
  if (left.length > 0) process.exitCode = 1;
  if (options.json) {
    printJson({ problems, left, trials }, 2);
    return;
  }
  const colors = colorsFor(process.stdout);
  if (problems.length === 0) print(colors.green('nothing is wrong'));
  for (const found of problems) {
    const what = left.includes(found) ? colors.red(found.problem) : colors.green('repaired');
    const where = found.queue === undefined ? '' : ` (${escapeControlCharsInLine(found.queue)})`;
    const { id, detail } = found;
    print(
      `${what} ${escapeControlCharsInLine(id)}${where}: ${PROBLEMS[found.problem]}: ${escapeControlCharsInLine(detail)}`,
    );
  }
  print(colors.dim(escapeControlCharsInLine(trialsText(trials))));
  if (isRepairable && !repair) print('repair it with: fleet doctor --repair');
}

type TrialsHere =
  | { readonly available: true; readonly sandbox: string; readonly python: string }
  | { readonly available: false; readonly reason: string };

/** Whether a worker with this configuration, on this machine, could try scripts out. No problem of the fleet if not. */
async function trialsHere(config: Config): Promise<TrialsHere> {
  try {
    const { sandbox, python } = await new Trials(configuredTrials(config)).sandbox();
    return { available: true, sandbox: sandbox.name, python };
  } catch (thrown) {
    if (!(thrown instanceof TrialError)) throw thrown;
    return { available: false, reason: thrown.message };
  }
}

function trialsText(trials: TrialsHere): string {
  return trials.available
    ? `trials (--trial) on this machine: sandbox ${trials.sandbox}, Python ${trials.python}`
    : `trials (--trial) on this machine: none; ${trials.reason}`;
}
