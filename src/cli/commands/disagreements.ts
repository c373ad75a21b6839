import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { type Disagreement, listDisagreements } from '../../producers/disagreements.js';
import { withSession } from '../session.js';
import { escapeControlCharsInLine } from '../terminal/escape-control-chars.js';
import { print, printJson, printNote } from '../terminal/print.js';

interface DisagreementsOptions {
  readonly run?: string;
  readonly limit: number;
  readonly json?: true;
}

/** `fleet disagreements`: where static analysis was certain, and the agent said something else. */
export function addDisagreementsCommand(program: Command): void {
  program
    .command('disagreements')
    .description('List scripts of which static analysis was certain and the agent said something else.')
    .option('--run <run>', 'only jobs of this pipeline run (tags.run)')
    .option('--limit <n>', 'most scripts to list', (text) => Number.parseInt(text, 10) || 100, 100)
    .option('--json', 'print JSON')
    .action(async ({ run, limit, json }: DisagreementsOptions) => {
      const found = await withSession(loadConfig(), { work: false }, (fleet) =>
        listDisagreements(fleet, { ...(run === undefined ? {} : { run }), limit }),
      );
      if (json) {
        printJson(found, 2);
        return;
      }
      for (const one of found) for (const line of linesOf(one)) print(line);
      if (found.length === 0) printNote('no disagreements');
    });
}

function linesOf({ id, run, endedAt, analysis, agent, leaks }: Disagreement): string[] {
  const where = [endedAt, run === undefined ? undefined : `run ${run}`].filter(Boolean).join(', ');
  const head = `${id} (${where}): analysis ${analysis}, agent ${agent}`;
  const named = leaks.map(({ source, kind, line, reason }) => {
    const why = reason === undefined ? '' : `: ${reason}`;
    return `  ${source ?? 'unknown'}: ${kind ?? 'data leakage'} at ${line}${why}`;
  });
  return [head, ...named].map((line) => escapeControlCharsInLine(line));
}
