import type { NamedAnalysis, NamedLeak } from '../agents/analysis-answer.js';
import { createOfflineRunner } from '../agents/offline-runner.js';
import { InternalError } from '../errors.js';
import type { ComputeLimits } from '../fleet/two-lanes.js';
import { assertReadable } from '../processors/leakage-check/assert-readable.js';
import type { ProvenRewrite } from '../processors/leakage-check/prove-rewrite.js';
import type { LocalWork } from '../processors/processor.js';
import type { ExtractResult } from '../queues/extract.js';
import { type BuiltInKindName, KINDS, type PayloadOf, type ResultOf } from '../queues/registry.js';
import type { SolutionCheckPayload, SolutionCheckResult } from '../queues/solution-check.js';
import type { SummarizePayload, SummarizeResult } from '../queues/summarize.js';
import {
  checkedResult,
  checkTextSizes,
  completePayload,
  parsePayload,
  type TextLimits,
} from '../queues/validate.js';
import type { TrialSettings } from '../trial/settings.js';
import { Trials } from '../trial/trials.js';
import { AnalysisThreads } from './analysis-threads.js';

export interface LocalSettings {
  /** Of the analysis of one text. */
  readonly analysis: ComputeLimits;
  readonly texts: TextLimits;
  /** How scripts are tried out, where that is asked for. */
  readonly trials: Partial<TrialSettings>;
  /** How many threads analyze; default: the number of cores. */
  readonly threads?: number;
}

/** What a check needs that starts no other jobs. */
export type LocalCheck = Pick<SolutionCheckPayload, 'solution' | 'trial'>;

/** A refinement step without a fleet: what `addRefinementStep` does with two jobs. */
export interface LocalRefinement {
  readonly summarize: SummarizePayload;
  readonly extract: PayloadOf<'extract'>;
}

type Process<K extends BuiltInKindName> = (payload: PayloadOf<K>, work: LocalWork) => Promise<ResultOf<K>>;

const SILENT = { info: () => undefined, warn: () => undefined };

/**
 * Does what jobs do in this process: by static analysis, without a Redis, without a model and without a network. Payloads, processors,
 * limits and results are those of the fleet. What happens to one text happens to it alone: if its analysis takes too much
 * time or memory, or ends its thread, only its own promise is rejected.
 */
export class LocalProcessing {
  readonly #threads: AnalysisThreads;
  readonly #texts: TextLimits;
  readonly #trials: Trials;
  readonly #runner = createOfflineRunner();

  constructor({ analysis, texts, trials, threads }: LocalSettings) {
    this.#threads = new AnalysisThreads(analysis, threads);
    this.#texts = texts;
    this.#trials = new Trials(trials);
  }

  /** How many payloads keep all cores busy. */
  get atOnce(): number {
    return this.#threads.scriptsAtOnce;
  }

  /**
   * The result of a `solution-check` job.
   * @throws PayloadError, AgentError, AnalysisLimitError and TrialError as the job; the AbortError of the signal.
   */
  check(payload: LocalCheck, signal: AbortSignal): Promise<SolutionCheckResult> {
    return this.#do('solution-check', payload, signal, async (parsed, work) => {
      const { checkOnce } = await import('../processors/solution-check.js');
      return checkOnce(parsed, work);
    });
  }

  /**
   * The leaks of a script, without their corrections: a part of what `check` does.
   * @throws as `check`.
   */
  analyze(content: string, signal: AbortSignal): Promise<NamedAnalysis> {
    this.#checked('solution-check', { solution: { content } });
    assertReadable(content);
    return this.#threads.use((analysis) => analysis.analystFor({ tenant: '', signal }).analyze(content));
  }

  /**
   * The rewrite of one of these leaks alone, if it is shown to change nothing but the leak.
   * @throws as `check`.
   */
  proveRewrite(content: string, leak: NamedLeak, signal: AbortSignal): Promise<ProvenRewrite | undefined> {
    return this.#threads.use(async (analysis) => {
      const { proveRewrite } = await import('../processors/leakage-check/prove-rewrite.js');
      return proveRewrite(content, leak, analysis.analystFor({ tenant: '', signal }));
    });
  }

  /**
   * The results of a `summarize` job and of the `extract` job that waits for it.
   * @throws as `check`.
   */
  async refine(
    { summarize, extract }: LocalRefinement,
    signal: AbortSignal,
  ): Promise<{ readonly summary: SummarizeResult; readonly extracted: ExtractResult }> {
    // What cannot be extracted from is refused before anything is computed.
    this.#checked('extract', extract);
    const summary = await this.summarize(summarize, signal);
    const complete = completePayload('extract', extract, [{ kind: 'summarize', result: summary }]);
    return { summary, extracted: await this.extract(complete, signal) };
  }

  /** The result of a `summarize` job. @throws as `check`. */
  summarize(payload: SummarizePayload, signal: AbortSignal): Promise<SummarizeResult> {
    return this.#do('summarize', payload, signal, async (parsed, work) => {
      const { processSummarize } = await import('../processors/summarize.js');
      return processSummarize(parsed, work);
    });
  }

  /** The result of an `extract` job. @throws as `check`. */
  extract(payload: PayloadOf<'extract'>, signal: AbortSignal): Promise<ExtractResult> {
    return this.#do('extract', payload, signal, async (parsed, work) => {
      const { extractBlock } = await import('../processors/extract/extract-block.js');
      return extractBlock(parsed, work);
    });
  }

  /** Ends the threads at once, whatever they are doing. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  #checked<K extends BuiltInKindName>(kind: K, payload: PayloadOf<K>): PayloadOf<K> {
    const parsed = parsePayload(kind, payload);
    checkTextSizes(kind, parsed, this.#texts);
    return parsed;
  }

  async #do<K extends BuiltInKindName>(
    kind: K,
    payload: PayloadOf<K>,
    signal: AbortSignal,
    process: Process<K>,
  ): Promise<ResultOf<K>> {
    const parsed = this.#checked(kind, payload);
    const result = await this.#threads.use((analysis) =>
      process(parsed, {
        runner: this.#runner,
        analyst: analysis.analystFor({ tenant: '', signal }),
        trials: this.#trials,
        signal,
        log: SILENT,
        progress: () => undefined,
      }),
    );
    const failure = (message: string, cause: unknown) => new InternalError(message, { cause });
    return checkedResult(KINDS[kind], result, failure) as ResultOf<K>;
  }
}
