import { abortable } from '../async.js';
import type { Config } from '../config/settings.js';
import { LocalProcessing, type LocalSettings } from '../local/local-processing.js';
import { interruptible } from './interruption.js';
import { escapeControlCharsInLine } from './terminal/escape-control-chars.js';
import { printNote } from './terminal/print.js';
import { configuredLimits } from './text-limits.js';
import { configuredTrials } from './trial-settings.js';

/**
 * Does the work of a command in this process. SIGINT and SIGTERM end it, and it throws `Interrupted`.
 * @param reason Why no model is asked, as a line for people.
 */
export function withLocalProcessing<T>(
  config: Config,
  reason: string,
  action: (processing: LocalProcessing, signal: AbortSignal) => Promise<T>,
  options: Pick<LocalSettings, 'threads'> = {},
): Promise<T> {
  return interruptible(async (interrupted) => {
    const processing = new LocalProcessing({
      analysis: { timeoutMs: config.analysisTimeoutMs, heapMb: config.analysisHeapMb },
      texts: configuredLimits(config),
      trials: configuredTrials(config),
      ...options,
    });
    printNote(escapeControlCharsInLine(reason));
    try {
      return await abortable(action(processing, interrupted), interrupted);
    } finally {
      await processing.close();
    }
  });
}
