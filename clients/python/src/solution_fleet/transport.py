"""Requests to one gateway."""

from __future__ import annotations

import http.client
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .answers import foreign
from .errors import ApiError, api_error
from .retry_timer import CONNECTION_ERRORS, RetryTimer


# What may stand in a header: http.client repeats a token that may not in its error.
_TOKEN = re.compile(r"[!-~]+")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to wherever it points."""

    def redirect_request(self, *_args: Any) -> None:
        return None


class Transport:
    """Sends requests, and sends them again. Safe to share between threads."""

    def __init__(self, url: str, token: str | None, timeout: float, retry_timeout: float) -> None:
        if not url.startswith(("http://", "https://")):
            # The address is not shown: it may hold a password, or be the token in its place.
            raise ValueError("the gateway's address must begin with http:// or https://")
        if "@" in url.split("/")[2]:
            raise ValueError("the gateway's address takes no user and no password; pass a token")
        self._url = url.rstrip("/")
        self._headers = {"User-Agent": "solution-fleet-python"}
        # A file that holds a token usually ends with a line break.
        token = (token or "").strip()
        if token and not _TOKEN.fullmatch(token):
            raise ValueError("the token has characters that no token has")
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout = timeout
        self._retry_timeout = retry_timeout
        self._opener = urllib.request.build_opener(_NoRedirects)

    def retry_timer(self, wait: float = 0.0) -> RetryTimer:
        return RetryTimer(wait + self._retry_timeout)

    def send(self, method: str, path: str, body: Any = None, *, wait: float = 0.0) -> Any:
        """Sends a request and gives the body of its answer; None where it has none.

        While the gateway is away or asks to come back later, the request is sent again. Every request of this
        package may be: submissions carry keys, and where the second try is refused because the first was carried
        out, the error says that an answer was lost. ``wait`` is how long the gateway itself may wait before it
        answers, in seconds.
        """
        retries = self.retry_timer(wait)
        answer_lost = False
        while True:
            try:
                with self.open(method, path, body, timeout=self._timeout + wait) as response:
                    text = response.read()
                return _document(response.status, text)
            except ApiError as error:
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
        data = None
        all_headers = {**self._headers, **(headers or {})}
        if body is not None:
            # NaN and Infinity are no JSON: whoever sends one is told here, by ValueError.
            data = json.dumps(body, allow_nan=False).encode("ascii")
            all_headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self._url + path, data=data, headers=all_headers, method=method)
        try:
            response = self._opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error) from None
        with response:
            yield response


def _document(status: int, text: bytes) -> Any:
    """What an answer says; None where it has no body. Every other answer of the gateway is a JSON object."""
    if not text.strip():
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        # The answer of something else than the gateway, such as the login page of a proxy.
        raise foreign(f"the answer with status {status} is no JSON object", status)
    return document


def _refusal(error: urllib.error.HTTPError) -> ApiError:
    try:
        problem = json.loads(error.read())
    except (ValueError, RecursionError, *CONNECTION_ERRORS):
        problem = None  # The answer of something else than the gateway, such as a proxy's page.
    retry_after = error.headers.get("Retry-After") or ""
    seconds = float(retry_after) if retry_after.isdigit() else None
    return api_error(error.code, problem if isinstance(problem, dict) else {}, seconds)
