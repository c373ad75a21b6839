import { BUILT_IN_CONTRACTS } from '../../queues/registry.js';
import { describeUnservedQueue } from '../../queues/served-queues.js';
import { type Html, html } from './html.js';

/** Something that a page says is wrong, with what to do about it. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly what: string;
  readonly whatToDo: string;
}

/** Jobs of a kind wait that no worker takes. */
export function kindWithoutWorker(kind: string, waiting: number): Problem {
  return {
    severity: 'error',
    what: `${waiting} ${kind} jobs wait, and no worker is connected for them.`,
    whatToDo: BUILT_IN_CONTRACTS.has(kind)
      ? 'Start one: fleet worker'
      : 'Start one: fleet worker --kinds-from, with the module of the kind.',
  };
}

/** Jobs wait in a pipeline queue that nobody serves. @param served The queues among which the one that was meant may be. */
export function queueWithoutProgram(queue: string, waiting: number, served: ReadonlySet<string>): Problem {
  return {
    severity: 'error',
    what: `${waiting} ${waiting === 1 ? 'job waits' : 'jobs wait'}: ${describeUnservedQueue(queue, served)}.`,
    whatToDo: 'Start the program of the pipeline that takes them, or submit to the queue that it serves.',
  };
}

export function problemList(problems: readonly Problem[]): Html {
  return html`<ul class="problems">${problems.map(
    ({ severity, what, whatToDo }) =>
      html`<li${severity === 'warning' && html` class="warning"`}><strong>${what}</strong> ${whatToDo}</li>`,
  )}</ul>`;
}
