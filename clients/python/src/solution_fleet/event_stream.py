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
    name = ""
    data: list[str] = []
    last_id: str | None = None
    for line in _lines(chunks):
        if line == "":
            if data:
                yield ServerEvent(name or "message", "\n".join(data), last_id)
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id" and "\0" not in value:
            last_id = value
        # Comments (an empty field name), "retry" and unknown fields are passed over.


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Lines that end with LF, CR or CR LF, also where the two of one line break come in two chunks."""
    decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    rest, after_cr, at_start = "", False, True
    for chunk in chunks:
        text = decode(chunk)
        if at_start and text:
            text, at_start = text.removeprefix("\ufeff"), False
        if after_cr and text:
            text, after_cr = text.removeprefix("\n"), False
        after_cr = after_cr or text.endswith("\r")
        *lines, rest = (rest + text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
        yield from lines
