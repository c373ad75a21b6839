import { z } from 'zod';
import { IN_PLACE_ANALYST, type ScriptAnalyst } from '../../src/agents/script-analyst.js';
import { analyzeLeakage, type LeakFinding } from '../../src/leakage/analyze.js';
import { parsesAsPython } from '../../src/solution/parses-as-python.js';
import { isCorrected, rewrittenScript } from '../repairs/rewritten-script.js';
import { wilsonInterval } from './wilson.js';

/** One labeled script: the minimal leaky blocks, and the script without the leak if there is one. */
export const LabeledScriptSchema = z.object({
  id: z.string(),
  kind: z.string(),
  leaky: z.boolean(),
  blocks: z.array(z.string()),
  script: z.string(),
  fixed: z.string().nullish(),
  note: z.string().nullish(),
});
export type LabeledScript = z.infer<typeof LabeledScriptSchema>;

/** A fraction with its 95 % Wilson score interval (Wilson 1927); `null` where nothing was counted. */
export interface Proportion {
  readonly value: number | null;
  readonly count: number;
  readonly of: number;
  readonly low: number;
  readonly high: number;
}

interface Mistake {
  readonly id: string;
  readonly kind: string;
  readonly mistake: 'false-positive' | 'missed' | 'wrong-block' | 'still-leaky' | 'not-python' | 'crashed';
  readonly detail: string;
}

export interface LeakageEvaluation {
  /** Of the scripts called leaky, those that are. */
  readonly precision: Proportion;
  /** Of the leaky scripts, those called leaky. */
  readonly recall: Proportion;
  /** Of the leaky scripts found, those with a reported block that overlaps a labeled one. */
  readonly blocksRight: Proportion;
  /** Of the leaky scripts found, those whose every leak was rewritten, and that are still Python. */
  readonly corrected: Proportion;
  /** Of the leaks found in leaky scripts, those that are corrected, or gone by the correction of another one. */
  readonly correctedLeaks: Proportion;
  /** Of the scripts that were rewritten, those that the analysis still calls leaky, or that are not Python any more. */
  readonly stillLeaky: Proportion;
  readonly mistakes: readonly Mistake[];
}

export function proportion(count: number, of: number): Proportion {
  return { value: of === 0 ? null : count / of, count, of, ...wilsonInterval(count, of) };
}

/** First and last line of the n-th occurrence-free text in a script; nothing where it is not there. */
function linesOf(script: string, block: string): { first: number; last: number } | undefined {
  const at = script.indexOf(block);
  if (at < 0) return undefined;
  const lineAt = (offset: number): number => script.slice(0, offset).split('\n').length;
  return { first: lineAt(at), last: lineAt(at + Math.max(0, block.trimEnd().length - 1)) };
}

/** Whether a reported block is right: its lines overlap those of a labeled block. */
export function isRightBlock(finding: Pick<LeakFinding, 'line' | 'endLine'>, script: LabeledScript): boolean {
  return script.blocks.some((block) => {
    const lines = linesOf(script.script, block);
    return lines !== undefined && finding.line <= lines.last && finding.endLine >= lines.first;
  });
}

/**
 * Measures the analysis and the repair on labeled scripts; the fixed twins count as clean scripts. The
 * scripts are corrected as `fleet check` does it without a model, with the `analyst`.
 */
export async function evaluateLeakage(
  scripts: readonly LabeledScript[],
  analyst: ScriptAnalyst = IN_PLACE_ANALYST,
): Promise<LeakageEvaluation> {
  const mistakes: Mistake[] = [];
  const n = {
    leaky: 0,
    found: 0,
    falsePositives: 0,
    right: 0,
    corrected: 0,
    rewritten: 0,
    still: 0,
    leaks: 0,
    leaksCorrected: 0,
  };
  const addFalsePositive = (id: string, kind: string, findings: readonly LeakFinding[]): void => {
    if (findings.length === 0) return;
    n.falsePositives += 1;
    mistakes.push({
      id,
      kind,
      mistake: 'false-positive',
      detail: findings.map((f) => f.explanation).join(' '),
    });
  };
  for (const script of scripts) {
    const { id, kind } = script;
    const { findings } = await analyzeLeakage(script.script);
    if (typeof script.fixed === 'string') {
      addFalsePositive(`${id} (fixed)`, kind, (await analyzeLeakage(script.fixed)).findings);
    }
    if (!script.leaky) {
      addFalsePositive(id, kind, findings);
      continue;
    }
    n.leaky += 1;
    if (findings.length === 0) {
      mistakes.push({ id, kind, mistake: 'missed', detail: script.note ?? '' });
      continue;
    }
    n.found += 1;
    if (findings.some((finding) => isRightBlock(finding, script))) n.right += 1;
    else {
      const detail = findings.map((f) => `${f.kind} in lines ${f.line}-${f.endLine}`).join(', ');
      mistakes.push({ id, kind, mistake: 'wrong-block', detail });
    }
    const { text, leaks } = await rewrittenScript(script.script, analyst);
    n.leaks += leaks.length;
    n.leaksCorrected += leaks.filter(isCorrected).length;
    if (text === script.script) continue;
    n.rewritten += 1;
    // Python's own parser where there is one: the grammar of the analysis takes some layouts that Python refuses.
    const python = await parsesAsPython(text);
    if (!python.ok && (await parsesAsPython(script.script)).ok) {
      n.still += 1;
      mistakes.push({ id, kind, mistake: 'not-python', detail: `line ${python.line}: ${python.message}` });
      continue;
    }
    const left = (await analyzeLeakage(text)).findings;
    if (left.length === 0) n.corrected += 1;
    else if (leaks.every(isCorrected)) {
      n.still += 1;
      mistakes.push({ id, kind, mistake: 'still-leaky', detail: left.map((f) => f.explanation).join(' ') });
    }
  }
  return {
    precision: proportion(n.found, n.found + n.falsePositives),
    recall: proportion(n.found, n.leaky),
    blocksRight: proportion(n.right, n.found),
    corrected: proportion(n.corrected, n.found),
    correctedLeaks: proportion(n.leaksCorrected, n.leaks),
    stillLeaky: proportion(n.still, n.rewritten),
    mistakes,
  };
}
