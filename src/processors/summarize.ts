import { shortenOutput } from '../ablation/shorten-output.js';
import { AgentConfig } from '../agents/agent-config.js';
import { AgentType } from '../agents/agent-type.js';
import { withoutControls } from '../agents/well-formed.js';
import { isAnalysisLimit } from '../errors.js';
import type { SummarizePayload, SummarizeResult } from '../queues/summarize.js';
import { agentProvenance, withNotes } from './agent-provenance.js';
import type { LocalWork } from './processor.js';
import { UsageMeter } from './usage-meter.js';

/**
 * Maximum length of the printed output in a prompt, in characters. Printed numbers take about 2.5 characters a token, so
 * this leaves room for the code in a window of 200,000 tokens.
 */
const MAX_OUTPUT_LENGTH = 300_000;

/**
 * Summarizes the printed output of an ablation study (REQ-P2O-008 … 011). The summary is the whole text of the
 * answer without control characters; the notes list numbers in it that the output does not support.
 */
export async function processSummarize(
  { ablationCode, rawOutput, model }: SummarizePayload,
  work: LocalWork,
): Promise<SummarizeResult> {
  const notes: string[] = [];
  const { text, removed } = shortenOutput(rawOutput, MAX_OUTPUT_LENGTH);
  if (removed > 0) {
    const note = `rawOutput was shortened: ${removed} characters in its middle were left out`;
    work.log.warn(note);
    notes.push(note);
  }
  work.progress('summarizing');
  const meter = new UsageMeter();
  const answer = await meter.count(
    work.runner.ask(
      {
        agent: new AgentConfig({ agentType: AgentType.summarize }),
        variables: { ablation_code: ablationCode, raw_result: text },
        step: 'summarize',
        ...(model === undefined ? {} : { model }),
      },
      work,
    ),
  );
  const summary = withoutControls(answer.output);
  const { numbers, hasScores } = await checkNumbers(summary, rawOutput, ablationCode, work.analyst).catch(
    (thrown: unknown) => {
      // The summary exists and may be paid for: it is returned with a note that its numbers were not checked.
      if (!isAnalysisLimit(thrown)) throw thrown;
      return { numbers: [`the numbers of the summary were not checked: ${thrown.message}`], hasScores: true };
    },
  );
  for (const note of numbers) work.log.warn(note);
  return {
    summary,
    ...(hasScores ? {} : { withoutScores: true }),
    usage: meter.total,
    agent: agentProvenance(work.runner, answer),
    ...withNotes([...notes, ...(answer.notes ?? []), ...numbers]),
  };
}

/** Notes on what the printed output does not support in the summary, and whether the output has scores. */
async function checkNumbers(
  summary: string,
  rawOutput: string,
  ablationCode: string,
  analyst: LocalWork['analyst'],
): Promise<{ numbers: string[]; hasScores: boolean }> {
  const { unsupported, rankingWithoutScores, hasScores } = await analyst.findUnsupportedNumbers({
    summary,
    rawOutput,
    ablationCode,
  });
  const notes: string[] = [];
  if (unsupported.length > 0) {
    notes.push(
      `numbers in the summary that neither occur in the output nor follow from two of its numbers: ${unsupported.join(', ')}`,
    );
  }
  if (rankingWithoutScores) notes.push('the summary ranks components, but the output contains no score');
  return { numbers: notes, hasScores };
}
