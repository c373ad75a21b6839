import { ERROR_TABLE } from '../error-table.js';
import { eachFollowUp, usageOfChain } from '../producers/follow-up-views.js';
import type { FollowUpView, JobView } from '../producers/job-view.js';
import { NO_USAGE } from '../queues/usage.js';
import { plural, usd } from './terminal/amounts.js';
import { type Colors, colorsFor } from './terminal/colors.js';
import { escapeControlCharsInLine } from './terminal/escape-control-chars.js';
import { print, printJson } from './terminal/print.js';
import { widthOf, wrapped } from './terminal/wrapped.js';

function stateColor(state: JobView['state'], colors: Colors): string {
  if (state === 'completed') return colors.green(state);
  if (state === 'failed' || state === 'cancelled') return colors.red(state);
  return colors.yellow(state);
}

/** The first line of a job in a list. */
export function jobLine(view: JobView, colors: Colors): string {
  return `${stateColor(view.state, colors)} ${escapeControlCharsInLine(view.id)} ${colors.dim(escapeControlCharsInLine(view.createdAt))}`;
}

/**
 * What a list shows below the line of a job: the key of its submission, its status, its cost, its run. Each stays whole on
 * its line in a narrow terminal.
 */
export function detailLines(view: JobView, colors: Colors, width: number | undefined): string[] {
  const { key, status, usage, tags } = view;
  const cost = usage.costUsd === null ? 'unknown cost' : usd(usage.costUsd);
  const details = [
    ...(key === undefined ? [] : [`key ${escapeControlCharsInLine(key)}`]),
    ...(status === undefined ? [] : [escapeControlCharsInLine(status)]),
    ...(usage.calls === 0 ? [] : [cost]),
    ...(tags.run === undefined ? [] : [`run ${escapeControlCharsInLine(tags.run)}`]),
  ];
  if (details.length === 0) return [];
  return wrapped(details.join(' · '), '  ', width, '    ').map((line) => colors.dim(line));
}

/** What the calls of all runs of a job came to; nothing for one that made none. */
function callLines({ usage, callsInDoubt = [], callsInBatches = [] }: JobView): string[] {
  const lines: string[] = [];
  if (usage.calls + usage.reusedCalls > 0) {
    const cost = usage.costUsd === null ? 'at no known price' : `for ${usd(usage.costUsd)}`;
    const reused = usage.reusedCalls === 0 ? '' : `; ${usage.reusedCalls} answered before and used again`;
    lines.push(`calls: ${usage.calls} ${cost}${reused}`);
  }
  if (callsInBatches.length > 0) {
    const which = callsInBatches.map(({ step, turn }) => `${step} ${turn}`).join(', ');
    lines.push(`in batches: ${plural(callsInBatches.length, 'call')} (${which}), at half the price`);
  }
  if (callsInDoubt.length === 0) return lines;
  const priced = callsInDoubt.flatMap(({ likelyUsd }) => (likelyUsd === null ? [] : [likelyUsd]));
  const price =
    priced.length === 0
      ? 'at no known price'
      : `probably ${usd(priced.reduce((sum, likely) => sum + likely, 0))} if billed`;
  const unpriced = callsInDoubt.length - priced.length;
  const rest = priced.length > 0 && unpriced > 0 ? `, and ${unpriced} at no known price` : '';
  const which = callsInDoubt.map(({ step, turn }) => `${step} ${turn}`).join(', ');
  lines.push(`in doubt: ${plural(callsInDoubt.length, 'call')} (${which}), ${price}${rest}`);
  return lines;
}

/** Indentation of the further lines of a sentence. */
const CONTINUED = ' '.repeat(6);

/** Why a job failed, what to do about it, and how many attempts it had. */
function errorLines(
  { error, state, attempts }: JobView,
  colors: Colors,
  width: number | undefined,
): string[] {
  if (error === undefined) return [];
  const what = `${colors.red('error')} ${escapeControlCharsInLine(error.message)} (${escapeControlCharsInLine(error.code)})`;
  // A newer version of the fleet may have stored a code that this one does not know.
  const known = Object.hasOwn(ERROR_TABLE, error.code) ? [ERROR_TABLE[error.code].whatToDo] : [];
  const sentences = [
    ...known,
    ...(state === 'failed' ? [`Failed after ${plural(attempts, 'attempt')}.`] : []),
  ];
  return [
    ...wrapped(what, '', width, CONTINUED),
    ...sentences.flatMap((sentence) => wrapped(sentence, CONTINUED, width)),
  ];
}

/** A line for each follow-up of a job, and what the whole chain came to. */
function followUpLines(view: JobView, colors: Colors, width: number | undefined): string[] {
  const lines = [...eachFollowUp(view)].flatMap(({ followUp, depth }) => {
    const indent = '  '.repeat(depth - 1);
    const line = `then ${escapeControlCharsInLine(followUp.name)}: ${outcomeOf(followUp, colors)}`;
    return wrapped(line, indent, width, `${indent}${CONTINUED}`);
  });
  const usage = usageOfChain(view);
  if (lines.length === 0 || usage.calls === view.usage.calls) return lines;
  return [
    ...lines,
    ...callLines({ ...view, usage, callsInDoubt: [], callsInBatches: [] }).map((line) => `all jobs: ${line}`),
  ];
}

function outcomeOf({ id = '', skipped, error, job }: FollowUpView, colors: Colors): string {
  if (skipped !== undefined) return `skipped, ${escapeControlCharsInLine(skipped)}`;
  const failure = error ?? job?.error;
  const why = failure === undefined ? '' : ` ${escapeControlCharsInLine(failure.message)} (${failure.code})`;
  if (error !== undefined) return `${colors.red('not started')}${why}`;
  const state = job === undefined ? 'no longer stored' : stateColor(job.state, colors);
  return `${state} ${escapeControlCharsInLine(id)}${why === '' ? '' : `:${why}`}`;
}

/** Prints a job: as JSON with all its fields, or as a line and what it came to. */
export function printJob(view: JobView, json: boolean): void {
  if (json) {
    printJson(view, 2);
    return;
  }
  const colors = colorsFor(process.stdout);
  const width = widthOf(process.stdout);
  print(jobLine(view, colors));
  for (const line of detailLines({ ...view, usage: NO_USAGE }, colors, width)) print(line);
  if (view.progress !== undefined) print(`progress: ${escapeControlCharsInLine(view.progress)}`);
  if (view.waitReason !== undefined) print(escapeControlCharsInLine(view.waitReason));
  for (const line of errorLines(view, colors, width)) print(line);
  for (const line of callLines(view)) print(escapeControlCharsInLine(line));
  if (view.result !== undefined) printJson(view.result, 2);
  for (const line of followUpLines(view, colors, width)) print(line);
}
