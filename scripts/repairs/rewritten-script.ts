import { createOfflineRunner } from '../../src/agents/offline-runner.js';
import { IN_PLACE_ANALYST, type ScriptAnalyst } from '../../src/agents/script-analyst.js';
import { checkAndFixLeakage } from '../../src/processors/leakage-check/check-and-fix-leakage.js';
import type { Finding } from '../../src/queues/solution-check.js';

export interface RewrittenScript {
  readonly text: string;
  /** The leaks, each with what became of it. */
  readonly leaks: readonly Finding[];
  /** Kinds of the leaks that were rewritten. */
  readonly kinds: ReadonlySet<string>;
}

/** A script as a check leaves it that asks no model, as `fleet check` does. */
export async function rewrittenScript(
  script: string,
  analyst: ScriptAnalyst = IN_PLACE_ANALYST,
): Promise<RewrittenScript> {
  const { solution, findings } = await checkAndFixLeakage({ content: script }, createOfflineRunner(), {
    analyst,
  });
  const leaks = findings.filter(({ outcome }) => outcome !== 'no-leakage');
  const kinds = leaks.flatMap(({ outcome, kind }) =>
    outcome === 'corrected' && kind !== undefined ? [kind] : [],
  );
  return { text: solution.content, leaks, kinds: new Set(kinds) };
}

/** Whether the leak is gone from the corrected script, by its own correction or by that of another one. */
export function isCorrected({ outcome }: Finding): boolean {
  return outcome === 'corrected' || outcome === 'superseded';
}
