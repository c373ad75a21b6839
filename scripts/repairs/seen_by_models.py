"""What the models of a script see: how many columns, and how their values are spread.

A rewrite may change a little what rows look like, because something is learned on fewer of them. It must not change what
columns there are, or lose a step that all rows went through.

What is learned may be the number of columns: a vocabulary, or the categories of an encoder. Then all other columns have to
be as many as before. Which columns there are is learned where a rewrite moves their selection.
"""

import functools
import re

import numpy as np
import pandas as pd
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import RFECV, SelectFromModel, VarianceThreshold
from sklearn.preprocessing import LabelBinarizer, MultiLabelBinarizer, OneHotEncoder
from sklearn.utils import all_estimators

MAX_CALLS = 400
LEARNS_WIDTH = (
    CountVectorizer,
    TfidfVectorizer,
    DictVectorizer,
    OneHotEncoder,
    LabelBinarizer,
    MultiLabelBinarizer,
    VarianceThreshold,
    SelectFromModel,
    RFECV,
)

ESTIMATORS = [kind for _, kind in all_estimators()]
"""Of all of scikit-learn: loading it takes longer than most runs, which start with it."""


def spread(data):
    """Number of columns, and middle and spread of each that holds many numbers."""
    if hasattr(data, "toarray"):
        data = data.toarray()
    frame = pd.DataFrame(data)
    columns = []
    for name in frame.columns[:400]:
        values = pd.to_numeric(frame[name], errors="coerce")
        if values.nunique() > 20:
            columns.append([str(name), float(values.median()), float(values.quantile(0.9) - values.quantile(0.1))])
    named = all(isinstance(name, str) for name in frame.columns)
    return {"rows": len(frame), "width": frame.shape[1], "columns": columns, "named": named}


def width_of(result):
    return result.shape[1] if len(getattr(result, "shape", ())) == 2 else 1


def learns_width(method, kept):
    """Notes how many columns come out, by what they come from: kind, parameters, and name of the column that goes in."""

    @functools.wraps(method)
    def call(self, X, *args, **options):
        kept["inner"] += 1
        try:
            result = method(self, X, *args, **options)
        finally:
            kept["inner"] -= 1
        if kept["inner"] == 0:
            made_as = re.sub(r" at 0x\w+", "", repr(sorted(self.get_params(deep=False).items())))
            name = X.name if isinstance(X, pd.Series) else None
            kept["learned"][f"{type(self).__name__} {made_as} {name}"] = [width_of(result)]
        return result

    return call


def dummies(method, kept):
    """The same for `get_dummies`, which is called for one part after another: the first sets the columns of all."""

    @functools.wraps(method)
    def call(data, *args, **options):
        result = method(data, *args, **options)
        kept_as_is = len([name for name in data.columns if name in result.columns]) if isinstance(data, pd.DataFrame) else 0
        widths = kept["learned"].setdefault(f"get_dummies {options.get('columns')}", [])
        widths.append(width_of(result) - kept_as_is)
        del widths[:-2]
        return result

    return call


def watched(method, name, kept):
    @functools.wraps(method)
    def call(self, X, *args, **options):
        if kept["depth"] == 0 and len(kept["calls"]) < MAX_CALLS:
            learned = {key: list(widths) for key, widths in kept["learned"].items()}
            try:
                kept["calls"].append({"method": name, "model": type(self).__name__, **spread(X), "learned": learned})
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
    kept = {"depth": 0, "inner": 0, "calls": [], "learned": {}}
    for kind in LEARNS_WIDTH:
        for name in ("transform", "fit_transform"):
            setattr(kind, name, learns_width(getattr(kind, name), kept))
    pd.get_dummies = dummies(pd.get_dummies, kept)
    for kind in ESTIMATORS:
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


def other_columns(call):
    """How many columns there may be beside those whose number is learned."""
    sums = {0}
    for widths in call["learned"].values():
        sums = {total + width for total in sums for width in widths}
    return {call["width"] - total for total in sums}


def alike(old, new, chooses):
    """What differs between the rows of two calls; None where only what is learned does.

    `chooses`: the rewrite moved a selection of columns, so they may be others.
    """
    if old["width"] != new["width"]:
        same = old["learned"].keys() == new["learned"].keys() and other_columns(old) & other_columns(new)
        if not same:
            return f"{new['width']} columns instead of {old['width']}"
    if chooses:
        return None
    pairs = list(zip(old["columns"], new["columns"]))
    if old["width"] != new["width"] and old["named"] and new["named"]:
        others = {name: (name, *rest) for name, *rest in new["columns"]}
        absent = [name for name, *_ in old["columns"] if name not in others]
        if absent:
            return f"columns {absent[:3]} no longer have many values"
        pairs = [(column, others[column[0]]) for column in old["columns"]]
    elif len(old["columns"]) != len(new["columns"]):
        # Columns of categories move, where the training part lacks one of them; those of a vocabulary have no name.
        if old["width"] != new["width"]:
            return None
        return f"{len(new['columns'])} columns with many values instead of {len(old['columns'])}"
    for (name, middle, width), (_, other, others) in pairs:
        if not np.isfinite([middle, width, other, others]).all():
            continue
        room = max(width, others, 1e-9)
        if abs(middle - other) > room or min(width, others) < room / 4:
            return f"column {name} around {other:.3g} (spread {others:.3g}) instead of {middle:.3g} (spread {width:.3g})"
    return None


def change(old, new, chooses=False, leaves_out=False):
    """How the last rows that a model predicts differ from those of the original; None where they are alike."""
    if not old or not new:
        return None if not old else "no model predicts any more"
    last = old[-1]
    if new[-1]["model"] != last["model"]:
        return None
    # A feature that says what the label is was left out: how the others are is not compared.
    if leaves_out and new[-1]["width"] < last["width"]:
        return None
    return alike(last, new[-1], chooses)
