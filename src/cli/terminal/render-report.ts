import Table from 'cli-table3';
import { duration } from '../../gateway/pages/format.js';
import { isCopy, nameOf } from '../report/read-report.js';
import {
  copyText,
  costText,
  kindsText,
  leaksText,
  STATUS_NAMES,
  statusText,
  totalsOf,
} from '../report/report-words.js';
import type { ReportRow, RowStatus, RunReport } from '../report/run-report.js';
import { usd } from './amounts.js';
import type { Colors } from './colors.js';
import { escapeControlCharsInLine } from './escape-control-chars.js';
import { wrapped } from './wrapped.js';

/** Longest message of a failure, and longest key where the width of the terminal does not limit it, in characters. */
const MAX_MESSAGE = 300;
const MAX_KEY = 120;
/** Columns of the cost and the time, with their padding, and the least that the others need. */
const COST_WIDTH = 11;
const TIME_WIDTH = 10;
const MIN_NAME_WIDTH = 12;
const MIN_STATUS_WIDTH = 16;
const BORDERS = 5;

function inLine(text: string, most: number): string {
  return escapeControlCharsInLine(text.length <= most ? text : `${text.slice(0, most)}…`);
}

function colored(row: ReportRow, colors: Colors): string {
  const text = statusText(row);
  const paints: Partial<Record<RowStatus, (text: string) => string>> = {
    failed: colors.red,
    'left-leaky': colors.yellow,
    'not-checked': colors.yellow,
    corrected: colors.cyan,
    clean: colors.green,
  };
  return paints[row.status]?.(text) ?? text;
}

function statusLines(row: ReportRow, colors: Colors): string {
  const copy = inLine(copyText(row), MAX_KEY);
  return [
    colored(row, colors),
    leaksText(row),
    inLine(kindsText(row), MAX_MESSAGE),
    row.notAnalyzed === undefined ? '' : inLine(row.notAnalyzed, MAX_MESSAGE),
    isCopy(row) ? colors.red(copy) : copy,
  ]
    .filter((line) => line !== '')
    .join('\n');
}

/** Widths of the columns in a terminal; none where the lines need not fit one. */
function widthsFor(width: number | undefined): number[] {
  if (width === undefined) return [];
  const room = Math.max(MIN_NAME_WIDTH + MIN_STATUS_WIDTH, width - BORDERS - COST_WIDTH - TIME_WIDTH);
  const name = Math.max(MIN_NAME_WIDTH, Math.floor(room * 0.4));
  return [name, room - name, COST_WIDTH, TIME_WIDTH];
}

function rowsTable(
  name: string,
  rows: readonly ReportRow[],
  colors: Colors,
  width: number | undefined,
): string {
  const table = new Table({
    head: [name, 'status', 'cost', 'time'],
    style: { head: [], border: [] },
    colWidths: widthsFor(width),
    colAligns: ['left', 'left', 'right', 'right'],
    wordWrap: width !== undefined,
  });
  for (const row of rows) {
    table.push([
      // A key has no words to break it between.
      { content: inLine(nameOf(row), MAX_KEY), wrapOnWordBoundary: false },
      statusLines(row, colors),
      row.costUsd === null ? 'unknown' : usd(row.costUsd),
      row.milliseconds === undefined ? '–' : duration(row.milliseconds),
    ]);
  }
  return table.toString();
}

/**
 * A report of a run for people: totals, why jobs failed, and a table of the candidates.
 * @param width Columns of the terminal; undefined: nothing is wrapped.
 */
export function renderReport(report: RunReport, colors: Colors, width?: number | undefined): string {
  const { run, totals, failures, candidates, others } = report;
  const { jobs, isCut, milliseconds, firstSubmittedAt } = totals;
  const lines = [colors.bold(`run ${inLine(run, MAX_KEY)}`)];
  if (jobs === 0) lines.push('no stored job names this run; jobs are removed after the retention time');
  const say = (text: string) => lines.push(...wrapped(text, '', width, '  '));
  say(
    totalsOf(report)
      .map(([name, count]) => `${name}: ${count}`)
      .join(', '),
  );
  say(`cost: ${costText(report, usd)}`);
  if (firstSubmittedAt !== undefined) {
    const time = milliseconds === undefined ? 'no job has ended' : duration(milliseconds);
    say(`time from the first submission (${firstSubmittedAt}) to the last end: ${time}`);
  }
  if (isCut) say(`only the newest ${jobs} jobs were read`);
  if (failures.length > 0) lines.push('', colors.bold('why jobs failed'));
  for (const { code, count, example } of failures) {
    const message = inLine(example.message, MAX_MESSAGE);
    lines.push(...wrapped(`${colors.red(code)} (${count}): ${message}`, '', width, '  '));
    lines.push(...wrapped(`${example.kind} ${inLine(example.jobId, MAX_KEY)}`, '  ', width));
  }
  if (candidates.length > 0) lines.push('', rowsTable('candidate', candidates, colors, width));
  if (others.length > 0)
    lines.push('', rowsTable(`other job: ${STATUS_NAMES.failed} or copy`, others, colors, width));
  return lines.join('\n');
}
