"""STAND-INS for the pipeline's own agents: fixed rewrites instead of a model that reads and writes code.

The agents that check, summarize and extract are the fleet's; those that write scripts are the pipeline's.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from scripts import SOLUTION

if TYPE_CHECKING:
    from solution_fleet.types import NewBlockRequest

MODEL = "neighbors.KNeighborsClassifier(n_neighbors=25)"
SPLIT = "X_train, X_valid, y_train, y_valid = train_test_split("


def first_solutions() -> list[str]:
    """Candidates for a start. The last one leaks: it standardizes all rows before they are split."""
    return [
        SOLUTION,
        SOLUTION.replace(MODEL, "neighbors.KNeighborsClassifier(n_neighbors=60)"),
        SOLUTION.replace(SPLIT, f"X = preprocessing.StandardScaler().fit_transform(X)\n{SPLIT}").replace(
            "threshold=8.0", "threshold=0.0"
        ),
    ]


REWRITES = [
    (r"preprocessing\.Binarizer\(threshold=.\.0\)", "preprocessing.MinMaxScaler()"),
    (r"n_neighbors=25", 'n_neighbors=3, weights="distance"'),
    (r"n_components=8", "n_components=0.95"),
]


def rewrite(request: NewBlockRequest) -> str | None:
    """The new text of a block. A real coder follows the plan; this one knows three rewrites, one a block."""
    block = request["codeBlock"]
    known = [re.sub(old, new, block) for old, new in REWRITES if re.search(old, block)]
    return known[request["round"] - 1] if request["round"] <= len(known) else None


def merge(scripts: list[str]) -> str:
    """One script that averages what several predict."""
    parts = [
        f"def solution_{n}():\n"
        + textwrap.indent(script, "    ")
        + "\n    return model.predict_proba(X_valid), y_valid\n"
        for n, script in enumerate(scripts)
    ]
    calls = ", ".join(f"solution_{n}()" for n in range(len(scripts)))
    return "\n".join(parts) + (
        f"\nmembers = [{calls}]\n"
        "probabilities = sum(member[0] for member in members)\n"
        "accuracy = (probabilities.argmax(axis=1) == members[0][1]).mean()\n"
        'print(f"Final Validation Performance: {accuracy:.4f}")\n'
    )
