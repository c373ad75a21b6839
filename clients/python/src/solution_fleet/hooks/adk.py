"""Callbacks for agents of Google's Agent Development Kit."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from .decision import decide_async

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..types import LocalCheckOptions

#: Python in a response; one without fences is the script itself.
_FENCE = re.compile(r"```(?:python3?|py)?[ \t]*\r?\n(.*?)```", re.DOTALL | re.IGNORECASE)


def correct_response(**options: Unpack[LocalCheckOptions]) -> Callable[..., Awaitable[None]]:
    """An ``after_model_callback`` that corrects leaky scripts in a response, before a later callback reads it."""

    async def after_model(callback_context: Any, llm_response: Any) -> None:
        if llm_response.content is None or llm_response.partial:
            return
        for part in llm_response.content.parts or []:
            for script in _FENCE.findall(part.text or "") or [part.text or ""]:
                if script.strip():
                    decision = await decide_async(script, options)
                    part.text = part.text.replace(script, decision.script)

    return after_model


def guard_tool(*arguments: str, **options: Unpack[LocalCheckOptions]) -> Callable[..., Awaitable[dict[str, Any] | None]]:
    """A ``before_tool_callback``: a tool gets the corrected script, or is not called and answers why.

    :param arguments: names of the arguments that are scripts; default: ``code``.
    """

    async def before_tool(tool: Any, args: dict[str, Any], tool_context: Any) -> dict[str, Any] | None:
        for name in arguments or ("code",):
            script = args.get(name)
            if isinstance(script, str):
                decision = await decide_async(script, options)
                if decision.refusal is not None:
                    return {"status": "error", "error_message": decision.refusal}
                args[name] = decision.script
            elif script is not None:
                # A model may send a list of lines, and a tool may run that too.
                return {"status": "error", "error_message": f"The tool was not called: {name} must be one text."}
        return None

    return before_tool
