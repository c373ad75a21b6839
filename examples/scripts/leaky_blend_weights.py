# Expected: uncorrected: blend weights chosen on the rows that are scored
#
# Two models, blended with the weight that scores best on their out-of-fold predictions, which are then scored. The weight
# could be chosen fold by fold on the predictions of the other folds, but the folds have no seed and cannot be made again:
# how to choose instead is a decision about the experiment, and the check reports the leak and leaves the script alone.

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

flats = pd.read_csv("./input/flats.csv")
flats["rooms_per_area"] = flats["rooms"] / flats["area"]
flats["log_distance"] = np.log1p(flats["distance_to_centre"])

X = flats.drop(columns=["id", "rent"])
y = flats["rent"]
oof_trees, oof_ridge = np.zeros(len(X)), np.zeros(len(X))
for train_idx, val_idx in KFold(5, shuffle=True).split(X):
    X_train, y_train = X.iloc[train_idx], y.iloc[train_idx]
    trees = ExtraTreesRegressor(n_estimators=600, min_samples_leaf=3, n_jobs=-1, random_state=3)
    oof_trees[val_idx] = trees.fit(X_train, y_train).predict(X.iloc[val_idx])
    ridge = make_pipeline(StandardScaler(), Ridge(alpha=10.0))
    oof_ridge[val_idx] = ridge.fit(X_train, y_train).predict(X.iloc[val_idx])

best_weight, best_score = 0.0, float("inf")
for weight in np.linspace(0.0, 1.0, 51):
    blended = weight * oof_trees + (1.0 - weight) * oof_ridge
    score = mean_absolute_error(y, blended)
    if score < best_score:
        best_weight, best_score = weight, score

print(f"weight of the trees: {best_weight:.2f}")
print(f"Final Validation Performance: {best_score}")
