import { analyzeLeakage, type LeakFinding } from '../leakage/analyze.js';
import { equalTextBefore, occurrencesOf } from '../solution/search.js';
import type { NamedAnalysis } from './analysis-answer.js';

/** The analysis, with the block of each finding: looking for them takes long in a script that repeats itself. */
export async function analyzeAndName(source: string): Promise<NamedAnalysis> {
  const analysis = await analyzeLeakage(source);
  const findings = analysis.findings.map((leak) => ({ ...leak, uniqueBlock: uniqueBlock(leak, source) }));
  return { ...analysis, findings };
}

/**
 * The finding's block, widened upwards by lines until it occurs in the script only once. Takes time proportional to the script's
 * length, also in a script of the same lines over and over.
 */
function uniqueBlock({ start, end }: LeakFinding, code: string): string {
  const block = code.slice(start, end);
  const others = [...occurrencesOf(block, code)].filter((offset) => offset !== start);
  if (others.length === 0) return block;
  const alike = equalTextBefore(start, code);
  const longest = others.reduce((most, offset) => Math.max(most, alike[offset] as number), 0);
  let from = start;
  while (from > 0 && start - from <= longest) {
    // An offset below zero would count as zero, and a line break there be found again and again.
    from = from < 2 ? 0 : code.lastIndexOf('\n', from - 2) + 1;
  }
  return code.slice(from, end);
}
