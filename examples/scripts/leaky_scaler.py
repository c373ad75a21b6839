# Expected: corrected: scaler fitted before the split
#
# Concrete strength: one model, one hold-out split, one printed score.

import os

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

INPUT_DIR = "./input"
OUTPUT_DIR = "./final"
SEED = 42

train_df = pd.read_csv(os.path.join(INPUT_DIR, "train.csv"))
test_df = pd.read_csv(os.path.join(INPUT_DIR, "test.csv"))


def add_ratios(frame):
    """Row-wise features: each row by itself."""
    frame = frame.copy()
    frame["water_cement"] = frame["water"] / (frame["cement"] + 1e-6)
    frame["log_age"] = np.log1p(frame["age"])
    frame["binder"] = frame["cement"] + frame["slag"] + frame["ash"]
    return frame


train_df = add_ratios(train_df)
test_df = add_ratios(test_df)

feature_columns = [c for c in train_df.columns if c not in ("id", "strength")]
X = train_df[feature_columns]
y = train_df["strength"]
X_test = test_df[feature_columns]

# Bring all features to one scale.
scaler = StandardScaler()
X_scaled = scaler.fit_transform(X)
X_test_scaled = scaler.transform(X_test)

X_train, X_val, y_train, y_val = train_test_split(
    X_scaled, y, test_size=0.2, random_state=SEED
)

model = GradientBoostingRegressor(
    n_estimators=400,
    learning_rate=0.05,
    max_depth=4,
    random_state=SEED,
)
model.fit(X_train, y_train)

val_predictions = model.predict(X_val)
score = np.sqrt(mean_squared_error(y_val, val_predictions))
print(f"Final Validation Performance: {score}")

os.makedirs(OUTPUT_DIR, exist_ok=True)
submission = pd.DataFrame({"id": test_df["id"], "strength": model.predict(X_test_scaled)})
submission.to_csv(os.path.join(OUTPUT_DIR, "submission.csv"), index=False)
