"""The client: what a pipeline asks of the fleet over HTTP."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Literal, cast, overload
from urllib.parse import quote, urlencode

from .answers import field, script_text
from .batches import submit_in_batches
from .dead_letters import DeadLetters
from .errors import ApiError, WaitTimeout
from .evaluations import Claim, evaluate_claims
from .events import JobEvent, follow
from .handles import CandidateBatch, GuardedEvaluation, JobHandle, RefinementStep
from .known import KnownSolutions
from .option_names import meant, renamed, with_new_names
from .transport import Transport
from .types import (
    BatchJob,
    Candidate,
    CheckOptions,
    ContaminationPayload,
    ContaminationResult,
    Evaluation,
    ExtractPayload,
    ExtractResult,
    Job,
    JobState,
    NewBlockAnswer,
    NewBlockRequest,
    RefinementLoopPayload,
    RefinementLoopResult,
    Run,
    SolutionCheckPayload,
    SolutionCheckResult,
    StepOptions,
    SubmitOptions,
    SummarizePayload,
    SummarizeResult,
)

if TYPE_CHECKING:
    # Known to every type checker; there at run time it need not be.
    from typing_extensions import Unpack

#: Longest time that one request waits at the gateway, in seconds; a longer wait is several requests.
_LONG_POLL = 30.0
_ENDED = frozenset({"completed", "failed", "cancelled"})


class FleetClient:
    """A gateway of the fleet (``fleet serve``). Safe to share between threads.

    :param url: address of the gateway; default: ``FLEET_URL``, else ``http://127.0.0.1:8080``.
    :param token: default: ``FLEET_TOKEN``; a gateway on this machine may need none.
    :param timeout_s: how long one answer may take, in seconds.
    :param retry_timeout_s: how long a request is sent again while the gateway is away or asks to come back later, in
        seconds. A submission that is sent again is still one job.
    """

    @renamed(timeout="timeout_s", retry_timeout="retry_timeout_s")
    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout_s: float = 30.0,
        retry_timeout_s: float = 60.0,
    ) -> None:
        url = url or os.environ.get("FLEET_URL") or "http://127.0.0.1:8080"
        self._transport = Transport(url, token or os.environ.get("FLEET_TOKEN"), timeout_s, retry_timeout_s)
        #: The known solutions that contamination checks compare answers with.
        self.known = KnownSolutions(self)
        #: Jobs that failed for good.
        self.dead_letters = DeadLetters(self)

    # Submitting

    @overload
    def submit(
        self, kind: Literal["solution-check"], payload: SolutionCheckPayload, **options: Unpack[SubmitOptions]
    ) -> JobHandle[SolutionCheckResult]: ...
    @overload
    def submit(
        self, kind: Literal["summarize"], payload: SummarizePayload, **options: Unpack[SubmitOptions]
    ) -> JobHandle[SummarizeResult]: ...
    @overload
    def submit(
        self, kind: Literal["extract"], payload: ExtractPayload, **options: Unpack[SubmitOptions]
    ) -> JobHandle[ExtractResult]: ...
    @overload
    def submit(
        self, kind: Literal["contamination"], payload: ContaminationPayload, **options: Unpack[SubmitOptions]
    ) -> JobHandle[ContaminationResult]: ...
    @overload
    def submit(
        self, kind: Literal["refinement-loop"], payload: RefinementLoopPayload, **options: Unpack[SubmitOptions]
    ) -> JobHandle[RefinementLoopResult]: ...
    @overload
    def submit(
        self, kind: str, payload: Mapping[str, Any], **options: Unpack[SubmitOptions]
    ) -> JobHandle[Any]: ...

    def submit(self, kind: str, payload: Any, **options: Unpack[SubmitOptions]) -> JobHandle[Any]:
        """Submits a job of a built-in kind, or of one that the gateway was started with (``--kinds-from``).

        Options: ``key`` (the same key and payload are the same job, also after a restart of the pipeline),
        ``force``, ``tenant``, ``priority``, ``delay_s``, ``budget_usd``.
        """
        return self._handle(self._post(f"/v1/jobs/{_part(kind)}", {"payload": payload, **_json(options)}))

    def submit_batch(self, jobs: Sequence[BatchJob]) -> list[JobHandle[Any] | ApiError]:
        """Submits any number of jobs in few requests. Each stands for itself: an error says why one was refused."""
        outcomes = submit_in_batches(lambda body: self.request("POST", "/v1/jobs:batch", body), jobs)
        return [each if isinstance(each, ApiError) else self._handle(each) for each in outcomes]

    def refinement_step(
        self,
        *,
        ablation_code: str,
        raw_output: str,
        solution: str,
        previous_blocks: Sequence[str],
        **options: Unpack[StepOptions],
    ) -> RefinementStep:
        """Summarizes an ablation study, then extracts the block with most impact and a plan for it.

        Options: those of :meth:`submit`, and ``tags``, ``model``, ``workspace``.
        """
        body = {
            "ablationCode": ablation_code,
            "rawOutput": raw_output,
            "solution": {"content": script_text(solution)},
            "previousBlocks": list(previous_blocks),
        }
        answer = self._post("/v1/flows/refinement", {**body, **_json(options)})
        return RefinementStep(self._handle(field(answer, "extract")), self._handle(field(answer, "summarize")))

    def guarded_evaluation(
        self, *, solution: str, evaluation: Evaluation, **options: Unpack[CheckOptions]
    ) -> GuardedEvaluation:
        """An evaluation that can only start once its script was checked; :meth:`claim` takes it up.

        Options: those of :meth:`submit`, and ``tags``, ``model``, ``workspace``, ``verify``, ``trial``,
        ``on_uncorrected``, ``contamination``, ``require``, ``allow_unjudged``.
        """
        body = {"solution": {"content": script_text(solution)}, "evaluation": evaluation}
        return self._guarded(self._post("/v1/flows/guarded-evaluation", {**body, **_json(options)}))

    def candidate_batch(
        self,
        *,
        candidates: Sequence[Candidate],
        evaluation: Evaluation,
        after_all: Evaluation | None = None,
        **options: Unpack[CheckOptions],
    ) -> CandidateBatch:
        """Guarded evaluations of many candidates, and a job after them all. One that fails sinks no other.

        Options: those of :meth:`submit`, and ``tags``, ``model``, ``workspace``, ``verify``, ``trial``,
        ``on_uncorrected``, ``contamination``, ``require``, ``allow_unjudged``.
        """
        body: dict[str, Any] = {"candidates": list(candidates), "evaluation": evaluation}
        if after_all is not None:
            body["afterAll"] = after_all
        answer = self._post("/v1/flows/candidate-batch", {**body, **_json(options)})
        evaluations = [self._guarded(each) for each in field(answer, "evaluations", list)]
        after = answer.get("afterAll")
        return CandidateBatch(evaluations, None if after is None else self._handle(after))

    # Following

    def job(self, job_id: str) -> Job:
        """A job as it is now."""
        return _job(self.request("GET", f"/v1/jobs/{_part(job_id)}"))

    def jobs(
        self,
        *,
        kind: str | None = None,
        state: JobState | None = None,
        run: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """Jobs without their results, newest first within their kind."""
        wanted = {"kind": kind, "state": state, "run": run, "limit": limit}
        query = urlencode({name: value for name, value in wanted.items() if value is not None})
        jobs: list[Job] = field(self.request("GET", f"/v1/jobs?{query}"), "jobs", list)
        return jobs

    def run(self, name: str) -> Run:
        """Everything of one pipeline run, which is what the tag ``run`` names: jobs as trees, states, cost."""
        run: Run = self.request("GET", f"/v1/runs/{_part(name)}")
        return run

    @renamed(timeout="timeout_s")
    def wait(self, job_id: str, timeout_s: float | None = None, *, follow: bool = True) -> Job:
        """Waits for the end of a job and of its follow-ups, whatever it is.

        ``follow=False``: returns once the job has its result. Raises :class:`WaitTimeout` after ``timeout_s`` seconds.
        """
        give_up_at = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left = _LONG_POLL if give_up_at is None else max(0.0, give_up_at - time.monotonic())
            seconds = min(left, _LONG_POLL)
            path = f"/v1/jobs/{_part(job_id)}?wait={round(seconds * 1000)}ms"
            if not follow:
                path += "&follow=false"
            job = _job(self._transport.send("GET", path, wait=seconds))
            if job["state"] in _ENDED or (not follow and "followUps" in job):
                return job
            if timeout_s is not None and left <= _LONG_POLL:
                raise WaitTimeout(job_id, timeout_s)

    def events(self, job_id: str, *, after: str | None = None) -> Iterator[JobEvent]:
        """What happens to a job, until its end. ``after``: id of the last event that is already known."""
        return follow(self._transport, f"/v1/jobs/{_part(job_id)}/events", after)

    def cancel(self, job_id: str) -> Job:
        """Cancels a job wherever it is, and the children that it still waits for."""
        return self._change(job_id, "DELETE", "", {"cancelled"})

    def retry(self, job_id: str) -> Job:
        """Runs a failed job again, with a fresh set of attempts."""
        return self._change(job_id, "POST", "/retry", {"waiting", "active", "delayed", "waiting-children"})

    # Evaluating

    @renamed(lease_seconds="lease_s", wait="wait_s")
    def claim(self, queue: str, *, lease_s: float = 60.0, wait_s: float = 0.0) -> Claim | None:
        """The next evaluation of a queue with its checked script; None where none comes within ``wait_s`` seconds."""
        body = {"queue": queue, "leaseMs": round(lease_s * 1000)}
        path = f"/v1/evaluations/claim?wait={round(wait_s * 1000)}ms"
        claimed = self._transport.send("POST", path, body, wait=wait_s)
        return None if claimed is None else Claim(self, claimed)

    @renamed(lease_seconds="lease_s", idle_seconds="idle_s")
    def evaluate(
        self,
        queue: str,
        evaluate: Callable[[Claim], Any],
        *,
        lease_s: float = 60.0,
        idle_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> int:
        """Evaluates what comes, one after the other, and gives the number of evaluations that it ended.

        ``evaluate`` gets a :class:`Claim` and returns the result (any JSON). What it raises fails the try;
        :class:`DoNotRetry` fails the evaluation for good. Meanwhile heartbeats keep the lease; once
        ``claim.lost`` is set the work is for nothing and may be broken off.

        :param idle_s: return after so long without work; default: go on until ``stop`` is set.
        """
        return evaluate_claims(
            self,
            queue,
            evaluate,
            lease_s=lease_s,
            idle_s=idle_s,
            stop=stop or threading.Event(),
        )

    @renamed(lease_seconds="lease_s", idle_seconds="idle_s")
    def rewrite_blocks(
        self,
        queue: str,
        rewrite: Callable[[NewBlockRequest], str | NewBlockAnswer | None],
        *,
        lease_s: float = 60.0,
        idle_s: float | None = None,
        stop: threading.Event | None = None,
    ) -> int:
        """Rewrites blocks for refinement loops, as :meth:`evaluate` evaluates scripts.

        ``rewrite`` returns the new text of the block, or ``{"codeBlock": text, "plan": plan}`` if it followed another
        plan than that of the request; None ends the loop.
        """

        def answer(claim: Claim) -> Any:
            new = rewrite(cast("NewBlockRequest", claim.data))
            return {"codeBlock": new} if new is None or isinstance(new, str) else new

        return self.evaluate(
            queue, answer, lease_s=lease_s, idle_s=idle_s, stop=stop
        )

    # Requests

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Any other request to the API; gives the body of the answer. Raises :class:`ApiError`."""
        return self._transport.send(method, path, body)

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        # A key also where the pipeline gave none, so that a request whose answer is lost can be sent again.
        return self.request("POST", path, {"key": _new_key(), **body})

    def _change(self, job_id: str, method: str, action: str, wanted: set[str]) -> Job:
        try:
            job = _job(self.request(method, f"/v1/jobs/{_part(job_id)}{action}"))
        except ApiError as error:
            # The first request may have been carried out, and only its answer was lost.
            if not error.answer_lost:
                raise
            job = self.job(job_id)
            if job["state"] not in wanted:
                raise
        return job

    def _handle(self, submitted: Any) -> JobHandle[Any]:
        job_id, kind, outcome = (field(submitted, name, str) for name in ("id", "kind", "outcome"))
        return JobHandle(self, job_id, kind, outcome)

    def _guarded(self, answer: Any) -> GuardedEvaluation:
        return GuardedEvaluation(self._handle(field(answer, "evaluation")), self._handle(field(answer, "check")))


def _json(options: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments as the API names them, without those that are None."""
    fields: dict[str, Any] = {}
    for name, value in with_new_names(options, {"delay_seconds": "delay_s"}).items():
        if value is None:
            continue
        if name not in _JSON_NAMES:
            raise TypeError(f"{name!r} is not an option; {meant(name, _JSON_NAMES)}")
        fields[_JSON_NAMES[name]] = round(value * 1000) if name == "delay_s" else value
    return fields


_JSON_NAMES = {
    "key": "key",
    "force": "force",
    "tenant": "tenant",
    "priority": "priority",
    "delay_s": "delayMs",
    "budget_usd": "budgetUsd",
    "workspace": "workspace",
    "model": "model",
    "tags": "tags",
    "on_uncorrected": "onUncorrected",
    "verify": "verify",
    "trial": "trial",
    "contamination": "contamination",
    "require": "require",
    "allow_unjudged": "allowUnjudged",
}


def _job(answer: Any) -> Job:
    field(answer, "state", str)
    return cast("Job", answer)


def _part(text: str) -> str:
    """One segment of a path."""
    return quote(text, safe="")


def _new_key() -> str:
    return str(uuid.uuid4())
