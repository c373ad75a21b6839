"""Where a gateway is, and how a client shows who it is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

_DEFAULT_URL = "http://127.0.0.1:8080"
# What may stand in a header: http.client repeats a token that may not in its error.
_TOKEN = re.compile(r"[!-~]+")


@dataclass(frozen=True)
class Gateway:
    """Address of a gateway without a slash at its end, and the headers of every request to it."""

    url: str
    headers: Mapping[str, str]

    @staticmethod
    def of(url: str | None, token: str | None) -> Gateway:
        """By default as ``FLEET_URL`` and ``FLEET_TOKEN`` say. Raises ValueError, which shows neither."""
        url = url or os.environ.get("FLEET_URL") or _DEFAULT_URL
        if not url.startswith(("http://", "https://")):
            # The address is not shown: it may hold a password, or be the token in its place.
            raise ValueError("the gateway's address must begin with http:// or https://")
        if "@" in url.split("/")[2]:
            raise ValueError("the gateway's address takes no user and no password; pass a token")
        headers = {"User-Agent": "solution-fleet-python"}
        # A file that holds a token usually ends with a line break.
        token = (token or os.environ.get("FLEET_TOKEN") or "").strip()
        if token and not _TOKEN.fullmatch(token):
            raise ValueError("the token has characters that no token has")
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return Gateway(url.rstrip("/"), headers)
