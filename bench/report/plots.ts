import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packagePath } from '../../src/package-root.js';
import type { MeasuredRow } from '../harness/measurement.js';
import { median, percentile } from '../harness/statistics.js';
import { type Drawing, loadDrawer, type Mark } from './plot-library.js';
import { seriesOf, valuesOf } from './row-numbers.js';

const FOLDER = packagePath('docs', 'plots');

/** A point of a line: position, value and range. */
interface Point {
  readonly x: number | string;
  readonly y: number;
  readonly low: number;
  readonly high: number;
}

interface Line {
  readonly label: string;
  readonly color: 'fleet' | 'second' | 'bare';
  readonly points: readonly Point[];
}

function pointOf(x: Point['x'], values: readonly number[]): Point {
  return { x, y: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** Lines with dots, the spread of each dot, and a label at the end of each line. */
function marksOf(
  plot: Parameters<Drawing>[0],
  lines: readonly Line[],
  format: (value: number) => string,
): Mark[] {
  return lines.flatMap(({ label, color, points }) => {
    const stroke = `var(--${color})`;
    const dashed = color === 'bare' ? { strokeDasharray: '5,4' } : {};
    const last = points.slice(-1).map((point) => ({ ...point, label: `${label} ${format(point.y)}` }));
    return [
      plot.ruleX(points, { x: 'x', y1: 'low', y2: 'high', stroke, strokeWidth: 1.5, strokeOpacity: 0.6 }),
      plot.line(points, { x: 'x', y: 'y', stroke, strokeWidth: 2, ...dashed }),
      plot.dot(points, { x: 'x', y: 'y', fill: stroke, r: 3.5 }),
      plot.text(last, {
        x: 'x',
        y: 'y',
        text: 'label',
        fill: stroke,
        textAnchor: 'start',
        dx: 10,
        fontWeight: 600,
      }),
    ];
  });
}

const BASE = {
  style: { fontFamily: 'system-ui, sans-serif', fontSize: '13px', overflow: 'visible' },
  marginTop: 34,
  marginRight: 190,
  marginBottom: 46,
  marginLeft: 60,
};

function scalingPlot(rows: readonly MeasuredRow[]): Drawing | undefined {
  const one = seriesOf(rows, 'scaling 2', 'one');
  if (one.length === 0) return undefined;
  const counts = [2, 4, 8];
  const measured = counts.map((count) => pointOf(count, seriesOf(rows, `scaling ${count}`, 'many')));
  const linear = [1, ...counts].map((count) => pointOf(count, [count * median(one)]));
  return (plot) => ({
    ...BASE,
    x: {
      label: 'worker processes',
      ticks: [1, 2, 4, 8],
      tickFormat: (x: number) => String(x),
      labelAnchor: 'center',
      labelArrow: 'none',
    },
    y: { label: 'jobs a second', grid: true, zero: true, labelArrow: 'none' },
    marks: [
      ...marksOf(
        plot,
        [
          { label: 'linear', color: 'bare', points: linear },
          { label: 'measured', color: 'fleet', points: [pointOf(1, one), ...measured] },
        ],
        (value) => value.toFixed(0),
      ),
    ],
  });
}

function depthPlot(rows: readonly MeasuredRow[]): Drawing | undefined {
  const base = valuesOf(rows, 'depth 1M', 'base');
  if (base.length === 0) return undefined;
  const points = [
    pointOf(1_000, base),
    pointOf(100_000, valuesOf(rows, 'depth 100k', 'cost')),
    pointOf(1_000_000, valuesOf(rows, 'depth 1M', 'cost')),
  ];
  return (plot) => ({
    ...BASE,
    x: {
      label: 'jobs waiting',
      type: 'log',
      ticks: [1_000, 10_000, 100_000, 1_000_000],
      tickFormat: (x: number) => x.toLocaleString('en'),
      labelAnchor: 'center',
      labelArrow: 'none',
    },
    y: { label: 'ms to add and finish one job', grid: true, zero: true, labelArrow: 'none' },
    marks: marksOf(
      plot,
      [{ label: 'solution-check', color: 'fleet', points }],
      (value) => `${value.toFixed(2)} ms`,
    ),
  });
}

const FRACTIONS = [0.5, 0.75, 0.9, 0.95, 0.99] as const;

function percentilePlot(
  label: string,
  lines: readonly (Omit<Line, 'points'> & { readonly times: readonly number[] })[],
): Drawing | undefined {
  if (lines.some(({ times }) => times.length === 0)) return undefined;
  const name = (fraction: number) => `p${Math.round(100 * fraction)}`;
  return (plot) => ({
    ...BASE,
    x: { label: null, type: 'point', domain: FRACTIONS.map(name) },
    y: { label, grid: true, zero: true, labelArrow: 'none' },
    marks: marksOf(
      plot,
      lines.map(({ times, ...line }) => ({
        ...line,
        points: FRACTIONS.map((fraction) => pointOf(name(fraction), [percentile(times, fraction)])),
      })),
      (value) => `${value.toFixed(1)} ms`,
    ),
  });
}

/** A picture of `docs/plots`, and its alternative text. */
interface Picture {
  readonly file: string;
  readonly title: string;
  readonly drawing: Drawing | undefined;
}

function pictures(rows: readonly MeasuredRow[]): readonly Picture[] {
  return [
    {
      file: 'scaling.svg',
      title: 'Jobs a second by number of worker processes',
      drawing: scalingPlot(rows),
    },
    {
      file: 'depth.svg',
      title: 'Milliseconds to add and finish a job by number of jobs waiting',
      drawing: depthPlot(rows),
    },
    {
      file: 'latency.svg',
      title: 'Milliseconds from submission to result by percentile',
      drawing: percentilePlot('ms from submission to result', [
        { label: 'corrected', color: 'second', times: seriesOf(rows, 'latency corrected', 'fleet') },
        { label: 'clean', color: 'fleet', times: seriesOf(rows, 'latency clean', 'fleet') },
        { label: 'bare BullMQ', color: 'bare', times: seriesOf(rows, 'latency clean', 'bare') },
      ]),
    },
    {
      file: 'pick-up.svg',
      title: 'Milliseconds until a job is started by percentile',
      drawing: percentilePlot('ms until a job is started', [
        {
          label: '1,000 others wait',
          color: 'second',
          times: seriesOf(rows, 'pick-up crowded p50', 'fleet'),
        },
        { label: 'idle fleet', color: 'fleet', times: seriesOf(rows, 'pick-up idle p50', 'fleet') },
        { label: 'bare BullMQ, idle', color: 'bare', times: seriesOf(rows, 'pick-up idle p50', 'bare') },
      ]),
    },
  ];
}

/** Writes the plots whose rows were measured. @returns The written paths. */
export async function writePlots(rows: readonly MeasuredRow[]): Promise<string[]> {
  const draw = await loadDrawer();
  await mkdir(FOLDER, { recursive: true });
  const written: string[] = [];
  for (const { file, title, drawing } of pictures(rows)) {
    if (drawing === undefined) continue;
    const path = join(FOLDER, file);
    await writeFile(path, draw(title, drawing));
    written.push(path);
  }
  return written;
}
