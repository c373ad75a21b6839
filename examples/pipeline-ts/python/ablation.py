"""Ablation study of a solution: takes out one component at a time and prints what that does to the score.

    python3 ablation.py < solution.py

A component is a variable of the solution. To take it out, a neutral object is assigned in its place: a
transformer that changes nothing, or the simplest of models. The rest of the solution runs as it stands.
"""

import ast
import contextlib
import io
import re
import sys
import warnings

from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import FunctionTransformer

warnings.filterwarnings("ignore")

NEUTRAL = {"scaler": FunctionTransformer, "reducer": FunctionTransformer, "model": NearestCentroid}


class TakeOut(ast.NodeTransformer):
    """Assigns the neutral object where the solution makes the component."""

    def __init__(self, component):
        self.component = component
        self.found = False

    def visit_Assign(self, node):
        if [getattr(target, "id", None) for target in node.targets] == [self.component]:
            node.value = ast.parse(f"NEUTRAL[{self.component!r}]()", mode="eval").body
            self.found = True
        return node


def score_without(source, component=None):
    """Runs the solution and reads the score that it prints (accuracy: higher is better)."""
    tree = ast.parse(source)
    if component is not None:
        take_out = TakeOut(component)
        tree = ast.fix_missing_locations(take_out.visit(tree))
        if not take_out.found:
            raise LookupError("the solution assigns no variable of this name")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "solution.py", "exec"), {"__name__": "__main__", "NEUTRAL": NEUTRAL})
    return float(re.search(r"Final Validation Performance: ([0-9.]+)", printed.getvalue()).group(1))


solution = sys.stdin.read()
print("=== Ablation study ===")
baseline = score_without(solution)
print(f"Baseline accuracy: {baseline:.4f}")
for name in NEUTRAL:
    try:
        score = score_without(solution, name)
        print(f"Accuracy without {name}: {score:.4f} (change {score - baseline:+.4f})")
    except Exception as error:  # one component that cannot be taken out does not end the study
        print(f"Accuracy without {name}: failed ({type(error).__name__}: {error})")
print("=== End of the ablation study ===")
