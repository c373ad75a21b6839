"""Phase 3 of MLE-STAR: the best solutions together, where that is better than the best alone."""

from __future__ import annotations

from solution_fleet import FleetClient

from scored import Scored, evaluate
from stand_in_agents import merge


def ensemble(fleet: FleetClient, run: str, solutions: list[Scored]) -> Scored:
    """The best of the solutions and of the ensembles of the best two, three, ... of them."""
    ranked = sorted(solutions, key=lambda each: each.score, reverse=True)
    best = ranked[0]
    for size in range(2, len(ranked) + 1):
        merged = merge([each.script for each in ranked[:size]])
        candidate = evaluate(fleet, run, f"best {size} together", merged)
        if candidate is not None and candidate.score > best.score:
            best = candidate
    return best
