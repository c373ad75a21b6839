"""What happens to a job, as it happens."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from .errors import ApiError
from .event_stream import ServerEvent, read_events
from .retry_timer import CONNECTION_ERRORS, RetryTimer
from .transport import Transport

#: The gateway sends a sign of life every 15 seconds; after three that are missing the link is dead.
LONGEST_SILENCE = 45.0


@dataclass(frozen=True)
class JobEvent:
    """Something that happened to a job."""

    #: ``state`` ({"state": ...}), ``progress`` ({"progress": ...}) or ``end`` (the job); the last one is ``end``.
    name: Literal["state", "progress", "end"]
    data: Any
    #: To go on from here later.
    id: str | None


def job_event(event: ServerEvent) -> JobEvent:
    return JobEvent(cast(Any, event.name), json.loads(event.data), event.id)


def stream_ended() -> ConnectionError:
    """What it counts as if a stream ends before the job does."""
    return ConnectionError("the gateway ended the stream")


def follow(transport: Transport, path: str, after: str | None) -> Iterator[JobEvent]:
    """Events until the end of the job, over any number of lost connections, each once."""
    retries = transport.retry_timer()
    while True:
        headers = {} if after is None else {"Last-Event-ID": after}
        try:
            with transport.open("GET", path, timeout=LONGEST_SILENCE, headers=headers) as response:
                if response.status == 204:
                    return  # The end was told before.
                for event in read_events(_chunks(response, retries)):
                    after = event.id or after
                    yield job_event(event)
                    if event.name == "end":
                        return
            retries.wait_after(stream_ended())
        except (ApiError, *CONNECTION_ERRORS) as error:
            retries.wait_after(error)


def _chunks(response: http.client.HTTPResponse, retries: RetryTimer) -> Iterator[bytes]:
    while chunk := response.read1(65_536):
        # Also where it is only a sign of life: a job may run for hours without an event.
        retries.reset()
        yield chunk
