import { setImmediate } from 'node:timers/promises';
import { analysisAnswer, type NamedLeak } from '../../agents/analysis-answer.js';
import type { AnnotatedLeakageAnswer } from '../../agents/outputs.js';
import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import type { LeakFinding } from '../../leakage/analyze.js';
import type { Finding, FindingSource } from '../../queues/solution-check.js';
import { locateBlock } from '../../solution/locate-block.js';
import { occurrencesOf } from '../../solution/search.js';

/** An answer and its source. */
export type SourcedAnswer = AnnotatedLeakageAnswer & { readonly source: FindingSource } & Pick<
    Finding,
    'agreedBy' | 'objection'
  >;

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
  return missed.map((leak) => ({
    ...analysisAnswer(leak),
    source: 'analysis',
    agreedBy: ['analysis'],
  }));
}

/**
 * The same in the corrected script: leaks that no uncorrected finding covers. Those of low severity count if the model
 * reported a block with their computation, and they remain.
 *
 * @param reported The blocks of the original script that were reported as leaky.
 */
export async function remainingLeaks(
  original: string,
  reported: readonly string[],
  findings: readonly Finding[],
  corrected: string,
  analyst: ScriptAnalyst,
): Promise<LeakFinding[]> {
  const uncorrected = findings.filter(({ outcome }) => outcome === 'uncorrected');
  const blocks = uncorrected.map(({ codeBlock }) => codeBlock);
  const named = reported.map((block) => locateBlock(block, original)).filter((block) => block !== null);
  const known = computationsIn(original, (await analyst.analyze(original)).findings, named);
  const leaks = (await analyst.analyze(corrected)).findings.filter((leak) => {
    if (leak.severity !== 'low') return true;
    return [...computationsIn(corrected, [leak], [leak])].some((text) => known.has(text));
  });
  return leaksOutside(blocks, corrected, leaks);
}

/** The leaking computations inside some spans, each by its kind and its text. */
function computationsIn(script: string, leaks: readonly LeakFinding[], spans: readonly Span[]): Set<string> {
  return new Set(
    leaks.flatMap(({ kind, computations }) =>
      computations
        .filter((one) => spans.some(({ start, end }) => start <= one.start && one.end <= end))
        .map(({ start, end }) => `${kind} ${script.slice(start, end).replaceAll(/\s+/g, '')}`),
    ),
  );
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
