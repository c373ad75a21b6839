"""Runs a script on made-up data, in a process of its own, and says what it printed or how it failed."""

import collections
import contextlib
import io
import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
import types
import warnings

import numpy as np
import pandas as pd

from fleet_trial.synthetic_data import Recorder

SHOWN = 4_000
"""How much of a script's output is kept, from its end, in characters."""
MAX_ANSWER = 1_000_000
"""Longest answer of a run, in bytes. The script shares a process with what writes it."""



def after_run():
    """Called after each run; a sandbox ends there what a script left behind."""


def limited(error):
    """The error of a run whose process was ended; a sandbox knows more about it."""
    return error


class LastLines(io.TextIOBase):
    """Keeps the end of what is written: a script may print without end."""

    def __init__(self):
        self.parts = collections.deque()
        self.length = 0

    def writable(self):
        return True

    def write(self, text):
        self.parts.append(text[-SHOWN:])
        self.length += len(self.parts[-1])
        while self.length - len(self.parts[0]) >= SHOWN:
            self.length -= len(self.parts.popleft())
        return len(text)

    def text(self):
        return "".join(self.parts)[-SHOWN:]


def execute(source, spec, watch=None):
    """What one run printed and wrote, or how it failed.

    `watch` is called before it, and gives a list that fills while the script runs.
    """
    recorder = Recorder(spec)
    recorder.install()
    seen = watch() if watch is not None else []
    np.random.seed(0)
    printed = LastLines()
    outcome = {"ok": True}
    # Processes that the script starts look up its functions in the module of this name.
    main = types.ModuleType("__main__")
    main.__file__ = "script.py"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.redirect_stdout(printed):
        os.chdir(folder)
        recorder.write_files(source)
        sys.argv = ["script.py"]
        sys.modules["__main__"] = main
        try:
            exec(compile(source, "script.py", "exec"), main.__dict__)
        except SystemExit as end:
            outcome = {"ok": end.code in (None, 0), "error": f"SystemExit: {end.code}", "line": 0, "text": ""}
        except BaseException as error:
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == "script.py"]
            line = lines[-1] if lines else getattr(error, "lineno", 0) or 0
            text = source.splitlines()[line - 1] if 0 < line <= len(source.splitlines()) else ""
            outcome = {"ok": False, "error": f"{type(error).__name__}: {error}"[:600], "line": line, "text": text}
        os.chdir("/")
    return {**outcome, "printed": printed.text(), "written": recorder.written, "seen": seen}


def failed(error):
    return {"ok": False, "error": error, "line": 0, "text": "", "printed": "", "written": [], "seen": []}


def answer_of(reader, seconds):
    """The line that arrives at a pipe, or what came until it was closed; None where that takes too long or is too much."""
    deadline = time.monotonic() + seconds
    received = b""
    while len(received) <= MAX_ANSWER:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return None
        part = os.read(reader, 65_536)
        if part == b"":
            return received
        received += part
        # Processes that the script has left behind may keep the pipe open.
        if part.endswith(b"\n"):
            return received
    return None


def apart(source, spec, seconds, watch=None):
    """`execute` in a forked process that has a limited time, with all processes that it starts."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reader)
        signal.alarm(int(seconds) + 1)
        warnings.simplefilter("ignore")
        pd.options.mode.chained_assignment = None
        # The streams of this program are the way to its caller, which the script must not reach.
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        own = os.getpid()
        outcome = execute(source, spec, watch)
        # A process that the script has forked comes here too.
        if os.getpid() == own:
            with os.fdopen(writer, "w") as pipe:
                pipe.write(json.dumps(outcome, default=str) + "\n")
        os._exit(0)
    os.close(writer)
    text = answer_of(reader, seconds)
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    after_run()
    # Its alarm comes first where this process is late.
    if text is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM):
        return failed(f"TimeoutError: no end within {seconds:.0f} s")
    if text == b"":
        by = f"by {signal.Signals(os.WTERMSIG(status)).name}" if os.WIFSIGNALED(status) else "without an answer"
        return failed(limited(f"ProcessEnded: its process ended {by}"))
    try:
        return {**failed(""), **json.loads(text)}
    except ValueError:
        return failed("ProcessEnded: its process gave no answer")
