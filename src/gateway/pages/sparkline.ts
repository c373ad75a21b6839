import type { MinuteCounts } from '../metrics/statistics.js';
import { type Html, html } from './html.js';

const HEIGHT = 40;
const BAR = 8;
const GAP = 2;

/** Ended jobs per minute as bars, oldest first; failed ones at the foot. A text has the same numbers. */
export function sparkline(kind: string, minutes: readonly MinuteCounts[]): Html {
  const totals = minutes.map(({ completed, failed, cancelled }) => completed + failed + cancelled);
  const most = Math.max(1, ...totals);
  const width = minutes.length * (BAR + GAP);
  const scale = (count: number) => Math.round((count / most) * (HEIGHT - 2));
  const bars = minutes.map(({ failed }, index) => {
    const x = index * (BAR + GAP);
    const total = scale(totals[index] ?? 0);
    const bad = scale(failed);
    return html`<rect x="${x}" y="${HEIGHT - total}" width="${BAR}" height="${total - bad}"/><rect class="failed" x="${x}" y="${HEIGHT - bad}" width="${BAR}" height="${bad}"/>`;
  });
  const sum = totals.reduce((a, b) => a + b, 0);
  const label = `${kind}: ${sum} jobs ended in the last ${minutes.length} minutes, at most ${sum === 0 ? 0 : most} in one`;
  return html`<svg class="spark" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">
<line x1="0" y1="${HEIGHT - 1}" x2="${width}" y2="${HEIGHT - 1}"/>${bars}</svg>`;
}
