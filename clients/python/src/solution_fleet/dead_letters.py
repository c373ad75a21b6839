"""Jobs that failed for good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .answers import field
from .operations import Operation, Request, part, query
from .option_names import meant, with_new_names
from .types import DeadLetter, DeadLetterAction, DeadLetterFields, DeadLetterFilter, Job

if TYPE_CHECKING:
    # Known to every type checker; there at run time it need not be.
    from typing_extensions import Unpack

    from .client import FleetClient


class DeadLetters:
    """What :attr:`FleetClient.dead_letters` gives.

    Filters: ``kind``, ``run``, ``tenant``, ``code`` (of the error); :meth:`retry` and :meth:`drop` also take ``ids`` and
    ``older_than_s``, and are refused without any.
    """

    def __init__(self, fleet: FleetClient) -> None:
        self._fleet = fleet

    def find(self, *, limit: int = 100, **wanted: Unpack[DeadLetterFields]) -> list[Job]:
        """The jobs, newest first within their kind."""
        return self._fleet.perform(find_letters(json_filter(wanted), limit))

    def show(self, job_id: str) -> DeadLetter:
        """One of them, with its payload and every agent call of every attempt."""
        return self._fleet.perform(show_letter(job_id))

    def retry(self, **wanted: Unpack[DeadLetterFilter]) -> DeadLetterAction:
        """Runs them again. Calls that were answered are not paid again."""
        return self._fleet.perform(act_on_letters("retry", json_filter(wanted)))

    def drop(self, **wanted: Unpack[DeadLetterFilter]) -> DeadLetterAction:
        """Removes them permanently; asks for a token of role ``admin``."""
        return self._fleet.perform(act_on_letters("drop", json_filter(wanted)))


def find_letters(wanted: Mapping[str, Any], limit: int) -> Operation[list[Job]]:
    path = f"/v1/dead-letters{query({**wanted, 'limit': limit})}"
    jobs: list[Job] = field((yield Request("GET", path)), "jobs", list)
    return jobs


def show_letter(job_id: str) -> Operation[DeadLetter]:
    letter: DeadLetter = yield Request("GET", f"/v1/dead-letters/{part(job_id)}")
    return letter


def act_on_letters(action: str, wanted: Mapping[str, Any]) -> Operation[DeadLetterAction]:
    done: DeadLetterAction = yield Request("POST", f"/v1/dead-letters:{action}", wanted)
    return done


_JSON_NAMES = {name: name for name in ("kind", "run", "tenant", "code", "ids")} | {"older_than_s": "olderThanMs"}


def json_filter(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Filters of a method's caller as the API names them."""
    filters = with_new_names(wanted, {"older_than_seconds": "older_than_s"}, caller=4)
    unknown = sorted(filters.keys() - _JSON_NAMES.keys())
    if unknown:
        raise TypeError(f"{unknown[0]!r} is not a filter; {meant(unknown[0], _JSON_NAMES)}")
    return {
        _JSON_NAMES[name]: round(value * 1000) if name == "older_than_s" else value
        for name, value in filters.items()
        if value is not None
    }
