import { Command } from 'commander';
import { packageVersion } from '../package-root.js';
import { printUsageError } from './terminal/print.js';

interface CommandModule {
  /** The commands that the module adds. */
  readonly names: readonly string[];
  load(): Promise<(program: Command) => void>;
}

/** In the order of the help. */
const COMMAND_MODULES: readonly CommandModule[] = [
  { names: ['check'], load: async () => (await import('./commands/check.js')).addCheckCommand },
  { names: ['watch'], load: async () => (await import('./commands/watch.js')).addWatchCommand },
  { names: ['lsp'], load: async () => (await import('./commands/lsp.js')).addLspCommand },
  { names: ['mcp'], load: async () => (await import('./commands/mcp.js')).addMcpCommand },
  { names: ['refine'], load: async () => (await import('./commands/refine.js')).addRefineCommand },
  { names: ['submit'], load: async () => (await import('./commands/submit.js')).addSubmitCommand },
  {
    names: ['get', 'wait', 'cancel', 'retry', 'list'],
    load: async () => (await import('./commands/jobs.js')).addJobCommands,
  },
  { names: ['dead'], load: async () => (await import('./commands/dead.js')).addDeadCommand },
  {
    names: ['contamination'],
    load: async () => (await import('./commands/contamination.js')).addContaminationCommand,
  },
  { names: ['known'], load: async () => (await import('./commands/known.js')).addKnownCommand },
  {
    names: ['record', 'replay'],
    load: async () => (await import('./commands/recordings.js')).addRecordingCommands,
  },
  {
    names: ['disagreements'],
    load: async () => (await import('./commands/disagreements.js')).addDisagreementsCommand,
  },
  { names: ['report'], load: async () => (await import('./commands/report.js')).addReportCommand },
  { names: ['costs'], load: async () => (await import('./commands/costs.js')).addCostsCommand },
  { names: ['worker'], load: async () => (await import('./commands/worker.js')).addWorkerCommand },
  { names: ['serve'], load: async () => (await import('./commands/serve.js')).addServeCommand },
  { names: ['token'], load: async () => (await import('./commands/token.js')).addTokenCommand },
  { names: ['demo'], load: async () => (await import('./commands/demo.js')).addDemoCommand },
  { names: ['config'], load: async () => (await import('./commands/config.js')).addConfigCommand },
  { names: ['doctor'], load: async () => (await import('./commands/doctor.js')).addDoctorCommand },
];

/**
 * The `fleet` command with its sub-commands. Loading them all takes most of the time that a short command runs.
 * @param args If these name a command, only the commands of its module are loaded; for the version, none.
 */
export async function createProgram(args: readonly string[] = []): Promise<Command> {
  const program = new Command('fleet')
    .description('Job-queue worker fleet for machine-learning-engineering agents.')
    .version(packageVersion())
    .showSuggestionAfterError()
    .configureOutput({ outputError: (message) => printUsageError(message) })
    .exitOverride()
    .hook('preAction', async (_program, command) => {
      // It prints an entry for each file, also where nothing can be started.
      if (command.name() === 'check') return;
      await (await import('./start/before-command.js')).beforeCommand(command);
    });
  // One after the other: their order is that of the help.
  for (const { load } of modulesFor(args)) (await load())(program);
  return program;
}

function modulesFor([first]: readonly string[]): readonly CommandModule[] {
  if (first === '--version' || first === '-V') return [];
  const named = COMMAND_MODULES.find(({ names }) => first !== undefined && names.includes(first));
  return named === undefined ? COMMAND_MODULES : [named];
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
