import { Command } from 'commander';
import { addCheckCommand } from './commands/check.js';
import { addConfigCommand } from './commands/config.js';
import { addContaminationCommand } from './commands/contamination.js';
import { addCostsCommand } from './commands/costs.js';
import { addDeadCommand } from './commands/dead.js';
import { addDemoCommand } from './commands/demo.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addJobCommands } from './commands/jobs.js';
import { addKnownCommand } from './commands/known.js';
import { addRefineCommand } from './commands/refine.js';
import { addServeCommand } from './commands/serve.js';
import { addSubmitCommand } from './commands/submit.js';
import { addTokenCommand } from './commands/token.js';
import { addWorkerCommand } from './commands/worker.js';
import { packageVersion } from './package-version.js';
import { printUsageError } from './terminal/print.js';

/** The `fleet` command with its sub-commands. */
export function createProgram(): Command {
  const program = new Command('fleet')
    .description('Job-queue worker fleet for machine-learning-engineering agents.')
    .version(packageVersion())
    .showSuggestionAfterError()
    .configureOutput({ outputError: (message) => printUsageError(message) })
    .exitOverride();
  addCheckCommand(program);
  addRefineCommand(program);
  addSubmitCommand(program);
  addJobCommands(program);
  addDeadCommand(program);
  addContaminationCommand(program);
  addKnownCommand(program);
  addCostsCommand(program);
  addWorkerCommand(program);
  addServeCommand(program);
  addTokenCommand(program);
  addDemoCommand(program);
  addConfigCommand(program);
  addDoctorCommand(program);
  return program;
}

/** Every command by its whole name, as in `known import`: what the documents list. */
export function commandsByName(program: Command): Map<string, Command> {
  const found = new Map<string, Command>();
  const visit = (command: Command, path: readonly string[]) => {
    for (const child of command.commands) {
      const name = [...path, child.name()];
      found.set(name.join(' '), child);
      visit(child, name);
    }
  };
  visit(program, []);
  return found;
}
