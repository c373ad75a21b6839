/**
 * `npm run bench -- [--only NAME] [--short] [--json] [--plot] [--markdown] [--compare FILE]`: every row a ratio measured in one run against
 * a peer that does the same work on the same Redis. Median of several runs, min and max shown.
 */
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { startBenchRedis } from './harness/bench-redis.js';
import type { RowContext, RowHead } from './harness/row.js';
import { groupsOf, matches, runRows } from './harness/run-rows.js';
import { renderTable } from './harness/table.js';
import { compareRuns, readEarlierRun } from './report/compare-runs.js';
import { measuredCommit, writeMarkdown } from './report/markdown.js';
import { writePlots } from './report/plots.js';
import { ROWS } from './rows/all.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    plot: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
    compare: { type: 'string' },
  },
});

function sayProgress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function describeMachine(): string {
  const [processor] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${processor?.model ?? 'unknown processor'}, ${cpus().length} cores, ${memory}, Node ${process.version}, ${process.platform}`;
}

if (options.short && (options.plot || options.markdown)) {
  sayProgress('the short form says too little to be drawn or written down: leave out --short');
  process.exit(2);
}
if (options.markdown && options.only?.some((asked) => asked !== 'cost')) {
  sayProgress(
    'the tables are of one run of all rows, besides that of the cost rows: leave out --only, or use --only cost',
  );
  process.exit(2);
}

const groups = groupsOf(ROWS);
const rows = groups.flatMap((group) => group.rows);
const unknown = (options.only ?? []).filter((asked) => !rows.some(({ name }) => matches(name, asked)));
if (unknown.length > 0) {
  sayProgress(
    `no row is called ${unknown.join(', ')}; there are: ${rows.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}
const wanted = ({ name }: RowHead) => options.only?.some((asked) => matches(name, asked)) ?? true;

const earlier = options.compare === undefined ? undefined : await readEarlierRun(options.compare);
// Writing the plots would count as a change.
const commit = await measuredCommit();
const redis = await startBenchRedis();
let prefixes = 0;
const context: RowContext = {
  redis,
  short: options.short,
  prefix: () => {
    prefixes += 1;
    return `bench-${prefixes}`;
  },
};
try {
  const started = performance.now();
  const measured = await runRows(groups, context, {
    wanted,
    // A row that is named explicitly is measured, however long it takes.
    bounded: options.short && options.only === undefined,
    announce: sayProgress,
  });
  const minutes = (performance.now() - started) / 60_000;
  const machine = `${describeMachine()}, Redis ${await redis.version()}`;
  const measurements = measured.map(({ measurement }) => measurement);
  if (options.json) {
    process.stdout.write(`${JSON.stringify(measurements, null, 2)}\n`);
  } else {
    process.stdout.write(`${machine}\n${renderTable(measured)}\n${minutes.toFixed(1)} minutes\n`);
  }
  if (options.plot) for (const path of await writePlots(measured)) sayProgress(`written: ${path}`);
  if (options.markdown)
    sayProgress(`written: ${await writeMarkdown(measured, { machine, minutes, commit })}`);
  if (earlier !== undefined) for (const line of compareRuns(measurements, earlier)) sayProgress(line);
  if (measured.some(({ notMeasured }) => notMeasured?.startsWith('failed'))) process.exitCode = 1;
} finally {
  await redis.close();
}
