import type { JobView } from '../producers/job-view.js';
import { type Colours, coloursFor } from './terminal/colours.js';
import { visible } from './terminal/visible.js';

function stateColour(state: JobView['state'], colours: Colours): string {
  if (state === 'completed') return colours.green(state);
  if (state === 'failed' || state === 'cancelled') return colours.red(state);
  return colours.yellow(state);
}

/** One line of a list of jobs. */
export function jobLine(view: JobView, colours: Colours): string {
  return `${stateColour(view.state, colours)} ${view.id} ${colours.dim(view.createdAt)}`;
}

/** Prints a job: as JSON with all its fields, or as a line and what it came to. */
export function printJob(view: JobView, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(view, null, 2)}\n`);
    return;
  }
  const colours = coloursFor(process.stdout);
  process.stdout.write(`${jobLine(view, colours)}\n`);
  if (view.progress !== undefined) process.stdout.write(`progress: ${visible(view.progress)}\n`);
  if (view.error !== undefined) {
    process.stdout.write(`${colours.red('error')} ${visible(view.error.message)} (${view.error.code})\n`);
  }
  if (view.result !== undefined) process.stdout.write(`${visible(JSON.stringify(view.result, null, 2))}\n`);
}
