# Expected: corrected: over-sampling before the split puts neighbours of validation rows into training
#
# Rare fraud cases are over-sampled so that the classes are balanced.

import numpy as np
import pandas as pd
from imblearn.over_sampling import SMOTE
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

payments = pd.read_csv("./input/payments.csv", parse_dates=["booked_at"])

payments["hour"] = payments["booked_at"].dt.hour
payments["weekday"] = payments["booked_at"].dt.dayofweek
payments["log_amount"] = np.log1p(payments["amount"])
payments["abroad"] = (payments["country"] != payments["home_country"]).astype(int)

features = ["hour", "weekday", "log_amount", "abroad", "attempts", "account_age_days"]
X = payments[features]
y = payments["is_fraud"]
print("share of fraud:", y.mean())

smote = SMOTE(k_neighbors=5, random_state=11)
X_balanced, y_balanced = smote.fit_resample(X, y)

X_train, X_val, y_train, y_val = train_test_split(
    X_balanced, y_balanced, test_size=0.2, random_state=11
)

model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, C=0.3))
model.fit(X_train, y_train)

probability = model.predict_proba(X_val)[:, 1]
print("average precision:", average_precision_score(y_val, probability))
score = roc_auc_score(y_val, probability)
print(f"Final Validation Performance: {score}")
