"""How long, and how often, a request is sent again."""

from __future__ import annotations

import http.client
import random
import ssl
import time

from .errors import ApiError, FleetUnreachable

#: Statuses of transient errors: too many requests, or no gateway or Redis.
_PASSING = frozenset({429, 502, 503, 504})
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0

#: Errors of connections; another try may succeed.
CONNECTION_ERRORS = (OSError, http.client.HTTPException)


class RetryTimer:
    """Waits between the tries of one request, and gives up when their time is over."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.reset()

    def reset(self) -> None:
        """Starts again after a success."""
        self._pause = _FIRST_PAUSE
        self._give_up_at = time.monotonic() + self._seconds

    def wait_after(self, failure: Exception) -> None:
        """Waits before the next try; raises the error for the caller if there is none."""
        time.sleep(self.pause_after(failure))

    def pause_after(self, failure: Exception) -> float:
        """Seconds until the next try; raises the error for the caller if there is none."""
        delay = self._pause
        if isinstance(failure, ApiError):
            if failure.status not in _PASSING:
                raise failure
            delay = self._pause if failure.retry_after is None else failure.retry_after
        reason = getattr(failure, "reason", failure)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise failure
        if time.monotonic() + delay > self._give_up_at:
            if isinstance(failure, ApiError):
                raise failure
            raise FleetUnreachable(f"no answer within {self._seconds:g} s: {reason}") from failure
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
        return delay * random.uniform(1.0, 1.2)
