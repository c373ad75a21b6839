import { setImmediate } from 'node:timers/promises';
import { analysisAnswer, type NamedLeak } from '../../agents/analysis-answer.js';
import type { AnnotatedLeakageAnswer } from '../../agents/outputs.js';
import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import type { LeakFinding } from '../../leakage/index.js';
import type { Finding, FindingSource } from '../../queues/solution-check.js';
import { locateBlock, occurrencesOf } from '../../solution/index.js';

/** An answer and its source. */
export type SourcedAnswer = AnnotatedLeakageAnswer & { readonly source: FindingSource };

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The leaks of high or medium severity that static analysis is certain of and that no answer reports: the text of a script
 * can manipulate a model into a "no", but not the analysis.
 */
export async function leaksMissedBy(
  answers: readonly AnnotatedLeakageAnswer[],
  content: string,
  analyst: ScriptAnalyst,
): Promise<SourcedAnswer[]> {
  const leaky = answers.filter((answer) => answer.leakage_status === 'Yes Data Leakage');
  const blocks = leaky.map(({ code_block }) => code_block);
  const missed = await leaksOutside(blocks, content, await seriousLeaks(content, analyst));
  return missed.map((leak) => ({ ...analysisAnswer(leak), source: 'analysis' }));
}

/**
 * The same in the corrected script: serious leaks that no uncorrected finding covers.
 */
export async function remainingLeaks(
  findings: readonly Finding[],
  corrected: string,
  analyst: ScriptAnalyst,
): Promise<LeakFinding[]> {
  const uncorrected = findings.filter(({ outcome }) => outcome === 'uncorrected');
  const blocks = uncorrected.map(({ codeBlock }) => codeBlock);
  return leaksOutside(blocks, corrected, await seriousLeaks(corrected, analyst));
}

async function seriousLeaks(content: string, analyst: ScriptAnalyst): Promise<NamedLeak[]> {
  const { findings } = await analyst.analyze(content);
  return findings.filter(({ severity }) => severity !== 'low');
}

/**
 * The leaks that no occurrence of any block overlaps: a model cannot say which occurrence it means. Each search reads the
 * whole script, so other work runs between two searches.
 */
async function leaksOutside<Leak extends Span>(
  blocks: readonly string[],
  content: string,
  leaks: readonly Leak[],
): Promise<Leak[]> {
  let left = [...leaks];
  for (const block of blocks) {
    if (left.length === 0) break;
    const text = locateBlock(block, content)?.text ?? '';
    for (const start of occurrencesOf(text, content)) {
      const occurrence = { start, end: start + text.length };
      if (left.some((leak) => overlaps(occurrence, leak)))
        left = left.filter((leak) => !overlaps(occurrence, leak));
      if (left.length === 0) break;
    }
    await setImmediate();
  }
  return left;
}

function overlaps(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end;
}
