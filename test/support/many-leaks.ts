const IMPORTS = `import pandas as pd
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import train_test_split
from sklearn.linear_model import LogisticRegression
`;

/** A leak that static analysis is certain of, as it is in a script without the imports. */
const LEAKY_PART = `df = pd.read_csv("train.csv")
X = df.drop(columns=["y"])
y = df["y"]
X = StandardScaler().fit_transform(X)
X_tr, X_te, y_tr, y_te = train_test_split(X, y)
m = LogisticRegression().fit(X_tr, y_tr)
print("score", m.score(X_te, y_te))
`;

/** A script with so many leaks, the same lines over and over. */
export function manyLeaks(count: number): string {
  return IMPORTS + LEAKY_PART.repeat(count);
}
