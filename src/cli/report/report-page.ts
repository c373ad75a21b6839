import { readFile } from 'node:fs/promises';
import { duration, money, shortened, utc } from '../../gateway/pages/format.js';
import { Html, type HtmlValue, html, prose } from '../../gateway/pages/html.js';
import { type Column, NONE, table } from '../../gateway/pages/table.js';
import { packagePath } from '../../package-root.js';
import { isCopy, nameOf } from './read-report.js';
import { copyText, costText, kindsText, leaksText, statusText, totalsOf } from './report-words.js';
import type { ReportRow, RunReport } from './run-report.js';

/** Longest message of a failure in a row, in characters. */
const MAX_MESSAGE = 240;

/** A report of a run as one HTML file: it has the styles of the gateway's pages in it, and neither a script nor a link. */
export async function reportPage(report: RunReport): Promise<string> {
  const css = await readFile(packagePath('assets', 'gateway', 'pages.css'), 'utf8');
  const title = `Report of run ${report.run} – solution-fleet`;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${new Html(css)}</style>
</head>
<body>
<main>${content(report)}</main>
</body>
</html>
`.text;
}

function content(report: RunReport): Html {
  const { run, at, totals, candidates, others } = report;
  const { jobs, isCut, firstSubmittedAt, lastEndedAt, milliseconds } = totals;
  return html`<h1>Run ${run}</h1>
<p class="faint">As of <time datetime="${at}">${utc(new Date(at))}</time>: ${jobs} stored jobs${isCut && ', the newest ones; older ones are left out'}.</p>
${jobs === 0 && html`<p>No stored job names this run. Jobs are removed after the retention time.</p>`}
<dl class="numbers">${totalsOf(report).map(([name, count]) => html`<div><dt>${name}</dt><dd>${count}</dd></div>`)}</dl>
<p>Agent calls: ${costText(report, money)}.</p>
${
  firstSubmittedAt !== undefined &&
  html`<p>First submission: ${utc(new Date(firstSubmittedAt))}. ${
    lastEndedAt === undefined
      ? 'No job has ended.'
      : `Last end: ${utc(new Date(lastEndedAt))}, after ${duration(milliseconds)}.`
  }</p>`
}
${failures(report)}
<h2>Candidates</h2>
${candidates.length === 0 ? html`<p class="faint">None.</p>` : table(columns('candidate'), candidates)}
${others.length > 0 && html`<h2>Other jobs that failed, or whose text is a copy</h2>${table(columns('job'), others)}`}`;
}

function failures({ failures }: RunReport): HtmlValue {
  if (failures.length === 0) return undefined;
  return html`<h2>Why jobs failed</h2>
${table<RunReport['failures'][number]>(
  [
    { name: 'error code', cell: ({ code }) => html`<code>${code}</code>` },
    { name: 'rows', isNumber: true, cell: ({ count }) => count },
    { name: 'what to do', cell: ({ whatToDo }) => prose(whatToDo) },
    {
      name: 'the newest',
      cell: ({ example: { kind, jobId, message } }) => html`${kind} ${jobId}: ${message}`,
    },
  ],
  failures,
)}`;
}

function status(row: ReportRow): HtmlValue {
  const isBad = row.status === 'failed' || row.status === 'left-leaky' || row.status === 'not-checked';
  const reason = row.failure?.message ?? row.notAnalyzed;
  return [
    isBad ? html`<span class="bad">${statusText(row)}</span>` : statusText(row),
    reason !== undefined && html` <span class="faint">${shortened(reason, MAX_MESSAGE)}</span>`,
  ];
}

function columns(what: string): Column<ReportRow>[] {
  return [
    {
      name: what,
      cell: (row) =>
        html`${shortened(nameOf(row), 120)}<div class="faint">${row.kind}${row.key !== undefined && html`, ${row.id}`}</div>`,
    },
    { name: 'status', cell: status },
    {
      name: 'leaks',
      cell: (row) =>
        row.leaks.length === 0
          ? NONE
          : html`${leaksText(row)}<div class="faint">${shortened(kindsText(row), MAX_MESSAGE)}</div>`,
    },
    {
      name: 'copy',
      cell: (row) => {
        const text = copyText(row);
        if (text === '') return row.contamination === undefined ? NONE : 'no';
        return isCopy(row) ? html`<span class="bad">${text}</span>` : text;
      },
    },
    {
      name: 'cost',
      isNumber: true,
      cell: ({ costUsd, calls, reusedCalls }) =>
        costUsd === null
          ? 'unknown'
          : html`${money(costUsd)}${calls > 0 && html` <span class="faint">${calls} ${calls === 1 ? 'call' : 'calls'}</span>`}${reusedCalls > 0 && html` <span class="faint">${reusedCalls} reused</span>`}`,
    },
    {
      name: 'time',
      isNumber: true,
      cell: ({ milliseconds }) => (milliseconds === undefined ? NONE : duration(milliseconds)),
    },
  ];
}
