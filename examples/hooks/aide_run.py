"""AIDE with an interpreter that runs no leaky script: python aide_run.py DATA_DIR GOAL"""

import sys

import aide
from solution_fleet.hooks.aide import CheckedInterpreter

experiment = aide.Experiment(data_dir=sys.argv[1], goal=sys.argv[2])
experiment.interpreter = CheckedInterpreter(experiment.interpreter, timeout_s=60)
best = experiment.run(steps=10)
print(best.valid_metric)
