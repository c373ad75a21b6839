"""HTTP answers as asyncio reads them, whole and cut."""

from __future__ import annotations

import asyncio
import http.client
import unittest
from collections.abc import Awaitable, Callable, Sequence

from solution_fleet import ApiError, FleetUnreachable
from solution_fleet.aio import AsyncFleetClient
from solution_fleet.aio.connection import open_response

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

WHOLE = {
    "a length": HEAD + b"Content-Length: 2\r\n\r\n{}",
    "chunks": CHUNKED + b"1;x=y\r\n{\r\n1\r\n}\r\n0\r\nTrailer: 1\r\n\r\n",
    "until the end": HEAD + b"\r\n{}",
    "an early answer first": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + HEAD + b"Content-Length: 2\r\n\r\n{}",
    "bytes after it": HEAD + b"Content-Length: 2\r\n\r\n{}{}",
}
CUT = {
    "nothing": b"",
    "no HTTP": b"SSH-2.0-OpenSSH\r\n",
    "a status that is no number": b"HTTP/1.1 OK\r\n\r\n",
    "headers without end": HEAD,
    "too many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    "a header that is too long": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    "less than its length": HEAD + b"Content-Length: 3\r\n\r\n{}",
    "a length that is no number": HEAD + b"Content-Length: -2\r\n\r\n{}",
    "a chunk that is cut": CHUNKED + b"5\r\n{}",
    "a chunk without a size": CHUNKED + b"zz\r\n{}\r\n",
    "no last chunk": CHUNKED + b"2\r\n{}\r\n",
}


def serving(answer: bytes, test: Callable[[str], Awaitable[None]]) -> None:
    """Runs a test with the address of a server that gives one answer and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            await test(f"http://127.0.0.1:{port}")
        finally:
            server.close()

    asyncio.run(run())


async def body_of(url: str) -> bytes:
    async with open_response("GET", url + "/x", None, {}, 5.0) as response:
        return await response.read()


class ConnectionTest(unittest.TestCase):
    def test_whole_answers_are_read_however_they_are_framed(self) -> None:
        async def test(url: str) -> None:
            self.assertEqual(await body_of(url), b"{}")

        for what, answer in WHOLE.items():
            with self.subTest(what=what):
                serving(answer, test)

    def test_answers_that_are_cut_or_none_are_errors_of_connections(self) -> None:
        async def test(url: str) -> None:
            with self.assertRaises((OSError, http.client.HTTPException)):
                await body_of(url)

        async def by_client(url: str) -> None:
            with self.assertRaises(FleetUnreachable):
                await AsyncFleetClient(url, retry_timeout_s=0).job("x")

        for what, answer in CUT.items():
            with self.subTest(what=what):
                serving(answer, test)
        serving(CUT["a chunk that is cut"], by_client)

    def test_a_silent_server_is_given_up(self) -> None:
        async def run() -> None:
            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.read()
                writer.close()

            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            with self.assertRaises(OSError):
                async with open_response("GET", f"http://127.0.0.1:{port}/", None, {}, 0.05):
                    pass
            server.close()

        asyncio.run(run())

    def test_a_redirect_is_refused_and_the_token_stays(self) -> None:
        async def test(url: str) -> None:
            with self.assertRaises(ApiError) as raised:
                await AsyncFleetClient(url, "token", retry_timeout_s=0).job("x")
            self.assertEqual(raised.exception.status, 307)

        serving(b"HTTP/1.1 307 x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", test)

    def test_an_event_stream_that_was_cut_is_resumed_after_the_last_event(self) -> None:
        asked: list[bytes] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            event = [b'id: 7\nevent: state\ndata: {"state": "active"}\n\nid: 8\nevent: st', b"event: end\ndata: {}\n\n"]
            writer.write(HEAD + b"\r\n" + event[len(asked) - 1])
            writer.close()

        async def run() -> Sequence[str]:
            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            fleet = AsyncFleetClient(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            events = [each.name async for each in fleet.events("x", after="6")]
            server.close()
            return events

        self.assertEqual(asyncio.run(run()), ["state", "end"])
        self.assertIn(b"Last-Event-ID: 6\r\n", asked[0])
        self.assertIn(b"Last-Event-ID: 7\r\n", asked[1])


if __name__ == "__main__":
    unittest.main()
