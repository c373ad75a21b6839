"""Phase 1 of MLE-STAR: several first solutions, of which the best goes on."""

from __future__ import annotations

from solution_fleet import FleetClient

from evaluator import QUEUE
from scored import Scored, outcome
from stand_in_agents import first_solutions


def first_solution(fleet: FleetClient, run: str) -> list[Scored]:
    """The first solutions that have a score, the best one first."""
    batch = fleet.candidate_batch(
        candidates=[
            {"solution": {"content": script}, "data": {"name": f"first {n}"}, "key": f"{run}/first {n}"}
            for n, script in enumerate(first_solutions())
        ],
        evaluation={"queue": QUEUE, "name": "score"},
        on_uncorrected="refuse",
        tags={"run": run, "step": "first"},
    )
    outcomes = [outcome(f"first {n}", handles) for n, handles in enumerate(batch.evaluations)]
    scored = [each for each in outcomes if each is not None]
    return sorted(scored, key=lambda each: each.score, reverse=True)
