# Expected: uncorrected: blend weights chosen on the rows that are scored
#
# Two models, blended with the weight that scores best on the validation rows. Which rows the choice should be
# made on instead is a decision about the experiment, so the check reports the leak and leaves the script alone.

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

flats = pd.read_csv("./input/flats.csv")
flats["rooms_per_area"] = flats["rooms"] / flats["area"]
flats["log_distance"] = np.log1p(flats["distance_to_centre"])

X = flats.drop(columns=["id", "rent"])
y = flats["rent"]
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.2, random_state=3)

trees = ExtraTreesRegressor(n_estimators=600, min_samples_leaf=3, n_jobs=-1, random_state=3)
trees.fit(X_train, y_train)
ridge = make_pipeline(StandardScaler(), Ridge(alpha=10.0))
ridge.fit(X_train, y_train)

trees_val = trees.predict(X_val)
ridge_val = ridge.predict(X_val)

best_weight, best_score = 0.0, float("inf")
for weight in np.linspace(0.0, 1.0, 51):
    blended = weight * trees_val + (1.0 - weight) * ridge_val
    score = mean_absolute_error(y_val, blended)
    if score < best_score:
        best_weight, best_score = weight, score

print(f"weight of the trees: {best_weight:.2f}")
print(f"Final Validation Performance: {best_score}")
