"""Whether a script may run, by the rules of guarded evaluations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from ..aio.local_check import run as run_async
from ..errors import CheckFailed, CheckTimeout
from ..local_check import CheckRequest, request_for_text, run, single_outcome
from ..types import CheckedScript, LocalCheckOptions, LocatedFinding
from .recent_values import RecentValues

#: Not :class:`CommandNotFound`, which is a mistake of the installation: no hook hides it.
_Outcome = Union[CheckedScript, CheckFailed, CheckTimeout]


@dataclass(frozen=True)
class Decision:
    """What a hook does with a script."""

    #: The script, without the leaks that could be corrected.
    script: str
    #: Why the original script must not run, in lines for the model that is to correct it; None if it may.
    original_refusal: str | None
    #: Why even ``script`` must not run; None if it may.
    refusal: str | None


#: A pipeline shows the same script to several hooks, and runs it more than once.
_recent: RecentValues[Decision] = RecentValues(128)


def decide(script: str, options: LocalCheckOptions) -> Decision:
    """Checks a script on this machine, unless it was checked lately with these options."""
    try:
        request = request_for_text(script, options)
        decision = _recent.get(request.identity())
        return decision or _checked(script, request, single_outcome(run(request)))
    except (CheckFailed, CheckTimeout) as error:
        return _decision(script, error)


async def decide_async(script: str, options: LocalCheckOptions) -> Decision:
    """:func:`decide` for asyncio."""
    try:
        request = request_for_text(script, options)
        decision = _recent.get(request.identity())
        return decision or _checked(script, request, single_outcome(await run_async(request)))
    except (CheckFailed, CheckTimeout) as error:
        return _decision(script, error)


def _checked(script: str, request: CheckRequest, checked: CheckedScript) -> Decision:
    return _recent.put(request.identity(), _decision(script, checked))


def _decision(script: str, outcome: _Outcome) -> Decision:
    if not isinstance(outcome, dict):
        reason = f"The script was not run, because it could not be checked for data leakage: {outcome}"
        return Decision(script, reason, reason)
    if "notAnalyzed" in outcome:
        reason = f"The script was not run, because nobody could check its score: {outcome['notAnalyzed']}"
        return Decision(script, reason, reason)
    if outcome["status"] == "clean":
        return Decision(script, None, None)
    leaks = _leaks_in(outcome)
    return Decision(outcome["solution"]["content"], leaks, None if outcome["status"] == "corrected" else leaks)


def _leaks_in(checked: CheckedScript) -> str:
    leaks = [each for each in checked["findings"] if each["leakageStatus"] == "Yes Data Leakage"]
    title = "The script was not run: because of data leakage, its score would not be valid."
    return "\n".join([title, *map(_sentence, leaks)])


def _sentence(finding: LocatedFinding) -> str:
    where = f"line {finding['startLine']}: " if "startLine" in finding else ""
    reason = finding.get("reason") or "the model has seen rows that it is scored on"
    return f"- {where}{finding.get('kind', 'data leakage')}: {reason}"
