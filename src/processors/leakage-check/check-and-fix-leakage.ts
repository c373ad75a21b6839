import { setImmediate } from 'node:timers/promises';
import type { AgentRunner, WorkLog } from '../../agents/agent-runner.js';
import type { AnnotatedLeakageAnswer } from '../../agents/outputs.js';
import { analyzedOnce, IN_PLACE_ANALYST, type ScriptAnalyst } from '../../agents/script-analyst.js';
import type { JobFiles } from '../../agents/workspace/job-files.js';
import { isAnalysisLimit, PayloadError } from '../../errors.js';
import { digestOf, type Solution } from '../../queues/common.js';
import {
  type Finding,
  type FindingSource,
  type SolutionCheckResult,
  statusOf,
} from '../../queues/solution-check.js';
import {
  type LocatedBlock,
  locateBlock,
  misleadingEncoding,
  type ParseResult,
} from '../../solution/index.js';
import { agentStamp, withNotes } from '../agent-stamp.js';
import { UsageMeter } from '../usage-meter.js';
import { type CorrectionContext, correctBlock, rewriteBlock } from './correct-block.js';
import { CorrectedScript } from './corrected-script.js';
import { askWithMoreContext, detectLeakage } from './detect-leakage.js';
import { leaksLeftBehind, leaksMissedBy, type SourcedAnswer } from './missed-leaks.js';
import { secondAnalyst } from './second-analyst.js';
import { annotationAt } from './second-opinion.js';
import type { CorrectionResult } from './validate-correction.js';

export interface LeakageCheckOptions {
  /** Directory below which the agent may read files. */
  readonly workspace?: string;
  readonly model?: string;
  /** The job's files; default: the workspace above, whichever it is. */
  readonly files?: JobFiles;
  readonly signal?: AbortSignal;
  readonly log?: WorkLog;
  /** Who analyzes; default: functions in place. */
  readonly analyst?: ScriptAnalyst;
  readonly onProgress?: (step: string) => void;
}

/**
 * Detects data leakage in a script and corrects the leaky blocks one after the other (REQ-SF-020, MLE-STAR
 * paper, section 3.4). The correction agent is only asked after a "Yes".
 *
 * @returns the whole result of a `solution-check` job; `result.solution` is the script that may be evaluated.
 * @throws PayloadError where the script is empty; AgentError where the detection gave no usable answer or a call
 *   failed: it never passes a script that was not checked.
 */
export async function checkAndFixLeakage(
  solution: Solution,
  runner: AgentRunner,
  options: LeakageCheckOptions = {},
): Promise<SolutionCheckResult> {
  if (solution.content === '') {
    throw new PayloadError('invalid-payload', 'solution.content: the script is empty', {
      field: 'solution.content',
    });
  }
  const encoding = misleadingEncoding(solution.content);
  if (encoding !== undefined) {
    throw new PayloadError(
      'invalid-payload',
      `solution.content: the script declares the encoding ${encoding}, by which Python reads other code than this text`,
      { field: 'solution.content' },
    );
  }
  const meter = new UsageMeter();
  // A model may be talked into anything by the text of the script. Static analysis answers beside it.
  const source: FindingSource = runner.name === 'offline' ? 'analysis' : 'agent';
  const analyst = analyzedOnce(options.analyst ?? IN_PLACE_ANALYST);
  const limited = new Set<string>();
  const second = secondAnalyst(analyst, (sentence) => limited.add(sentence));
  options.onProgress?.('detecting');
  const [detection, parsed] = await Promise.all([
    detectLeakage(solution, { ...options, runner, meter, analyst }),
    analyst.parses(solution.content).catch(parsingLimited),
  ]);
  const context: CorrectionContext = {
    ...options,
    runner,
    meter,
    analyst: second,
    parsedBefore: parsed.ok,
    isFollowed: source === 'agent' || !(await analyst.analyze(solution.content)).exhausted,
  };
  const notes = parsed.ok
    ? []
    : [`parsing was off: the script is not valid Python (line ${parsed.line}: ${parsed.message})`];
  const { notFollowed } = detection.output;
  const named = detection.output.answers.map((answer) => ({ ...answer, source }));
  const missed = source === 'analysis' ? [] : await leaksMissedBy(named, solution.content, second);
  if (missed.length > 0) {
    notes.push(
      `static analysis is certain of ${leakCount(missed)} that the agent did not name; see the findings`,
    );
  }
  if (source === 'agent' && limited.size === 0 && (await second.analyze(solution.content)).exhausted) {
    notes.push('static analysis could not follow the script to its end, so it is no second opinion');
  }
  const answers: readonly SourcedAnswer[] = [...named, ...missed];
  const leaky = answers.filter((answer) => answer.leakage_status === 'Yes Data Leakage');

  const script = new CorrectedScript(solution.content);
  const findings: Finding[] = [];
  for (const answer of answers) {
    if (answer.leakage_status === 'No Data Leakage') {
      findings.push(withoutLeakage(answer, solution));
      // Each takes a look at the whole script, and nobody else waits for all of them.
      await setImmediate();
    } else {
      const number = leaky.indexOf(answer) + 1;
      options.onProgress?.(`correcting ${number}/${leaky.length}`);
      findings.push(await correctFinding(answer, number, solution, script, context));
    }
  }
  if (source === 'agent' && script.content !== solution.content) {
    findings.push(...(await findingsLeftBehind(findings, script.content, second)));
  }

  return {
    status: statusOf(findings),
    solution: { content: script.content },
    solutionDigest: digestOf(solution.content),
    findings,
    ...(notFollowed === undefined ? {} : { notFollowed }),
    usage: meter.total,
    agent: agentStamp(runner, detection),
    ...withNotes([...notes, ...limited, ...duplicateNotes(findings), ...(detection.notes ?? [])]),
  };
}

/** Whether it is Python took too much to find out: corrections are then checked as in a script that is none. */
function parsingLimited(thrown: unknown): ParseResult {
  if (!isAnalysisLimit(thrown)) throw thrown;
  const message = `whether it is Python is not known: ${thrown.message}`;
  return { ok: false, exact: false, line: 1, column: 1, message };
}

function leakCount({ length }: readonly unknown[]): string {
  return length === 1 ? 'a leak' : `${length} leaks`;
}

/** Leaks in the corrected script that no finding speaks of, as findings: they keep the script from counting as corrected. */
async function findingsLeftBehind(
  findings: readonly Finding[],
  corrected: string,
  analyst: ScriptAnalyst,
): Promise<Finding[]> {
  const left = await leaksLeftBehind(findings, corrected, analyst);
  return left.map(({ codeBlock, kind, severity, explanation }) => ({
    leakageStatus: 'Yes Data Leakage',
    codeBlock,
    kind,
    severity,
    outcome: 'uncorrected',
    reason: `in the corrected script static analysis is certain of this leak: ${explanation}`,
    source: 'analysis',
  }));
}

/** A corrected block of which the script has another copy: which one was meant, nobody could tell. */
function duplicateNotes(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ outcome, occurrences = 1 }, index) =>
    outcome === 'corrected' && occurrences > 1
      ? [
          `the block of finding ${index + 1} occurs ${occurrences} times in the script; one of them was corrected`,
        ]
      : [],
  );
}

function withoutLeakage(answer: SourcedAnswer, solution: Solution): Finding {
  const located = locateBlock(answer.code_block, solution.content);
  return {
    leakageStatus: answer.leakage_status,
    codeBlock: located?.text ?? answer.code_block,
    outcome: 'no-leakage',
    source: answer.source,
  };
}

async function correctFinding(
  given: SourcedAnswer,
  number: number,
  solution: Solution,
  script: CorrectedScript,
  context: CorrectionContext,
): Promise<Finding> {
  const { source } = given;
  // The blocks of the analysis stand in the script once, where they can.
  const answer =
    source === 'analysis' && context.runner.name !== 'offline'
      ? given
      : await askWithMoreContext(given, solution, `detect-again-${number}`, context);
  const original = locateBlock(answer.code_block, solution.content);
  const described = {
    leakageStatus: answer.leakage_status,
    source,
    ...(await descriptionOf(answer, original, solution, context)),
  };
  const located = script.locate(answer.code_block);
  if (located === null) return { ...described, ...goneFinding(answer, original, number, script, context) };
  const found = {
    ...described,
    codeBlock: located.text,
    occurrences: located.occurrences,
    matched: located.matched,
  };
  const correction = context.isFollowed
    ? await corrected(located, source, number, script, context)
    : NOT_FOLLOWED;
  if (!correction.ok) {
    context.log?.warn(`finding ${number} stays uncorrected: ${correction.problem}`);
    return {
      ...found,
      outcome: 'uncorrected',
      reason: [answer.reason, correction.problem].filter(Boolean).join(' '),
    };
  }
  script.correct(located, correction.block);
  return {
    ...found,
    outcome: 'corrected',
    correctedBlock: correction.block,
    correctedAt: located.start,
    ...(correction.notes === undefined ? {} : { notes: [...correction.notes] }),
    ...(answer.reason === undefined ? {} : { reason: answer.reason }),
  };
}

/** Where the analysis alone checks and has not seen all of a script, a script with corrections would count as free of leaks. */
const NOT_FOLLOWED: CorrectionResult = {
  ok: false,
  problem: 'Static analysis could not follow the script to its end, so it corrects nothing in it.',
};

async function corrected(
  located: LocatedBlock,
  source: FindingSource,
  number: number,
  script: CorrectedScript,
  context: CorrectionContext,
): Promise<CorrectionResult> {
  const isRewritten = source === 'analysis' && context.runner.name !== 'offline';
  const rewritten = isRewritten ? await rewriteBlock(located, script, context) : undefined;
  return rewritten ?? correctBlock(located, script, `correct-${number}`, context);
}

/** What is said of a block that cannot be located: REQ-SF-021, decision 6. */
function goneFinding(
  { code_block }: AnnotatedLeakageAnswer,
  original: LocatedBlock | null,
  number: number,
  script: CorrectedScript,
  { log }: CorrectionContext,
): Pick<Finding, 'codeBlock' | 'outcome' | 'reason'> {
  const codeBlock = original?.text ?? code_block;
  const gone = script.whyGone(code_block);
  if (gone === 'superseded') {
    return { codeBlock, outcome: 'superseded', reason: 'an earlier correction replaced this block' };
  }
  const reason =
    gone === 'cut-into'
      ? 'an earlier correction changed a part of this block, and the rest of it could not be told apart'
      : 'the block that was named is not in the script';
  log?.warn(`finding ${number}: ${reason}; it is skipped`);
  return { codeBlock, outcome: gone === 'cut-into' ? 'uncorrected' : 'not-found', reason };
}

/** Kind and severity: the agent's own words, or what static analysis knows at the place. */
async function descriptionOf(
  { kind, severity }: AnnotatedLeakageAnswer,
  place: LocatedBlock | null,
  solution: Solution,
  { analyst }: CorrectionContext,
): Promise<Pick<Finding, 'kind' | 'severity'>> {
  if (kind !== undefined && severity !== undefined) return { kind, severity };
  return place === null ? {} : ((await annotationAt(solution.content, place, analyst)) ?? {});
}
