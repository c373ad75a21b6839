import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { findOrphanedParents, freeOrphanedParent } from '../../fleet/doctor/waiting-parents.js';
import { withSession } from '../session.js';
import { coloursFor } from '../terminal/colours.js';

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Look for jobs that nothing would ever let go on.')
    .option('--repair', 'free them')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 nothing is wrong (any more), 1 something is.')
    .action(doctor);
}

async function doctor(options: { readonly repair?: true; readonly json?: true }): Promise<void> {
  const config = loadConfig();
  const orphans = await withSession(config, { work: false }, async ({ client, prefix }) => {
    const found = await findOrphanedParents(client, prefix);
    if (options.repair) for (const orphan of found) await freeOrphanedParent(client, prefix, orphan);
    return found;
  });
  if (orphans.length > 0 && !options.repair) process.exitCode = 1;
  if (options.json) {
    process.stdout.write(
      `${JSON.stringify({ orphanedParents: orphans, repaired: options.repair === true }, null, 2)}\n`,
    );
    return;
  }
  const colours = coloursFor(process.stdout);
  if (orphans.length === 0) process.stdout.write(`${colours.green('nothing is wrong')}\n`);
  for (const { queue, id, missing } of orphans) {
    const what = options.repair ? colours.green('freed') : colours.red('waits for ever');
    process.stdout.write(`${what} ${id} (${queue}): its child is gone: ${missing.join(', ')}\n`);
  }
  if (orphans.length > 0 && !options.repair) process.stdout.write('free them with: fleet doctor --repair\n');
}
