"""The evaluating side by asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Callable

from ..claims import BEATS, SHORTEST_LEASE, ClaimedEvaluation, ClaimLoop, log
from ..errors import ApiError, FleetError, FleetUnreachable

if TYPE_CHECKING:
    from .client import AsyncFleetClient

_NOT_AWAITABLE = object()


class AsyncClaim(ClaimedEvaluation):
    __doc__ = ClaimedEvaluation.__doc__

    def __init__(self, fleet: AsyncFleetClient, claimed: Mapping[str, Any]) -> None:
        super().__init__(claimed)
        self._fleet = fleet
        #: Set once the lease is lost or the job cancelled: the work is to be dropped.
        self.lost: asyncio.Event = asyncio.Event()

    async def heartbeat(self, lease_s: float | None = None) -> None:
        """Extends the lease. Raises :class:`LeaseLost`."""
        await self._fleet.perform(self._heartbeat(lease_s))

    async def complete(self, result: Any) -> None:
        """Ends the evaluation with its result, any JSON up to the gateway's limit.

        Raises :class:`LeaseLost`; ValueError for NaN; :class:`ApiError` with status 413 for a result that is too large.
        """
        await self._fleet.perform(self._complete(result))

    async def fail(self, message: str, *, retryable: bool = True) -> None:
        """Ends this try. Where another may help and attempts are left, the evaluation is handed out again."""
        await self._fleet.perform(self._fail(message, retryable))

    async def give_back(self) -> None:
        """Lets another evaluator have it in about a second, without using up an attempt."""
        await self.heartbeat(SHORTEST_LEASE)

    @contextlib.asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Sends heartbeats from a task of its own for as long as the block runs; the block must not stop the event loop."""
        task = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self.lease_s / BEATS)
            try:
                await self.heartbeat()
            except FleetError as error:
                if not self._goes_on_after(error):
                    return

    async def work(self, evaluate: Callable[[AsyncClaim], Awaitable[Any]]) -> bool:
        """Evaluates it and ends it; gives whether it was ended here. Raises TypeError if ``evaluate`` is no coroutine function."""
        try:
            async with self.kept():
                try:
                    running = evaluate(self)
                    result = await running if inspect.isawaitable(running) else _NOT_AWAITABLE
                except Exception as error:
                    ending = self._fail_by(error)
                else:
                    if result is _NOT_AWAITABLE:
                        # It has stopped the event loop, heartbeats included; the evaluation is given back.
                        raise TypeError("evaluate is no coroutine function; let it await asyncio.to_thread for code that blocks")
                    ending = self._complete_or_fail(result)
                await self._fleet.perform(ending)
            return True
        except FleetError as error:
            log.warning("evaluation %s is dropped: %s", self.id, error)
            return False
        except BaseException:
            # The task is cancelled: no fault of the evaluation, which another one can have at once.
            with contextlib.suppress(FleetError):
                await self.give_back()
            raise


async def evaluate_claims(
    fleet: AsyncFleetClient,
    queue: str,
    evaluate: Callable[[AsyncClaim], Awaitable[Any]],
    *,
    lease_s: float,
    idle_s: float | None,
    stop: asyncio.Event,
) -> int:
    """See :meth:`AsyncFleetClient.evaluate`."""
    loop = ClaimLoop(queue, idle_s)
    while not (stop.is_set() or loop.is_over):
        try:
            claim = await fleet.claim(queue, lease_s=lease_s, wait_s=loop.wait_s())
        except (FleetUnreachable, ApiError) as error:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(stop.wait(), loop.pause_after(error))
            continue
        loop.reached()
        if claim is None:
            loop.found_nothing()
        else:
            loop.worked(await claim.work(evaluate))
    return loop.ended
