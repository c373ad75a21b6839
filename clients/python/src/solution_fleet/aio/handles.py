"""Jobs that were submitted by asyncio, and how to follow them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from ..handles import Result, result_of
from ..types import ExtractResult, Job, SolutionCheckResult, SummarizeResult

if TYPE_CHECKING:
    from ..events import JobEvent
    from .client import AsyncFleetClient


@dataclass(frozen=True)
class AsyncJobHandle(Generic[Result]):
    """A job that was submitted."""

    fleet: AsyncFleetClient
    id: str
    kind: str
    #: ``created``; or by its key: ``existing``, ``retried`` after a failure, ``replaced`` by force.
    outcome: str

    async def job(self) -> Job:
        """The job as it is now."""
        return await self.fleet.job(self.id)

    async def wait(self, timeout_s: float | None = None, *, follow: bool = True) -> Job:
        """Waits for the end of the job and of its follow-ups, whatever it is.

        ``follow=False``: returns once the job has its result. Raises :class:`WaitTimeout` after ``timeout_s`` seconds.
        """
        return await self.fleet.wait(self.id, timeout_s, follow=follow)

    async def result(self, timeout_s: float | None = None, *, follow: bool = True) -> Result:
        """Waits for the result, and with ``follow`` for the follow-ups. Raises :class:`JobFailed` where there is none."""
        result: Result = result_of(await self.wait(timeout_s, follow=follow))
        return result

    def events(self) -> AsyncIterator[JobEvent]:
        """What happens to the job, until its end."""
        return self.fleet.events(self.id)

    async def cancel(self) -> Job:
        """Cancels the job, and the children that it still waits for."""
        return await self.fleet.cancel(self.id)


@dataclass(frozen=True)
class AsyncRefinementStep:
    """A summary, and the block and plan that follow from it."""

    extract: AsyncJobHandle[ExtractResult]
    summarize: AsyncJobHandle[SummarizeResult]


@dataclass(frozen=True)
class AsyncGuardedEvaluation:
    """An evaluation of the pipeline's, and the check before it."""

    evaluation: AsyncJobHandle[Any]
    check: AsyncJobHandle[SolutionCheckResult]


@dataclass(frozen=True)
class AsyncCandidateBatch:
    """Guarded evaluations in the order of their candidates, and the job after them all."""

    evaluations: list[AsyncGuardedEvaluation]
    after_all: AsyncJobHandle[Any] | None
