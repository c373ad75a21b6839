"""The evaluation of Google's MLE-STAR sample (``machine_learning_engineering`` of google/adk-samples)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .decision import decide

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..types import LocalCheckOptions


def guard_run(run: Callable[..., dict[str, Any]], **options: Unpack[LocalCheckOptions]) -> Callable[..., dict[str, Any]]:
    """``run_python_code`` of the sample, except that a leaky script fails without being run, and the debug agent reads why.

    >>> code_util.run_python_code = guard_run(code_util.run_python_code)

    The script is refused and not corrected, because the sample records its own script with the score.
    """

    def run_checked(code_text: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        refusal = decide(code_text, options).original_refusal
        if refusal is not None:
            return {"returncode": 1, "stdout": "", "stderr": refusal, "execution_time": 0.0}
        return run(code_text, *args, **kwargs)

    return run_checked
