"""Checks on this machine, by the ``fleet`` command: no server, no Redis, and by default nothing is sent anywhere."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from .command import Command, words_of
from .errors import CheckFailed, CheckTimeout, CommandNotFound
from .process_group import stop_group
from .types import CheckedScript, LocalCheckOptions

if TYPE_CHECKING:
    # Known to every type checker; there at run time it need not be.
    from typing_extensions import Unpack

Script = Union[str, "os.PathLike[str]"]
#: What became of one file: its check, or why it could not be checked.
Outcome = Union[CheckedScript, CheckFailed]

_STANDARD_INPUT = "-"


def check(script: Script, **options: Unpack[LocalCheckOptions]) -> CheckedScript:
    """Checks a script for data leakage: its text, or a :class:`pathlib.Path` of a script or notebook.

    >>> result = check(Path("solution.py"))
    >>> result["status"], [(each.get("kind"), each.get("startLine")) for each in result["findings"]]

    ``result["solution"]["content"]`` is the script without the leaks that could be corrected. If the result has
    ``notAnalyzed``, nobody checked the script's score, and ``clean`` says nothing.

    Options: ``offline`` (default: true; else agents check it, if the command is configured for them), ``trial``,
    ``workspace``, ``timeout_s``, ``command``.

    Raises :class:`CheckFailed` if it could not be checked, :class:`CheckTimeout` after ``timeout_s`` seconds, and
    :class:`CommandNotFound` if the command is not installed.
    """
    return single_outcome(run(request_for(script, options)))


def check_file(path: Script, **options: Unpack[LocalCheckOptions]) -> CheckedScript:
    """Checks a script or a notebook of a file; otherwise as :func:`check`."""
    return check(Path(path), **options)


def check_files(paths: Sequence[Script], **options: Unpack[LocalCheckOptions]) -> list[Outcome]:
    """Checks files, and all scripts and notebooks below folders, on all cores.

    Each stands for itself: a :class:`CheckFailed` says why one could not be checked. Options and other errors are those
    of :func:`check`.
    """
    return run(request_for_files(paths, options)) if paths else []


class CheckRequest:
    """What is run: words of a command, its input, and how long it may take in seconds."""

    def __init__(self, arguments: Sequence[str], text: str, options: LocalCheckOptions) -> None:
        flags = ["--json"]
        if options.get("offline", True):
            flags.append("--offline")
        if options.get("trial"):
            flags.append("--trial")
        workspace = options.get("workspace")
        if workspace is not None:
            flags += ["--workspace", os.fspath(workspace)]
        self.words = [*words_of(options.get("command")), "check", *flags, "--", *arguments]
        self.input = _encoded(text)
        self.timeout_s = options.get("timeout_s")

    def identity(self) -> tuple[str, ...]:
        """What the result depends on, if files that agents read stay as they are."""
        return (*self.words, hashlib.sha256(self.input).hexdigest())

    def timeout(self) -> CheckTimeout:
        return CheckTimeout(f"the check has not ended within {self.timeout_s:g} s")

    def not_started(self, error: OSError) -> CommandNotFound:
        return CommandNotFound(f"{self.words[0]} could not be started: {error.strerror or error}")


def request_for(script: Script, options: LocalCheckOptions) -> CheckRequest:
    """A check of one script. Raises ValueError if a text is nothing but a path, and TypeError if it is no text."""
    if isinstance(script, str):
        if "\n" not in script and (script.strip().endswith((".py", ".ipynb")) or os.path.exists(script)):
            raise ValueError(f"{script!r} is a path and no script: pass pathlib.Path({script!r}), or call check_file")
        return request_for_text(script, options)
    if not isinstance(script, os.PathLike):
        raise TypeError(f"script is a str or a path, and not {type(script).__name__}")
    return CheckRequest([_named(script)], "", options)


def request_for_text(script: str, options: LocalCheckOptions) -> CheckRequest:
    return CheckRequest([_STANDARD_INPUT], script, options)


def request_for_files(paths: Sequence[Script], options: LocalCheckOptions) -> CheckRequest:
    if isinstance(paths, (str, os.PathLike)):
        raise TypeError("paths is a list of paths; call check_file for one")
    return CheckRequest([_named(path) for path in paths], "", options)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        what = f"the script holds a surrogate at character {error.start}, which no file and no request can hold"
        raise CheckFailed(_STANDARD_INPUT, "unreadable-input", what) from error


def _named(path: Script) -> str:
    """A path that is not taken for standard input."""
    name = os.fspath(path)
    return os.path.join(".", name) if name == _STANDARD_INPUT else name


def run(request: CheckRequest) -> list[Outcome]:
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(request.words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    except OSError as error:
        raise request.not_started(error) from error
    with process:
        try:
            printed, messages = process.communicate(request.input, request.timeout_s)
        except BaseException as error:
            # Interrupted or too late: nobody reads what it prints any more.
            stop_group(process.pid)
            if isinstance(error, subprocess.TimeoutExpired):
                raise request.timeout() from None
            raise
    return outcomes_of(printed, messages)


def outcomes_of(printed: bytes, messages: bytes) -> list[Outcome]:
    """What ``fleet check --json`` printed. Raises :class:`CheckFailed` if that is not its JSON."""
    try:
        entries = json.loads(printed)
    except ValueError:
        entries = None
    if not isinstance(entries, list):
        said = messages.decode(errors="replace").strip()
        raise CheckFailed(None, "command-failed", said or "the fleet command printed no result")
    return [_outcome(each) for each in entries]


def _outcome(entry: Any) -> Outcome:
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise CheckFailed(None, "command-failed", "the fleet command printed a result without a file")
    if "status" in entry:
        checked: CheckedScript = entry  # type: ignore[assignment]
        return checked
    error = entry.get("error") or {}
    return CheckFailed(entry["file"], str(error.get("code")), str(error.get("message")))


def single_outcome(outcomes: Sequence[Outcome]) -> CheckedScript:
    if len(outcomes) != 1:
        raise CheckFailed(None, "command-failed", f"{len(outcomes)} files were checked instead of one; call check_files")
    outcome = outcomes[0]
    if isinstance(outcome, CheckFailed):
        raise outcome
    return outcome
