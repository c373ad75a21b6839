"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Literal, TypeVar, cast, overload

from .. import operations
from ..errors import ApiError
from ..events import JobEvent
from ..gateway import Gateway
from ..operations import Operation, Request, json_options
from ..types import (
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
from .evaluations import AsyncClaim, evaluate_claims
from .handles import AsyncCandidateBatch, AsyncGuardedEvaluation, AsyncJobHandle, AsyncRefinementStep
from .operations import AsyncDeadLetters, AsyncKnownSolutions
from .transport import AsyncTransport

if TYPE_CHECKING:
    # Known to every type checker; there at run time it need not be.
    from typing_extensions import Unpack

Result = TypeVar("Result")


class AsyncFleetClient:
    """:class:`solution_fleet.FleetClient` for asyncio: the same methods with the same names.

    It uses sockets of its own event loop and no threads, so any number of jobs can be waited for at once, and a call that
    is cancelled closes its connection. It uses no proxy, also if ``http_proxy`` is set.

    :param url: address of the gateway; default: ``FLEET_URL``, else ``http://127.0.0.1:8080``.
    :param token: default: ``FLEET_TOKEN``; a gateway on this machine may need none.
    :param timeout_s: how long one answer may take, in seconds.
    :param retry_timeout_s: how long a request is sent again while the gateway is away or asks to come back later, in
        seconds. A submission that is sent again is still one job.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout_s: float = 30.0,
        retry_timeout_s: float = 60.0,
    ) -> None:
        self._transport = AsyncTransport(Gateway.of(url, token), timeout_s, retry_timeout_s)
        #: The known solutions that contamination checks compare answers with.
        self.known = AsyncKnownSolutions(self)
        #: Jobs that failed for good.
        self.dead_letters = AsyncDeadLetters(self)

    # Submitting

    @overload
    async def submit(
        self, kind: Literal["solution-check"], payload: SolutionCheckPayload, **options: Unpack[SubmitOptions]
    ) -> AsyncJobHandle[SolutionCheckResult]: ...
    @overload
    async def submit(
        self, kind: Literal["summarize"], payload: SummarizePayload, **options: Unpack[SubmitOptions]
    ) -> AsyncJobHandle[SummarizeResult]: ...
    @overload
    async def submit(
        self, kind: Literal["extract"], payload: ExtractPayload, **options: Unpack[SubmitOptions]
    ) -> AsyncJobHandle[ExtractResult]: ...
    @overload
    async def submit(
        self, kind: Literal["contamination"], payload: ContaminationPayload, **options: Unpack[SubmitOptions]
    ) -> AsyncJobHandle[ContaminationResult]: ...
    @overload
    async def submit(
        self, kind: Literal["refinement-loop"], payload: RefinementLoopPayload, **options: Unpack[SubmitOptions]
    ) -> AsyncJobHandle[RefinementLoopResult]: ...
    @overload
    async def submit(
        self, kind: str, payload: Mapping[str, Any], **options: Unpack[SubmitOptions]
    ) -> AsyncJobHandle[Any]: ...

    async def submit(self, kind: str, payload: Any, **options: Unpack[SubmitOptions]) -> AsyncJobHandle[Any]:
        """Submits a job of a built-in kind, or of one that the gateway was started with (``--kinds-from``).

        Options: ``key`` (the same key and payload are the same job, also after a restart of the pipeline),
        ``force``, ``tenant``, ``priority``, ``delay_s``, ``budget_usd``,
        ``deadline``, ``reuse``.
        """
        return self._handle(await self.perform(operations.submit(kind, payload, json_options(options))))

    async def submit_batch(self, jobs: Sequence[BatchJob]) -> list[AsyncJobHandle[Any] | ApiError]:
        """Submits any number of jobs in few requests. Each stands for itself: an error says why one was refused."""
        outcomes = await self.perform(operations.submit_batch(jobs))
        return [each if isinstance(each, ApiError) else self._handle(each) for each in outcomes]

    async def refinement_step(
        self,
        *,
        ablation_code: str,
        raw_output: str,
        solution: str,
        previous_blocks: Sequence[str],
        **options: Unpack[StepOptions],
    ) -> AsyncRefinementStep:
        """Summarizes an ablation study, then extracts the block with most impact and a plan for it.

        Options: those of :meth:`submit`, and ``tags``, ``model``, ``workspace``.
        """
        wanted = json_options(options)
        step = await self.perform(
            operations.refinement_step(ablation_code, raw_output, solution, previous_blocks, wanted)
        )
        return AsyncRefinementStep(self._handle(step.parent), self._handle(step.child))

    async def guarded_evaluation(
        self, *, solution: str, evaluation: Evaluation, **options: Unpack[CheckOptions]
    ) -> AsyncGuardedEvaluation:
        """An evaluation that can only start once its script was checked; :meth:`claim` takes it up.

        Options: those of :meth:`submit`, and ``tags``, ``model``, ``workspace``, ``verify``, ``trial``,
        ``on_uncorrected``, ``contamination``, ``require``, ``allow_unjudged``.
        """
        return self._guarded(await self.perform(operations.guarded_evaluation(solution, evaluation, json_options(options))))

    async def candidate_batch(
        self,
        *,
        candidates: Sequence[Candidate],
        evaluation: Evaluation,
        after_all: Evaluation | None = None,
        **options: Unpack[CheckOptions],
    ) -> AsyncCandidateBatch:
        """Guarded evaluations of many candidates, and a job after them all. One that fails sinks no other.

        Options: those of :meth:`submit`, and ``tags``, ``model``, ``workspace``, ``verify``, ``trial``,
        ``on_uncorrected``, ``contamination``, ``require``, ``allow_unjudged``.
        """
        wanted = json_options(options)
        batch = await self.perform(operations.candidate_batch(candidates, evaluation, after_all, wanted))
        after = batch.after_all
        evaluations = [self._guarded(each) for each in batch.evaluations]
        return AsyncCandidateBatch(evaluations, None if after is None else self._handle(after))

    # Following

    async def job(self, job_id: str) -> Job:
        """A job as it is now."""
        return await self.perform(operations.job(job_id))

    async def jobs(
        self,
        *,
        kind: str | None = None,
        state: JobState | None = None,
        run: str | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """Jobs without their results, newest first within their kind."""
        return await self.perform(operations.jobs(kind, state, run, limit))

    async def run(self, name: str, *, limit: int | None = None) -> Run:
        """Everything of one pipeline run, which is what the tag ``run`` names: jobs as trees, states, cost.

        :param limit: most jobs that are read; default: 1,000.
        """
        return await self.perform(operations.run(name, limit))

    async def disagreements(self, *, run: str | None = None, limit: int = 100) -> list[Disagreement]:
        """Scripts of which static analysis was certain and the agent said something else, newest first.

        Of checks with ``FLEET_OPINION=static-first``, as long as their jobs are stored.
        """
        return await self.perform(operations.disagreements(run, limit))

    async def wait(self, job_id: str, timeout_s: float | None = None, *, follow: bool = True) -> Job:
        """Waits for the end of a job and of its follow-ups, whatever it is.

        ``follow=False``: returns once the job has its result. Raises :class:`WaitTimeout` after ``timeout_s`` seconds.
        """
        return await self.perform(operations.wait(job_id, timeout_s, follow))

    def events(self, job_id: str, *, after: str | None = None) -> AsyncIterator[JobEvent]:
        """What happens to a job, until its end. ``after``: id of the last event that is already known."""
        return self._transport.follow(operations.events_path(job_id), after)

    async def cancel(self, job_id: str) -> Job:
        """Cancels a job wherever it is, and the children that it still waits for."""
        return await self.perform(operations.cancel(job_id))

    async def retry(self, job_id: str) -> Job:
        """Runs a failed job again, with a fresh set of attempts."""
        return await self.perform(operations.retry(job_id))

    # Evaluating

    async def claim(self, queue: str, *, lease_s: float = 60.0, wait_s: float = 0.0) -> AsyncClaim | None:
        """The next evaluation of a queue with its checked script; None where none comes within ``wait_s`` seconds."""
        claimed = await self.perform(operations.claim(queue, lease_s, wait_s))
        return None if claimed is None else AsyncClaim(self, claimed)

    async def evaluate(
        self,
        queue: str,
        evaluate: Callable[[AsyncClaim], Awaitable[Any]],
        *,
        lease_s: float = 60.0,
        idle_s: float | None = None,
        stop: asyncio.Event | None = None,
    ) -> int:
        """Evaluates what comes, one after the other, and gives the number of evaluations that it ended.

        ``evaluate`` gets a :class:`AsyncClaim` and returns the result (any JSON). What it raises fails the try;
        :class:`DoNotRetry` fails the evaluation for good. Meanwhile heartbeats keep the lease; once
        ``claim.lost`` is set the work is for nothing and may be broken off.

        :param idle_s: return after so long without work; default: go on until ``stop`` is set.
        """
        return await evaluate_claims(
            self,
            queue,
            evaluate,
            lease_s=lease_s,
            idle_s=idle_s,
            stop=stop or asyncio.Event(),
        )

    async def rewrite_blocks(
        self,
        queue: str,
        rewrite: Callable[[NewBlockRequest], Awaitable[str | NewBlockAnswer | None]],
        *,
        lease_s: float = 60.0,
        idle_s: float | None = None,
        stop: asyncio.Event | None = None,
    ) -> int:
        """Rewrites blocks for refinement loops, as :meth:`evaluate` evaluates scripts.

        ``rewrite`` returns the new text of the block, or ``{"codeBlock": text, "plan": plan}`` if it followed another
        plan than that of the request; None ends the loop.
        """

        async def answer(claim: AsyncClaim) -> Any:
            new = await rewrite(cast("NewBlockRequest", claim.data))
            return {"codeBlock": new} if new is None or isinstance(new, str) else new

        return await self.evaluate(
            queue, answer, lease_s=lease_s, idle_s=idle_s, stop=stop
        )

    # The gateway itself

    async def health(self) -> Health:
        """Whether the gateway works: Redis accepts writes. Needs no token."""
        return await self.perform(operations.health())

    async def readiness(self) -> Health:
        """Whether the gateway wants requests: as :meth:`health`, and ``unavailable`` while it stops. Needs no token."""
        return await self.perform(operations.readiness())

    async def metrics(self) -> str:
        """The metrics, in the text format of Prometheus."""
        return await self.perform(operations.metrics())

    async def openapi(self) -> dict[str, Any]:
        """The OpenAPI document of the gateway. Needs no token."""
        return await self.perform(operations.openapi())

    # Requests

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Any other request to the API; gives the body of the answer. Raises :class:`ApiError`."""
        return await self._transport.send(Request(method, path, body))

    async def perform(self, operation: Operation[Result]) -> Result:
        """Sends the requests of an operation; this package's own use of :meth:`request`."""
        try:
            request = next(operation)
            while True:
                try:
                    answer = await self._transport.send(request)
                except Exception as error:
                    request = operation.throw(error)
                else:
                    request = operation.send(answer)
        except StopIteration as end:
            result: Result = end.value
            return result

    def _handle(self, submitted: operations.Submitted) -> AsyncJobHandle[Any]:
        return AsyncJobHandle(self, *submitted)

    def _guarded(self, pair: operations.SubmittedPair) -> AsyncGuardedEvaluation:
        return AsyncGuardedEvaluation(self._handle(pair.parent), self._handle(pair.child))
