/** A long script of one leak: features are made line by line, and a scaler is fitted before the split. */
export function featureScript(features: number): string {
  return [
    'import pandas as pd',
    'from sklearn.linear_model import LogisticRegression',
    'from sklearn.model_selection import train_test_split',
    'from sklearn.preprocessing import StandardScaler',
    'df = pd.read_csv("train.csv")',
    'y = df.pop("target")',
    ...Array.from({ length: features }, (_, at) => `df["f_${at}"] = df["c_${at}"] * 2 + df["other"]`),
    'scaler = StandardScaler()',
    'X = scaler.fit_transform(df)',
    'X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)',
    'model = LogisticRegression().fit(X_train, y_train)',
    'print("validation accuracy:", model.score(X_val, y_val))',
    '',
  ].join('\n');
}
