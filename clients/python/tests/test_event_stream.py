"""Run with ``python3 -m unittest discover clients/python/tests`` and ``PYTHONPATH=clients/python/src``."""

from __future__ import annotations

import unittest
from collections.abc import Iterator

from solution_fleet.event_stream import ServerEvent, read_events


def events(*chunks: bytes) -> list[ServerEvent]:
    return list(read_events(chunks))


class EventStreamTest(unittest.TestCase):
    def test_an_event_has_name_data_and_place(self) -> None:
        self.assertEqual(events(b"id: 1-0\nevent: state\ndata: {}\n\n"), [ServerEvent("state", "{}", "1-0")])

    def test_without_a_name_it_is_a_message(self) -> None:
        self.assertEqual(events(b"data: x\n\n"), [ServerEvent("message", "x", None)])

    def test_several_lines_of_data_are_one_text(self) -> None:
        self.assertEqual(events(b"data: a\ndata:\ndata:b\n\n")[0].data, "a\n\nb")

    def test_one_space_after_the_colon_is_taken_away(self) -> None:
        self.assertEqual([each.data for each in events(b"data:  x\n\ndata:y\n\n")], [" x", "y"])

    def test_the_place_stays_until_another_is_named(self) -> None:
        self.assertEqual([each.id for each in events(b"id: 7\ndata: a\n\ndata: b\n\n")], ["7", "7"])

    def test_a_place_with_a_nul_is_none(self) -> None:
        self.assertEqual(events(b"id: 1\0\ndata: a\n\n")[0].id, None)

    def test_comments_unknown_fields_and_events_without_data_are_passed_over(self) -> None:
        self.assertEqual(events(b": still here\n\nretry: 5\nsort: x\nevent: y\n\n"), [])

    def test_an_event_that_is_not_finished_is_none(self) -> None:
        self.assertEqual(events(b"data: a\n\ndata: b\n"), [ServerEvent("message", "a", None)])

    def test_bytes_that_are_no_utf_8_do_not_end_the_stream(self) -> None:
        self.assertEqual([each.data for each in events(b"data: \xff\n\ndata: b\n\n")], ["\ufffd", "b"])

    def test_it_is_the_same_however_the_stream_is_cut(self) -> None:
        stream = "\ufeffid: 1\r\nevent: é\rdata: 🔑\ndata: b\r\n\r\ndata: c\n\n".encode()
        whole = events(stream)
        self.assertEqual([(each.name, each.data) for each in whole], [("é", "🔑\nb"), ("message", "c")])
        for first in range(len(stream) + 1):
            for second in range(first, len(stream) + 1):
                self.assertEqual(events(*cut(stream, first, second)), whole)
        self.assertEqual(events(*(bytes([byte]) for byte in stream)), whole)


def cut(stream: bytes, *places: int) -> Iterator[bytes]:
    start = 0
    for place in (*places, len(stream)):
        yield stream[start:place]
        start = place


if __name__ == "__main__":
    unittest.main()
