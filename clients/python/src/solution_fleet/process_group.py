"""Processes that are stopped with all that they have started, such as a command behind ``npx`` or a shell script."""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def stop_group(leader: int) -> None:
    """Kills a process that was started with ``start_new_session``, and its group; on Windows the process alone."""
    with contextlib.suppress(OSError):  # It has ended.
        if sys.platform == "win32":
            os.kill(leader, signal.SIGTERM)
        else:
            os.killpg(leader, signal.SIGKILL)
