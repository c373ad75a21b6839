import { percent } from '../../percent.js';
import type { MinuteCounts } from '../metrics/statistics.js';
import { boardQueueAddress, runAddress } from './address.js';
import { barChart } from './chart.js';
import { age, counted, duration, money, utc } from './format.js';
import { type Html, html } from './html.js';
import type { KindOverview, Overview } from './overview-data.js';
import { problemList } from './problems.js';
import { NONE, table } from './table.js';
import type { WorkerView } from './workers.js';

/** Ended jobs per minute as bars, oldest first; failed ones at the foot. A text has the same numbers. */
function endedPerMinute(kind: string, minutes: readonly MinuteCounts[]): Html {
  const bars = minutes.map(({ completed, failed, cancelled }) => ({
    total: completed + failed + cancelled,
    bad: failed,
  }));
  const sum = bars.reduce((all, { total }) => all + total, 0);
  const most = Math.max(0, ...bars.map(({ total }) => total));
  const failed = bars.reduce((all, { bad }) => all + bad, 0);
  const label = `${kind}: ${sum} jobs ended in the last ${minutes.length} minutes, at most ${most} in one; ${failed} failed`;
  const x = [
    { at: 0, text: `−${minutes.length} min` },
    { at: 0.5, text: `−${minutes.length / 2} min` },
    { at: 1, text: 'now' },
  ];
  return barChart(bars, { label, unit: 'ended jobs per minute', x });
}

const rate = (perMinute: number) => (perMinute === 0 ? '0' : perMinute.toFixed(perMinute < 10 ? 1 : 0));

function entry(name: string, value: string | number, isBad = false): Html {
  return html`<div><dt>${name}</dt><dd${isBad && html` class="bad"`}>${value}</dd></div>`;
}

function card({ kind, depth, perMinute, p50Ms, p95Ms, minutes, workers }: KindOverview): Html {
  return html`<section class="card" aria-labelledby="kind-${kind}">
<h3 id="kind-${kind}"><a href="${boardQueueAddress(kind)}">${kind}</a></h3>
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
${endedPerMinute(kind, minutes)}
</div>
</section>`;
}

function queues(overview: Overview): Html {
  if (overview.queues.length === 0) return html`<p class="faint">No pipeline queue has jobs.</p>`;
  return table(
    [
      {
        name: 'pipeline queue',
        cell: ({ queue }) => html`<a href="${boardQueueAddress(queue)}">${queue}</a>`,
      },
      { name: 'waiting', isNumber: true, cell: ({ depth }) => depth.waiting + depth.due },
      {
        name: 'oldest waits',
        isNumber: true,
        cell: ({ depth: { oldestSeconds } }) => (oldestSeconds === undefined ? '–' : age(oldestSeconds)),
      },
      { name: 'active', isNumber: true, cell: ({ depth }) => depth.active },
      { name: 'with open children', isNumber: true, cell: ({ depth }) => depth.waitingChildren },
      { name: 'failed', isNumber: true, cell: ({ depth }) => depth.failed },
    ],
    overview.queues,
  );
}

function problems(overview: Overview): Html {
  if (overview.problems.length === 0)
    return html`<p class="good">Nothing is wrong that the gateway can see.</p>`;
  return problemList(overview.problems);
}

function today({
  today: { spentUsd, inDoubtUsd, reservedUsd, budgetUsd, calls, callsUnderWay, cacheReadFraction, ...rest },
  batched: { queued, sent, batches },
}: Overview): Html {
  const { reusedCalls, reusedUsd } = rest;
  return html`<p>Today (UTC): <strong>${money(spentUsd + inDoubtUsd)}</strong>${budgetUsd !== null && ` of ${money(budgetUsd)}`}
for ${calls} calls; ${callsUnderWay} under way for up to ${money(reservedUsd)}.${
    cacheReadFraction !== null &&
    ` ${percent(cacheReadFraction)} of the input was read from the prompt cache.`
  }${
    queued + sent > 0 &&
    ` In batches, at half the price: ${counted(sent, 'call')} in ${counted(batches, 'batch', 'batches')}, ${queued} waiting for the next one.`
  }${
    reusedCalls > 0 &&
    ` Other jobs answered ${counted(reusedCalls, 'call')}, where the answers had cost ${money(reusedUsd)}.`
  }</p>`;
}

function runs(overview: Overview): Html {
  if (overview.runs.length === 0) return html`<p class="faint">No job has named its run (tags.run) yet.</p>`;
  return html`${table(
    [
      { name: 'run', cell: ({ run }) => html`<a href="${runAddress({ name: run })}">${run}</a>` },
      { name: 'cost', isNumber: true, cell: ({ spentUsd, inDoubtUsd }) => money(spentUsd + inDoubtUsd) },
      { name: 'calls', isNumber: true, cell: ({ calls }) => calls },
      {
        name: 'from cache',
        isNumber: true,
        cell: ({ cacheReadFraction }) => (cacheReadFraction === null ? NONE : percent(cacheReadFraction)),
      },
    ],
    overview.runs,
  )}<p><a href="/runs">All runs</a></p>`;
}

function workers(overview: Overview): Html {
  if (overview.workers.length === 0)
    return html`<p class="bad">No worker is connected. Start one: <code>fleet worker</code></p>`;
  return table<WorkerView>(
    [
      { name: 'worker', cell: ({ name }) => name },
      { name: 'version', cell: ({ version }) => version ?? 'unknown' },
      {
        name: 'kinds',
        cell: ({ kinds, report }) => [
          kinds.join(', '),
          report?.problem !== undefined && html` <span class="bad">${report.problem}</span>`,
        ],
      },
      {
        name: 'loop lag',
        isNumber: true,
        cell: ({ report }) => duration(report && report.eventLoopLagSeconds * 1_000),
      },
      {
        name: 'memory',
        isNumber: true,
        cell: ({ report }) =>
          report === undefined ? NONE : `${Math.round(report.residentBytes / 2 ** 20)} MB`,
      },
      { name: 'last seen', isNumber: true, cell: ({ idleSeconds }) => `${age(idleSeconds)} ago` },
      { name: 'up', isNumber: true, cell: ({ connectedSeconds }) => age(connectedSeconds) },
    ],
    overview.workers,
  );
}

/** The content of the overview. Updates replace the parts with `data-live`; without scripts the page does not change. */
export function overviewContent(overview: Overview): Html {
  return html`<h1>Overview</h1>
<p class="faint" data-live="time">As of <time datetime="${overview.at.toISOString()}">${utc(overview.at)}</time>. <span id="liveness">Reload for newer numbers.</span></p>
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
