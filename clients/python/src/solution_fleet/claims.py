"""An evaluation in a program's hands, for both clients: its data, its lease, and how it ends."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from typing import Any, Protocol, Union

from . import operations
from .answers import field
from .errors import ApiError, DoNotRetry, FleetError, FleetUnreachable, LeaseLost
from .operations import Operation, Request, milliseconds
from .types import CandidateOutcome, CheckStatus, Finding, Job, ScriptContamination

log = logging.getLogger("solution_fleet")

#: Heartbeats in the time of one lease: two may be lost.
BEATS = 3
#: The shortest lease there is, in seconds: by it an evaluation is given back.
SHORTEST_LEASE = 1.0
#: How long one claim waits at the gateway, in seconds; so long at most it takes to notice ``stop``.
_CLAIM_WAIT = 5.0
#: Pause after a claim that could not be made, in seconds.
_PAUSE = 2.0


class Flag(Protocol):
    """An event of ``threading`` or of ``asyncio``."""

    def set(self) -> None: ...


class ClaimedEvaluation:
    """One evaluation in this program's hands, with the script as its check left it.

    If a refinement loop asks for a new block, there is no script to evaluate: ``data`` has the request. The job after a
    batch of candidates (``after_all``) has ``outcomes`` instead.
    """

    lost: Flag

    def __init__(self, claimed: Mapping[str, Any]) -> None:
        self._ref = {name: field(claimed, name, str) for name in ("queue", "id", "lease")}
        self.id: str = self._ref["id"]
        #: Name of the job.
        self.name: str = field(claimed, "name", str)
        #: The pipeline's own data.
        self.data: dict[str, Any] = field(claimed, "data", dict)
        #: Which try it is, from 1.
        self.attempt: int = field(claimed, "attempt", int)
        solution = claimed.get("solution")
        self._script: str | None = None if solution is None else field(solution, "content", str)
        #: Status of the check; None if there is no script to evaluate.
        self.status: CheckStatus | None = claimed.get("status")
        self.findings: list[Finding] = claimed.get("findings", [])
        #: How the script compares with the known solutions, if that was asked.
        self.contamination: ScriptContamination | None = claimed.get("contamination")
        #: Of the job after a batch: what became of each candidate, in no particular order; else None.
        self.outcomes: list[CandidateOutcome] | None = claimed.get("outcomes")
        self.lease_s: float = field(claimed, "leaseMs", (int, float)) / 1000
        self._loss: LeaseLost | None = None

    @property
    def script(self) -> str:
        """The script to evaluate: the checked one. Raises ValueError if there is none."""
        if self._script is None:
            has = "data" if self.outcomes is None else "outcomes"
            raise ValueError(f"job {self.id} is no evaluation: it has no checked script, see claim.{has}")
        return self._script

    def _heartbeat(self, lease_s: float | None) -> Operation[None]:
        seconds = self.lease_s if lease_s is None else lease_s
        try:
            yield self._request("heartbeat", leaseMs=milliseconds(seconds))
        except LeaseLost as error:
            self._lose(error)
            if error.code == "job-cancelled":
                # The lease still holds: the job is ended now, and not only when it has run out.
                try:
                    yield self._request("fail", message="the job was cancelled", retryable=False)
                except FleetError:
                    log.debug("evaluation %s: the end of the cancelled job could not be reported", self.id)
            raise

    def _complete(self, result: Any) -> Operation[None]:
        yield from self._end("complete", result=result)

    def _fail(self, message: str, retryable: bool) -> Operation[None]:
        yield from self._end("fail", message=message or "no reason was given", retryable=retryable)

    def _complete_or_fail(self, result: Any) -> Operation[None]:
        """Ends the evaluation with what its evaluator returned, whatever that is."""
        try:
            yield from self._complete(result)
        except (TypeError, ValueError) as error:
            yield from self._fail(f"the result is no JSON: {error}", False)
        except ApiError as error:
            # A result that is too large is no better at the next try.
            if error.status not in (413, 422):
                raise
            yield from self._fail(f"the result was refused: {error}", False)

    def _fail_by(self, error: Exception) -> Operation[None]:
        """Ends this try with what its evaluator raised."""
        if isinstance(error, DoNotRetry):
            yield from self._fail(str(error), False)
        else:
            log.warning("evaluation %s failed", self.id, exc_info=error)
            yield from self._fail(f"{type(error).__name__}: {error}", True)

    def _goes_on_after(self, error: FleetError) -> bool:
        """Whether heartbeats go on after one that failed."""
        if isinstance(error, LeaseLost):
            log.warning("evaluation %s: %s", self.id, error)
            return False
        log.warning("evaluation %s: no heartbeat: %s", self.id, error)
        return True

    def _end(self, how: str, **fields: Any) -> Operation[None]:
        if self._loss is not None:
            raise self._loss
        try:
            yield self._request(how, **fields)
        except LeaseLost as error:
            # The first request may have ended the evaluation, and only its answer was lost.
            if error.answer_lost:
                job: Job = yield from operations.job(self.id)
                if job["state"] in ("completed", "failed"):
                    return
            self._lose(error)
            raise

    def _lose(self, error: LeaseLost) -> None:
        self._loss = error
        self.lost.set()

    def _request(self, how: str, **fields: Any) -> Request:
        return Request("POST", f"/v1/evaluations/{how}", {**self._ref, **fields})


class ClaimLoop:
    """How long a loop of claims goes on, and what it does about errors."""

    def __init__(self, queue: str, idle_s: float | None) -> None:
        self._queue = queue
        self._idle_s = idle_s
        self._was_reached = False
        self._idle_since = time.monotonic()
        #: Evaluations that were ended here.
        self.ended = 0
        self.is_over = False

    def wait_s(self) -> float:
        """How long the next claim waits at the gateway, in seconds."""
        return max(0.0, min(_CLAIM_WAIT, self._idle_left()))

    def pause_after(self, error: Union[FleetUnreachable, ApiError]) -> float:
        """Seconds until the next claim; raises the error if there is none."""
        # One that never answered is a wrong address; one that has answered before will come back.
        passes = isinstance(error, FleetUnreachable) or error.retryable
        if not (self._was_reached and passes):
            raise error
        log.warning("evaluations of %s: %s", self._queue, error)
        return _PAUSE

    def reached(self) -> None:
        """A claim was answered."""
        self._was_reached = True

    def worked(self, ended: bool) -> None:
        """An evaluation was worked on."""
        self.ended += ended
        self._idle_since = time.monotonic()

    def found_nothing(self) -> None:
        """No evaluation waited."""
        self.is_over = self._idle_left() <= 0

    def _idle_left(self) -> float:
        return math.inf if self._idle_s is None else self._idle_since + self._idle_s - time.monotonic()
