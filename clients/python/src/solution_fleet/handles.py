"""Jobs that were submitted, and how to follow them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import JobFailed
from .option_names import renamed
from .types import ExtractResult, Job, SolutionCheckResult, SummarizeResult

if TYPE_CHECKING:
    from .client import FleetClient
    from .events import JobEvent

Result = TypeVar("Result")


@dataclass(frozen=True)
class JobHandle(Generic[Result]):
    """A job that was submitted."""

    fleet: FleetClient
    id: str
    kind: str
    #: ``created``; or by its key: ``existing``, ``retried`` after a failure, ``replaced`` by force.
    outcome: str

    def job(self) -> Job:
        """The job as it is now."""
        return self.fleet.job(self.id)

    @renamed(timeout="timeout_s")
    def wait(self, timeout_s: float | None = None, *, follow: bool = True) -> Job:
        """Waits for the end of the job and of its follow-ups, whatever it is.

        ``follow=False``: returns once the job has its result. Raises :class:`WaitTimeout` after ``timeout_s`` seconds.
        """
        return self.fleet.wait(self.id, timeout_s, follow=follow)

    @renamed(timeout="timeout_s")
    def result(self, timeout_s: float | None = None, *, follow: bool = True) -> Result:
        """Waits for the result, and with ``follow`` for the follow-ups. Raises :class:`JobFailed` where there is none."""
        result: Result = result_of(self.wait(timeout_s, follow=follow))
        return result

    def events(self) -> Iterator[JobEvent]:
        """What happens to the job, until its end."""
        return self.fleet.events(self.id)

    def cancel(self) -> Job:
        """Cancels the job, and the children that it still waits for."""
        return self.fleet.cancel(self.id)


def result_of(job: Job) -> Any:
    """The result of a job. Raises :class:`JobFailed` where there is none."""
    # A job with follow-ups has its result before they have ended: it waits for them, and goes on once they have.
    has_result = job["state"] == "completed" or ("result" in job and job["state"] not in ("failed", "cancelled"))
    # A completed job with an error is one whose stored result cannot be read.
    if not has_result or "error" in job:
        raise JobFailed(job["id"], job["state"], job.get("error") or {})
    return job.get("result")


@dataclass(frozen=True)
class RefinementStep:
    """A summary, and the block and plan that follow from it."""

    extract: JobHandle[ExtractResult]
    summarize: JobHandle[SummarizeResult]


@dataclass(frozen=True)
class GuardedEvaluation:
    """An evaluation of the pipeline's, and the check before it."""

    evaluation: JobHandle[Any]
    check: JobHandle[SolutionCheckResult]


@dataclass(frozen=True)
class CandidateBatch:
    """Guarded evaluations in the order of their candidates, and the job after them all."""

    evaluations: list[GuardedEvaluation]
    after_all: JobHandle[Any] | None
