"""Leakage checks on this machine, and a client for the HTTP API of solution-fleet.

>>> check(Path("solution.py"))["status"]

>>> fleet = FleetClient("http://127.0.0.1:8080")
>>> check = fleet.submit("solution-check", {"solution": {"content": script}})
>>> check.result()["status"]
"""

from .client import FleetClient
from .dead_letters import DeadLetters
from .errors import (
    ApiError,
    CheckFailed,
    CheckTimeout,
    CommandNotFound,
    DoNotRetry,
    FleetError,
    FleetUnreachable,
    JobFailed,
    LeaseLost,
    WaitTimeout,
)
from .evaluations import Claim
from .events import JobEvent
from .handles import CandidateBatch, GuardedEvaluation, JobHandle, RefinementStep
from .known import KnownSolutions
from .local_check import check, check_file, check_files

__all__ = [
    "ApiError",
    "CandidateBatch",
    "CheckFailed",
    "CheckTimeout",
    "Claim",
    "CommandNotFound",
    "DeadLetters",
    "DoNotRetry",
    "FleetClient",
    "FleetError",
    "FleetUnreachable",
    "GuardedEvaluation",
    "JobEvent",
    "JobFailed",
    "JobHandle",
    "KnownSolutions",
    "LeaseLost",
    "RefinementStep",
    "WaitTimeout",
    "check",
    "check_file",
    "check_files",
]
