import { z } from 'zod';
import { messageOf } from '../errors.js';
import { digestOf } from '../queues/digest.js';
import type { TrialSummary } from '../queues/solution-check.js';
import { neutralizeMagics } from '../solution/index.js';
import { failureOf, hitLimit, RunSchema, whatFailed } from './compare-runs.js';
import type { RecentMap } from './recent-map.js';

/** What a trial says about a correction. A correction that could not be tried out is as good as without a trial. */
export type TrialOutcome =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'refused' | 'not-possible'; readonly reason: string };

const SpecSchema = z.record(z.string(), z.unknown());
const AnswerSchema = z.union([
  z.object({ unfit: z.string() }),
  z.object({
    spec: SpecSchema,
    original: RunSchema,
    corrected: RunSchema,
    again: RunSchema.optional(),
  }),
  z.object({ original: RunSchema }),
]);
type Answer = z.infer<typeof AnswerSchema>;

/** Gives a task to the program in the sandbox. @throws Error without an answer; the reason of an abort. */
export type SandboxProgram = (task: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** What a script is tried out with. */
export interface TrialParts {
  readonly sandbox: TrialSummary['sandbox'];
  readonly program: SandboxProgram;
  /** Whether the job has been aborted. */
  readonly isAborted: () => boolean;
  /** Earlier outcomes: a job that waited for a child runs again from its beginning, and must decide as before. */
  readonly remembered: RecentMap<string, TrialOutcome>;
}

/**
 * The trials of one script and its corrections. The first one finds data on which the original runs; the others use them, so
 * that the original runs only once.
 */
export class ScriptTrial {
  readonly #original: string;
  readonly #parts: TrialParts;
  #known: { readonly spec: unknown; readonly ran: unknown } | undefined;
  /** Why no correction of this script can be tried out. */
  #impossible: string | undefined;
  readonly #outcomes = new Map<string, TrialOutcome>();

  constructor(original: string, parts: TrialParts) {
    this.#original = neutralizeMagics(original);
    this.#parts = parts;
  }

  /** What became of the corrected scripts that were tried out. */
  get summary(): TrialSummary {
    const outcomes = [...this.#outcomes.values()];
    const count = (wanted: TrialOutcome['outcome']) =>
      outcomes.filter(({ outcome }) => outcome === wanted).length;
    const reason = outcomes.find((one) => one.outcome === 'not-possible');
    return {
      sandbox: this.#parts.sandbox,
      passed: count('passed'),
      refused: count('refused'),
      notPossible: count('not-possible'),
      ...(reason?.outcome === 'not-possible' ? { reason: reason.reason } : {}),
    };
  }

  /**
   * Runs a corrected script on the data of the original.
   * @throws the reason of the job's abort.
   */
  async tryOut(corrected: string): Promise<TrialOutcome> {
    const { remembered } = this.#parts;
    const key = digestOf(JSON.stringify([this.#original, corrected]));
    const outcome = remembered.get(key) ?? (await this.#find(corrected));
    remembered.set(key, outcome);
    this.#outcomes.set(corrected, outcome);
    return outcome;
  }

  async #find(corrected: string): Promise<TrialOutcome> {
    return this.#impossible === undefined
      ? this.#run(neutralizeMagics(corrected))
      : { outcome: 'not-possible', reason: this.#impossible };
  }

  async #run(corrected: string): Promise<TrialOutcome> {
    let answer: Answer;
    try {
      const task = { do: 'trial', original: this.#original, corrected, ...this.#known };
      answer = AnswerSchema.parse(await this.#parts.program(task));
    } catch (thrown) {
      if (this.#parts.isAborted()) throw thrown;
      return { outcome: 'not-possible', reason: `the trial gave no answer: ${messageOf(thrown)}` };
    }
    if ('unfit' in answer) return this.#notPossible(answer.unfit);
    const { original } = answer;
    if (!('corrected' in answer))
      return this.#notPossible(`the original does not run on made-up data: ${failureOf(original)}`);
    this.#known = { spec: answer.spec, ran: original };
    return outcomeOf(answer);
  }

  #notPossible(reason: string): TrialOutcome {
    this.#impossible = reason;
    return { outcome: 'not-possible', reason };
  }
}

function outcomeOf({ original, corrected, again }: Extract<Answer, { corrected: unknown }>): TrialOutcome {
  if (hitLimit(corrected))
    return {
      outcome: 'not-possible',
      reason: `the corrected script had to be ended: ${failureOf(corrected)}`,
    };
  const failed = whatFailed(original, corrected);
  if (failed === undefined) return { outcome: 'passed' };
  // A script may fail now and then, whatever is corrected in it.
  if (again !== undefined && !again.ok)
    return { outcome: 'not-possible', reason: `the original does not run each time: ${failureOf(again)}` };
  return {
    outcome: 'refused',
    reason: `on made-up data the original runs, and the corrected script ${failed}`,
  };
}
