import { type Command, Option } from 'commander';
import type { Config } from '../../config/settings.js';
import { UsageError } from '../../errors.js';
import { addJob } from '../../producers/add-job.js';
import type { AddOptions } from '../../producers/add-options.js';
import { hasFailure } from '../../producers/follow-up-views.js';
import type { SubmitOutcome } from '../../producers/submit-once.js';
import { KIND_NAMES } from '../../queues/registry.js';
import { REUSES } from '../../queues/reuse.js';
import { decimal, withBudget } from '../budget-option.js';
import { type KindsFromOption, knownKinds, withKindsFrom } from '../known-kinds.js';
import { printJob } from '../print-job.js';
import { formatLimit, nameOf, readJson } from '../read-input.js';
import { withSession } from '../session.js';
import { configWith } from '../start/config-with.js';
import { printJson, printNote } from '../terminal/print.js';
import { warnWithoutWorker } from '../warn-without-worker.js';

interface SubmitOptions extends Omit<AddOptions, 'then'>, KindsFromOption {
  readonly data: string;
  readonly then?: string;
  readonly wait?: true;
  readonly follow: boolean;
  readonly json?: true;
}

/** What a key found, where it did not make a new job. */
const FOUND: Readonly<Record<Exclude<SubmitOutcome, 'created'>, string>> = {
  existing: 'the key names this job, which is unchanged; --force runs an ended job again',
  retried: 'the key names this job, which had failed or was cancelled; it runs again',
  replaced: 'the key named an ended job; it runs again',
};

function foundBy(outcome: keyof typeof FOUND, force = false): string {
  if (!force || outcome !== 'existing') return FOUND[outcome];
  return 'the key names this job, which is unchanged: it has not ended, or a job that it started runs; submit it again after that';
}

export function addSubmitCommand(program: Command): void {
  withBudget(withKindsFrom(program.command('submit')), 'its run, or of the job without a run,')
    .description('Submit one job.')
    .argument('<kind>', `${KIND_NAMES.join(', ')}, or a kind of your own`)
    .requiredOption('--data <file>', 'payload as JSON; - reads standard input')
    .option('--key <key>', 'idempotency key: submitted again, it is the same job')
    .option('--force', 'run the job again even if the job with this key has ended')
    .option('--tenant <name>', 'tenant of the job; jobs of several tenants are scheduled fairly')
    .option('--priority <n>', '1 is the most urgent; default: 1000; orders the jobs of one tenant', decimal)
    .option('--delay-ms <n>', 'wait before the job may start, in milliseconds', decimal)
    .option(
      '--deadline <time>',
      'when the result is needed, as in +6h or 2026-12-01T06:00:00Z: with enough time, agent calls cost half',
    )
    .addOption(
      new Option(
        '--reuse <whose>',
        'fleet: answer calls from other jobs of the same tenant that asked exactly the same; none: ask the model',
      ).choices(REUSES),
    )
    .option('--then <file>', 'follow-ups as a JSON list: jobs that start with the result of this one')
    .option('--wait', 'wait for the end and print it; Ctrl-C cancels the job')
    .option('--no-follow', 'with --wait: do not wait for the follow-ups')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 submitted (with --wait: completed, and its follow-ups too), 2 refused or failed.',
    )
    .action(async (kind: string, options: SubmitOptions) => {
      process.exitCode = await submit(kind, options);
    });
}

/** @throws UsageError `usage` if the payload has follow-ups too. */
function withFollowUps(payload: unknown, then: unknown): unknown {
  if (then === undefined || typeof payload !== 'object' || payload === null) return payload;
  if (!Object.hasOwn(payload, 'then')) return { ...payload, then };
  throw new UsageError(
    'usage',
    'the payload has follow-ups ("then"), and so has --then: take "then" out of the payload, or leave out --then',
  );
}

/**
 * The follow-ups in a file.
 * @throws UsageError `usage` if it is not JSON, or not a list; as `readText` if it cannot be read.
 */
async function readFollowUps(file: string, config: Config): Promise<unknown> {
  const then = await readJson(file, formatLimit(config), '--then');
  if (Array.isArray(then)) return then;
  throw new UsageError(
    'usage',
    `--then: ${nameOf(file)} must be a JSON list of follow-ups: ${FOLLOW_UP_EXAMPLE}`,
  );
}

const FOLLOW_UP_EXAMPLE = '[{"kind": "…", "from": {"…": "result.…"}}]';

async function submit(
  kind: string,
  { data, then, wait, follow, json, kindsFrom, ...options }: SubmitOptions,
): Promise<number> {
  const config = configWith({ ...(kindsFrom === undefined ? {} : { kindsFrom }) });
  (await knownKinds(config)).get(kind);
  const payload = withFollowUps(
    await readJson(data, formatLimit(config)),
    then === undefined ? undefined : await readFollowUps(then, config),
  );
  return withSession(config, { work: wait === true }, async (fleet, submissions) => {
    // addJob validates what was read; the type says what it is once that has passed.
    const handle = await submissions.add(
      () => addJob(fleet, kind, payload as Record<string, unknown>, options),
      (job) => job,
    );
    if (wait) await warnWithoutWorker(fleet, config, kind);
    const view = wait ? await handle.wait({ follow }) : await handle.view();
    if (json) printJson({ ...view, outcome: handle.outcome }, 2);
    else {
      if (handle.outcome !== 'created') printNote(foundBy(handle.outcome, options.force));
      printJob(view, false);
    }
    return hasFailure(view, { follow }) ? 2 : 0;
  });
}
