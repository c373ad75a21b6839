import type { Config } from '../../config/settings.js';
import type { LocalProcessing } from '../../local/local-processing.js';
import { configuredLimits } from '../text-limits.js';
import { configuredTrials } from '../trial-settings.js';

/** Static analysis in this process whose threads start with its first use: most servers of agents are never asked. */
export class LocalAnalysis {
  readonly #config: Config;
  #processing: Promise<LocalProcessing> | undefined;

  constructor(config: Config) {
    this.#config = config;
  }

  get(): Promise<LocalProcessing> {
    this.#processing ??= this.#start();
    return this.#processing;
  }

  async close(): Promise<void> {
    await (await this.#processing)?.close();
  }

  async #start(): Promise<LocalProcessing> {
    const { LocalProcessing: Processing } = await import('../../local/local-processing.js');
    const { analysisTimeoutMs, analysisHeapMb } = this.#config;
    return new Processing({
      analysis: { timeoutMs: analysisTimeoutMs, heapMb: analysisHeapMb },
      texts: configuredLimits(this.#config),
      trials: configuredTrials(this.#config),
    });
  }
}
