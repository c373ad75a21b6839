"""The scripts under work, and how one is run. They are those of the TypeScript example."""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "pipeline-ts" / "python"
SOLUTION = (FOLDER / "solution.py").read_text(encoding="utf-8")
ABLATION = (FOLDER / "ablation.py").read_text(encoding="utf-8")


def run(script: str, given: str = "") -> str:
    """What a script prints; ``given`` is its standard input."""
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, input=given, capture_output=True, text=True, timeout=300)
    if ended.returncode != 0:
        raise RuntimeError(ended.stderr.strip().rpartition("\n")[2] or f"ended with {ended.returncode}")
    return ended.stdout


def score_in(printed: str) -> float:
    """The last score that a script printed."""
    scores = re.findall(r"^Final Validation Performance: ([0-9.]+)$", printed, re.MULTILINE)
    if not scores:
        raise RuntimeError("the script printed no score")
    return float(scores[-1])
