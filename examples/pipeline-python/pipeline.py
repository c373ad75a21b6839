"""A whole MLE-STAR pipeline on the fleet. See the README beside this file.

python3 pipeline.py [RUN]
"""

import sys

from solution_fleet import FleetClient

from phase1_initial import first_solution
from phase2_refine import refine_solution
from phase3_ensemble import ensemble

fleet = FleetClient()
run = sys.argv[1] if len(sys.argv) > 1 else "digits"

print("phase 1: first solutions")
first = first_solution(fleet, run)
print("phase 2: refinement")
refined = refine_solution(fleet, run, first[0], steps=3)
print("phase 3: ensemble")
best = ensemble(fleet, run, [refined, *first[:2]])

view = fleet.run(run)
print(f"run {run}: {view['total']} jobs, {view['usage']['calls']} agent calls")
print(f"score {first[0].score:.4f} -> {best.score:.4f}")
