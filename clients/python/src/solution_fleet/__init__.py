"""Client for the HTTP API of solution-fleet: jobs for machine-learning-engineering agents.

>>> fleet = FleetClient("http://127.0.0.1:8080")
>>> check = fleet.submit("solution-check", {"solution": {"content": script}})
>>> check.result()["status"]
"""

from .client import FleetClient
from .dead_letters import DeadLetters
from .errors import (
    ApiError,
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

__all__ = [
    "ApiError",
    "CandidateBatch",
    "Claim",
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
]
