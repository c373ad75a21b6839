"""The evaluating side: claim an evaluation with its checked script, keep the lease, say how it ended."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Callable

from .claims import BEATS, SHORTEST_LEASE, ClaimedEvaluation, ClaimLoop, log
from .errors import ApiError, FleetError, FleetUnreachable
from .option_names import renamed

if TYPE_CHECKING:
    from .client import FleetClient


class Claim(ClaimedEvaluation):
    __doc__ = ClaimedEvaluation.__doc__

    def __init__(self, fleet: FleetClient, claimed: Mapping[str, Any]) -> None:
        super().__init__(claimed)
        self._fleet = fleet
        #: Set once the lease is lost or the job cancelled: the work is to be dropped.
        self.lost: threading.Event = threading.Event()

    @property
    def lease_seconds(self) -> float:
        """The old name of ``lease_s``."""
        warnings.warn("'lease_seconds' is now 'lease_s'", DeprecationWarning, stacklevel=2)
        return self.lease_s

    @renamed(lease_seconds="lease_s")
    def heartbeat(self, lease_s: float | None = None) -> None:
        """Extends the lease. Raises :class:`LeaseLost`."""
        self._fleet.perform(self._heartbeat(lease_s))

    def complete(self, result: Any) -> None:
        """Ends the evaluation with its result, any JSON up to the gateway's limit.

        Raises :class:`LeaseLost`; ValueError for NaN; :class:`ApiError` with status 413 for a result that is too large.
        """
        self._fleet.perform(self._complete(result))

    def fail(self, message: str, *, retryable: bool = True) -> None:
        """Ends this try. Where another may help and attempts are left, the evaluation is handed out again."""
        self._fleet.perform(self._fail(message, retryable))

    def give_back(self) -> None:
        """Lets another evaluator have it in about a second, without using up an attempt."""
        self.heartbeat(SHORTEST_LEASE)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Sends heartbeats from a thread of its own for as long as the block runs."""
        done = threading.Event()

        def beat() -> None:
            while not done.wait(self.lease_s / BEATS):
                try:
                    self.heartbeat()
                except FleetError as error:
                    if not self._goes_on_after(error):
                        return

        thread = threading.Thread(target=beat, name=f"heartbeat {self.id}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def work(self, evaluate: Callable[[Claim], Any]) -> bool:
        """Evaluates it and ends it; gives whether it was ended here."""
        try:
            with self.kept():
                try:
                    result = evaluate(self)
                except Exception as error:
                    ending = self._fail_by(error)
                else:
                    ending = self._complete_or_fail(result)
                self._fleet.perform(ending)
            return True
        except FleetError as error:
            log.warning("evaluation %s is dropped: %s", self.id, error)
            return False
        except BaseException:
            # This program is being stopped: no fault of the evaluation, which another one can have at once.
            with contextlib.suppress(FleetError):
                self.give_back()
            raise


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
    loop = ClaimLoop(queue, idle_s)
    while not (stop.is_set() or loop.is_over):
        try:
            claim = fleet.claim(queue, lease_s=lease_s, wait_s=loop.wait_s())
        except (FleetUnreachable, ApiError) as error:
            stop.wait(loop.pause_after(error))
            continue
        loop.reached()
        if claim is None:
            loop.found_nothing()
        else:
            loop.worked(claim.work(evaluate))
    return loop.ended
