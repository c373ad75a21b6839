/**
 * `npm run bench [-- --only NAME] [--json] [--short]`: every row a ratio measured in one run against a peer that does the
 * same work on the same Redis. Median of several runs, min and max shown.
 */
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { startBenchRedis } from './harness/bench-redis.js';
import type { BenchRow, RowContext } from './harness/row.js';
import { median, meets, targetText } from './harness/statistics.js';
import { type Measurement, renderTable } from './harness/table.js';
import { ROWS } from './rows/all.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
  },
});

const [processor] = cpus();
const machine = `${processor?.model ?? 'unknown processor'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${process.platform}`;

async function measure(row: BenchRow, context: RowContext): Promise<Measurement> {
  const runs = context.short ? 1 : row.runs;
  const ratios: number[] = [];
  let figures: Measurement['figures'];
  for (let run = 0; run < runs; run += 1) {
    await context.redis.flush();
    const sample = await row.run(context);
    ratios.push(sample.ratio);
    figures = sample.figures ?? figures;
  }
  const ratio = median(ratios);
  return {
    name: row.name,
    ratio,
    ...(row.unit === undefined ? {} : { unit: row.unit }),
    min: Math.min(...ratios),
    max: Math.max(...ratios),
    runs,
    target: targetText(row.target),
    meets: meets(ratio, row.target),
    ...(figures === undefined ? {} : { figures }),
  };
}

const unknown = (options.only ?? []).filter((name) => !ROWS.some((row) => row.name.startsWith(name)));
if (unknown.length > 0) {
  process.stderr.write(
    `no row is called ${unknown.join(', ')}; there are: ${ROWS.map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(2);
}
const wanted = ROWS.filter((row) => options.only?.some((name) => row.name.startsWith(name)) ?? true);
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
const measured: { row: BenchRow; measured: Measurement }[] = [];
try {
  for (const row of wanted) {
    process.stderr.write(`${row.name}: ${row.work}, against ${row.against} …\n`);
    measured.push({ row, measured: await measure(row, context) });
  }
} finally {
  await redis.close();
}
if (options.json)
  process.stdout.write(
    `${JSON.stringify(
      measured.map((entry) => entry.measured),
      null,
      2,
    )}\n`,
  );
else process.stdout.write(`${machine}\n${renderTable(measured)}\n`);
