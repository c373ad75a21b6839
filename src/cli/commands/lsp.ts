import { type Command, Option } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { packageVersion } from '../../package-root.js';
import { withLocalProcessing } from '../local-session.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { printNote } from '../terminal/print.js';

const REASON = 'agents: offline static analysis (fleet lsp sends nothing anywhere)';

export function addLspCommand(program: Command): void {
  program
    .command('lsp')
    .description('Language server: leaks in Python scripts and notebooks while you type, for an editor.')
    .option('--stdio', 'speak with the editor by standard input and output (the default, and the only way)')
    // Clients of Visual Studio Code name their process; the library reads it.
    .addOption(new Option('--clientProcessId <pid>', 'ends when this process is gone').hideHelp())
    .addHelpText('after', '\nAn editor starts it and ends it. docs/editors.md has the settings of editors.')
    .action(serve);
}

async function serve(): Promise<void> {
  const { serveLanguage } = await import('../../language-server/serve-language.js');
  await withLocalProcessing(
    loadConfig(),
    REASON,
    async (processing) => {
      serveLanguage({
        input: process.stdin,
        output: process.stdout,
        version: packageVersion(),
        processing,
        log: (message) => void printNote(escapeControlCharsInLine(message)),
      });
      // The editor ends the process, or a signal does.
      await new Promise<never>(() => undefined);
    },
    { threads: 2 },
  );
}
