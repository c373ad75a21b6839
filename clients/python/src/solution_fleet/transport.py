"""Requests to one gateway."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .answers import foreign
from .errors import ApiError, api_error
from .gateway import Gateway
from .operations import Request
from .retry_timer import CONNECTION_ERRORS, RetryTimer


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to wherever it points."""

    def redirect_request(self, *_args: Any) -> None:
        return None


class Transport:
    """Sends requests, and sends them again. Safe to share between threads."""

    def __init__(self, gateway: Gateway, timeout: float, retry_timeout: float) -> None:
        self._gateway = gateway
        self._timeout = timeout
        self._retry_timeout = retry_timeout
        self._opener = urllib.request.build_opener(_NoRedirects)

    def retry_timer(self, wait: float = 0.0) -> RetryTimer:
        return RetryTimer(wait + self._retry_timeout)

    def send(self, request: Request) -> Any:
        """Sends a request and gives the body of its answer; None where it has none.

        While the gateway is away or asks to come back later, the request is sent again. Every request of this
        package may be: submissions carry keys, and where the second try is refused because the first was carried
        out, the error says that an answer was lost.
        """
        retries = self.retry_timer(request.wait)
        answer_lost = False
        while True:
            try:
                timeout = self._timeout + request.wait
                with self.open(request.method, request.path, request.body, timeout=timeout) as response:
                    text = response.read()
                return answer_of(request, response.status, text)
            except ApiError as error:
                if error.status in request.answers and error.body is not None:
                    return error.body
                error.answer_lost = answer_lost
                retries.wait_after(error)
            except CONNECTION_ERRORS as error:
                answer_lost = True
                retries.wait_after(error)

    @contextmanager
    def open(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        timeout: float,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[http.client.HTTPResponse]:
        """Sends a request once; ``timeout`` is the longest silence, in seconds. Raises :class:`ApiError`."""
        data, all_headers = encoded(self._gateway, body, headers or {})
        request = urllib.request.Request(self._gateway.url + path, data=data, headers=all_headers, method=method)
        try:
            response = self._opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise refusal(error.code, _body_of(error), error.headers.get("Retry-After")) from None
        with response:
            yield response


def encoded(gateway: Gateway, body: Any, headers: Mapping[str, str]) -> tuple[bytes | None, dict[str, str]]:
    """The bytes and the headers of a request. Raises ValueError for NaN and Infinity, which are no JSON."""
    if body is None:
        return None, {**gateway.headers, **headers}
    data = json.dumps(body, allow_nan=False).encode("ascii")
    return data, {**gateway.headers, **headers, "Content-Type": "application/json"}


def answer_of(request: Request, status: int, text: bytes) -> Any:
    """What an answer says; None where it has no body. Every answer of the gateway but its metrics is a JSON object."""
    if request.text:
        return text.decode(errors="replace")
    if not text.strip():
        return None
    document = _object(text)
    if document is None:
        # The answer of something else than the gateway, such as the login page of a proxy.
        raise foreign(f"the answer with status {status} is no JSON object", status)
    return document


def refusal(status: int, text: bytes, retry_after: str | None) -> ApiError:
    """The error of an answer that is none; something else than the gateway may have sent it."""
    document = _object(text)
    seconds = float(retry_after) if retry_after is not None and retry_after.isdigit() else None
    error = api_error(status, document or {}, seconds)
    error.body = document
    return error


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _body_of(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read()
    except CONNECTION_ERRORS:
        return b""
