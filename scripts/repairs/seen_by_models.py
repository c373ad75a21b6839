"""What the models of a script see: how many columns, and how their values are spread.

A rewrite may change a little what rows look like, because something is learned on fewer of them. It must not change what
columns there are, or lose a step that all rows went through.
"""

import functools

import numpy as np
import pandas as pd
from sklearn.utils import all_estimators

MAX_CALLS = 400


def spread(data):
    """Number of columns, and middle and spread of each that holds many numbers.

    Columns with two values are left out: there is one for each category, and the training part may lack a category.
    """
    if hasattr(data, "toarray"):
        data = data.toarray()
    frame = pd.DataFrame(data)
    columns = []
    flags = 0
    for name in frame.columns[:400]:
        values = pd.to_numeric(frame[name], errors="coerce")
        flags += values.nunique() <= 2
        if values.nunique() > 20:
            columns.append([str(name), float(values.median()), float(values.quantile(0.9) - values.quantile(0.1))])
    return {"rows": len(frame), "width": frame.shape[1] - int(flags), "columns": columns}


def watched(method, name, kept):
    @functools.wraps(method)
    def call(self, X, *args, **options):
        if kept["depth"] == 0 and len(kept["calls"]) < MAX_CALLS:
            try:
                kept["calls"].append({"method": name, "model": type(self).__name__, **spread(X)})
            except (TypeError, ValueError):
                pass
        kept["depth"] += 1
        try:
            return method(self, X, *args, **options)
        finally:
            kept["depth"] -= 1

    return call


def install():
    """Watches the classifiers and regressors of scikit-learn; gives the list that fills while a script runs."""
    kept = {"depth": 0, "calls": []}
    for _, kind in all_estimators():
        try:
            isModel = getattr(kind, "_estimator_type", None) in ("classifier", "regressor")
        except AttributeError:
            isModel = False
        if not isModel:
            continue
        for name in ("predict", "predict_proba", "decision_function", "score"):
            method = kind.__dict__.get(name) or getattr(kind, name, None)
            if callable(method) and not isinstance(method, property):
                try:
                    setattr(kind, name, watched(method, name, kept))
                except (AttributeError, TypeError):
                    pass
    return kept["calls"]


def alike(old, new):
    if old["width"] != new["width"]:
        return f"{new['width']} columns instead of {old['width']}"
    # Columns of categories move, where the training part lacks one of them.
    if len(old["columns"]) != len(new["columns"]):
        return f"{len(new['columns'])} columns with many values instead of {len(old['columns'])}"
    for at, ((_, middle, width), (_, other, others)) in enumerate(zip(old["columns"], new["columns"])):
        if not np.isfinite([middle, width, other, others]).all():
            continue
        room = max(width, others, 1e-9)
        if abs(middle - other) > room or min(width, others) < room / 4:
            return f"column {at} around {other:.3g} (spread {others:.3g}) instead of {middle:.3g} (spread {width:.3g})"
    return None


def change(old, new):
    """How the last rows that a model predicts differ from those of the original; None where they are alike."""
    if not old or not new:
        return None if not old else "no model predicts any more"
    last = old[-1]
    if new[-1]["model"] != last["model"]:
        return None
    return alike(last, new[-1])
