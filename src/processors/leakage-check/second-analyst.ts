import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import { isAnalysisLimit } from '../../errors.js';

/**
 * The analyst as a second opinion beside an agent: where it takes too much time or memory it has no opinion, and the check
 * goes on. What decides by itself, as the detection without a model, asks the analyst itself and fails.
 * @param note Takes a sentence for each text that it has no opinion on.
 */
export function secondAnalyst(analyst: ScriptAnalyst, note: (sentence: string) => void): ScriptAnalyst {
  const unlessLimited = <T>(computed: Promise<T>, otherwise: (reason: string) => T): Promise<T> =>
    computed.catch((thrown: unknown) => {
      if (!isAnalysisLimit(thrown)) throw thrown;
      return otherwise(thrown.message);
    });
  return {
    ...analyst,
    analyze: (source) =>
      unlessLimited(analyst.analyze(source), (reason) => {
        note(`static analysis was not followed as a second opinion: ${reason}`);
        return { findings: [], notFollowed: [], exhausted: true, scores: 0, printedScores: 0, parsed: false };
      }),
    repair: (source, block) =>
      unlessLimited(analyst.repair(source, block), (reason) => ({
        ok: false,
        reason: `Not rewritten: ${reason}.`,
      })),
  };
}
