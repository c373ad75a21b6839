"""One trial: the original script and a corrected one on the same made-up data."""

import ast
import importlib
import time

from fleet_trial import limits

PRELOADED = ("numpy", "pandas", "scipy", "sklearn")
"""Libraries that may be loaded before a process is forked: they start no threads."""


def preload(source):
    """Loads what the script imports once, for all runs."""
    for node in ast.walk(ast.parse(source)):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            names = [node.module]
        for name in names:
            if name.split(".")[0] in PRELOADED:
                try:
                    importlib.import_module(name)
                except ImportError:
                    # The run of the script says so.
                    pass


def shown(outcome):
    """A run without what only an evaluation compares."""
    return {name: outcome[name] for name in ("ok", "error", "line", "text", "printed")}


def run(task):
    """What became of both scripts.

    `spec` is what an earlier trial of the same original found out about its data; then the original runs again only
    where the corrected script fails, to see that it still runs.
    """
    deadline = time.monotonic() + task["seconds"]
    left = lambda: max(1, deadline - time.monotonic())
    limits.apply(task["memoryMb"], task["processes"], task["diskMb"], task["seconds"])
    try:
        preload(task["original"])
        from fleet_trial import fit_data, run_script
    except (ImportError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"unfit": f"{type(error).__name__}: {error}"}
    run_script.after_run = limits.end_others
    run_script.limited = limits.limited
    spec, original = task.get("spec"), task.get("ran")
    if spec is None:
        ran, spec, original = fit_data.fit(task["original"], task["seconds"] / 2, task["seconds"] / 2)
        if not ran:
            return {"original": shown(original)}
    corrected = run_script.apart(task["corrected"], spec, left())
    answer = {"spec": spec, "original": shown(original), "corrected": shown(corrected)}
    if not corrected["ok"]:
        answer["again"] = shown(run_script.apart(task["original"], spec, left()))
    return answer
