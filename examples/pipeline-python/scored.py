"""Scripts with their scores: everything that is evaluated goes through here, and so through the check."""

from __future__ import annotations

from dataclasses import dataclass

from solution_fleet import FleetClient, GuardedEvaluation, JobFailed

from evaluator import QUEUE


@dataclass(frozen=True)
class Scored:
    """A script as its check left it, and its validation accuracy."""

    script: str
    score: float


def outcome(name: str, handles: GuardedEvaluation) -> Scored | None:
    """Waits for a guarded evaluation; None where it has no score."""
    try:
        score = float(handles.evaluation.result())
    except JobFailed as error:
        print(f"  {name:<18} no score: {error}")
        return None
    check = handles.check.result()
    print(f"  {name:<18} {check['status']:<12} {score:.4f}")
    return Scored(check["solution"]["content"], score)


def evaluate(fleet: FleetClient, run: str, name: str, script: str) -> Scored | None:
    """Has a script checked and evaluated; by its key once only, however often the pipeline is started."""
    handles = fleet.guarded_evaluation(
        solution=script,
        evaluation={"queue": QUEUE, "name": "score", "data": {"name": name}},
        on_uncorrected="refuse",
        tags={"run": run, "step": name},
        key=f"{run}/{name}",
    )
    return outcome(name, handles)
