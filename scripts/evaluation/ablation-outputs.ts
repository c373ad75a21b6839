import { z } from 'zod';
import { summarizeAblation } from '../../src/ablation/index.js';

const RowSchema = z.object({
  id: z.string(),
  raw_output: z.string(),
  ablation_code: z.string().optional(),
  components: z.record(z.string(), z.number().nullable()),
  expected: z.object({
    most_impactful: z.array(z.string()),
    least_impactful: z.array(z.string()),
    usable: z.boolean(),
  }),
});

export interface EvaluatedOutput {
  readonly id: string;
  readonly expectedMost: readonly string[];
  readonly expectedLeast: readonly string[];
  readonly expectedUsable: boolean;
  readonly mostRight: boolean;
  readonly leastRight: boolean;
  readonly usableRight: boolean;
  readonly summary: string;
}

/** Which of the names a sentence says first; longer names win where two start at the same offset. */
function firstNamed(sentence: string, names: readonly string[]): string | undefined {
  const text = sentence.toLowerCase();
  const found = names
    .map((name) => ({ name, at: text.indexOf(name.toLowerCase()) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at || b.name.length - a.name.length);
  return found[0]?.name;
}

function sentenceWith(summary: string, words: string): string | undefined {
  return summary.split('\n').find((line) => line.toLowerCase().includes(words));
}

/** Checks the summaries as a reader would: by the component that each of the two sentences names first. */
export async function evaluateOutputs(jsonLines: string): Promise<EvaluatedOutput[]> {
  const evaluated: EvaluatedOutput[] = [];
  for (const line of jsonLines.split('\n')) {
    if (line.trim() === '') continue;
    const row = RowSchema.parse(JSON.parse(line));
    const summary = await summarizeAblation({
      ablationCode: row.ablation_code ?? '',
      rawOutput: row.raw_output,
    });
    const names = [
      ...new Set([
        ...Object.keys(row.components),
        ...row.expected.most_impactful,
        ...row.expected.least_impactful,
      ]),
    ];
    const most = sentenceWith(summary, 'most impactful component is');
    const least = sentenceWith(summary, 'least impactful component is');
    const { most_impactful, least_impactful, usable } = row.expected;
    evaluated.push({
      id: row.id,
      expectedMost: most_impactful,
      expectedLeast: least_impactful,
      expectedUsable: usable,
      mostRight: !usable || most_impactful.includes(firstNamed(most ?? '', names) ?? ''),
      leastRight: !usable || least_impactful.includes(firstNamed(least ?? '', names) ?? ''),
      usableRight: usable === (most !== undefined),
      summary,
    });
  }
  return evaluated;
}
