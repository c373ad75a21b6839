# Trains the solution again with one component taken out each time, and prints the accuracy on the validation rows.
from solution_variants import accuracy_of

print(f"Baseline accuracy: {accuracy_of():.4f}")
for component in ["StandardScaler", "OneHotEncoder", "SimpleImputer", "RandomForestClassifier"]:
    print(f"Ablation: no {component}, accuracy: {accuracy_of(without=component):.4f}")
