"""Runs scripts and their rewritten versions on the same made-up data.

Reads a list of `{"id", "original", "rewritten", "choosesColumns"}` on standard input, and prints one JSON object a line. What the
original needs is found as in a trial (assets/fleet_trial); the rewritten script gets the same data. An entry `{"id", "script"}` is a
script that needs no data: it runs once, and what it prints or raises is printed.
"""

import ast
import contextlib
import io
import json
import os
import sys
import traceback
import warnings

# One thread each: runs are short, and several threads of one run only wait for each other.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
sys.path.append(os.environ["TRIAL_MODULES"])

import sklearn.ensemble  # noqa: F401  # loaded once, for all runs
import sklearn.linear_model  # noqa: F401
import sklearn.model_selection  # noqa: F401

import seen_by_models
import stand_in_boosters
import stand_in_plots
from fleet_trial.fit_data import fit
from fleet_trial.run_script import apart

SECONDS = int(os.environ.get("SECONDS_PER_RUN", "25"))
ATTEMPTS = 30


def run(pair):
    source = pair["original"]
    try:
        ast.parse(source)
    except SyntaxError as error:
        return {"id": pair["id"], "ran": False, "why": f"SyntaxError: {error}"}
    ran, spec, outcome = fit(source, SECONDS * ATTEMPTS, SECONDS, seen_by_models.install)
    if not ran:
        return {"id": pair["id"], "ran": False, "why": f"{outcome['error']} in line {outcome['line']}: {outcome['text'].strip()}"}
    rewritten = apart(pair["rewritten"], spec, SECONDS, seen_by_models.install)
    change = (
        seen_by_models.change(outcome.pop("seen"), rewritten.pop("seen"), pair.get("choosesColumns", False), pair.get("leavesOutColumn", False))
        if rewritten["ok"]
        else None
    )
    return {"id": pair["id"], "ran": True, "original": outcome, "rewritten": rewritten, "change": change}


def printed(entry):
    text = io.StringIO()
    with contextlib.redirect_stdout(text), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(entry["script"], "script", "exec"), {"__name__": "__main__"})
        except Exception:
            print(traceback.format_exc())
    return {"id": entry["id"], "printed": text.getvalue()}


entries = json.load(sys.stdin)
# Before anything is replaced by what stands in for it.
for entry in entries:
    if "script" in entry:
        print(json.dumps(printed(entry)), flush=True)
stand_in_boosters.install()
stand_in_plots.install()
for entry in entries:
    if "script" not in entry:
        print(json.dumps(run(entry), default=str), flush=True)
