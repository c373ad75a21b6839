"""What is asked of the gateway, for both clients: each operation says its requests and reads the answers to them.

An operation is a generator. It yields a request, is sent the answer or is thrown the error, and returns its result. So the
client that runs it decides how to wait for the answer.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, Union, cast
from urllib.parse import quote, urlencode

from .answers import field, foreign, script_text
from .errors import ApiError, WaitTimeout, api_error
from .option_names import meant, with_new_names
from .types import BatchJob, Candidate, Disagreement, Evaluation, Health, Job, JobState, Run

Result = TypeVar("Result")


@dataclass(frozen=True)
class Request:
    """One request to the gateway."""

    method: str
    path: str
    body: Any = None
    #: How long the gateway itself may wait before it answers, in seconds.
    wait: float = 0.0
    #: Statuses of refusals that are answers here.
    answers: frozenset[int] = frozenset()
    #: Whether the answer is text and no JSON.
    text: bool = False


Operation = Generator[Request, Any, Result]



#: Longest time that one request waits at the gateway, in seconds; a longer wait is several requests.
_LONG_POLL = 30.0
_ENDED = frozenset({"completed", "failed", "cancelled"})
#: Most jobs that the gateway takes in one request.
_MOST_JOBS = 10_000
_TOO_LARGE = 413
_UNAVAILABLE = 503


class Submitted(NamedTuple):
    """A job that the gateway has taken."""

    id: str
    kind: str
    outcome: str


class SubmittedPair(NamedTuple):
    """Two jobs of a flow: the one that the flow is for, and the one before it."""

    parent: Submitted
    child: Submitted


class SubmittedBatch(NamedTuple):
    evaluations: list[SubmittedPair]
    after_all: Submitted | None


# Submitting


def submit(kind: str, payload: Any, options: Mapping[str, Any]) -> Operation[Submitted]:
    answer = yield _post(f"/v1/jobs/{part(kind)}", {"payload": payload, **options})
    return _submitted(answer)


def submit_batch(jobs: Sequence[BatchJob]) -> Operation[list[Union[Submitted, ApiError]]]:
    """Outcomes in the order of the jobs. A request that is too large for the gateway is halved."""
    # A key of their own, so that a request whose answer is lost can be sent again.
    keyed = [{"key": _new_key(), **job} for job in jobs]
    waiting = [keyed[start : start + _MOST_JOBS] for start in range(0, len(keyed), _MOST_JOBS)]
    outcomes: list[Submitted | ApiError] = []
    while waiting:
        batch = waiting.pop(0)
        try:
            answer = yield Request("POST", "/v1/jobs:batch", {"jobs": batch})
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
        outcomes.extend(_batch_outcome(each) for each in answers)
    return outcomes


def refinement_step(
    ablation_code: str, raw_output: str, solution: str, previous_blocks: Sequence[str], options: Mapping[str, Any]
) -> Operation[SubmittedPair]:
    body = {
        "ablationCode": ablation_code,
        "rawOutput": raw_output,
        "solution": {"content": script_text(solution)},
        "previousBlocks": list(previous_blocks),
    }
    answer = yield _post("/v1/flows/refinement", {**body, **options})
    return SubmittedPair(_submitted(field(answer, "extract")), _submitted(field(answer, "summarize")))


def guarded_evaluation(
    solution: str, evaluation: Evaluation, options: Mapping[str, Any]
) -> Operation[SubmittedPair]:
    body = {"solution": {"content": script_text(solution)}, "evaluation": evaluation}
    answer = yield _post("/v1/flows/guarded-evaluation", {**body, **options})
    return _guarded(answer)


def candidate_batch(
    candidates: Sequence[Candidate], evaluation: Evaluation, after_all: Evaluation | None, options: Mapping[str, Any]
) -> Operation[SubmittedBatch]:
    body: dict[str, Any] = {"candidates": list(candidates), "evaluation": evaluation}
    if after_all is not None:
        body["afterAll"] = after_all
    answer = yield _post("/v1/flows/candidate-batch", {**body, **options})
    evaluations = [_guarded(each) for each in field(answer, "evaluations", list)]
    after = answer.get("afterAll")
    return SubmittedBatch(evaluations, None if after is None else _submitted(after))


# Following


def job(job_id: str) -> Operation[Job]:
    return _job((yield Request("GET", f"/v1/jobs/{part(job_id)}")))


def jobs(kind: str | None, state: JobState | None, run: str | None, limit: int) -> Operation[list[Job]]:
    wanted = {"kind": kind, "state": state, "run": run, "limit": limit}
    found: list[Job] = field((yield Request("GET", f"/v1/jobs{query(wanted)}")), "jobs", list)
    return found


def run(name: str, limit: int | None) -> Operation[Run]:
    found: Run = yield Request("GET", f"/v1/runs/{part(name)}{query({'limit': limit})}")
    return found


def disagreements(run: str | None, limit: int) -> Operation[list[Disagreement]]:
    answer = yield Request("GET", f"/v1/disagreements{query({'run': run, 'limit': limit})}")
    found: list[Disagreement] = field(answer, "disagreements", list)
    return found


def wait(job_id: str, timeout_s: float | None, follow: bool) -> Operation[Job]:
    give_up_at = None if timeout_s is None else time.monotonic() + timeout_s
    while True:
        left = _LONG_POLL if give_up_at is None else max(0.0, give_up_at - time.monotonic())
        seconds = min(left, _LONG_POLL)
        path = f"/v1/jobs/{part(job_id)}?wait={milliseconds(seconds)}ms"
        if not follow:
            path += "&follow=false"
        found = _job((yield Request("GET", path, wait=seconds)))
        if found["state"] in _ENDED or (not follow and "followUps" in found):
            return found
        if timeout_s is not None and left <= _LONG_POLL:
            raise WaitTimeout(job_id, timeout_s)


def cancel(job_id: str) -> Operation[Job]:
    return (yield from _change(job_id, "DELETE", "", {"cancelled"}))


def retry(job_id: str) -> Operation[Job]:
    return (yield from _change(job_id, "POST", "/retry", {"waiting", "active", "delayed", "waiting-children"}))


def events_path(job_id: str) -> str:
    return f"/v1/jobs/{part(job_id)}/events"


# Evaluating


def claim(queue: str, lease_s: float, wait_s: float) -> Operation[Union[Mapping[str, Any], None]]:
    body = {"queue": queue, "leaseMs": milliseconds(lease_s)}
    path = f"/v1/evaluations/claim?wait={milliseconds(wait_s)}ms"
    claimed: Mapping[str, Any] | None = yield Request("POST", path, body, wait=wait_s)
    return claimed


# The gateway itself


def health() -> Operation[Health]:
    found: Health = yield Request("GET", "/healthz", answers=frozenset({_UNAVAILABLE}))
    return found


def readiness() -> Operation[Health]:
    found: Health = yield Request("GET", "/readyz", answers=frozenset({_UNAVAILABLE}))
    return found


def metrics() -> Operation[str]:
    found: str = yield Request("GET", "/metrics", text=True)
    return found


def openapi() -> Operation[dict[str, Any]]:
    found: dict[str, Any] = yield Request("GET", "/v1/openapi.json")
    return found


# Parts of requests and answers


def part(text: str) -> str:
    """One segment of a path."""
    return quote(text, safe="")


def query(fields: Mapping[str, Any]) -> str:
    """The query of a path, without fields that are None."""
    wanted = {name: value for name, value in fields.items() if value is not None}
    return f"?{urlencode(wanted)}" if wanted else ""


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _post(path: str, body: Mapping[str, Any]) -> Request:
    # A key also if the pipeline passed none, so that a request whose answer is lost can be sent again.
    return Request("POST", path, {"key": _new_key(), **body})


def _new_key() -> str:
    return str(uuid.uuid4())


def _change(job_id: str, method: str, action: str, wanted: set[str]) -> Operation[Job]:
    try:
        return _job((yield Request(method, f"/v1/jobs/{part(job_id)}{action}")))
    except ApiError as error:
        # The first request may have been carried out, and only its answer was lost.
        if not error.answer_lost:
            raise
        found = yield from job(job_id)
        if found["state"] not in wanted:
            raise
        return found


def _job(answer: Any) -> Job:
    field(answer, "state", str)
    return cast("Job", answer)


def _submitted(answer: Any) -> Submitted:
    return Submitted(*(field(answer, name, str) for name in ("id", "kind", "outcome")))


def _guarded(answer: Any) -> SubmittedPair:
    return SubmittedPair(_submitted(field(answer, "evaluation")), _submitted(field(answer, "check")))


def _batch_outcome(item: Any) -> Submitted | ApiError:
    if not isinstance(item, dict) or item.get("error") is None:
        return _submitted(item)
    return api_error(field(item["error"], "status", int), item["error"])


def json_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of a method's caller as the API names them, without those that are None."""
    fields: dict[str, Any] = {}
    for name, value in with_new_names(options, {"delay_seconds": "delay_s"}, caller=4).items():
        if value is None:
            continue
        if name not in _JSON_NAMES:
            raise TypeError(f"{name!r} is not an option; {meant(name, _JSON_NAMES)}")
        fields[_JSON_NAMES[name]] = round(value * 1000) if name == "delay_s" else value
    return fields


_JSON_NAMES = {
    "key": "key",
    "force": "force",
    "tenant": "tenant",
    "priority": "priority",
    "delay_s": "delayMs",
    "budget_usd": "budgetUsd",
    "deadline": "deadline",
    "reuse": "reuse",
    "workspace": "workspace",
    "model": "model",
    "tags": "tags",
    "on_uncorrected": "onUncorrected",
    "verify": "verify",
    "trial": "trial",
    "contamination": "contamination",
    "require": "require",
    "allow_unjudged": "allowUnjudged",
}
