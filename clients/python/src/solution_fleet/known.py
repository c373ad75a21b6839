"""The known solutions that contamination checks compare answers with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .answers import field
from .operations import Operation, Request, part, query
from .types import KnownSolution

if TYPE_CHECKING:
    from .client import FleetClient


class KnownSolutions:
    """What :attr:`FleetClient.known` gives. Adding and removing ask for a token of role ``admin``."""

    def __init__(self, fleet: FleetClient) -> None:
        self._fleet = fleet

    def of(self, test_case_id: str) -> list[KnownSolution]:
        """The known solutions of a test case; none is an empty list."""
        return self._fleet.perform(solutions_of(test_case_id))

    def add(
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
        return self._fleet.perform(add_solution(test_case_id, solution, language, added_to_training))

    def remove(self, test_case_id: str, solution_hash: str | None = None) -> int:
        """Forgets one solution of a test case, or all of them, and gives how many these were."""
        return self._fleet.perform(remove_solutions(test_case_id, solution_hash))


def solutions_of(test_case_id: str) -> Operation[list[KnownSolution]]:
    solutions: list[KnownSolution] = field((yield Request("GET", _path(test_case_id))), "solutions", list)
    return solutions


def add_solution(
    test_case_id: str, solution: str, language: str | None, added_to_training: str | None
) -> Operation[bool]:
    fields = {"solution": solution, "language": language, "addedToTraining": added_to_training}
    body = {name: value for name, value in fields.items() if value is not None}
    added: bool = field((yield Request("PUT", _path(test_case_id), body)), "added", bool)
    return added


def remove_solutions(test_case_id: str, solution_hash: str | None) -> Operation[int]:
    path = _path(test_case_id) + query({"hash": solution_hash})
    removed: int = field((yield Request("DELETE", path)), "removed", int)
    return removed


def _path(test_case_id: str) -> str:
    return "/v1/known/" + part(test_case_id)
