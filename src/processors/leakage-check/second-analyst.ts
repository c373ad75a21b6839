import type { NamedAnalysis } from '../../agents/analysis-answer.js';
import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import { isAnalysisLimit } from '../../errors.js';

const NOT_ANALYZED: NamedAnalysis = {
  findings: [],
  notFollowed: [],
  coverage: 'none',
  hasScore: true,
  exhausted: true,
  scores: 0,
  printedScores: 0,
  parsed: false,
};

/**
 * The analyst as a second opinion in addition to an agent: if it takes too much time or memory, it has no findings and the
 * check goes on. A caller that depends on the analysis, such as the detection without a model, uses the analyst directly
 * and fails.
 * @param note Called with a sentence for each text that exceeded the limits.
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
        note(`static analysis gave no second opinion: ${reason}`);
        return NOT_ANALYZED;
      }),
    repair: (source, block) =>
      unlessLimited(analyst.repair(source, block), (reason) => ({
        ok: false,
        reason: `Not rewritten: ${reason}.`,
      })),
  };
}
