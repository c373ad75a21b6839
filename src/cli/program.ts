import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { packagePath } from '../package-root.js';
import { addCheckCommand } from './commands/check.js';
import { addConfigCommand } from './commands/config.js';
import { addDemoCommand } from './commands/demo.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addJobCommands } from './commands/jobs.js';
import { addRefineCommand } from './commands/refine.js';
import { addSubmitCommand } from './commands/submit.js';
import { addWorkerCommand } from './commands/worker.js';

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  return version;
}

/** The `fleet` command with its sub-commands. */
export function createProgram(): Command {
  const program = new Command('fleet')
    .description('Job-queue worker fleet for machine-learning-engineering agents.')
    .version(packageVersion())
    .showSuggestionAfterError()
    .exitOverride();
  addCheckCommand(program);
  addRefineCommand(program);
  addSubmitCommand(program);
  addJobCommands(program);
  addWorkerCommand(program);
  addDemoCommand(program);
  addConfigCommand(program);
  addDoctorCommand(program);
  for (const command of program.commands) command.exitOverride();
  return program;
}
