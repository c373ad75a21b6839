"""Phase 2 of MLE-STAR (Algorithm 2): ablation, block and plan, refined block, evaluation; the better one stays."""

from __future__ import annotations

from solution_fleet import FleetClient

from scored import Scored, evaluate
from scripts import ABLATION
from scripts import run as run_script
from stand_in_agents import refine


def refine_solution(fleet: FleetClient, run: str, best: Scored, steps: int) -> Scored:
    refined_blocks: list[str] = []
    for step in range(1, steps + 1):
        extract = fleet.refinement_step(
            ablation_code=ABLATION,
            raw_output=run_script(ABLATION, best.script),
            solution=best.script,
            previous_blocks=refined_blocks,
            tags={"run": run, "step": str(step)},
            key=f"{run}/step {step}",
        ).extract.result()
        if extract["outcome"] == "skipped":
            print(f"  step {step}: no block could be singled out")
            continue
        block, before = extract["codeBlock"], best.script
        refined_blocks.append(block)
        for n, new_block in enumerate(refine(block, extract["plan"])):
            refined_blocks.append(new_block)
            candidate = evaluate(fleet, run, f"step {step}, try {n}", before.replace(block, new_block, 1))
            if candidate is not None and candidate.score > best.score:
                best = candidate
    return best
