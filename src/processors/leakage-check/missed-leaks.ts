import { setImmediate } from 'node:timers/promises';
import { analysisAnswer, type NamedLeak } from '../../agents/analysis-answer.js';
import type { AnnotatedLeakageAnswer } from '../../agents/outputs.js';
import type { ScriptAnalyst } from '../../agents/script-analyst.js';
import type { LeakFinding } from '../../leakage/index.js';
import type { Finding, FindingSource } from '../../queues/solution-check.js';
import { locateBlock } from '../../solution/index.js';

/** An answer, and whose it is. */
export type SourcedAnswer = AnnotatedLeakageAnswer & { readonly source: FindingSource };

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The leaks of high or medium severity that static analysis is certain of and that no answer names: the text of a script
 * can talk a model into a "no", and the analysis into nothing.
 */
export async function leaksMissedBy(
  answers: readonly AnnotatedLeakageAnswer[],
  content: string,
  analyst: ScriptAnalyst,
): Promise<SourcedAnswer[]> {
  const leaky = answers.filter((answer) => answer.leakage_status === 'Yes Data Leakage');
  const named = await spansOfAll(
    leaky.map(({ code_block }) => code_block),
    content,
  );
  return (await seriousLeaks(content, analyst))
    .filter((leak) => !named.some((span) => overlaps(span, leak)))
    .map((leak) => ({ ...analysisAnswer(leak), source: 'analysis' }));
}

/**
 * The same in the script as it was corrected: leaks that neither are among the findings that stay uncorrected, nor were
 * there to be found before.
 */
export async function leaksLeftBehind(
  findings: readonly Finding[],
  corrected: string,
  analyst: ScriptAnalyst,
): Promise<LeakFinding[]> {
  const uncorrected = findings.filter(({ outcome }) => outcome === 'uncorrected');
  const reported = await spansOfAll(
    uncorrected.map(({ codeBlock }) => codeBlock),
    corrected,
  );
  return (await seriousLeaks(corrected, analyst)).filter(
    (leak) => !reported.some((span) => overlaps(span, leak)),
  );
}

async function seriousLeaks(content: string, analyst: ScriptAnalyst): Promise<NamedLeak[]> {
  const { findings } = await analyst.analyze(content);
  return findings.filter(({ severity }) => severity !== 'low');
}

/** Places of many blocks. Each takes a look at the whole script, and nobody else waits for all of them. */
async function spansOfAll(blocks: readonly string[], content: string): Promise<Span[]> {
  const spans: Span[] = [];
  for (const block of blocks) {
    for (const span of spansOf(block, content)) spans.push(span);
    await setImmediate();
  }
  return spans;
}

/** Every place where a block stands: a model cannot say which one it means. */
function spansOf(block: string, content: string): Span[] {
  const located = locateBlock(block, content);
  if (located === null) return [];
  const spans: Span[] = [];
  const { text } = located;
  for (let at = located.start; at !== -1; at = content.indexOf(text, at + text.length)) {
    spans.push({ start: at, end: at + text.length });
  }
  return spans;
}

function overlaps(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end;
}
