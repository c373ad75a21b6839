"""Where the ``fleet`` command is: a program for Node.js, which the npm package ``solution-fleet`` installs."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Union

from .errors import CommandNotFound

#: A path of the command or of its ``dist/cli/main.js``, or the words with which it starts.
Command = Union[str, "os.PathLike[str]", Sequence[str]]

_VARIABLE = "FLEET_CLI"
_PACKAGE = "solution-fleet"
_PROGRAM = Path("dist", "cli", "main.js")
_WHAT_TO_DO = (
    f"install the npm package {_PACKAGE} in this folder or globally, "
    f"or name its {_PROGRAM.as_posix()} by {_VARIABLE} or by command="
)


def words_of(command: Command | None) -> list[str]:
    """The words with which the command starts: those of the caller, else of ``FLEET_CLI``, else what is installed.

    It looks in ``node_modules`` of this folder and of those above it, on the PATH, and in the clone that this package is
    installed from. Another program of the same name on the PATH does not count, and nothing is downloaded.

    Raises :class:`CommandNotFound`.
    """
    command = command or os.environ.get(_VARIABLE) or None
    if command is None:
        return _by_node(_installed())
    if not isinstance(command, (str, os.PathLike)):
        return list(command)
    program = Path(command)
    if not program.is_file():
        raise CommandNotFound(f"there is no file {str(program)!r} to run as the fleet command: {_WHAT_TO_DO}")
    return _by_node(program) if program.suffix in (".js", ".mjs", ".cjs") else [str(program.absolute())]


def _installed() -> Path:
    for folder in _folders():
        program = folder / _PROGRAM
        if _is_package(folder) and program.is_file():
            return program
    raise CommandNotFound(f"the fleet command was not found: {_WHAT_TO_DO}")


def _folders() -> Iterator[Path]:
    """Folders in which the npm package may be, the nearest first."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if _is_public(folder):
            continue  # Anybody may have put a program there.
        yield folder / "node_modules" / _PACKAGE
        yield folder
    on_path = _on_path("fleet")
    if on_path is not None:
        # npm links or wraps the program; both are beside or below the package's folder.
        yield from Path(on_path).resolve().parents
        yield Path(on_path).parent / "node_modules" / _PACKAGE
    yield from Path(__file__).resolve().parents


def _is_public(folder: Path) -> bool:
    return os.name == "posix" and bool(folder.stat().st_mode & stat.S_IWOTH)


def _on_path(program: str) -> str | None:
    """A program on the PATH; relative entries do not count, because scripts may write there."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(program, path=os.pathsep.join(filter(os.path.isabs, entries)))


def _is_package(folder: Path) -> bool:
    try:
        name = json.loads((folder / "package.json").read_bytes())["name"]
    except (OSError, ValueError, TypeError, KeyError):
        return False  # No package, or another one's.
    return bool(name == _PACKAGE)


def _by_node(program: Path) -> list[str]:
    node = _on_path("node")
    if node is None:
        raise CommandNotFound("the fleet command needs Node.js 20 or later: no node was found on the PATH")
    return [node, str(program.absolute())]
