import { markdownTable } from '../../scripts/markdown-tables.js';
import type { MeasuredRow } from '../harness/measurement.js';
import { numberOf } from './row-numbers.js';

const JOBS_A_DAY = 10_000_000;
const SECONDS_A_DAY = 86_400;
/** Jobs come in bursts: the busiest hour of a day counts. */
const PEAK = 3;
const RETENTION_DAYS = 7;
const CALL_SECONDS = 30;
const SLOTS_A_WORKER = 50;

const JOB = 'commands solution-check, clean';

type Known = number | undefined;

/** A quantity of the sizing table: its origin, and its value if everything that it needs was measured. */
interface Quantity {
  readonly name: string;
  readonly kind: 'measured' | 'computed';
  readonly how: string;
  readonly value: string | undefined;
}

function round(value: Known, unit: string, digits = 0): string | undefined {
  if (value === undefined) return undefined;
  const text = value.toLocaleString('en', { maximumFractionDigits: digits });
  return unit === '' ? text : `${text} ${unit}`;
}

/** A value computed from others, if all of these are known. */
function from(values: readonly Known[], compute: (...known: number[]) => number): Known {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? compute(...known) : undefined;
}

function quantities(rows: readonly MeasuredRow[]): Quantity[] {
  const cpuUs = numberOf(rows, JOB, 'cpuUs');
  const bytes = from(
    [numberOf(rows, JOB, 'bytesIn'), numberOf(rows, JOB, 'bytesOut')],
    (into, out) => into + out,
  );
  const withCalls = numberOf(rows, 'throughput with calls', 'rate');
  const withoutCalls = numberOf(rows, 'throughput', 'rate');
  const waiting = numberOf(rows, 'memory waiting', 'bytes');
  const kept = numberOf(rows, 'retention', 'bytes');
  const core = from([cpuUs], (us) => 1_000_000 / us);
  const perSecond = JOBS_A_DAY / SECONDS_A_DAY;
  const slots = perSecond * CALL_SECONDS;
  return [
    {
      name: 'jobs a second of one worker process, no agent calls',
      kind: 'measured',
      how: 'row "throughput"',
      value: round(withoutCalls, ''),
    },
    {
      name: 'jobs a second of one worker process, one call each, answered at once',
      kind: 'measured',
      how: 'row "throughput with calls"',
      value: round(withCalls, ''),
    },
    {
      name: 'Redis processor time of a solution check with one call',
      kind: 'measured',
      how: 'table above',
      value: round(cpuUs, 'µs'),
    },
    {
      name: 'such jobs a second of one Redis core',
      kind: 'computed',
      how: '1 s ÷ processor time',
      value: round(core, ''),
    },
    {
      name: 'workers at full speed that one Redis core carries',
      kind: 'computed',
      how: 'jobs of a core ÷ jobs of a worker',
      value: round(
        from([core, withCalls], (jobs, worker) => jobs / worker),
        '',
        1,
      ),
    },
    {
      name: `workers that one Redis core carries where a call takes ${CALL_SECONDS} s and a worker has ${SLOTS_A_WORKER} slots`,
      kind: 'computed',
      how: `jobs of a core ÷ (${SLOTS_A_WORKER} ÷ ${CALL_SECONDS} s)`,
      value: round(
        from([core], (jobs) => jobs / (SLOTS_A_WORKER / CALL_SECONDS)),
        '',
      ),
    },
    {
      name: 'Redis memory of a waiting job (a small script)',
      kind: 'measured',
      how: 'row "memory waiting"',
      value: round(waiting, 'bytes'),
    },
    {
      name: 'Redis memory of 1 M waiting jobs',
      kind: 'computed',
      how: '1 M × a waiting job',
      value: round(
        from([waiting], (each) => each / 1_000),
        'GB',
        2,
      ),
    },
    {
      name: 'Redis memory of a finished job that is kept',
      kind: 'measured',
      how: 'row "retention"',
      value: round(kept, 'bytes'),
    },
    {
      name: '10 M jobs a day: jobs a second on average, and in the busiest hour',
      kind: 'computed',
      how: `10 M ÷ 86,400 s; × ${PEAK} (assumed)`,
      value: `${round(perSecond, '')}, ${round(perSecond * PEAK, '')}`,
    },
    {
      name: '10 M jobs a day: share of one Redis core in the busiest hour',
      kind: 'computed',
      how: 'jobs a second ÷ jobs of a core',
      value: round(
        from([core], (jobs) => (100 * perSecond * PEAK) / jobs),
        '%',
      ),
    },
    {
      name: '10 M jobs a day: traffic with Redis in the busiest hour',
      kind: 'computed',
      how: 'jobs a second × bytes a job',
      value: round(
        from([bytes], (each) => (each * perSecond * PEAK * 8) / 1e6),
        'Mbit/s',
      ),
    },
    {
      name: `10 M jobs a day: Redis memory for ${RETENTION_DAYS} days of finished jobs (the default), and for one hour`,
      kind: 'computed',
      how: 'jobs kept × a finished job',
      value: from([kept], (each) => each) === undefined ? undefined : keptMemory(kept ?? 0),
    },
    {
      name: `10 M jobs a day: slots, and worker processes of ${SLOTS_A_WORKER}, where a job's calls take ${CALL_SECONDS} s in all`,
      kind: 'computed',
      how: 'jobs a second × seconds',
      value: `${round(slots, '')}, ${round(Math.ceil(slots / SLOTS_A_WORKER), '')}`,
    },
  ];
}

function keptMemory(each: number): string {
  const days = (JOBS_A_DAY * RETENTION_DAYS * each) / 1e9;
  const hour = ((JOBS_A_DAY / 24) * each) / 1e9;
  return `${round(days, 'GB')}, ${round(hour, 'GB', 1)}`;
}

/** The size of a fleet from the measurements; each line says whether it is measured or computed. */
export function sizingTable(rows: readonly MeasuredRow[]): string {
  return markdownTable(
    ['quantity', 'value', 'how it came about'],
    quantities(rows).map(({ name, kind, how, value }) => [name, value ?? 'not measured', `${kind}: ${how}`]),
  );
}
