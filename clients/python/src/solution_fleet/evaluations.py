"""The evaluating side: claim an evaluation with its checked script, keep the lease, say how it ended."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Callable

from .answers import field
from .errors import ApiError, DoNotRetry, FleetError, FleetUnreachable, LeaseLost
from .option_names import renamed
from .types import CandidateOutcome, CheckStatus, Finding, ScriptContamination

if TYPE_CHECKING:
    from .client import FleetClient

log = logging.getLogger("solution_fleet")

#: Heartbeats in the time of one lease: two may be lost.
_BEATS = 3
#: The shortest lease there is, in seconds: by it an evaluation is given back.
_SHORTEST_LEASE = 1.0


class Claim:
    """One evaluation in this program's hands, with the script as its check left it.

    If a refinement loop asks for a new block, there is no script to evaluate: ``data`` has the request. The job after a
    batch of candidates (``after_all``) has ``outcomes`` instead.
    """

    def __init__(self, fleet: FleetClient, claimed: Mapping[str, Any]) -> None:
        self._fleet = fleet
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
        #: Set once the lease is lost or the job cancelled: the work is to be dropped.
        self.lost = threading.Event()
        self._loss: LeaseLost | None = None

    @property
    def script(self) -> str:
        """The script to evaluate: the checked one. Raises ValueError if there is none."""
        if self._script is None:
            has = "data" if self.outcomes is None else "outcomes"
            raise ValueError(f"job {self.id} is no evaluation: it has no checked script, see claim.{has}")
        return self._script

    @property
    def lease_seconds(self) -> float:
        """The old name of ``lease_s``."""
        warnings.warn("'lease_seconds' is now 'lease_s'", DeprecationWarning, stacklevel=2)
        return self.lease_s

    @renamed(lease_seconds="lease_s")
    def heartbeat(self, lease_s: float | None = None) -> None:
        """Extends the lease. Raises :class:`LeaseLost`."""
        seconds = self.lease_s if lease_s is None else lease_s
        try:
            self._post("heartbeat", leaseMs=_milliseconds(seconds))
        except LeaseLost as error:
            self._lose(error)
            if error.code == "job-cancelled":
                # The lease still holds: the job is ended now, and not only when it has run out.
                with contextlib.suppress(FleetError):
                    self._post("fail", message="the job was cancelled", retryable=False)
            raise

    def complete(self, result: Any) -> None:
        """Ends the evaluation with its result, any JSON up to the gateway's limit.

        Raises :class:`LeaseLost`; ValueError for NaN; :class:`ApiError` with status 413 for a result that is too large.
        """
        self._end("complete", result=result)

    def fail(self, message: str, *, retryable: bool = True) -> None:
        """Ends this try. Where another may help and attempts are left, the evaluation is handed out again."""
        self._end("fail", message=message or "no reason was given", retryable=retryable)

    def give_back(self) -> None:
        """Lets another evaluator have it in about a second, without using up an attempt."""
        self.heartbeat(_SHORTEST_LEASE)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Sends heartbeats from a thread of its own for as long as the block runs."""
        done = threading.Event()

        def beat() -> None:
            while not done.wait(self.lease_s / _BEATS):
                try:
                    self.heartbeat()
                except LeaseLost as error:
                    log.warning("evaluation %s: %s", self.id, error)
                    return
                except FleetError as error:
                    log.warning("evaluation %s: no heartbeat: %s", self.id, error)

        thread = threading.Thread(target=beat, name=f"heartbeat {self.id}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _end(self, how: str, **fields: Any) -> None:
        if self._loss is not None:
            raise self._loss
        try:
            self._post(how, **fields)
        except LeaseLost as error:
            # The first request may have ended the evaluation, and only its answer was lost.
            if not (error.answer_lost and self._fleet.job(self.id)["state"] in ("completed", "failed")):
                self._lose(error)
                raise

    def _lose(self, error: LeaseLost) -> None:
        self._loss = error
        self.lost.set()

    def _post(self, how: str, **fields: Any) -> None:
        self._fleet.request("POST", f"/v1/evaluations/{how}", {**self._ref, **fields})


#: How long one claim waits at the gateway, in seconds; so long at most it takes to notice ``stop``.
_CLAIM_WAIT = 5.0

#: Pause after a claim that could not be made, in seconds.
_PAUSE = 2.0


def evaluate_claims(
    fleet: FleetClient,
    queue: str,
    evaluate: Callable[[Claim], Any],
    *,
    lease_s: float,
    idle_s: float | None,
    stop: threading.Event,
) -> int:
    """See :meth:`FleetClient.evaluate`."""
    ended = 0
    was_reached = False
    idle_since = time.monotonic()
    while not stop.is_set():
        idle_left = math.inf if idle_s is None else idle_since + idle_s - time.monotonic()
        try:
            claim = fleet.claim(queue, lease_s=lease_s, wait_s=max(0.0, min(_CLAIM_WAIT, idle_left)))
        except (FleetUnreachable, ApiError) as error:
            # One that never answered is a wrong address; one that has answered before will come back.
            passes = isinstance(error, FleetUnreachable) or error.retryable
            if not (was_reached and passes):
                raise
            log.warning("evaluations of %s: %s", queue, error)
            stop.wait(_PAUSE)
            continue
        was_reached = True
        if claim is not None:
            ended += _work_on(claim, evaluate)
            idle_since = time.monotonic()
        elif idle_left <= 0:
            break
    return ended


def _work_on(claim: Claim, evaluate: Callable[[Claim], Any]) -> bool:
    """Evaluates one claim; tells whether it was ended here."""
    try:
        with claim.kept():
            try:
                result = evaluate(claim)
            except DoNotRetry as error:
                claim.fail(str(error), retryable=False)
            except Exception as error:
                log.warning("evaluation %s failed", claim.id, exc_info=True)
                claim.fail(f"{type(error).__name__}: {error}")
            else:
                _complete(claim, result)
        return True
    except FleetError as error:
        log.warning("evaluation %s is dropped: %s", claim.id, error)
        return False
    except BaseException:
        # This program is being stopped: no fault of the evaluation, which another one can have at once.
        with contextlib.suppress(FleetError):
            claim.give_back()
        raise


def _complete(claim: Claim, result: Any) -> None:
    try:
        claim.complete(result)
    except (TypeError, ValueError) as error:
        claim.fail(f"the result is no JSON: {error}", retryable=False)
    except ApiError as error:
        # A result that is too large is no better at the next try.
        if error.status not in (413, 422):
            raise
        claim.fail(f"the result was refused: {error}", retryable=False)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
