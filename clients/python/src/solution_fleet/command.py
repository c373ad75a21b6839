"""Where the ``fleet`` command is: a program for Node.js, which the npm package ``solution-fleet`` installs."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Union
from urllib.parse import urlsplit
from urllib.request import url2pathname

from .errors import CommandNotFound

#: A path of the command or of its ``dist/cli/main.js``, or the words with which it starts.
Command = Union[str, "os.PathLike[str]", Sequence[str]]

_VARIABLE = "FLEET_CLI"
_PACKAGE = "solution-fleet"
_PROGRAM = Path("dist", "cli", "main.js")
_WHAT_TO_DO = (
    f"install the npm package {_PACKAGE} globally, or name its {_PROGRAM.as_posix()} by {_VARIABLE} or by command="
)


def words_of(command: Command | None) -> list[str]:
    """The words with which the command starts: those of the caller, else of ``FLEET_CLI``, else what is installed.

    It looks in the clone or npm package that this package was installed from, in ``node_modules`` of the folders above
    this package (a project with a virtual environment in it), and on the PATH. The working directory does not count,
    because it may be a checkout of somebody else's, and neither does another program of the same name. Nothing is
    downloaded.

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
    """Folders in which the npm package may be."""
    for folder in (*_source().parents, *Path(__file__).resolve().parents):
        if folder.is_dir() and not _is_public(folder):
            yield folder
            yield folder / "node_modules" / _PACKAGE
    on_path = _on_path("fleet")
    if on_path is not None:
        # npm links the program, or wraps it in one that is beside the folder of packages.
        yield from Path(on_path).resolve().parents
        yield Path(on_path).parent / "node_modules" / _PACKAGE


def _source() -> Path:
    """The folder that this package was installed from, as pip records it; an empty path if it was from no folder."""
    try:
        record = json.loads(metadata.distribution(_PACKAGE).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        record = {}
    is_folder = "dir_info" in record and record["url"].startswith("file:")
    return Path(url2pathname(urlsplit(record["url"]).path)) if is_folder else Path()


def _is_public(folder: Path) -> bool:
    """Whether anybody may have put a program there."""
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
