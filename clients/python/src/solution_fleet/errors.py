"""What can go wrong between a pipeline and the fleet. Every error here is a :class:`FleetError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class FleetError(Exception):
    """The base of all errors of this package."""


class FleetUnreachable(FleetError):
    """The gateway gave no answer, or only temporary refusals of a proxy, for as long as the client was patient."""


class WaitTimeout(FleetError, TimeoutError):
    """The job has not ended in time. It goes on; ask again with its id."""

    def __init__(self, job_id: str, seconds: float) -> None:
        super().__init__(f"job {job_id} has not ended within {seconds:g} s; it goes on")
        self.job_id = job_id


class ApiError(FleetError):
    """The gateway refused a request; the attributes are those of its problem document (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        #: Code of the fleet's error table, or ``http-<status>`` where the answer is not the fleet's.
        self.code = str(problem.get("code") or f"http-{status}")
        self.detail = str(problem.get("detail") or f"the answer has status {status}")
        self.retryable = bool(problem.get("retryable", False))
        self.what_to_do = str(problem.get("whatToDo") or "")
        #: Path of the field at fault, such as ``payload.solution.content``.
        self.field: str | None = problem.get("field")
        #: All fields at fault, where there are several: ``{"field": ..., "message": ...}``.
        self.errors: list[dict[str, str]] = list(problem.get("errors") or [])
        self.job_id: str | None = problem.get("jobId")
        #: Seconds after which the gateway expects to take the request.
        self.retry_after = retry_after
        #: Whether the request had been sent before, and its answer was lost: it may have been carried out then.
        self.answer_lost = False
        #: The JSON object of the answer; None if it had none.
        self.body: dict[str, Any] | None = None
        super().__init__(f"[{self.code}] {self.detail} {self.what_to_do}".rstrip())


class LeaseLost(ApiError):
    """The evaluation is no longer this evaluator's: its lease ran out, or it was cancelled. Drop the work."""


class JobFailed(FleetError):
    """The job ended without a result: it failed or was cancelled."""

    def __init__(self, job_id: str, state: str, failure: Mapping[str, Any]) -> None:
        self.job_id = job_id
        #: ``failed`` or ``cancelled``; ``completed`` where the stored result cannot be read.
        self.state = state
        self.code = str(failure.get("code") or "job-failed")
        self.retryable = bool(failure.get("retryable", False))
        super().__init__(f"job {job_id}: [{self.code}] {failure.get('message') or 'no reason was recorded'}")


class CommandNotFound(FleetError):
    """The ``fleet`` command of a local check is not installed, or cannot be started."""


class CheckTimeout(FleetError, TimeoutError):
    """A local check has not ended in time. It was stopped."""


class CheckFailed(FleetError):
    """A file could not be checked on this machine; the code is of the fleet's error table."""

    def __init__(self, file: str | None, code: str, message: str) -> None:
        #: The file as it was named; ``-`` for a script that was passed as text, None if the command itself failed.
        self.file = file
        #: ``command-failed`` if the command printed no result: the message is what it said.
        self.code = code
        self.message = message
        super().__init__(f"[{code}] {message}")


class DoNotRetry(Exception):
    """Raise it from an evaluation that another try cannot help: a script that does not parse, say."""


#: Codes by which a heartbeat or an end of an evaluation is refused because the work is to be dropped.
_LEASE_CODES = frozenset({"lease-lost", "job-cancelled"})


def api_error(status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> ApiError:
    """The error of a refusal, in the class that its code has."""
    kind = LeaseLost if problem.get("code") in _LEASE_CODES else ApiError
    return kind(status, problem, retry_after)
