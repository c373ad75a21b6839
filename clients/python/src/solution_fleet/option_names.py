"""Names of keyword arguments: those that were renamed, and those that were meant."""

from __future__ import annotations

import difflib
import functools
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Callable, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

#: Of the frames between the warning and the caller: this function, the wrapper.
_CALLER = 3


def renamed(**names: str) -> Callable[[Function], Function]:
    """Old names of keyword arguments with their new ones: they work, with a :class:`DeprecationWarning`."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def with_new(*args: Any, **options: Any) -> Any:
            return function(*args, **with_new_names(options, names))

        return cast("Function", with_new)

    return decorate


def with_new_names(options: Mapping[str, Any], names: Mapping[str, str], caller: int = _CALLER) -> dict[str, Any]:
    """Options with their new names. Raises :class:`TypeError` if one is there under both.

    :param caller: how many frames up the caller is that a warning names.
    """
    new: dict[str, Any] = dict(options)
    for old, name in names.items():
        if old not in new:
            continue
        if name in new:
            raise TypeError(f"{old!r} is the old name of {name!r}; pass one of them")
        warnings.warn(f"{old!r} is now {name!r}", DeprecationWarning, stacklevel=caller)
        new[name] = new.pop(old)
    return new


def meant(name: str, known: Iterable[str]) -> str:
    """What a message says after an unknown name: the nearest one, or all that there are."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names)}"
