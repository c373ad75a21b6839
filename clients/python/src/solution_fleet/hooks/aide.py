"""An interpreter for AIDE that checks each script before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .decision import decide

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..types import LocalCheckOptions


class CheckedInterpreter:
    """``aide.interpreter.Interpreter``, except that leaky scripts are not run.

    >>> experiment.interpreter = CheckedInterpreter(experiment.interpreter)

    A script is refused and not corrected, because the journal records the script of the agent with the score. The
    refusal is the output of the script, so AIDE counts the node as buggy, and its next step debugs it.
    """

    def __init__(self, interpreter: Any, **options: Unpack[LocalCheckOptions]) -> None:
        self._interpreter = interpreter
        self._options = options

    def run(self, code: str, reset_session: bool = True) -> Any:
        """The result of the script, or of its refusal (``exc_type``: ``DataLeakage``)."""
        refusal = decide(code, self._options).original_refusal
        if refusal is None:
            return self._interpreter.run(code, reset_session)
        # AIDE is there if its interpreter is; this package does not depend on it.
        from aide.interpreter import ExecutionResult

        return ExecutionResult(
            term_out=[refusal], exec_time=0.0, exc_type="DataLeakage", exc_info={"args": [refusal]}, exc_stack=[]
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._interpreter, name)
