"""Server-sent events, read as the WHATWG's standard says."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class ServerEvent:
    """One event of a stream."""

    name: str
    data: str
    #: Where a client that lost the connection goes on; None before the stream has named a place.
    id: str | None


def read_events(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """The events in a byte stream, however it is cut; an event that is not finished at its end is none."""
    reader = EventReader()
    for chunk in chunks:
        yield from reader.read(chunk)


class EventReader:
    """Reads a stream chunk by chunk."""

    def __init__(self) -> None:
        self._lines = _LineReader()
        self._name = ""
        self._data: list[str] = []
        self._last_id: str | None = None

    def read(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that end in a chunk."""
        for line in self._lines.read(chunk):
            if line == "":
                if self._data:
                    yield ServerEvent(self._name or "message", "\n".join(self._data), self._last_id)
                self._name, self._data = "", []
                continue
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                self._name = value
            elif field == "data":
                self._data.append(value)
            elif field == "id" and "\0" not in value:
                self._last_id = value
            # Comments (an empty field name), "retry" and unknown fields are passed over.


class _LineReader:
    """Lines that end with LF, CR or CR LF, also where the two of one line break come in two chunks."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._rest, self._after_cr, self._at_start = "", False, True

    def read(self, chunk: bytes) -> list[str]:
        text = self._decode(chunk)
        if self._at_start and text:
            text, self._at_start = text.removeprefix("\ufeff"), False
        if self._after_cr and text:
            text, self._after_cr = text.removeprefix("\n"), False
        self._after_cr = self._after_cr or text.endswith("\r")
        *lines, self._rest = (self._rest + text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
        return lines
