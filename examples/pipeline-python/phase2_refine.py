"""Phase 2 of MLE-STAR (Algorithm 2): an ablation study, then one refinement loop of the fleet for each step."""

from __future__ import annotations

import threading

from solution_fleet import FleetClient

from evaluator import QUEUE
from scored import Scored
from scripts import ABLATION
from scripts import run as run_script
from stand_in_agents import rewrite

CODER = "coder"


def refine_solution(fleet: FleetClient, run: str, best: Scored, steps: int) -> Scored:
    # The coder answers the loops' requests for new blocks. A real one may run on other machines.
    threading.Thread(target=fleet.rewrite_blocks, args=(CODER, rewrite), daemon=True).start()
    previous_blocks: list[str] = []
    for step in range(1, steps + 1):
        result = fleet.submit(
            "refinement-loop",
            {
                "solution": {"content": best.script},
                "score": best.score,
                "direction": "higher",
                "ablationCode": ABLATION,
                "rawOutput": run_script(ABLATION, best.script),
                "previousBlocks": previous_blocks,
                "rounds": 4,
                "newBlock": {"queue": CODER},
                "evaluation": {"queue": QUEUE, "data": {"name": f"step {step}"}},
                "tags": {"run": run, "step": str(step)},
            },
            key=f"{run}/step {step}",
        ).result()
        for each in result["rounds"]:
            outcome = f"{each['score']:.4f}" if "score" in each else f"no score: {each['reason']}"
            print(f"  step {step}, round {each['round']}    {each.get('check', 'failed'):<12} {outcome}")
        best = Scored(result["solution"]["content"], result["score"])
        previous_blocks = result["previousBlocks"]
    return best
