"""Addresses and tokens that cannot be used: the error shows neither."""

from __future__ import annotations

import traceback
import unittest

from solution_fleet import FleetClient

SECRET = "S3CRET"
URL = "http://127.0.0.1:1"


class UnusableOptions(unittest.TestCase):
    def test_are_refused_without_being_shown(self) -> None:
        for url, token in [
            (URL, f"{SECRET}\nX-Other: header"),
            (URL, f"{SECRET}\u20ac"),
            (URL, f"{SECRET}\0"),
            (URL, f"{SECRET} {SECRET}"),
            (f"http://user:{SECRET}@127.0.0.1:1", None),
            (f"ftp://user:{SECRET}@127.0.0.1", None),
            (f"fleet_{SECRET}", URL),
        ]:
            with self.subTest(url=url.replace(SECRET, "..."), token=ascii(token).replace(SECRET, "...")):
                with self.assertRaises(ValueError) as raised:
                    FleetClient(url, token, retry_timeout_s=0).job("x")
                self.assertNotIn(SECRET, "".join(traceback.format_exception(None, raised.exception, None)))

    def test_a_token_may_end_with_the_line_break_of_its_file(self) -> None:
        FleetClient(URL, "fleet_0123456789ab_token\n")
