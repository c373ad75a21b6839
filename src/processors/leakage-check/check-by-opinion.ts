import { setImmediate } from 'node:timers/promises';
import type { AgentRunner } from '../../agents/agent-runner.js';
import type { AnnotatedLeakageAnswer } from '../../agents/outputs.js';
import { analyzedOnce, IN_PLACE_ANALYST, type ScriptAnalyst } from '../../agents/script-analyst.js';
import { isAnalysisLimit } from '../../errors.js';
import type { Solution } from '../../queues/common.js';
import { digestOf } from '../../queues/digest.js';
import {
  type Finding,
  type FindingSource,
  type Opinion,
  type SolutionCheckResult,
  statusOf,
} from '../../queues/solution-check.js';
import { type LocatedBlock, locateBlock } from '../../solution/locate-block.js';
import type { ParseResult } from '../../solution/parses-as-python.js';
import { agentProvenance, withNotes } from '../agent-provenance.js';
import { UsageMeter } from '../usage-meter.js';
import type { LeakageCheckOptions } from './check-options.js';
import {
  type CorrectionContext,
  correctBlock,
  type LocatedCorrection,
  rewriteBlock,
} from './correct-block.js';
import { CorrectedScript } from './corrected-script.js';
import { coverageFields } from './coverage-fields.js';
import { detectLeakage, requestMoreContext } from './detect-leakage.js';
import { leaksMissedBy, remainingLeaks, type SourcedAnswer } from './missed-leaks.js';
import { requestObjections } from './objections.js';
import { secondAnalyst } from './second-analyst.js';
import { annotationOf, leaksMeant, type MeantLeak, movedLeak, type Span, worstOf } from './second-opinion.js';
import { type SharedCorrection, sharedCorrections } from './shared-corrections.js';
import type { CorrectionResult } from './validate-correction.js';

/** How a check is made. */
export interface CheckPlan {
  /** Whose findings count beside a model. */
  readonly opinion: Exclude<Opinion, 'static-first'>;
  /** Asks the agent for leaks; default: with the whole script. */
  readonly detect?: typeof detectLeakage;
  /** The agent was shown what the analysis is certain of when it was asked for leaks, so it is not asked again. */
  readonly showsLeaks?: boolean;
  /** A leak that both name is rewritten without a call, if that is certain. */
  readonly rewritesFirst?: boolean;
}

/**
 * Checks a script by one opinion: detects leaks and corrects the leaky blocks one after the other (REQ-SF-020, MLE-STAR paper,
 * section 3.4). The correction agent is only called after a "Yes".
 *
 * @throws as `checkAndFixLeakage`.
 */
export async function checkByOpinion(
  solution: Solution,
  runner: AgentRunner,
  options: LeakageCheckOptions,
  { opinion, detect = detectLeakage, showsLeaks = false, rewritesFirst = false }: CheckPlan,
): Promise<SolutionCheckResult> {
  // Before anything is paid for: without a sandbox nothing is checked.
  const trial = await options.trials?.of(solution.content, options.signal);
  const meter = new UsageMeter();
  // The text of the script may manipulate a model, so static analysis runs in addition.
  const detector =
    opinion !== 'analysis' || runner.name === 'offline' ? runner : await analysisAlone(options);
  const source: FindingSource = detector.name === 'offline' ? 'analysis' : 'agent';
  const hasBoth = source === 'agent' && opinion === 'both';
  const analyst = analyzedOnce(options.analyst ?? IN_PLACE_ANALYST);
  const limited = new Set<string>();
  const second = secondAnalyst(analyst, (sentence) => limited.add(sentence));
  options.onProgress?.('detecting');
  const [detection, parsed] = await Promise.all([
    detect(solution, { ...options, runner: detector, meter, analyst }),
    analyst.parses(solution.content).catch(parsingLimited),
  ]);
  const analysis = await second.analyze(solution.content);
  const context: CorrectionContext = {
    ...options,
    runner,
    meter,
    analyst: second,
    parsedBefore: parsed.ok,
    rewritesFirst,
    showsSlice: rewritesFirst,
    corrections: options.corrections ?? runner.corrections ?? 'each',
    asksBoth: hasBoth && analysis.coverage !== 'none' && !analysis.exhausted,
    trial,
    isFollowed: source === 'agent' || !(await analyst.analyze(solution.content)).exhausted,
  };
  const notes = parsed.ok
    ? []
    : [`parsing was off: the script is not valid Python (line ${parsed.line}: ${parsed.message})`];
  const named = detection.output.answers.map((answer) => ({ ...answer, source }));
  const found = hasBoth ? await leaksMissedBy(named, solution.content, second) : [];
  const { leaks: missed, note } = showsLeaks
    ? { leaks: found, note: undefined }
    : await requestObjections(found, solution, context);
  if (missed.length > 0) {
    notes.push(
      `static analysis is certain of ${leakCount(missed)} that the agent did not report; see the findings`,
    );
  }
  if (note !== undefined) notes.push(note);
  if (hasBoth && limited.size === 0 && analysis.exhausted) {
    notes.push('static analysis could not follow the script to its end, so it gives no second opinion');
  }
  const answers: readonly SourcedAnswer[] = [...named, ...missed];
  const leaky = answers.filter((answer) => answer.leakage_status === 'Yes Data Leakage');

  const script = new CorrectedScript(solution.content);
  const findings: Finding[] = [];
  const correct = (answer: SourcedAnswer): Promise<Finding> => {
    const others = leaky.filter((other) => other !== answer).map(({ code_block }) => code_block);
    const isCorrected = correctedTogether.has(answer);
    return correctFinding(
      answer,
      leaky.indexOf(answer) + 1,
      { solution, script, others, isCorrected },
      context,
    );
  };
  const correctedTogether = new Set<SourcedAnswer>();
  const groups = await sharedCorrections(leaky, solution, context);
  /** Corrects several leaks by one request; undefined if that is not possible. */
  const correctShared = async ({
    answers: members,
    block,
  }: SharedCorrection): Promise<Finding | undefined> => {
    const [answer] = members;
    const others = leaky.filter((other) => !members.includes(other)).map(({ code_block }) => code_block);
    const number = leaky.indexOf(answer) + 1;
    const leaks = members.map(({ code_block }) => code_block);
    const finding = await correctFinding(
      { ...answer, code_block: block },
      number,
      { solution, script, others, shared: leaks },
      context,
    );
    if (finding.outcome !== 'corrected') return undefined;
    for (const member of members) correctedTogether.add(member);
    return finding;
  };
  const declined = new Map<SourcedAnswer, Finding>();
  for (const answer of answers) {
    if (answer.leakage_status === 'No Data Leakage') {
      findings.push(withoutLeakage(answer, solution));
      // Each search reads the whole script, so other work runs between two searches.
      await setImmediate();
    } else {
      options.onProgress?.(`correcting ${leaky.indexOf(answer) + 1}/${leaky.length}`);
      const group = groups.find(({ answers: [first] }) => first === answer);
      const finding = (group && (await correctShared(group))) ?? (await correct(answer));
      findings.push(finding);
      if (finding.outcome === 'uncorrected') declined.set(answer, finding);
    }
  }
  // A correction may have removed what kept a leak before it from being rewritten.
  const isChanged = findings.some(({ outcome }) => outcome === 'corrected');
  for (const [answer, before] of runner.name === 'offline' && isChanged ? declined : []) {
    const finding = await correct(answer);
    // Another correction may have taken its block along, and the leak with it.
    if (finding.outcome === 'uncorrected') continue;
    // Findings are in the order in which they were corrected.
    findings.splice(findings.indexOf(before), 1);
    findings.push(finding);
  }
  if ((runner.name === 'offline' || opinion !== 'agent') && script.content !== solution.content) {
    const left = await remainingFindings(solution.content, leaky, findings, script.content, second);
    // The block of a finding of the analysis may have other lines by now.
    const isKnown = ({ kind }: Finding): boolean =>
      runner.name === 'offline' && findings.some((one) => one.outcome === 'uncorrected' && one.kind === kind);
    const remaining = left.filter((one) => !isKnown(one));
    // A leak whose block is gone was taken for removed.
    const isThere = ({ outcome, kind }: Finding): boolean =>
      outcome === 'superseded' && remaining.some((one) => one.kind === kind);
    for (const wrong of findings.filter(isThere)) findings.splice(findings.indexOf(wrong), 1);
    findings.push(...remaining);
  }

  return {
    status: statusOf(findings),
    solution: { content: script.content },
    solutionDigest: digestOf(solution.content),
    findings,
    ...coverageFields(analysis, { opinion, detectedBy: source, isPython: parsed.ok }),
    ...(trial === undefined ? {} : { trial: trial.summary }),
    usage: meter.total,
    agent: agentProvenance(detector, detection),
    ...withNotes([...notes, ...limited, ...duplicateNotes(findings), ...(detection.notes ?? [])]),
  };
}

/** A detector that calls no model. */
async function analysisAlone({ log }: LeakageCheckOptions): Promise<AgentRunner> {
  log?.info('static analysis alone looks for leakage (FLEET_OPINION)');
  return (await import('../../agents/offline-runner.js')).createOfflineRunner();
}

/** The syntax check exceeded its limits: corrections are then checked as in a script that is not Python. */
function parsingLimited(thrown: unknown): ParseResult {
  if (!isAnalysisLimit(thrown)) throw thrown;
  const message = `its syntax could not be checked: ${thrown.message}`;
  return { ok: false, exact: false, line: 1, column: 1, message };
}

function leakCount({ length }: readonly unknown[]): string {
  return length === 1 ? 'a leak' : `${length} leaks`;
}

/** Leaks in the corrected script that no finding reports, as findings: the script then does not count as corrected. */
async function remainingFindings(
  original: string,
  leaky: readonly SourcedAnswer[],
  findings: readonly Finding[],
  corrected: string,
  analyst: ScriptAnalyst,
): Promise<Finding[]> {
  const reported = leaky.map(({ code_block }) => code_block);
  const left = await remainingLeaks(original, reported, findings, corrected, analyst);
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

/** Notes on corrected blocks of which the script has another copy: it is unknown which one was meant. */
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

/** The script, as it was and as corrected so far, and the blocks of the other leaks in it. */
interface Correcting {
  readonly solution: Solution;
  readonly script: CorrectedScript;
  readonly others: readonly string[];
  /** The blocks of several leaks that one request is for. */
  readonly shared?: readonly string[];
  /** A correction of several leaks was for this one too. */
  readonly isCorrected?: boolean;
}

async function correctFinding(
  sourced: SourcedAnswer,
  number: number,
  correcting: Correcting,
  context: CorrectionContext,
): Promise<Finding> {
  const { solution, script, others } = correcting;
  const { source } = sourced;
  // Blocks of the analysis occur in the script only once, if possible.
  const named =
    source === 'analysis' && context.runner.name !== 'offline'
      ? sourced
      : await requestMoreContext(sourced, solution, `detect-again-${number}`, context);
  const original = locateBlock(named.code_block, solution.content);
  const meant =
    original === null
      ? []
      : await leaksMeant(solution.content, original, blocksWithin(original, others), context.analyst);
  const answer = { ...named, ...explanationOf(named, meant) };
  const described = {
    leakageStatus: answer.leakage_status,
    source,
    ...descriptionOf(answer, meant),
    ...agreementOn(sourced, meant, context),
  };
  const located = script.locate(answer.code_block) ?? (await locateMoved(meant, script, context));
  if (located === null) {
    const isGone = meant.length > 0 && context.isFollowed;
    return { ...described, ...goneFinding(answer, original, number, isGone, script, context) };
  }
  if (correcting.isCorrected && (await isCorrectedWith(meant, script, context)))
    return { ...described, codeBlock: original?.text ?? located.text, ...removedBefore(answer) };
  const shared = context.isFollowed
    ? await corrected(located, isRewrittenFirst(source, meant, context), number, correcting, context)
    : { block: located, correction: NOT_FOLLOWED };
  const elsewhere =
    shared.correction.ok || source !== 'analysis' || !context.isFollowed
      ? undefined
      : await correctedElsewhere(answer, located, script, context);
  const { block, correction } = elsewhere ?? shared;
  const found = {
    ...described,
    codeBlock: block.text,
    occurrences: block.occurrences,
    matched: block.matched,
  };
  const isOfAnalysis = source === 'analysis' && context.isFollowed;
  if (!correction.ok && isOfAnalysis && (await isGoneFrom(script, answer, meant, context)))
    return { ...described, codeBlock: original?.text ?? block.text, ...removedBefore(answer) };
  if (!correction.ok) {
    context.log?.warn(`finding ${number} stays uncorrected: ${correction.problem}`);
    return {
      ...found,
      outcome: 'uncorrected',
      reason: [answer.reason, correction.problem].filter(Boolean).join(' '),
    };
  }
  script.correct(block, correction.block);
  return {
    ...found,
    outcome: 'corrected',
    correctedBlock: correction.block,
    correctedAt: block.start,
    ...(correction.notes === undefined ? {} : { notes: [...correction.notes] }),
    ...(answer.reason === undefined ? {} : { reason: answer.reason }),
  };
}

function removedBefore({ reason }: AnnotatedLeakageAnswer): Pick<Finding, 'outcome' | 'reason'> {
  return {
    outcome: 'superseded',
    reason: [reason, 'An earlier correction removed this leak.'].filter(Boolean).join(' '),
  };
}

/** Whether a correction of several leaks removed this one as well, and left its lines. */
async function isCorrectedWith(
  meant: readonly MeantLeak[],
  script: CorrectedScript,
  { analyst, isFollowed }: CorrectionContext,
): Promise<boolean> {
  if (!isFollowed || meant.length === 0) return false;
  return (await movedLeak(script.content, meant, analyst)) === undefined;
}

/** Whether the lines of a leak are still there, and an earlier correction has removed the leak. */
async function isGoneFrom(
  script: CorrectedScript,
  { kind }: AnnotatedLeakageAnswer,
  meant: readonly MeantLeak[],
  { analyst }: CorrectionContext,
): Promise<boolean> {
  // Several leaks may have the same block.
  const own = meant.filter((leak) => leak.kind === kind);
  if (script.content === script.original || own.length === 0) return false;
  return (await movedLeak(script.content, own, analyst)) === undefined;
}

/** Who says that it is a leak, if both were asked. */
function agreementOn(
  { source, agreedBy, objection }: SourcedAnswer,
  meant: readonly MeantLeak[],
  { asksBoth }: CorrectionContext,
): Pick<Finding, 'agreedBy' | 'objection'> {
  if (!asksBoth) return {};
  if (source === 'agent') return { agreedBy: meant.length > 0 ? ['agent', 'analysis'] : ['agent'] };
  return {
    ...(agreedBy === undefined ? {} : { agreedBy }),
    ...(objection === undefined ? {} : { objection }),
  };
}

/**
 * A leak of the analysis whose block has no certain rewrite: the rewrite of other lines that mends it, or of its own block if
 * that holds another leak.
 */
async function correctedElsewhere(
  { kind }: AnnotatedLeakageAnswer,
  located: LocatedBlock,
  script: CorrectedScript,
  context: CorrectionContext,
): Promise<LocatedCorrection | undefined> {
  // A model answers for the block alone, and its rewrite was tried before.
  const wider = context.runner.name === 'offline' ? await rewriteBlock(located, script, context) : undefined;
  if (wider !== undefined) return wider;
  const { findings } = await context.analyst.analyze(script.content);
  const finding = findings.find((one) => one.kind === kind && located.text.includes(one.codeBlock));
  if (finding === undefined) return undefined;
  const own = script.content.slice(finding.ownBlock.start, finding.ownBlock.end);
  const block = own === located.text ? null : script.locate(own);
  return block === null ? undefined : rewriteBlock(block, script, context);
}

/** If only the analysis checks and has not seen the whole script, a corrected script would count as free of leaks. */
const NOT_FOLLOWED: CorrectionResult = {
  ok: false,
  problem: 'Static analysis could not follow the script to its end, so it corrects nothing in it.',
};

/** Whether a rewrite of the analysis comes before the request to the agent: where the analysis names the leak. */
function isRewrittenFirst(
  source: FindingSource,
  meant: readonly MeantLeak[],
  { runner, rewritesFirst }: CorrectionContext,
): boolean {
  return runner.name !== 'offline' && (source === 'analysis' || (rewritesFirst && meant.length > 0));
}

async function corrected(
  located: LocatedBlock,
  isRewritten: boolean,
  number: number,
  { script, others, shared }: Correcting,
  context: CorrectionContext,
): Promise<LocatedCorrection> {
  const rewritten = isRewritten ? await rewriteBlock(located, script, context) : undefined;
  if (rewritten !== undefined) return rewritten;
  const step = shared === undefined ? `correct-${number}` : `correct-shared-${number}`;
  const within = blocksWithin(located, others);
  const correction = await correctBlock(located, script, step, within, context, shared);
  return { block: located, correction };
}

/** The other blocks that lie in a block, or are the same. */
function blocksWithin(block: LocatedBlock, others: readonly string[]): Span[] {
  return others.flatMap((other) => {
    const located = locateBlock(other, block.text);
    if (located === null) return [];
    return [{ start: block.start + located.start, end: block.start + located.end }];
  });
}

/** A leak whose block an earlier correction changed, and which is still in the script: the block that it has now. */
async function locateMoved(
  meant: readonly MeantLeak[],
  script: CorrectedScript,
  { analyst }: CorrectionContext,
): Promise<LocatedBlock | null> {
  if (meant.length === 0) return null;
  const moved = await movedLeak(script.content, meant, analyst);
  return moved === undefined ? null : script.locate(moved.codeBlock);
}

/** The finding for a block that cannot be located (REQ-SF-021, decision 6). */
function goneFinding(
  { code_block, reason: explanation }: AnnotatedLeakageAnswer,
  original: LocatedBlock | null,
  number: number,
  isGone: boolean,
  script: CorrectedScript,
  { log }: CorrectionContext,
): Pick<Finding, 'codeBlock' | 'outcome' | 'reason'> {
  const codeBlock = original?.text ?? code_block;
  const gone = isGone ? 'superseded' : script.whyGone(code_block);
  const explained = (problem: string) => [explanation, problem].filter(Boolean).join(' ');
  if (gone === 'superseded') {
    const reason = explained('An earlier correction replaced this block.');
    return { codeBlock, outcome: 'superseded', reason };
  }
  const reason =
    gone === 'cut-into'
      ? explained(
          'an earlier correction changed a part of this block, and the rest of it could not be identified',
        )
      : 'the reported block is not in the script';
  log?.warn(`finding ${number}: ${reason}; it is skipped`);
  return { codeBlock, outcome: gone === 'cut-into' ? 'uncorrected' : 'not-found', reason };
}

/** Why it is a leak: from the answer, or from static analysis at the block. */
function explanationOf(
  { reason }: AnnotatedLeakageAnswer,
  meant: readonly MeantLeak[],
): Pick<AnnotatedLeakageAnswer, 'reason'> {
  const explanation = reason ?? worstOf(meant)?.explanation;
  return explanation === undefined ? {} : { reason: explanation };
}

/** Kind and severity: from the agent, or from static analysis at the block. */
function descriptionOf(
  { kind, severity }: AnnotatedLeakageAnswer,
  meant: readonly MeantLeak[],
): Pick<Finding, 'kind' | 'severity'> {
  return kind !== undefined && severity !== undefined ? { kind, severity } : (annotationOf(meant) ?? {});
}
