"""Stand-ins for boosting libraries that are not installed: their calls, on scikit-learn's gradient boosting.

They keep what a rewrite could break: as many labels as rows, the same columns when predicting as when training, and
watched sets of these columns. How well they predict is of no interest.
"""

import importlib.util
import sys
import types

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor


class Rows:
    """`Pool`, `DMatrix`, `Dataset`: features with their labels."""

    def __init__(self, data, label=None, *args, **options):
        self.data, self.label = data, label
        if label is not None and len(label) != np.shape(data)[0]:
            raise ValueError(f"{len(label)} labels for {np.shape(data)[0]} rows")


def numbers(data):
    frame = pd.DataFrame(data.toarray() if hasattr(data, "toarray") else data)
    return frame.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else pd.Series(pd.factorize(c)[0], c.index))


class Booster(BaseEstimator):
    classes = False
    best_iteration = best_iteration_ = 0
    best_score_ = best_score = 0.0

    def __init__(self, *args, **options):
        self.options = options

    def get_params(self, deep=True):
        return dict(self.options)

    def set_params(self, **options):
        self.options.update(options)
        return self

    def fit(self, X, y=None, eval_set=None, **options):
        X, y = (X.data, X.label) if isinstance(X, Rows) else (X, y)
        features = numbers(X)
        if len(y) != len(features):
            raise ValueError(f"{len(y)} labels for {len(features)} rows")
        self.columns_ = list(features.columns)
        self.n_features_in_ = len(self.columns_)
        kind = HistGradientBoostingClassifier if self.classes else HistGradientBoostingRegressor
        self.model_ = kind(max_iter=10).fit(features.to_numpy(dtype=float), np.ravel(np.asarray(y)))
        if self.classes:
            self.classes_ = self.model_.classes_
        self.feature_importances_ = np.linspace(1.0, 0.0, self.n_features_in_)
        pairs = eval_set if isinstance(eval_set, list) else [] if eval_set is None else [eval_set]
        for pair in pairs:
            self.predict(pair.data if isinstance(pair, Rows) else pair[0])
        return self

    def rows(self, X):
        features = numbers(X.data if isinstance(X, Rows) else X)
        if list(features.columns) != self.columns_:
            raise ValueError(f"trained on columns {self.columns_[:9]}, asked about {list(features.columns)[:9]}")
        return features.to_numpy(dtype=float)

    def predict(self, X, *args, **options):
        return self.model_.predict(self.rows(X))

    def predict_proba(self, X, *args, **options):
        return self.model_.predict_proba(self.rows(X))

    def score(self, X, y):
        return self.model_.score(self.rows(X), y)

    def get_best_iteration(self):
        return 0

    def evals_result(self):
        return {}


class Classifier(Booster):
    classes = True
    _estimator_type = "classifier"


class Regressor(Booster):
    _estimator_type = "regressor"


def train(params, dtrain, *args, valid_sets=None, evals=(), **options):
    """`lgb.train`, `xgb.train`."""
    model = Regressor().fit(dtrain)
    for watched in list(valid_sets or []) + [pair[0] for pair in evals]:
        model.predict(watched)
    return model


def install():
    """Puts a module in the place of each library that is not there; gives their names."""
    for name in ("lightgbm", "xgboost", "catboost"):
        if importlib.util.find_spec(name) is not None:
            continue
        module = types.ModuleType(name)
        for prefix in ("LGBM", "XGB", "CatBoost"):
            setattr(module, f"{prefix}Classifier", Classifier)
            setattr(module, f"{prefix}Regressor", Regressor)
        module.CatBoost = module.Booster = Regressor
        module.Pool = module.DMatrix = module.QuantileDMatrix = module.Dataset = Rows
        module.train = train
        module.early_stopping = module.log_evaluation = module.record_evaluation = lambda *args, **options: None
        callback = types.SimpleNamespace(EarlyStopping=lambda *args, **options: None)
        module.callback = callback
        sys.modules[name] = module
