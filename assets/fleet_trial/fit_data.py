"""Made-up data on which a script runs: what its text tells is a first guess, and its errors correct it."""

import re
import time

from fleet_trial.guess_columns import guess
from fleet_trial.run_script import apart

ATTEMPTS = 30


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


def fit(source, seconds, seconds_of_run, watch=None):
    """The data on which a script runs, and its run; or the run that failed last.

    The first value is false where no data were found.
    """
    deadline = time.monotonic() + seconds
    spec = guess(source)
    outcome = {}
    for _ in range(ATTEMPTS):
        outcome = apart(source, spec, max(1, min(seconds_of_run, deadline - time.monotonic())), watch)
        if outcome["ok"]:
            return True, spec, outcome
        if outcome["error"].startswith(("ModuleNotFoundError", "ImportError", "TimeoutError", "ProcessEnded")):
            break
        if not corrected(spec, outcome) or time.monotonic() > deadline:
            break
    return False, spec, outcome
