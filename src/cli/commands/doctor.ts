import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { examine } from '../../fleet/doctor/examine.js';
import { PROBLEMS } from '../../fleet/doctor/problem.js';
import { withSession } from '../session.js';
import { coloursFor } from '../terminal/colours.js';
import { visible } from '../terminal/visible.js';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'Hold the data of the fleet against its invariants: stuck, lost and doubled jobs, idle money, texts.',
    )
    .option('--repair', 'put right what can be put right')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 nothing is wrong (any more), 1 something is.')
    .action(doctor);
}

async function doctor(options: { readonly repair?: true; readonly json?: true }): Promise<void> {
  const repair = options.repair === true;
  const { problems, left } = await withSession(loadConfig(), { work: false }, ({ client, prefix }) =>
    examine(client, prefix, { repair }),
  );
  if (left.length > 0) process.exitCode = 1;
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ problems, left }, null, 2)}\n`);
    return;
  }
  const colours = coloursFor(process.stdout);
  if (problems.length === 0) process.stdout.write(`${colours.green('nothing is wrong')}\n`);
  for (const found of problems) {
    const what = left.includes(found) ? colours.red(found.problem) : colours.green('repaired');
    const where = found.queue === undefined ? '' : ` (${found.queue})`;
    process.stdout.write(
      `${what} ${visible(found.id)}${where}: ${PROBLEMS[found.problem]}: ${visible(found.detail)}\n`,
    );
  }
  if (left.length > 0 && !repair) process.stdout.write('put it right with: fleet doctor --repair\n');
}
