"""Requests to one gateway by asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from ..errors import ApiError
from ..events import LONGEST_SILENCE, JobEvent, job_event, stream_ended
from ..event_stream import EventReader
from ..gateway import Gateway
from ..operations import Request
from ..retry_timer import CONNECTION_ERRORS, RetryTimer
from ..transport import answer_of, encoded, refusal
from .connection import Response, open_response


class AsyncTransport:
    """Sends requests, and sends them again, as :class:`solution_fleet.transport.Transport` does."""

    def __init__(self, gateway: Gateway, timeout: float, retry_timeout: float) -> None:
        self._gateway = gateway
        self._timeout = timeout
        self._retry_timeout = retry_timeout

    async def send(self, request: Request) -> Any:
        """Sends a request and gives the body of its answer; None where it has none."""
        retries = RetryTimer(request.wait + self._retry_timeout)
        answer_lost = False
        while True:
            try:
                timeout = self._timeout + request.wait
                async with self._open(request.method, request.path, request.body, timeout=timeout) as response:
                    text = await response.read()
                return answer_of(request, response.status, text)
            except ApiError as error:
                if error.status in request.answers and error.body is not None:
                    return error.body
                error.answer_lost = answer_lost
                await asyncio.sleep(retries.pause_after(error))
            except CONNECTION_ERRORS as error:
                answer_lost = True
                await asyncio.sleep(retries.pause_after(error))

    async def follow(self, path: str, after: str | None) -> AsyncIterator[JobEvent]:
        """Events until the end of the job, over any number of lost connections, each once."""
        retries = RetryTimer(self._retry_timeout)
        while True:
            headers = {} if after is None else {"Last-Event-ID": after}
            reader = EventReader()
            try:
                async with self._open("GET", path, timeout=LONGEST_SILENCE, headers=headers) as response:
                    if response.status == 204:
                        return  # The end was sent before.
                    async for chunk in response.chunks():
                        # Also where it is only a sign of life: a job may run for hours without an event.
                        retries.reset()
                        for event in reader.read(chunk):
                            after = event.id or after
                            yield job_event(event)
                            if event.name == "end":
                                return
                pause = retries.pause_after(stream_ended())
            except (ApiError, *CONNECTION_ERRORS) as error:
                pause = retries.pause_after(error)
            await asyncio.sleep(pause)

    @contextlib.asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        timeout: float,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Response]:
        """Sends a request once. A redirect is a refusal: it would carry the token to wherever it points."""
        data, fields = encoded(self._gateway, body, headers or {})
        async with open_response(method, self._gateway.url + path, data, fields, timeout) as response:
            if not 200 <= response.status < 300:
                text = await response.read()
                raise refusal(response.status, text, response.headers.get("Retry-After"))
            yield response
