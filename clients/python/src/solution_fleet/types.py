"""Shapes of what the fleet takes and gives; the names are those of its JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, TypedDict

#: The built-in kinds; a gateway may have others.
KindName = Literal["solution-check", "summarize", "extract", "contamination", "refinement-loop"]
JobState = Literal["waiting", "delayed", "waiting-children", "active", "completed", "failed", "cancelled"]
CheckStatus = Literal["clean", "corrected", "partly-corrected", "uncorrected"]
OnUncorrected = Literal["evaluate", "refuse"]
ContaminationStatus = Literal["clean", "contaminated", "not-compared"]
#: Labels of a job; ``run`` and ``step`` locate it in a pipeline run.
Tags = dict[str, str]


class Solution(TypedDict):
    content: str


# Payloads


#: The functional form, because ``from`` is a keyword of Python.
_FollowUpExtras = TypedDict(
    "_FollowUpExtras",
    {
        "name": str,
        "when": dict[str, Any],
        "payload": dict[str, Any],
        "from": dict[str, str],
        "then": list[Any],
    },
    total=False,
)


class FollowUp(_FollowUpExtras):
    """A job that starts with the result of another, if the fields of that result are as ``when`` says."""

    kind: str


class _CommonPayload(TypedDict, total=False):
    tags: Tags
    then: Sequence[FollowUp]
    #: Only a model that the gateway allows (``FLEET_MODELS``).
    model: str


class _InWorkspace(_CommonPayload, total=False):
    #: Only below the gateway's ``FLEET_WORKSPACE_ROOTS``.
    workspace: str


class _TestCaseExtras(TypedDict, total=False):
    solveTime: float
    thoughtChain: list[str]
    starter: str


class TestCase(_TestCaseExtras):
    id: str
    name: str
    difficulty: Literal["easy", "medium", "hard"]


class _ContaminationSettingsExtras(TypedDict, total=False):
    config: dict[str, Any]


class ContaminationSettings(_ContaminationSettingsExtras):
    """What the script that a check leaves is compared for."""

    testCase: TestCase


class CheckContamination(ContaminationSettings, total=False):
    #: Statuses of the check with which the script is compared; default: all.
    onlyIf: Sequence[CheckStatus]


class _SolutionCheckOptions(_InWorkspace, total=False):
    #: A corrected script is checked once more by the agent.
    verify: Literal["agent"]
    #: Each corrected script is run beside the original on made-up data, in a sandbox of the worker.
    trial: bool
    #: The script that the check leaves is compared with the fleet's known solutions.
    contamination: CheckContamination


class SolutionCheckPayload(_SolutionCheckOptions):
    solution: Solution


class SummarizePayload(_CommonPayload):
    ablationCode: str
    rawOutput: str


class _ExtractOptions(_InWorkspace, total=False):
    #: The ablation printed no score: the job is skipped without a call.
    withoutScores: Literal[True]


class ExtractPayload(_ExtractOptions):
    solution: Solution
    summary: str
    previousBlocks: list[str]


class _ContaminationExtras(TypedDict, total=False):
    tags: Tags
    then: Sequence[FollowUp]
    config: dict[str, Any]


class ContaminationPayload(_ContaminationExtras):
    output: str
    testCase: TestCase


class _PipelineJobExtras(TypedDict, total=False):
    #: Added to the data of each job.
    data: dict[str, Any]
    attempts: int


class PipelineJob(_PipelineJobExtras):
    """A queue of the pipeline's own in which a refinement loop starts jobs."""

    queue: str


class _TriedPlanExtras(TypedDict, total=False):
    #: Why the round has no score.
    reason: str


class TriedPlan(_TriedPlanExtras):
    plan: str
    #: None if the round has no score.
    score: float | None
    gain: bool


class NewBlockRequest(TypedDict):
    """What a refinement loop asks the pipeline for, beside the pipeline's own data."""

    request: Literal["new-block"]
    round: int
    rounds: int
    #: The script with the block.
    solution: Solution
    #: The block to rewrite, an exact substring of the script.
    codeBlock: str
    #: The plan for the first round. Later rounds need a new one.
    plan: str
    summary: str
    score: float
    direction: Literal["higher", "lower"]
    #: The earlier rounds.
    tried: list[TriedPlan]


class _NewBlockAnswerExtras(TypedDict, total=False):
    #: The plan that it follows, if not that of the request.
    plan: str


class NewBlockAnswer(_NewBlockAnswerExtras):
    #: None: there is nothing more to try.
    codeBlock: str | None


class RequiredStatuses(TypedDict, total=False):
    #: Statuses of the leakage check; said instead of ``on_uncorrected``.
    leakage: Sequence[CheckStatus]
    #: Needs ``contamination``, which has the test case.
    contamination: Literal["clean"]


class _RefinementLoopOptions(_InWorkspace, total=False):
    #: The loop stops after so many rounds in a row without a better score; default 2.
    maxRoundsWithoutGain: int
    #: Default: ``refuse``, because a leak makes the score better.
    onUncorrected: OnUncorrected
    #: A script whose score nobody checked is evaluated all the same.
    allowUnjudged: bool
    verify: Literal["agent"]
    #: Each corrected script is run beside the original on made-up data, in a sandbox of the worker.
    trial: bool
    #: Each script that a check leaves is compared with the fleet's known solutions.
    contamination: ContaminationSettings
    #: Statuses without which a script is not evaluated.
    require: RequiredStatuses


class RefinementLoopPayload(_RefinementLoopOptions):
    #: The best script so far. Each round replaces the block in it.
    solution: Solution
    score: float
    #: Which score is better.
    direction: Literal["higher", "lower"]
    ablationCode: str
    rawOutput: str
    previousBlocks: list[str]
    rounds: int
    #: Where the pipeline rewrites the block.
    newBlock: PipelineJob
    #: Where the pipeline scores checked scripts.
    evaluation: PipelineJob


# Results


class Usage(TypedDict):
    calls: int
    reusedCalls: int
    inputTokens: int
    outputTokens: int
    cacheReadTokens: int
    cacheWriteTokens: int
    #: None where the price of a model is not known.
    costUsd: float | None


class _FindingExtras(TypedDict, total=False):
    kind: str
    severity: Literal["high", "medium", "low"]
    correctedBlock: str
    #: Where the corrected block stood right after this correction, in UTF-16 code units.
    correctedAt: int
    occurrences: int
    matched: Literal["exact", "whitespace"]
    reason: str
    #: Who found it: the agent, or static analysis, which runs in addition to a model.
    source: Literal["agent", "analysis"]
    #: Who says that it is a leak, if both the agent and static analysis looked.
    agreedBy: list[Literal["agent", "analysis"]]
    #: What the agent objected when it was shown a leak that only static analysis found: its reason and its lines.
    objection: str
    #: What the correction changed besides the leak.
    notes: list[str]


class Finding(_FindingExtras):
    leakageStatus: Literal["Yes Data Leakage", "No Data Leakage"]
    codeBlock: str
    outcome: Literal["corrected", "uncorrected", "superseded", "not-found", "no-leakage"]


class _AgentResult(TypedDict, total=False):
    notes: list[str]


class NotFollowed(TypedDict):
    line: int
    reason: str


class _ScriptContaminationExtras(TypedDict, total=False):
    reason: str


class ScriptContamination(_ScriptContaminationExtras):
    #: ``not-compared``: there was no known solution to compare the script with.
    status: ContaminationStatus
    #: SHA-256 of the script that was compared.
    digest: str
    testCaseId: str
    confidence: float


class _TrialExtras(TypedDict, total=False):
    #: Why a corrected script could not be tried out.
    reason: str


class TrialSummary(_TrialExtras):
    """What became of the corrected scripts that were run beside their original."""

    sandbox: Literal["bubblewrap", "unshare", "command"]
    passed: int
    #: They failed, or printed no score, where the original does.
    refused: int
    notPossible: int


class Audit(TypedDict):
    """What each says of a script of which static analysis is certain."""

    agrees: bool
    analysis: Literal["leaky", "clean"]
    agent: Literal["leaky", "clean"]


class _StaticFirstExtras(TypedDict, total=False):
    #: Why static analysis was not certain.
    why: str
    #: What the agent saw: the lines that the scores depend on, or the whole script.
    sent: Literal["slice", "whole"]
    #: Set if the agent was asked for comparison.
    audit: Audit


class StaticFirst(_StaticFirstExtras):
    """Who judged a script with ``FLEET_OPINION=static-first``."""

    decidedBy: Literal["agent", "analysis"]


class _CheckExtras(_AgentResult, total=False):
    #: Code that static analysis could not follow, and therefore did not flag.
    notFollowed: list[NotFollowed]
    #: How much of the way to the scores static analysis followed; absent before 0.2.0.
    coverage: Literal["full", "partial", "none"]
    #: Who checked a score of the script; empty if nobody did.
    checkedBy: list[Literal["agent", "analysis"]]
    #: Set if the script seems to have a score and nobody checked it: the reason.
    notAnalyzed: str
    #: Set with ``FLEET_OPINION=static-first``.
    staticFirst: StaticFirst
    #: Set if the payload has ``trial``.
    trial: TrialSummary
    contamination: ScriptContamination


class _CheckBase(_CheckExtras):
    status: CheckStatus
    #: The script that may be evaluated.
    solution: Solution
    solutionDigest: str
    usage: Usage
    agent: dict[str, str]


class SolutionCheckResult(_CheckBase):
    findings: list[Finding]


# Checks on this machine


class LocatedFinding(Finding, total=False):
    """A finding with its lines, counted from 1; they are absent if the block was not found."""

    startLine: int
    endLine: int
    #: Of a notebook: the cell in which the lines are counted.
    cell: int
    #: Set if the lines end in another cell.
    endCell: int


class CheckProblem(TypedDict):
    code: str
    message: str


class _CheckedScriptExtras(TypedDict, total=False):
    #: Why ``fleet check`` counts the file as not checked: nothing checked its score (``notAnalyzed``).
    error: CheckProblem


class CheckedScript(_CheckBase, _CheckedScriptExtras):
    """A script that was checked on this machine: the result of a ``solution-check``, and where the findings are."""

    #: The file as it was named; ``-`` for a script that was passed as text.
    file: str
    #: The most severe first.
    findings: list[LocatedFinding]


class _SummarizeExtras(_AgentResult, total=False):
    #: The ablation printed no score, so no block can be chosen.
    withoutScores: Literal[True]


class SummarizeResult(_SummarizeExtras):
    summary: str
    usage: Usage
    agent: dict[str, str]


class _ExtractExtras(_AgentResult, total=False):
    #: Exact substring of the script; absent where ``outcome`` is ``skipped``.
    codeBlock: str
    plan: str
    matched: Literal["exact", "whitespace"]
    planIndex: int
    #: Why no block was selected.
    reason: str


class ExtractResult(_ExtractExtras):
    outcome: Literal["selected", "skipped"]
    attempts: int
    plans: list[dict[str, Any]]
    solutionDigest: str
    usage: Usage
    agent: dict[str, str]


class _ContaminationResultExtras(TypedDict, total=False):
    reason: str
    #: Why nothing could be told; only with a confidence of 0.5.
    note: str


class ContaminationResult(_ContaminationResultExtras):
    contaminated: bool
    confidence: float
    checks: dict[str, Any]
    config: dict[str, Any]


class _RefinementRoundExtras(TypedDict, total=False):
    #: The new text of the block.
    codeBlock: str
    check: CheckStatus
    #: The leaks that the check found.
    findings: list[Finding]
    score: float
    #: Why the round has no score.
    reason: str
    usage: Usage


class RefinementRound(_RefinementRoundExtras):
    round: int
    plan: str
    #: Whether the score was the best until then.
    gain: bool
    #: Ids of ``newBlock`` and ``evaluation``.
    jobs: dict[str, str]


class _RefinementLoopExtras(TypedDict, total=False):
    #: Why no block was chosen.
    reason: str
    codeBlock: str
    plan: str


class RefinementLoopResult(_RefinementLoopExtras):
    outcome: Literal["improved", "unchanged", "skipped"]
    #: The best script, as its check left it.
    solution: Solution
    score: float
    stopped: Literal["all-rounds", "no-gain", "no-new-block", "no-block"]
    summary: str
    rounds: list[RefinementRound]
    #: For the next loop.
    previousBlocks: list[str]
    #: Ids of ``summarize`` and ``extract``.
    jobs: dict[str, str]
    childUsage: Usage


# Jobs


class JobFailure(TypedDict):
    code: str
    message: str
    retryable: bool


class _CandidateOutcomeExtras(TypedDict, total=False):
    #: What the evaluation returned.
    result: Any
    #: The results of the batch are too large for one answer: read this one with ``fleet.job``.
    resultLeftOut: Literal[True]
    #: Why the evaluation or its check failed.
    error: JobFailure


class CandidateOutcome(_CandidateOutcomeExtras):
    """What became of one candidate of a batch."""

    #: Id of the candidate's evaluation.
    evaluation: str
    state: Literal["evaluated", "failed"]


class OpenCall(TypedDict):
    step: str
    turn: int
    model: str
    #: What it probably costs; None where the price of the model is not known.
    likelyUsd: float | None


class _FollowUpResultExtras(TypedDict, total=False):
    id: str
    #: Why its condition did not hold.
    skipped: str
    #: Why it could not be started.
    error: JobFailure
    #: The job; absent in lists.
    job: Job


class FollowUpResult(_FollowUpResultExtras):
    name: str
    kind: str


class _JobExtras(TypedDict, total=False):
    #: The key of its submission.
    key: str
    #: What came out, in a word (``clean``, ``corrected``, ``contaminated``); absent for kinds without one.
    status: str
    #: Agent calls that were sent and whose outcome nobody knows.
    callsInDoubt: list[OpenCall]
    #: Agent calls that wait in a batch, or for one.
    callsInBatches: list[OpenCall]
    progress: str
    #: Why it waits for children in vain: no worker serves the kind of one of them.
    waitReason: str
    result: Any
    error: JobFailure
    parent: str
    #: What became of ``then``, once the job has its result.
    followUps: list[FollowUpResult]
    #: Ids; in the tree of a run the jobs themselves.
    children: list[Any]
    startedAt: str
    endedAt: str


class Job(_JobExtras):
    id: str
    #: Name of the kind, or of the pipeline's own queue.
    kind: str
    state: JobState
    usage: Usage
    tags: Tags
    createdAt: str
    attempts: int


class Run(TypedDict):
    run: str
    total: int
    states: dict[str, int]
    usage: Usage
    jobs: list[Job]
    truncated: bool


class DisputedLeak(TypedDict, total=False):
    source: Literal["agent", "analysis"]
    kind: str
    #: First line of its block.
    line: str
    reason: str


class _DisagreementExtras(TypedDict, total=False):
    run: str
    tenant: str
    endedAt: str


class Disagreement(_DisagreementExtras):
    """A script of which static analysis was certain and the agent said something else."""

    #: Id of the job.
    id: str
    solutionDigest: str
    analysis: Literal["leaky", "clean"]
    agent: Literal["leaky", "clean"]
    leaks: list[DisputedLeak]


class _HealthExtras(TypedDict, total=False):
    #: What Redis says if it refuses writes.
    reason: str


class Health(_HealthExtras):
    status: Literal["ok", "unavailable"]
    #: ``full``: it has no memory left; ``refuses``: it runs, and accepts no writes for another reason.
    redis: Literal["ok", "full", "refuses", "away"]


class _KnownSolutionExtras(TypedDict, total=False):
    language: str


class KnownSolution(_KnownSolutionExtras):
    testCaseId: str
    solution: str
    hash: str
    addedToTraining: str


class DeadLetter(TypedDict):
    job: Job
    #: What was submitted.
    payload: Any
    #: The ledger of its agent calls.
    calls: list[dict[str, Any]]


class RefusedAction(TypedDict):
    id: str
    reason: str


class DeadLetterAction(TypedDict):
    done: list[str]
    refused: list[RefusedAction]


# Submissions


class _EvaluationExtras(TypedDict, total=False):
    data: dict[str, Any]
    #: ``attempts``, ``backoff``, ``priority``, ``delay``.
    opts: dict[str, Any]


class Evaluation(_EvaluationExtras):
    """The pipeline's own job after a check."""

    queue: str
    name: str


class _CandidateExtras(TypedDict, total=False):
    data: dict[str, Any]
    key: str


class Candidate(_CandidateExtras):
    solution: Solution


class _BatchJobExtras(TypedDict, total=False):
    key: str
    force: bool
    tenant: str
    priority: int
    delayMs: int
    budgetUsd: float
    #: By when the result is needed: a time in ISO 8601, or a duration from now as in ``+6h``.
    deadline: str
    #: With ``fleet``, calls that another job of the same tenant has made, exactly the same, are answered from its ledger.
    reuse: Literal["none", "fleet"]


class BatchJob(_BatchJobExtras):
    kind: str
    #: One of the payloads above, as ``kind`` says.
    payload: Any


# Keyword arguments


class SubmitOptions(TypedDict, total=False):
    """The options of every submission, of single jobs and flows alike."""

    #: The pipeline's own name for the work: the same key and arguments are the same work.
    key: str
    #: Runs the work anew although it has ended.
    force: bool
    #: For whom the work is done; default: its run.
    tenant: str
    #: 1 is the most urgent; default: 1,000. It orders the jobs of one tenant.
    priority: int
    #: Wait before the first job may start, in seconds.
    delay_s: float
    #: What the agent calls of the run may cost; without a run, those of this submission.
    budget_usd: float
    #: By when the result is needed: a time in ISO 8601 with its zone, or a duration from now as in ``+6h``. With enough
    #: time, the agent calls are sent in batches, at half the price.
    deadline: str
    #: With ``fleet``, a call that another job of the same tenant has made, exactly the same, is answered from its ledger
    #: while that job is stored, and costs nothing; with ``none``, every call asks the model. Default: the worker's
    #: ``FLEET_REUSE``.
    reuse: Literal["none", "fleet"]


class StepOptions(SubmitOptions, total=False):
    workspace: str
    model: str
    tags: Tags


class CheckOptions(StepOptions, total=False):
    #: What becomes of a script with a leak that could not be corrected; default: it is evaluated, and says so.
    on_uncorrected: OnUncorrected
    #: A corrected script is checked once more by the agent.
    verify: Literal["agent"]
    #: Each corrected script is run beside the original on made-up data, in a sandbox of the worker.
    trial: bool
    #: The script that the check leaves is compared with the fleet's known solutions.
    contamination: ContaminationSettings
    #: A script whose score nobody checked is evaluated all the same.
    allow_unjudged: bool
    #: Statuses without which the evaluation fails with ``solution-refused``.
    require: RequiredStatuses


class LocalCheckOptions(TypedDict, total=False):
    """The options of a check on this machine."""

    #: Static analysis alone, so nothing is sent anywhere; default: true.
    offline: bool
    #: Each corrected script is run beside the original on made-up data, in a sandbox.
    trial: bool
    #: Folder below which agents may read files.
    workspace: str | os.PathLike[str]
    #: How long the check may take, in seconds; default: any time.
    timeout_s: float | None
    #: Path of the ``fleet`` command or of its ``dist/cli/main.js``, or the words with which it starts; default:
    #: ``FLEET_CLI``, else what is installed.
    command: str | os.PathLike[str] | Sequence[str] | None


class DeadLetterFields(TypedDict, total=False):
    kind: str
    run: str
    tenant: str
    #: Only jobs that failed with this error code.
    code: str


class DeadLetterFilter(DeadLetterFields, total=False):
    ids: list[str]
    older_than_s: float
