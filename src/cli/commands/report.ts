import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { assertUnambiguousName } from '../read-file.js';
import { writeOutput } from '../replace-file.js';
import { readReport } from '../report/read-report.js';
import { reportPage } from '../report/report-page.js';
import { RunReportSchema } from '../report/run-report.js';
import { withSession } from '../session.js';
import { colorsFor } from '../terminal/colors.js';
import { print, printJson } from '../terminal/print.js';
import { renderReport } from '../terminal/render-report.js';
import { widthOf } from '../terminal/wrapped.js';

interface ReportOptions {
  readonly run: string;
  readonly html?: string;
  readonly json?: true;
}

/** `fleet report`: what became of a run. */
export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description(
      'Show what became of a pipeline run: failed candidates first, then those that are left leaky, then the rest.',
    )
    .requiredOption('--run <run>', 'the pipeline run (tags.run)')
    .option('--html <file>', 'also write it as one HTML file')
    .option('--json', 'print JSON')
    .action(async ({ run, html, json }: ReportOptions) => {
      if (html !== undefined) assertUnambiguousName(html);
      const report = RunReportSchema.parse(
        await withSession(loadConfig(), { work: false }, (fleet) => readReport(fleet, run)),
      );
      if (html !== undefined) await writeOutput(html, await reportPage(report));
      if (json) printJson(report, 2);
      else print(renderReport(report, colorsFor(process.stdout), widthOf(process.stdout)));
    });
}
