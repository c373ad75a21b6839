import { type Html, html } from './html.js';

/** A number at a position of an axis; 0 is the beginning, 1 the end. */
interface Tick {
  readonly at: number;
  readonly text: string;
}

/** Height of the drawing, and the room around the plot, in units of the drawing. */
const HEIGHT = 124;
const LEFT = 40;
const RIGHT = 10;
const TOP = 26;
const BOTTOM = 18;
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;
/** Widths of the drawing for the column of a card, and for a whole page. */
const WIDTHS = { card: 280, page: 560 } as const;
type Size = keyof typeof WIDTHS;

const plotWidth = (size: Size) => WIDTHS[size] - LEFT - RIGHT;
const xOf = (at: number, size: Size) => (LEFT + at * plotWidth(size)).toFixed(1);
const yOf = (at: number) => (TOP + (1 - at) * PLOT_HEIGHT).toFixed(1);

interface Frame {
  /** The same in words, for those who do not see the chart. */
  readonly label: string;
  /** What the numbers of the upright axis count. */
  readonly unit: string;
  readonly x: readonly Tick[];
  readonly y: readonly Tick[];
  readonly size: Size;
  readonly content: readonly Html[];
}

type Labels = Pick<Frame, 'label' | 'unit' | 'x'>;

/** A chart with both axes, their numbers and the unit. */
function frame({ label, unit, x, y, size, content }: Frame): Html {
  return html`<svg class="chart" viewBox="0 0 ${WIDTHS[size]} ${HEIGHT}" role="img" aria-label="${label}">
<text class="unit" x="0" y="10">${unit}</text>
${y.map(
  ({ at, text }) =>
    html`<line x1="${LEFT}" y1="${yOf(at)}" x2="${WIDTHS[size] - RIGHT}" y2="${yOf(at)}"/><text x="${LEFT - 4}" y="${Number(yOf(at)) + 3.5}" text-anchor="end">${text}</text>`,
)}
${content}
${x.map(
  ({ at, text }) =>
    html`<text x="${xOf(at, size)}" y="${HEIGHT - 4}" text-anchor="${anchorOf(at)}">${text}</text>`,
)}</svg>`;
}

function anchorOf(at: number): string {
  if (at === 0) return 'start';
  return at === 1 ? 'end' : 'middle';
}

const STEPS = [1, 2, 5, 10];
/** Spaces between the numbers of an upright axis. */
const MAX_SPACES = 4;

/** The smallest of 1, 2, 5, 10, 20, … (or a tenth, a hundredth, … of them) that is at least as large. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * (STEPS.find((step) => step * power >= least * (1 - 1e-9)) ?? 10);
}

/** Round numbers from at most the least to at least the greatest value. */
export function scaleOf(least: number, greatest: number, smallestStep = 0): readonly number[] {
  const range = greatest - least || Math.abs(greatest) || 1;
  for (let step = Math.max(roundStep(range / MAX_SPACES), smallestStep); ; step = roundStep(step * 1.5)) {
    const first = Math.floor(least / step + 1e-9);
    const last = Math.max(Math.ceil(greatest / step - 1e-9), first + 1);
    if (last - first > MAX_SPACES) continue;
    return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
  }
}

function ticksOf(scale: readonly number[]): Tick[] {
  return scale.map((value, index) => ({ at: index / (scale.length - 1), text: String(value) }));
}

/** Counts of one span of time, of which some are bad. */
export interface Bar {
  readonly total: number;
  readonly bad: number;
}

/** Bars from the oldest to the newest, the bad ones at the foot. @param x Texts below them. */
export function barChart(bars: readonly Bar[], labels: Labels): Html {
  const scale = scaleOf(0, Math.max(1, ...bars.map(({ total }) => total)), 1);
  const highest = scale.at(-1) ?? 1;
  const width = plotWidth('card') / bars.length;
  const rect = (index: number, from: number, to: number, isBad: boolean) => {
    if (to === from) return html``;
    const height = (((to - from) / highest) * PLOT_HEIGHT).toFixed(1);
    return html`<rect${isBad && html` class="failed"`} x="${(LEFT + index * width + width * 0.1).toFixed(1)}" y="${yOf(to / highest)}" width="${(width * 0.8).toFixed(1)}" height="${height}"/>`;
  };
  const content = bars.flatMap(({ total, bad }, index) => [
    rect(index, bad, total, false),
    rect(index, 0, bad, true),
  ]);
  return frame({ ...labels, y: ticksOf(scale), size: 'card', content });
}

/** Values from the oldest to the newest as points. */
export function pointChart(values: readonly number[], labels: Labels): Html {
  const scale = scaleOf(Math.min(...values), Math.max(...values));
  const [lowest = 0] = scale;
  const span = (scale.at(-1) ?? 1) - lowest;
  const content = values.map(
    (value, index) =>
      html`<circle cx="${xOf(values.length === 1 ? 0.5 : index / (values.length - 1), 'page')}" cy="${yOf((value - lowest) / span)}" r="3"/>`,
  );
  return frame({ ...labels, y: ticksOf(scale), size: 'page', content });
}
