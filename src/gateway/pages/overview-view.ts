import type { MinuteCounts } from '../metrics/statistics.js';
import { type Html, html } from './html.js';
import type { KindOverview, Overview } from './overview-data.js';

const HEIGHT = 40;
const BAR = 8;
const GAP = 2;

/** Ended jobs per minute as bars, oldest first; failed ones at the foot. A text has the same numbers. */
function sparkline(kind: string, minutes: readonly MinuteCounts[]): Html {
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

function duration(ms: number | undefined): string {
  if (ms === undefined) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

function age(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}

const money = (usd: number) => `$${usd.toFixed(usd !== 0 && usd < 0.1 ? 4 : 2)}`;
const rate = (perMinute: number) => (perMinute === 0 ? '0' : perMinute.toFixed(perMinute < 10 ? 1 : 0));

function entry(name: string, value: string | number, isBad = false): Html {
  return html`<div><dt>${name}</dt><dd${isBad && html` class="bad"`}>${value}</dd></div>`;
}

function card({ kind, depth, perMinute, p50Ms, p95Ms, minutes, workers }: KindOverview): Html {
  return html`<section class="card" aria-labelledby="kind-${kind}">
<h3 id="kind-${kind}">${kind}</h3>
<div data-live="kind-${kind}">
<dl class="numbers">
${entry('waiting', depth.waiting + depth.due)}
${entry('active', depth.active)}
${entry('failed', depth.failed, depth.failed > 0)}
${entry('per minute', rate(perMinute))}
${entry('p50', duration(p50Ms))}
${entry('p95', duration(p95Ms))}
${entry('delayed', depth.delayed - depth.due)}
${entry('with open children', depth.waitingChildren)}
${entry('workers', workers, workers === 0)}
</dl>
${sparkline(kind, minutes)}
</div>
</section>`;
}

function queues(overview: Overview): Html {
  if (overview.queues.length === 0) return html`<p class="faint">No pipeline queue has jobs.</p>`;
  return html`<div class="scroll"><table>
<thead><tr><th scope="col">pipeline queue</th><th scope="col" class="number">waiting</th><th scope="col" class="number">active</th><th scope="col" class="number">with open children</th><th scope="col" class="number">failed</th></tr></thead>
<tbody>${overview.queues.map(
    ({ queue, depth }) =>
      html`<tr><td>${queue}</td><td class="number">${depth.waiting + depth.due}</td><td class="number">${depth.active}</td><td class="number">${depth.waitingChildren}</td><td class="number">${depth.failed}</td></tr>`,
  )}</tbody></table></div>`;
}

function problems(overview: Overview): Html {
  if (overview.problems.length === 0)
    return html`<p class="good">Nothing is wrong that the gateway can see.</p>`;
  return html`<ul class="problems">${overview.problems.map(
    ({ severity, what, whatToDo }) =>
      html`<li${severity === 'warning' && html` class="warning"`}><strong>${what}</strong> ${whatToDo}</li>`,
  )}</ul>`;
}

function today({
  today: { spentUsd, inDoubtUsd, reservedUsd, budgetUsd, calls, callsUnderWay },
}: Overview): Html {
  return html`<p>Today (UTC): <strong>${money(spentUsd + inDoubtUsd)}</strong>${budgetUsd !== null && ` of ${money(budgetUsd)}`}
for ${calls} calls; ${callsUnderWay} under way for up to ${money(reservedUsd)}.</p>`;
}

function runs(overview: Overview): Html {
  if (overview.runs.length === 0) return html`<p class="faint">No job has named its run (tags.run) yet.</p>`;
  return html`<div class="scroll"><table>
<thead><tr><th scope="col">run</th><th scope="col" class="number">cost</th><th scope="col" class="number">calls</th></tr></thead>
<tbody>${overview.runs.map(
    ({ run, spentUsd, inDoubtUsd, calls }) =>
      html`<tr><td>${run}</td><td class="number">${money(spentUsd + inDoubtUsd)}</td><td class="number">${calls}</td></tr>`,
  )}</tbody></table></div>`;
}

function workers(overview: Overview): Html {
  if (overview.workers.length === 0)
    return html`<p class="bad">No worker is connected. Start one: <code>fleet worker</code></p>`;
  return html`<div class="scroll"><table>
<thead><tr><th scope="col">worker</th><th scope="col">version</th><th scope="col">kinds</th><th scope="col" class="number">loop lag</th><th scope="col" class="number">memory</th><th scope="col" class="number">last seen</th><th scope="col" class="number">up</th></tr></thead>
<tbody>${overview.workers.map(
    (
      worker,
    ) => html`<tr><td>${worker.name}</td><td>${worker.version ?? 'unknown'}</td><td>${worker.kinds.join(', ')}${worker.report?.problem === undefined ? '' : html` <span class="bad">${worker.report.problem}</span>`}</td>
<td class="number">${worker.report === undefined ? '–' : duration(worker.report.eventLoopLagSeconds * 1_000)}</td><td class="number">${worker.report === undefined ? '–' : `${Math.round(worker.report.residentBytes / 2 ** 20)} MB`}</td>
<td class="number">${age(worker.idleSeconds)} ago</td><td class="number">${age(worker.connectedSeconds)}</td></tr>`,
  )}</tbody></table></div>`;
}

/** The content of the overview. Updates replace the parts with `data-live`; without scripts the page does not change. */
export function overviewContent(overview: Overview): Html {
  return html`<h1>Overview</h1>
<p class="faint" data-live="time">As of <time datetime="${overview.at.toISOString()}">${overview.at.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>. <span id="liveness">Reload for newer numbers.</span></p>
<h2 id="wrong">What is wrong now</h2>
<div aria-live="polite" aria-labelledby="wrong"><div data-live="problems">${problems(overview)}</div></div>
<h2>Jobs</h2>
<div class="cards">${overview.kinds.map(card)}</div>
<h2>Evaluations and other pipeline jobs</h2>
<div data-live="queues">${queues(overview)}</div>
<h2>Cost</h2>
<div data-live="cost">${today(overview)}
${runs(overview)}</div>
<h2>Workers</h2>
<div data-live="workers">${workers(overview)}</div>`;
}
