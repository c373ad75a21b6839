# Expected: clean
#
# Everything that learns from rows stands in one pipeline, which is fitted anew in every fold.

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

customers = pd.read_csv("./input/customers.csv")
print(customers.describe())
print("churn rate:", customers["churned"].mean())

customers["tenure_years"] = customers["tenure_months"] / 12
customers["calls_per_month"] = customers["support_calls"] / customers["tenure_months"].clip(lower=1)

target = customers["churned"]
data = customers.drop(columns=["churned", "customer_id"])
numeric = data.select_dtypes("number").columns.tolist()
categorical = [c for c in data.columns if c not in numeric]

preprocess = ColumnTransformer(
    [
        (
            "numbers",
            Pipeline([("fill", SimpleImputer(strategy="median")), ("scale", StandardScaler())]),
            numeric,
        ),
        ("labels", OneHotEncoder(handle_unknown="ignore", sparse_output=False), categorical),
    ]
)
model = Pipeline(
    [
        ("preprocess", preprocess),
        ("select", SelectKBest(f_classif, k=20)),
        ("classify", HistGradientBoostingClassifier(max_iter=300, learning_rate=0.05, random_state=0)),
    ]
)

folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
scores = cross_val_score(model, data, target, cv=folds, scoring="roc_auc")
print("by fold:", np.round(scores, 4))
print(f"Final Validation Performance: {scores.mean()}")
