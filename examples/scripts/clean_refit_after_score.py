# Expected: clean
#
# Fitted on the training part, scored once, and only then fitted again on all rows for the submission.

import os

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import RobustScaler

train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")

sensors = [c for c in train.columns if c.startswith("sensor_")]
X, y = train[sensors], train["remaining_hours"]

X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.2, random_state=1)

fill = X_train.median()
scaler = RobustScaler()
pca = PCA(n_components=12, random_state=1)


def prepare(frame, fit=False):
    """Fill, scale and project; learns from the rows only where it is told to."""
    filled = frame.fillna(fill)
    if fit:
        return pca.fit_transform(scaler.fit_transform(filled))
    return pca.transform(scaler.transform(filled))


Z_train = prepare(X_train, fit=True)
Z_val = prepare(X_val)

model = KNeighborsRegressor(n_neighbors=15, weights="distance")
model.fit(Z_train, y_train)
score = np.sqrt(mean_squared_error(y_val, model.predict(Z_val)))
print(f"Final Validation Performance: {score}")

# The score is printed: from here on every row may be used.
fill = X.median()
Z_all = prepare(X, fit=True)
model.fit(Z_all, y)
predictions = model.predict(prepare(test[sensors]))

os.makedirs("./final", exist_ok=True)
pd.DataFrame({"id": test["id"], "remaining_hours": predictions}).to_csv(
    "./final/submission.csv", index=False
)
