"""Many jobs in few requests."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Union

from .errors import ApiError, api_error
from .types import BatchJob

#: Most jobs that the gateway takes in one request.
_MOST_JOBS = 10_000
_TOO_LARGE = 413

#: What became of one job: its submission, or why it was refused.
Outcome = Union[Mapping[str, Any], ApiError]


def submit_in_batches(post: Callable[[Any], Any], jobs: Sequence[BatchJob]) -> list[Outcome]:
    """Outcomes in the order of the jobs. A request that is too large for the gateway is halved."""
    # A key of their own, so that a request whose answer is lost can be sent again.
    keyed = [{"key": str(uuid.uuid4()), **job} for job in jobs]
    waiting = [keyed[start : start + _MOST_JOBS] for start in range(0, len(keyed), _MOST_JOBS)]
    outcomes: list[Outcome] = []
    while waiting:
        batch = waiting.pop(0)
        try:
            answer = post({"jobs": batch})
        except ApiError as error:
            if error.status != _TOO_LARGE:
                raise
            if len(batch) == 1:
                outcomes.append(error)
            else:
                half = len(batch) // 2
                waiting[:0] = [batch[:half], batch[half:]]
            continue
        outcomes.extend(_outcome(each) for each in answer["jobs"])
    return outcomes


def _outcome(item: Mapping[str, Any]) -> Outcome:
    problem = item.get("error")
    return item if problem is None else api_error(int(problem["status"]), problem)
