"""The program of the sandbox: reads one task, answers with one line of JSON, and ends with its caller."""

import json
import os
import sys

from fleet_trial import limits


def main(task):
    limits.end_with_caller()
    if task["do"] == "probe":
        from fleet_trial import probe

        answer = probe.probe(task)
    else:
        from fleet_trial import trial

        answer = trial.run(task)
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    os._exit(0)
