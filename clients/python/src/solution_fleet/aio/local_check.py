"""Checks on this machine, by a process that asyncio waits for."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..local_check import (
    CheckRequest,
    Outcome,
    Script,
    outcomes_of,
    request_for,
    request_for_files,
    single_outcome,
)
from ..process_group import stop_group
from ..types import CheckedScript, LocalCheckOptions

if TYPE_CHECKING:
    # Known to every type checker; there at run time it need not be.
    from typing_extensions import Unpack


async def check(script: Script, **options: Unpack[LocalCheckOptions]) -> CheckedScript:
    """:func:`solution_fleet.check` for asyncio. If it is cancelled, the command is stopped."""
    return single_outcome(await run(request_for(script, options)))


async def check_file(path: Script, **options: Unpack[LocalCheckOptions]) -> CheckedScript:
    """:func:`solution_fleet.check_file` for asyncio."""
    return await check(Path(path), **options)


async def check_files(paths: Sequence[Script], **options: Unpack[LocalCheckOptions]) -> list[Outcome]:
    """:func:`solution_fleet.check_files` for asyncio."""
    return await run(request_for_files(paths, options)) if paths else []


async def run(request: CheckRequest) -> list[Outcome]:
    process = await _started(request)
    try:
        ended = process.communicate(request.input)
        printed, messages = await asyncio.wait_for(ended, request.timeout_s)
    except BaseException as error:
        # Cancelled or too late: nobody reads what it prints any more.
        await _stop(process)
        if isinstance(error, asyncio.TimeoutError):
            raise request.timeout() from None
        raise
    return outcomes_of(printed, messages)


async def _started(request: CheckRequest) -> asyncio.subprocess.Process:
    """The process of a check. A cancellation waits for its start, which asyncio does not undo: it might wait forever."""
    pipe = asyncio.subprocess.PIPE
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *request.words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    )
    try:
        return await asyncio.shield(starting)
    except OSError as error:
        raise request.not_started(error) from error
    except asyncio.CancelledError:
        with contextlib.suppress(OSError):  # There is nothing to stop.
            await _stop(await starting)
        raise


async def _stop(process: asyncio.subprocess.Process) -> None:
    stop_group(process.pid)
    await process.wait()
