"""HTTP/1.1 over the streams of asyncio: one request, one connection."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.client
import io
import ssl
from collections.abc import AsyncIterator, Awaitable, Mapping
from email.message import Message
from typing import TypeVar
from urllib.parse import urlsplit

Result = TypeVar("Result")

_CHUNK = 65_536
#: As ``http.client`` has them.
_MAX_HEADERS = 100
_NO_CONTENT = (204, 304)


class Response:
    """An answer whose body is still to be read."""

    def __init__(self, status: int, headers: Message, reader: asyncio.StreamReader, timeout: float) -> None:
        self.status = status
        self.headers = headers
        self._reader = reader
        self._timeout = timeout

    async def read(self) -> bytes:
        """The whole body. Raises ``http.client.IncompleteRead`` if the connection ends before it does."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        if self.status in _NO_CONTENT:
            return
        if (self.headers.get("Transfer-Encoding") or "").lower() == "chunked":
            while size := await self._chunk_size():
                async for chunk in self._exactly(size):
                    yield chunk
                await self._line()
            while await self._line():
                pass  # Trailers.
            return
        length = self.headers.get("Content-Length")
        if length is None:
            while chunk := await self._in_time(self._reader.read(_CHUNK)):
                yield chunk
        elif not length.isdigit():
            raise http.client.HTTPException(f"Content-Length is {length!r}")
        else:
            async for chunk in self._exactly(int(length)):
                yield chunk

    async def _exactly(self, size: int) -> AsyncIterator[bytes]:
        while size > 0:
            chunk = await self._in_time(self._reader.read(min(size, _CHUNK)))
            if not chunk:
                raise http.client.IncompleteRead(b"", size)
            size -= len(chunk)
            yield chunk

    async def _chunk_size(self) -> int:
        line = await self._line()
        try:
            return int(line.split(b";")[0], 16)
        except ValueError:
            raise http.client.HTTPException(f"the size of a chunk is {line[:20]!r}") from None

    async def _line(self) -> bytes:
        return (await read_line(self._reader, self._timeout)).rstrip(b"\r\n")

    async def _in_time(self, step: Awaitable[Result]) -> Result:
        return await in_time(step, self._timeout)


@contextlib.asynccontextmanager
async def open_response(
    method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout: float
) -> AsyncIterator[Response]:
    """Sends a request; ``timeout`` is the longest silence, in seconds.

    Raises OSError and ``http.client.HTTPException`` as ``http.client`` does. Whatever ends the block, a cancelled task
    included, closes the connection.
    """
    address = urlsplit(url)
    secure = _tls() if address.scheme == "https" else None
    port = address.port or (443 if secure else 80)
    reader, writer = await in_time(asyncio.open_connection(address.hostname, port, ssl=secure), timeout)
    try:
        target = address.path + (f"?{address.query}" if address.query else "")
        fields = {"Host": address.netloc, "Connection": "close", "Accept-Encoding": "identity", **headers}
        if body is not None:
            fields["Content-Length"] = str(len(body))
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        writer.write("\r\n".join(lines).encode("latin-1") + (body or b""))
        await in_time(writer.drain(), timeout)
        status, head = await _head(reader, timeout)
        while status < 200:
            status, head = await _head(reader, timeout)
        yield Response(status, head, reader, timeout)
    finally:
        writer.close()


@functools.lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """Made once: it reads every certificate that this machine trusts."""
    return ssl.create_default_context()


async def _head(reader: asyncio.StreamReader, timeout: float) -> tuple[int, Message]:
    line = await read_line(reader, timeout)
    words = line.split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        raise http.client.BadStatusLine(repr(line[:80]))
    lines = []
    while (line := await read_line(reader, timeout)) not in (b"\r\n", b"\n"):
        lines.append(line)
        if len(lines) > _MAX_HEADERS:
            raise http.client.HTTPException(f"the answer has more than {_MAX_HEADERS} headers")
    return int(words[1]), http.client.parse_headers(io.BytesIO(b"".join([*lines, b"\r\n"])))


async def read_line(reader: asyncio.StreamReader, timeout: float) -> bytes:
    """A line with its end. Raises ``http.client.HTTPException`` if it is too long or the connection ends in it."""
    try:
        line = await in_time(reader.readline(), timeout)
    except ValueError:
        raise http.client.LineTooLong("line of the answer") from None
    if not line.endswith(b"\n"):
        raise http.client.RemoteDisconnected("the connection was closed without a whole answer")
    return line


async def in_time(step: Awaitable[Result], timeout: float) -> Result:
    try:
        return await asyncio.wait_for(step, timeout)
    except asyncio.TimeoutError:
        # Before Python 3.11 it is no OSError.
        raise TimeoutError(f"no answer within {timeout:g} s") from None
