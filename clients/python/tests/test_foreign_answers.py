"""Answers that are none of the gateway's: a proxy's page, cut or damaged texts."""

from __future__ import annotations

import asyncio
import threading
import unittest
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, HTTPServer

from solution_fleet import ApiError, FleetClient
from solution_fleet.aio import AsyncFleetClient
from solution_fleet.types import Evaluation

EVALUATION: Evaluation = {"queue": "evaluate", "name": "score"}

ANSWERS = {
    "a page": b"<html>please log in</html>",
    "a text that is cut": b'{"id": "x',
    "bytes that are no UTF-8": b'{"a": "\xff\xfe"}',
    "a nesting without end": b"[" * 200_000,
    "a number of thousands of digits": b"9" * 5_000,
    "a list": b"[]",
    "null": b"null",
    "an object without fields": b"{}",
    "fields of other types": b'{"id": 1, "state": 2, "jobs": {}, "solutions": 0, "evaluation": [], "evaluations": [{}]}',
    "a number": b"NaN",
}


class _Handler(BaseHTTPRequestHandler):
    status = 200
    answer = b""

    def do_GET(self) -> None:
        # A body that nobody has read would break the connection.
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    do_POST = do_GET

    def log_message(self, *_args: object) -> None:
        return None


class ForeignAnswersTest(unittest.TestCase):
    def setUp(self) -> None:
        server = HTTPServer(("127.0.0.1", 0), _Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.port = server.server_port
        self.fleet = FleetClient(f"http://127.0.0.1:{self.port}", retry_timeout_s=0)

    def test_they_are_errors_of_this_package(self) -> None:
        calls: dict[str, Callable[[], object]] = {
            "job": lambda: self.fleet.job("x"),
            "jobs": lambda: self.fleet.jobs(),
            "submit": lambda: self.fleet.submit("solution-check", {}),
            "claim": lambda: self.fleet.claim("evaluate"),
            "wait": lambda: self.fleet.wait("x", 0),
            "batch": lambda: self.fleet.submit_batch([{"kind": "summarize", "payload": {}}]),
            "guarded": lambda: self.fleet.guarded_evaluation(solution="x = 1", evaluation=EVALUATION),
            "candidates": lambda: self.fleet.candidate_batch(candidates=[], evaluation=EVALUATION),
            "dead letters": lambda: self.fleet.dead_letters.find(),
            "known": lambda: self.fleet.known.of("t"),
        }
        for status in (200, 400):
            for what, answer in ANSWERS.items():
                for name, call in calls.items():
                    _Handler.status, _Handler.answer = status, answer
                    with self.subTest(status=status, what=what, call=name), self.assertRaises(ApiError):
                        call()

    def test_they_are_errors_by_asyncio_too(self) -> None:
        fleet = AsyncFleetClient(f"http://127.0.0.1:{self.port}", retry_timeout_s=0)
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "job": lambda: fleet.job("x"),
            "batch": lambda: fleet.submit_batch([{"kind": "summarize", "payload": {}}]),
            "known": lambda: fleet.known.of("t"),
        }

        async def run() -> None:
            for status in (200, 400):
                for what, answer in ANSWERS.items():
                    for name, call in calls.items():
                        _Handler.status, _Handler.answer = status, answer
                        with self.subTest(status=status, what=what, call=name), self.assertRaises(ApiError):
                            await call()

        asyncio.run(run())

    def test_a_script_is_passed_as_its_text(self) -> None:
        with self.assertRaisesRegex(TypeError, r'a str, and not dict; pass solution\["content"\]'):
            self.fleet.guarded_evaluation(solution={"content": "x = 1"}, evaluation=EVALUATION)  # type: ignore[arg-type]
