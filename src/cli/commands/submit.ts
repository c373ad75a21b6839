import type { Command } from 'commander';
import { loadConfig } from '../../config/load-config.js';
import { UsageError } from '../../errors.js';
import { PROCESSED_KINDS } from '../../processors/registry.js';
import { addJob } from '../../producers/add-job.js';
import type { KindName, PayloadOf } from '../../queues/registry.js';
import { printJob } from '../print-job.js';
import { readJson } from '../read-input.js';
import { withSession } from '../session.js';
import { warnWithoutWorker } from '../warn-without-worker.js';

interface SubmitOptions {
  readonly data: string;
  readonly wait?: true;
  readonly json?: true;
}

export function addSubmitCommand(program: Command): void {
  program
    .command('submit')
    .description('Submit one job.')
    .argument('<kind>', PROCESSED_KINDS.join(', '))
    .requiredOption('--data <file>', 'payload as JSON; - reads standard input')
    .option('--wait', 'wait for the end and print it')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 submitted (with --wait: completed), 2 refused or failed.')
    .action(async (kind: string, options: SubmitOptions) => {
      process.exitCode = await submit(processedKind(kind), options);
    });
}

/** @throws UsageError `unknown-kind` with the kinds there are. */
export function processedKind(kind: string): KindName {
  const known = PROCESSED_KINDS.find((name) => name === kind);
  if (known !== undefined) return known;
  throw new UsageError(
    'unknown-kind',
    `"${kind}" is not a kind of job; there are: ${PROCESSED_KINDS.join(', ')}`,
  );
}

async function submit(kind: KindName, options: SubmitOptions): Promise<number> {
  const config = loadConfig();
  const payload = await readJson(options.data);
  return withSession(config, { work: options.wait === true }, async (fleet, submissions) => {
    // addJob validates what was read; the type says what it is once that has passed.
    const handle = await submissions.add(
      () => addJob(fleet, kind, payload as PayloadOf<KindName>),
      (job) => job,
    );
    if (options.wait) await warnWithoutWorker(fleet, config, kind);
    const view = options.wait ? await handle.wait() : await handle.view();
    printJob(view, options.json === true);
    return view.state === 'failed' || view.state === 'cancelled' ? 2 : 0;
  });
}
