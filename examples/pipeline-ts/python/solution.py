"""Recognizes handwritten digits: images of 8 x 8 gray pixels, ten classes.

A solution of three named components, each a few lines that can be refined without the others:
"scaler" prepares the pixels, "reducer" turns them into fewer features, "model" names the digit.
"""

import numpy as np
from sklearn import decomposition, neighbors, preprocessing
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

SEED = 0

# Data: 1,797 images that scikit-learn brings along.
X, y = load_digits(return_X_y=True)
X_train, X_valid, y_train, y_valid = train_test_split(
    X, y, test_size=0.4, stratify=y, random_state=SEED
)

# Scaler
scaler = preprocessing.Binarizer(threshold=8.0)
X_train = scaler.fit_transform(X_train)
X_valid = scaler.transform(X_valid)

# Reducer
reducer = decomposition.PCA(n_components=8, random_state=SEED)
X_train = reducer.fit_transform(X_train)
X_valid = reducer.transform(X_valid)

# Model
model = neighbors.KNeighborsClassifier(n_neighbors=25)
model.fit(X_train, y_train)

# Score: the share of the validation images that are recognized.
predictions = model.predict(X_valid)
missed = np.bincount(y_valid[predictions != y_valid], minlength=10)
print("missed by digit:", " ".join(f"{digit}:{count}" for digit, count in enumerate(missed)))
print(f"Final Validation Performance: {accuracy_score(y_valid, predictions):.4f}")
