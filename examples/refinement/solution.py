import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

passengers = pd.read_csv("./input/train.csv")
target = passengers["Transported"].astype(int)
features = passengers.drop(columns=["Transported", "PassengerId", "Name"])

numeric = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
categorical = ["HomePlanet", "CryoSleep", "Destination", "VIP"]

numeric_steps = Pipeline([
    ("impute", SimpleImputer(strategy="median")),
    ("scale", StandardScaler()),
])
categorical_steps = Pipeline([
    ("impute", SimpleImputer(strategy="most_frequent")),
    ("encode", OneHotEncoder(handle_unknown="ignore")),
])
preprocess = ColumnTransformer([
    ("numeric", numeric_steps, numeric),
    ("categorical", categorical_steps, categorical),
])

model = Pipeline([
    ("preprocess", preprocess),
    ("forest", RandomForestClassifier(n_estimators=200, random_state=42)),
])

X_train, X_val, y_train, y_val = train_test_split(features, target, test_size=0.2, random_state=42)
model.fit(X_train, y_train)
score = accuracy_score(y_val, model.predict(X_val))
print(f"Final Validation Performance: {score}")
