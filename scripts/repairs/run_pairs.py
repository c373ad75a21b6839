"""Runs scripts and their rewritten versions on the same made-up data.

Reads a list of `{"id", "original", "rewritten"}` on standard input, and prints one JSON object a line. What the
original needs is guessed, then corrected by the errors that it runs into; the rewritten script gets the same data.
"""

import ast
import contextlib
import io
import json
import os
import re
import signal
import sys
import tempfile
import traceback
import warnings

# One thread each: runs are short, and several threads of one run only wait for each other.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd
import sklearn.ensemble  # noqa: F401  # loaded once, for all runs
import sklearn.linear_model  # noqa: F401
import sklearn.model_selection  # noqa: F401

import seen_by_models
import stand_in_boosters
from guess_columns import guess
from synthetic_data import Recorder

SECONDS = int(os.environ.get("SECONDS_PER_RUN", "25"))
ATTEMPTS = 30


def execute(source, spec):
    """What one run printed and wrote, or how it failed. Runs in a process of its own."""
    recorder = Recorder(spec)
    recorder.install()
    seen = seen_by_models.install()
    np.random.seed(0)
    printed = io.StringIO()
    outcome = {"ok": True}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
        os.chdir(folder)
        sys.argv = ["script.py"]
        try:
            exec(compile(source, "script.py", "exec"), {"__name__": "__main__"})
        except SystemExit as end:
            outcome = {"ok": end.code in (None, 0), "error": f"SystemExit: {end.code}", "line": 0, "text": ""}
        except BaseException as error:
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == "script.py"]
            line = lines[-1] if lines else getattr(error, "lineno", 0) or 0
            text = source.splitlines()[line - 1] if 0 < line <= len(source.splitlines()) else ""
            outcome = {"ok": False, "error": f"{type(error).__name__}: {error}"[:600], "line": line, "text": text}
        os.chdir("/")
    return {**outcome, "printed": printed.getvalue()[-4000:], "written": recorder.written, "seen": seen}


def apart(source, spec):
    """`execute` in a forked process that has a limited time."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        warnings.simplefilter("ignore")
        pd.options.mode.chained_assignment = None
        with open(os.devnull, "w") as silent:
            os.dup2(silent.fileno(), 2)
        outcome = execute(source, spec)
        with os.fdopen(writer, "w") as pipe:
            json.dump(outcome, pipe, default=str)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    if text == "":
        return {"ok": False, "error": f"TimeoutError: no end within {SECONDS} s", "line": 0, "text": "", "printed": "", "written": [], "seen": []}
    return json.loads(text)


def add(spec, names):
    new = [name for name in names if name and name not in spec["columns"]]
    for name in new:
        spec["columns"][name] = "number"
    return len(new) > 0


def corrected(spec, failure):
    """Changes the guesses after a failed run; false where nothing is left to try."""
    error, line = failure["error"], failure["text"]
    named = [name for name in re.findall(r"['\"]([^'\"]+)['\"]", line) if name in spec["columns"]]
    if error.startswith(("KeyError", "ValueError: Index", "ValueError: Usecols")) or "not in index" in error or "not found in axis" in error:
        found = re.findall(r"'([^'\[\]]+)'", error)
        missing = [name for name in found if name in spec["labels"]]
        if missing and not spec["whole"]:
            spec["whole"] = True
            return True
        known = [name for name in found if name in spec["columns"] and name not in spec.setdefault("taken", [])]
        if add(spec, found):
            return True
        # The script makes the column itself, under a name that is taken already.
        for name in known:
            spec["taken"].append(name)
            del spec["columns"][name]
        return len(known) > 0
    attribute = re.search(r"object has no attribute '(\w+)'", error)
    if attribute and "DataFrame" in error:
        return add(spec, [attribute.group(1)])
    if "Input" in error and "NaN" in error or "contains NaN" in error or "cannot convert NA" in error or "non-finite" in error:
        before, spec["gaps"] = spec["gaps"], False
        return before
    told = re.search(r"[:\s'\"]([^'\"~:]*)~", error)
    if told:
        name = next((c for c in spec["columns"] if told.group(1).endswith(c) and spec["columns"][c] in ("text", "codes")), None)
        if name is not None:
            spec["columns"][name] = "digits" if "invalid literal" in error else "count"
            return True
    category = re.search(r"could not convert string to float: '([^']*)'", error)
    if category:
        for name, kind in spec["columns"].items():
            if isinstance(kind, list) and category.group(1) in kind[1]:
                spec["columns"][name] = "count"
                return True
    if "Unknown label type" in error or "continuous" in error or "classes" in error or "class" in error:
        found = False
        for name in spec["labels"] or named[-1:] or list(spec["columns"])[-1:]:
            found = found or spec["columns"][name] != "class"
            spec["columns"][name] = "class"
        spec["classes"] = True
        return found
    if "unseen at fit time" in error or "should match those that were passed" in error or "features" in error:
        before, spec["whole"] = spec["whole"], not spec["whole"]
        return not before
    order = ["number", "text", "codes", "date", "class", "count"]
    if ".str accessor" in error or "'lower'" in error or "'split'" in error or "expected string" in error:
        order = ["text", "codes"]
    elif ".dt accessor" in error or "datetime" in error.lower():
        order = ["date", "number"]
    for name in named or [c for c in spec["columns"] if c not in spec["labels"]]:
        tried = spec.setdefault("tried", {}).setdefault(name, [])
        kind = next((one for one in order if one not in tried and one != spec["columns"][name]), None)
        if kind is None:
            continue
        tried.append(kind)
        spec["columns"][name] = kind
        return True
    return False


def run(pair):
    source = pair["original"]
    try:
        ast.parse(source)
    except SyntaxError as error:
        return {"id": pair["id"], "ran": False, "why": f"SyntaxError: {error}"}
    spec = guess(source)
    outcome = {}
    for _ in range(ATTEMPTS):
        outcome = apart(source, spec)
        if outcome["ok"] or outcome["error"].startswith(("ModuleNotFoundError", "ImportError", "TimeoutError")):
            break
        if not corrected(spec, outcome):
            break
    if not outcome["ok"]:
        return {"id": pair["id"], "ran": False, "why": f"{outcome['error']} in line {outcome['line']}: {outcome['text'].strip()}"}
    rewritten = apart(pair["rewritten"], spec)
    change = seen_by_models.change(outcome.pop("seen"), rewritten.pop("seen")) if rewritten["ok"] else None
    return {"id": pair["id"], "ran": True, "original": outcome, "rewritten": rewritten, "change": change}


stand_in_boosters.install()
for item in json.load(sys.stdin):
    print(json.dumps(run(item), default=str), flush=True)
