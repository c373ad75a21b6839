"""The package for asyncio.

>>> result = await aio.check(Path("solution.py"))

>>> fleet = aio.AsyncFleetClient("http://127.0.0.1:8080")
>>> check = await fleet.submit("solution-check", {"solution": {"content": script}})
>>> (await check.result())["status"]
"""

from .client import AsyncFleetClient
from .evaluations import AsyncClaim
from .handles import AsyncCandidateBatch, AsyncGuardedEvaluation, AsyncJobHandle, AsyncRefinementStep
from .local_check import check, check_file, check_files
from .operations import AsyncDeadLetters, AsyncKnownSolutions

__all__ = [
    "AsyncCandidateBatch",
    "AsyncClaim",
    "AsyncDeadLetters",
    "AsyncFleetClient",
    "AsyncGuardedEvaluation",
    "AsyncJobHandle",
    "AsyncKnownSolutions",
    "AsyncRefinementStep",
    "check",
    "check_file",
    "check_files",
]
