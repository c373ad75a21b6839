import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { examine } from '../../fleet/doctor/examine.js';
import { PROBLEMS } from '../../fleet/doctor/problem.js';
import { findUnservedKinds } from '../../fleet/doctor/unserved-kinds.js';
import { findUnservedChildren } from '../../fleet/doctor/waiting-parents.js';
import { withSession } from '../session.js';
import { colorsFor } from '../terminal/colors.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson } from '../terminal/print.js';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Check the data of the fleet for stuck, lost and duplicated jobs, idle reservations and missing texts.',
    )
    .option('--repair', 'repair what can be repaired')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 nothing is wrong (any more), 1 something is.')
    .action(doctor);
}

async function doctor(options: { readonly repair?: true; readonly json?: true }): Promise<void> {
  const repair = options.repair === true;
  const { problems, left, isRepairable } = await withSession(
    loadConfig(),
    { work: false },
    async ({ client, prefix, kinds }) => {
      const examined = await examine(client, prefix, { repair, kinds: kinds.names });
      // Only a worker that serves the kind helps.
      const unserved = [
        ...(await findUnservedChildren(client, prefix, kinds.names)),
        ...(await findUnservedKinds(client, prefix, kinds.names)),
      ];
      return {
        problems: [...examined.problems, ...unserved],
        left: [...examined.left, ...unserved],
        isRepairable: examined.left.length > 0,
      };
    },
  );
  if (left.length > 0) process.exitCode = 1;
  if (options.json) {
    printJson({ problems, left }, 2);
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
  if (isRepairable && !repair) print('repair it with: fleet doctor --repair');
}
