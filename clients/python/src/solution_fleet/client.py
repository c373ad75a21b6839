"""The client: what a pipeline asks of the fleet over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Literal, TypeVar, cast, overload

from . import operations
from .dead_letters import DeadLetters
from .errors import ApiError
from .evaluations import Claim, evaluate_claims
from .events import JobEvent, follow
from .gateway import Gateway
from .handles import CandidateBatch, GuardedEvaluation, JobHandle, RefinementStep
from .known import KnownSolutions
from .operations import Operation, Request, json_options
from .option_names import renamed
from .transport import Transport
from .types import (
    BatchJob,
    Candidate,
    CheckOptions,
    ContaminationPayload,
    ContaminationResult,
    Disagreement,
    Evaluation,
    ExtractPayload,
    ExtractResult,
    Health,
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

Result = TypeVar("Result")


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
        self._transport = Transport(Gateway.of(url, token), timeout_s, retry_timeout_s)
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
        ``force``, ``tenant``, ``priority``, ``delay_s``, ``budget_usd``,
        ``deadline``, ``reuse``.
        """
        return self._handle(self.perform(operations.submit(kind, payload, json_options(options))))

    def submit_batch(self, jobs: Sequence[BatchJob]) -> list[JobHandle[Any] | ApiError]:
        """Submits any number of jobs in few requests. Each stands for itself: an error says why one was refused."""
        outcomes = self.perform(operations.submit_batch(jobs))
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
        wanted = json_options(options)
        step = self.perform(
            operations.refinement_step(ablation_code, raw_output, solution, previous_blocks, wanted)
        )
        return RefinementStep(self._handle(step.parent), self._handle(step.child))

    def guarded_evaluation(
        self, *, solution: str, evaluation: Evaluation, **options: Unpack[CheckOptions]
    ) -> GuardedEvaluation:
        """An evaluation that can only start once its script was checked; :meth:`claim` takes it up.

        Options: those of :meth:`submit`, and ``tags``, ``model``, ``workspace``, ``verify``, ``trial``,
        ``on_uncorrected``, ``contamination``, ``require``, ``allow_unjudged``.
        """
        return self._guarded(self.perform(operations.guarded_evaluation(solution, evaluation, json_options(options))))

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
        wanted = json_options(options)
        batch = self.perform(operations.candidate_batch(candidates, evaluation, after_all, wanted))
        after = batch.after_all
        evaluations = [self._guarded(each) for each in batch.evaluations]
        return CandidateBatch(evaluations, None if after is None else self._handle(after))

    # Following

    def job(self, job_id: str) -> Job:
        """A job as it is now."""
        return self.perform(operations.job(job_id))

    def jobs(
        self,
        *,
        kind: str | None = None,
        state: JobState | None = None,
        run: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """Jobs without their results, newest first within their kind."""
        return self.perform(operations.jobs(kind, state, run, limit))

    def run(self, name: str, *, limit: int | None = None) -> Run:
        """Everything of one pipeline run, which is what the tag ``run`` names: jobs as trees, states, cost.

        :param limit: most jobs that are read; default: 1,000.
        """
        return self.perform(operations.run(name, limit))

    def disagreements(self, *, run: str | None = None, limit: int = 100) -> list[Disagreement]:
        """Scripts of which static analysis was certain and the agent said something else, newest first.

        Of checks with ``FLEET_OPINION=static-first``, as long as their jobs are stored.
        """
        return self.perform(operations.disagreements(run, limit))

    @renamed(timeout="timeout_s")
    def wait(self, job_id: str, timeout_s: float | None = None, *, follow: bool = True) -> Job:
        """Waits for the end of a job and of its follow-ups, whatever it is.

        ``follow=False``: returns once the job has its result. Raises :class:`WaitTimeout` after ``timeout_s`` seconds.
        """
        return self.perform(operations.wait(job_id, timeout_s, follow))

    def events(self, job_id: str, *, after: str | None = None) -> Iterator[JobEvent]:
        """What happens to a job, until its end. ``after``: id of the last event that is already known."""
        return follow(self._transport, operations.events_path(job_id), after)

    def cancel(self, job_id: str) -> Job:
        """Cancels a job wherever it is, and the children that it still waits for."""
        return self.perform(operations.cancel(job_id))

    def retry(self, job_id: str) -> Job:
        """Runs a failed job again, with a fresh set of attempts."""
        return self.perform(operations.retry(job_id))

    # Evaluating

    @renamed(lease_seconds="lease_s", wait="wait_s")
    def claim(self, queue: str, *, lease_s: float = 60.0, wait_s: float = 0.0) -> Claim | None:
        """The next evaluation of a queue with its checked script; None where none comes within ``wait_s`` seconds."""
        claimed = self.perform(operations.claim(queue, lease_s, wait_s))
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

    # The gateway itself

    def health(self) -> Health:
        """Whether the gateway works: Redis accepts writes. Needs no token."""
        return self.perform(operations.health())

    def readiness(self) -> Health:
        """Whether the gateway wants requests: as :meth:`health`, and ``unavailable`` while it stops. Needs no token."""
        return self.perform(operations.readiness())

    def metrics(self) -> str:
        """The metrics, in the text format of Prometheus."""
        return self.perform(operations.metrics())

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document of the gateway. Needs no token."""
        return self.perform(operations.openapi())

    # Requests

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Any other request to the API; gives the body of the answer. Raises :class:`ApiError`."""
        return self._transport.send(Request(method, path, body))

    def perform(self, operation: Operation[Result]) -> Result:
        """Sends the requests of an operation; this package's own use of :meth:`request`."""
        try:
            request = next(operation)
            while True:
                try:
                    answer = self._transport.send(request)
                except Exception as error:
                    request = operation.throw(error)
                else:
                    request = operation.send(answer)
        except StopIteration as end:
            result: Result = end.value
            return result

    def _handle(self, submitted: operations.Submitted) -> JobHandle[Any]:
        return JobHandle(self, *submitted)

    def _guarded(self, pair: operations.SubmittedPair) -> GuardedEvaluation:
        return GuardedEvaluation(self._handle(pair.parent), self._handle(pair.child))
