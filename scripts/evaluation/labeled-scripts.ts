import { z } from 'zod';
import { analyzeLeakage, type LeakFinding } from '../../src/leakage/analyze.js';
import { repairLeak } from '../../src/leakage/repair/repair-leak.js';
import { parsesAsPython } from '../../src/solution/parses-as-python.js';
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
 * Repairs block after block in the already repaired script, as the check does: where a block has no rewrite, that of the leak
 * alone is tried, and what was declined is tried once more in the end.
 */
async function repairAll(
  script: string,
  findings: readonly LeakFinding[],
  rewrite: typeof repairLeak,
): Promise<{ text: string; repaired: number; declined: string[] }> {
  let text = script;
  let repaired = 0;
  const correct = async (finding: LeakFinding): Promise<string | undefined> => {
    if (!text.includes(finding.codeBlock)) return undefined;
    const shared = await rewrite(text, finding.codeBlock);
    const alone = shared.ok ? undefined : await ownBlockOf(text, finding);
    const repair = alone === undefined ? shared : await rewrite(text, alone);
    if (!repair.ok) return shared.ok ? repair.reason : shared.reason;
    repaired += 1;
    const at = text.indexOf(repair.codeBlock);
    text = text.slice(0, at) + repair.replacement + text.slice(at + repair.codeBlock.length);
    return undefined;
  };
  const open: LeakFinding[] = [];
  for (const finding of findings) if ((await correct(finding)) !== undefined) open.push(finding);
  const declined: string[] = [];
  for (const finding of repaired > 0 ? open : []) {
    const reason = await correct(finding);
    if (reason !== undefined) declined.push(reason);
  }
  return { text, repaired, declined };
}

/** The block of a leak alone, where the reported one is shared with others. */
async function ownBlockOf(script: string, { kind, codeBlock }: LeakFinding): Promise<string | undefined> {
  const { findings } = await analyzeLeakage(script);
  const found = findings.find((one) => one.kind === kind && codeBlock.includes(one.codeBlock));
  const own = found === undefined ? undefined : script.slice(found.ownBlock.start, found.ownBlock.end);
  return own === codeBlock ? undefined : own;
}

/**
 * Measures the analysis and the repair on labeled scripts; the fixed twins count as clean scripts. `rewrite` is what
 * rewrites a block of a script.
 */
export async function evaluateLeakage(
  scripts: readonly LabeledScript[],
  rewrite: typeof repairLeak = repairLeak,
): Promise<LeakageEvaluation> {
  const mistakes: Mistake[] = [];
  const n = { leaky: 0, found: 0, falsePositives: 0, right: 0, corrected: 0, rewritten: 0, still: 0 };
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
    const { text, repaired, declined } = await repairAll(script.script, findings, rewrite);
    if (repaired === 0) continue;
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
    else if (declined.length === 0) {
      n.still += 1;
      mistakes.push({ id, kind, mistake: 'still-leaky', detail: left.map((f) => f.explanation).join(' ') });
    }
  }
  return {
    precision: proportion(n.found, n.found + n.falsePositives),
    recall: proportion(n.found, n.leaky),
    blocksRight: proportion(n.right, n.found),
    corrected: proportion(n.corrected, n.found),
    stillLeaky: proportion(n.still, n.rewritten),
    mistakes,
  };
}
