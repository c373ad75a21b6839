import { ERROR_TABLE } from '../../../errors.js';
import { percent } from '../../../percent.js';
import type { JobSummary } from '../../../producers/job-summaries.js';
import type { ScannedJob } from '../../../producers/scan-run.js';
import { parseJobKey } from '../../../queues/job-key.js';
import type { Usage } from '../../../queues/usage.js';
import { boardAddress, encoded, jobAddress, type RunAddress, runAddress } from '../address.js';
import { pointChart } from '../chart.js';
import { counted, duration, money, shortened, utc } from '../format.js';
import { type Html, type HtmlValue, html, prose } from '../html.js';
import { problemList } from '../problems.js';
import { type Column, NONE, table } from '../table.js';
import type { Rows, RunPage, UnitRow } from './run-data.js';
import { type FailureCause, STATE_GROUPS, type StateGroup } from './run-units.js';

/** Longest message of a failure in a list, in characters. */
const MAX_MESSAGE = 240;
/** The same of the newest failure with a code. */
const MAX_EXAMPLE = 600;
/** Largest score that is drawn: beyond it, numbers of the axis would not fit. */
const MAX_DRAWN = 1e9;

const GROUP_NAMES: Readonly<Record<StateGroup, string>> = {
  failed: 'failed',
  unfinished: 'not ended',
  completed: 'completed',
  cancelled: 'cancelled',
};

/** The address of a job for the reader: tokens bound to a tenant do not see the board. */
type Linked = (queue: string, id: string) => string;

/** The part of an id by which people know it. */
function shortId(id: string): string {
  const [, start, rest] = /^(.*-)?([0-9a-f]{40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(id) ?? [];
  return rest === undefined ? shortened(id, 60) : `${start ?? ''}${rest.slice(0, 8)}…`;
}

function cost({ costUsd, calls }: Usage, isCut = false): HtmlValue {
  if (costUsd === null) return 'unknown';
  return html`${isCut && 'at least '}${money(costUsd)}${calls > 0 && html` <span class="faint">${calls} ${calls === 1 ? 'call' : 'calls'}</span>`}`;
}

function stateText(state: string): Html {
  if (state === 'failed') return html`<span class="bad">failed</span>`;
  return html`${state === 'waiting-children' ? 'waits for other jobs' : state}`;
}

function failure(code: FailureCause['code'], message: string): Html {
  return html` <a href="#cause-${code}"><code>${code}</code></a> <span class="faint">${shortened(message, MAX_MESSAGE)}</span>`;
}

function stateCell({ unit: { root, cause }, summary }: UnitRow): HtmlValue {
  return [
    stateText(root.state),
    cause === undefined ? '' : failure(cause.failure.code, cause.failure.message),
    summary?.progress !== undefined &&
      root.state === 'active' &&
      html` <span class="faint">${summary.progress}</span>`,
    (summary?.callsInDoubt?.length ?? 0) > 0 &&
      html` <span class="bad">${summary?.callsInDoubt?.length ?? 0} calls in doubt</span>`,
  ];
}

function parentLine(page: RunPage, { parentKey }: ScannedJob): HtmlValue {
  if (parentKey === undefined) return undefined;
  const { queue, id } = parseJobKey(parentKey);
  return html`, for <a href="${runAddress({ name: page.query.name, job: id })}" title="${id}">${queue}</a>`;
}

function jobsOf(page: RunPage, { unit, jobs, isCut }: UnitRow, linked: Linked): HtmlValue {
  const isOpen = page.query.job !== undefined;
  const item = ({ id, kind, state, status, usage, attempts }: JobSummary) =>
    html`<li><a href="${linked(kind, id)}" title="${id}">${shortId(id)}</a>: ${stateText(state)}${status !== undefined && `, ${status}`}${usage.calls > 0 && html`, ${cost(usage)}`}${attempts > 1 && `, ${attempts} attempts`}</li>`;
  const count = unit.members.length + 1;
  return html`<details${isOpen && html` open`}><summary>${count} ${count === 1 ? 'job' : 'jobs'}</summary><ul>${jobs.map(item)}${
    isCut &&
    html`<li>${isOpen ? `and ${count - jobs.length} more` : html`<a href="${runAddress({ name: page.query.name, job: unit.root.id })}">all</a>`}</li>`
  }</ul></details>`;
}

function columns(page: RunPage, what: string, linked: Linked): Column<UnitRow>[] {
  const { query } = page;
  return [
    {
      name: what,
      cell: (row) => {
        const { root } = row.unit;
        const name = row.summary?.key;
        return html`<a id="job-${root.id}" href="${runAddress({ name: query.name, job: root.id })}" title="${root.id}">${name === undefined ? shortId(root.id) : shortened(name, 120)}</a>
<div class="faint"><a href="${linked(root.queue, root.id)}">${root.queue}</a>${parentLine(page, root)}</div>`;
      },
    },
    { name: 'state', cell: stateCell },
    { name: 'status', cell: ({ unit }) => unit.status ?? NONE },
    {
      name: 'score',
      isNumber: true,
      cell: ({ score }) => (score === undefined ? NONE : String(Number(score.toPrecision(8)))),
    },
    { name: 'cost', isNumber: true, cell: ({ usage, isCut }) => cost(usage, isCut) },
    {
      name: 'submitted',
      cell: ({ summary }) =>
        summary === undefined
          ? 'removed'
          : html`<time datetime="${summary.createdAt}">${utc(new Date(summary.createdAt))}</time>`,
    },
    {
      name: 'ended after',
      isNumber: true,
      cell: ({ summary }) =>
        summary?.endedAt === undefined
          ? NONE
          : duration(Date.parse(summary.endedAt) - Date.parse(summary.createdAt)),
    },
    { name: 'jobs', cell: (row) => jobsOf(page, row, linked) },
  ];
}

function pager(
  { page, pages, total, rows }: Rows,
  address: (page: number) => string,
  what: string,
): HtmlValue {
  if (pages === 1) return undefined;
  const link = (to: number, text: string) =>
    to >= 1 && to <= pages && to !== page
      ? html`<a href="${address(to)}">${text}</a> `
      : html`<span class="faint">${text}</span> `;
  return html`<nav class="pager" aria-label="Pages of ${what}">${link(1, 'First')}${link(page - 1, 'Previous')}
<span>page ${page} of ${pages}: ${rows.length} of ${total}</span> ${link(page + 1, 'Next')}${link(pages, 'Last')}</nav>`;
}

function budget({ spending }: RunPage): Html {
  const { spentUsd, inDoubtUsd, reservedUsd, budgetUsd, calls, callsInDoubt } = spending;
  const { callsUnderWay, callsInBatches, reusedCalls, reusedUsd, cacheReadFraction } = spending;
  const used = spentUsd + inDoubtUsd;
  return html`<p>Agent calls of the run: <strong>${money(used)}</strong>${
    budgetUsd === null
      ? `, ${calls === 0 ? 'no budget is known before the first call' : 'without a budget'}`
      : ` of a budget of ${money(budgetUsd)}`
  }, ${calls} calls; ${callsUnderWay} under way${callsInBatches > 0 && ` and ${callsInBatches} in batches`} for up to ${money(reservedUsd)}.${
    cacheReadFraction !== null &&
    ` ${percent(cacheReadFraction)} of the input was read from the prompt cache.`
  }${
    reusedCalls > 0 &&
    ` Other jobs answered ${counted(reusedCalls, 'call')}, where the answers had cost ${money(reusedUsd)}.`
  }${
    callsInDoubt > 0 &&
    html` <span class="bad">${callsInDoubt} in doubt: nobody knows whether they were billed; counted at their likely price.</span>`
  }${budgetUsd !== null && used + reservedUsd >= budgetUsd && html` <span class="bad">The budget is spent or reserved: further calls are refused until it is raised.</span>`}</p>
${budgetUsd !== null && budgetUsd > 0 && html`<meter min="0" max="${budgetUsd}" value="${Math.min(used, budgetUsd)}" aria-label="Part of the budget that is spent"></meter>`}`;
}

function causes(page: RunPage, linked: Linked): HtmlValue {
  if (page.causes.length === 0) return undefined;
  const { name } = page.query;
  return html`<h2>Why jobs failed</h2>
${table<FailureCause>(
  [
    {
      name: 'error code',
      cell: ({ code }) =>
        html`<a id="cause-${code}" href="${runAddress({ name, code })}"><code>${code}</code></a>`,
    },
    { name: 'rows', isNumber: true, cell: ({ count }) => count },
    { name: 'what to do', cell: ({ code }) => prose(ERROR_TABLE[code].whatToDo) },
    {
      name: 'the newest',
      cell: ({ example: { job, message } }) =>
        html`<a href="${linked(job.queue, job.id)}" title="${job.id}">${shortId(job.id)}</a>: ${shortened(message, MAX_EXAMPLE)}`,
    },
  ],
  page.causes,
)}`;
}

function scores({ scores, query: { name } }: RunPage): HtmlValue {
  const drawn = scores.filter(({ score }) => Math.abs(score) <= MAX_DRAWN);
  if (drawn.length < 2) return undefined;
  const values = drawn.map(({ score }) => score);
  const label = `Scores of the latest ${values.length} evaluated candidates of ${name}: from ${Math.min(...values)} to ${Math.max(...values)}, the last one ${values.at(-1)}`;
  return html`<h2>Scores</h2>
<div class="wide">${pointChart(values, {
    label,
    unit: 'score, as the pipeline returned it',
    x: [
      { at: 0, text: 'oldest' },
      { at: 0.5, text: `latest ${values.length} evaluated candidates` },
      { at: 1, text: 'newest' },
    ],
  })}</div>`;
}

function filters({ counts, query }: RunPage): Html {
  const all = STATE_GROUPS.reduce((sum, group) => sum + counts[group], 0);
  const { name, state, code, job, key } = query;
  const link = (to: RunAddress, text: string, isCurrent: boolean) =>
    html`<a href="${runAddress(to)}"${isCurrent && html` aria-current="true"`}>${text}</a> `;
  const isFiltered = [state, code, job, key].some((value) => value !== undefined);
  const named = [
    code !== undefined && `failed with ${code}`,
    job !== undefined && `the job ${job} and those that it waits for`,
    key !== undefined && `the key ${key}`,
  ].filter((text) => text !== false);
  return html`<nav class="filters" aria-label="Filter">${link({ name }, `all ${all} candidates`, !isFiltered)}
${STATE_GROUPS.map((group) => link({ name, state: group }, `${counts[group]} ${GROUP_NAMES[group]}`, state === group))}</nav>
${named.length > 0 && html`<p>Shown: ${named.join(', ')}. <a href="${runAddress({ name })}">Show all</a></p>`}
<form class="find" method="get" action="/runs"><input type="hidden" name="of" value="${encoded(name)}">
<label for="key">Candidate by key</label> <input id="key" name="key" value="${key ?? ''}" maxlength="1024" required> <button>Find</button></form>`;
}

/** The content of the page of a run. @param isBound Whether the reader sees one tenant's jobs only. */
export function runContent(page: RunPage, isBound: boolean): Html {
  const { query, at, total, isCut, candidates, others } = page;
  const linked: Linked = isBound ? (_queue, id) => jobAddress(id) : boardAddress;
  return html`<h1>Run ${query.name}</h1>
<p class="faint">As of <time datetime="${at.toISOString()}">${utc(at)}</time>: ${total} stored jobs${isCut && `, the newest ones; older ones are left out`}. Reload for newer numbers. <a href="/runs">All runs</a></p>
${total === 0 && html`<p>No stored job names this run. Jobs are removed after the retention time.</p>`}
${budget(page)}
${page.problems.length > 0 && html`<h2>Jobs that nobody takes</h2>${problemList(page.problems)}`}
${causes(page, linked)}
${scores(page)}
<h2 id="candidates">Candidates</h2>
${filters(page)}
${
  candidates.total === 0
    ? html`<p class="faint">None.</p>`
    : table(columns(page, 'candidate', linked), candidates.rows)
}
${pager(candidates, (to) => `${runAddress({ ...query, page: to })}#candidates`, 'candidates')}
<h2 id="others">Other jobs</h2>
${others.total === 0 ? html`<p class="faint">None.</p>` : table(columns(page, 'job', linked), others.rows)}
${pager(others, (to) => `${runAddress({ ...query, others: to })}#others`, 'other jobs')}`;
}
