"""Fields of answers. Something else than the gateway may have answered, with JSON of its own."""

from __future__ import annotations

from typing import Any

from .errors import ApiError, api_error


def foreign(detail: str, status: int = 200) -> ApiError:
    """The error of an answer that is not the gateway's."""
    return api_error(status, {"detail": f"{detail}: it is none of the gateway's"})


def field(answer: Any, name: str, kind: type | tuple[type, ...] = object) -> Any:
    """A field of an object in an answer. Raises :class:`ApiError` if it is not there, or of another type than ``kind``."""
    if not isinstance(answer, dict):
        raise foreign(f"the answer has no object with the field {name!r}")
    if name not in answer:
        raise foreign(f"the answer has no field {name!r}")
    value = answer[name]
    if not isinstance(value, kind):
        raise foreign(f"the field {name!r} of the answer is {type(value).__name__}")
    return value


def script_text(solution: object) -> str:
    """The text of a script that a caller passes. Raises TypeError if it is something else."""
    if isinstance(solution, str):
        return solution
    hint = '; pass solution["content"]' if isinstance(solution, dict) and "content" in solution else ""
    raise TypeError(f"solution is the text of the script, a str, and not {type(solution).__name__}{hint}")
