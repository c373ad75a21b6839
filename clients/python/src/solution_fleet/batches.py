"""Many jobs in few requests."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Union

from .answers import field, foreign
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
        answers = field(answer, "jobs", list)
        if len(answers) != len(batch):
            raise foreign(f"the answer to {len(batch)} jobs has {len(answers)}")
        outcomes.extend(_outcome(each) for each in answers)
    return outcomes


def _outcome(item: Any) -> Outcome:
    if not isinstance(item, dict) or item.get("error") is None:
        return item  # type: ignore[no-any-return]
    return api_error(field(item["error"], "status", int), item["error"])
