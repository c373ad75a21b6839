"""Jobs that failed for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping
from urllib.parse import quote, urlencode

from .answers import field
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
        query = urlencode({**_filter(wanted), "limit": limit})
        jobs: list[Job] = field(self._fleet.request("GET", f"/v1/dead-letters?{query}"), "jobs", list)
        return jobs

    def show(self, job_id: str) -> DeadLetter:
        """One of them, with its payload and every agent call of every attempt."""
        letter: DeadLetter = self._fleet.request("GET", "/v1/dead-letters/" + quote(job_id, safe=""))
        return letter

    def retry(self, **wanted: Unpack[DeadLetterFilter]) -> DeadLetterAction:
        """Runs them again. Calls that were answered are not paid again."""
        action: DeadLetterAction = self._fleet.request("POST", "/v1/dead-letters:retry", _filter(wanted))
        return action

    def drop(self, **wanted: Unpack[DeadLetterFilter]) -> DeadLetterAction:
        """Removes them permanently; asks for a token of role ``admin``."""
        action: DeadLetterAction = self._fleet.request("POST", "/v1/dead-letters:drop", _filter(wanted))
        return action


_JSON_NAMES = {name: name for name in ("kind", "run", "tenant", "code", "ids")} | {"older_than_s": "olderThanMs"}


def _filter(wanted: Mapping[str, Any]) -> dict[str, Any]:
    filters = with_new_names(wanted, {"older_than_seconds": "older_than_s"})
    unknown = sorted(filters.keys() - _JSON_NAMES.keys())
    if unknown:
        raise TypeError(f"{unknown[0]!r} is not a filter; {meant(unknown[0], _JSON_NAMES)}")
    return {
        _JSON_NAMES[name]: round(value * 1000) if name == "older_than_s" else value
        for name, value in filters.items()
        if value is not None
    }
