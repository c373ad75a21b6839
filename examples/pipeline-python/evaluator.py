"""The evaluating side: runs checked scripts, for ever. Start as many of these as you have machines.

python3 evaluator.py
"""

from solution_fleet import Claim, FleetClient

from scripts import run, score_in

QUEUE = "accuracy"


def evaluate(claim: Claim) -> float:
    print(f"evaluating {claim.data['name']} ({claim.status})", flush=True)
    return score_in(run(claim.script))


if __name__ == "__main__":
    try:
        FleetClient().evaluate(QUEUE, evaluate)
    except KeyboardInterrupt:
        print("stopped")
