"""Known solutions and dead letters by asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dead_letters import DeadLetters, act_on_letters, find_letters, json_filter, show_letter
from ..known import add_solution, remove_solutions, solutions_of
from ..types import DeadLetter, DeadLetterAction, DeadLetterFields, DeadLetterFilter, Job, KnownSolution

if TYPE_CHECKING:
    # Known to every type checker; there at run time it need not be.
    from typing_extensions import Unpack

    from .client import AsyncFleetClient


class AsyncKnownSolutions:
    """What :attr:`AsyncFleetClient.known` gives. Adding and removing ask for a token of role ``admin``."""

    def __init__(self, fleet: AsyncFleetClient) -> None:
        self._fleet = fleet

    async def of(self, test_case_id: str) -> list[KnownSolution]:
        """The known solutions of a test case; none is an empty list."""
        return await self._fleet.perform(solutions_of(test_case_id))

    async def add(
        self,
        test_case_id: str,
        solution: str,
        *,
        language: str | None = None,
        added_to_training: str | None = None,
    ) -> bool:
        """Makes a solution known from the next check on; False where it was known already.

        :param added_to_training: since when models may have been trained on it, an ISO 8601 time with its offset; default: now.
        """
        return await self._fleet.perform(add_solution(test_case_id, solution, language, added_to_training))

    async def remove(self, test_case_id: str, solution_hash: str | None = None) -> int:
        """Forgets one solution of a test case, or all of them, and gives how many these were."""
        return await self._fleet.perform(remove_solutions(test_case_id, solution_hash))


class AsyncDeadLetters:
    __doc__ = DeadLetters.__doc__

    def __init__(self, fleet: AsyncFleetClient) -> None:
        self._fleet = fleet

    async def find(self, *, limit: int = 100, **wanted: Unpack[DeadLetterFields]) -> list[Job]:
        """The jobs, newest first within their kind."""
        return await self._fleet.perform(find_letters(json_filter(wanted), limit))

    async def show(self, job_id: str) -> DeadLetter:
        """One of them, with its payload and every agent call of every attempt."""
        return await self._fleet.perform(show_letter(job_id))

    async def retry(self, **wanted: Unpack[DeadLetterFilter]) -> DeadLetterAction:
        """Runs them again. Calls that were answered are not paid again."""
        return await self._fleet.perform(act_on_letters("retry", json_filter(wanted)))

    async def drop(self, **wanted: Unpack[DeadLetterFilter]) -> DeadLetterAction:
        """Removes them permanently; asks for a token of role ``admin``."""
        return await self._fleet.perform(act_on_letters("drop", json_filter(wanted)))
