"""Recorded jobs as tests. ``fleet record ID > recordings/leaky.json`` writes one; no test needs a model, Redis or a network.

>>> @pytest.mark.parametrize("path", recordings("recordings"), ids=str)
... def test_recording(path):
...     expect_replay(path)
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union

from .command import Command, words_of
from .errors import CheckFailed, CheckTimeout, CommandNotFound

Name = Union[str, "os.PathLike[str]"]

__all__ = ["expect_replay", "recordings"]


def recordings(folder: Name) -> list[Path]:
    """The recordings in a folder, by name. Raises FileNotFoundError if there is none: a run without tests would pass."""
    found = sorted(path for path in Path(folder).iterdir() if path.suffix == ".json")
    if not found:
        raise FileNotFoundError(f"there is no recording in {os.fspath(folder)!r}")
    return found


def expect_replay(
    path: Name,
    *,
    same_requests: bool = False,
    kinds_from: Sequence[Name] = (),
    command: Command | None = None,
    timeout_s: float | None = None,
) -> dict[str, Any]:
    """Runs a recorded job again with its recorded answers; returns what ``fleet replay --json`` prints.

    ``same_requests`` also fails if a request to the model is not the recorded one: a prompt has changed. ``kinds_from``
    are modules with kinds of your own.

    Raises AssertionError with a diff if the result or the failure is not the recorded one to the byte; :class:`CheckFailed`
    if the file is no recording that fits; :class:`CheckTimeout` after ``timeout_s`` seconds; :class:`CommandNotFound`.
    """
    kinds = ["--kinds-from", ",".join(os.fspath(each) for each in kinds_from)] if kinds_from else []
    name = os.path.abspath(path)
    words = [*words_of(command), "replay", "--json", *kinds, name]
    try:
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise CheckTimeout(f"the replay has not ended within {timeout_s:g} s") from None
    except OSError as error:
        raise CommandNotFound(f"{words[0]} could not be started: {error.strerror or error}") from error
    replay = _replay_in(name, ended.stdout, ended.stderr)
    if not replay["same"]:
        raise AssertionError(f"{name}: another result than recorded: {replay.get('difference')}\n{replay.get('diff')}")
    changed = replay.get("changedRequests") or []
    if same_requests and changed:
        raise AssertionError(f"{name}: other requests than recorded: {', '.join(changed)}")
    return replay


def _replay_in(name: str, printed: bytes, messages: bytes) -> dict[str, Any]:
    try:
        replay = json.loads(printed)
    except ValueError:
        replay = None
    if isinstance(replay, dict) and isinstance(replay.get("same"), bool):
        return replay
    said = messages.decode(errors="replace").strip()
    raise CheckFailed(name, "command-failed", said or "the fleet command printed no result")
