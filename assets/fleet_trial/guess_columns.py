"""Which columns a script reads, and of which kind each of them is, as far as its text tells."""

import ast
import re

TEXT_NAMES = re.compile(r"text|essay|review|comment|descr|tweet|message|title|body|content|summary|name$", re.I)
DATE_NAMES = re.compile(r"(^|_)(date|datetime|when|timestamp|day_of|scheduled|appointment)($|_)", re.I)
LABEL_NAMES = re.compile(r"^(y|t|target|targets|label|labels|goal|price|prices|codes|answer)(_\w+)?$")
CLASSES = re.compile(
    r"Classifier|LogisticRegression|SVC|GaussianNB|MultinomialNB|accuracy|roc_auc|f1_score|log_loss|StratifiedKFold|stratify"
)
FILLS = re.compile(r"fillna|Imputer|isnan|nanmedian|nanmean|isnull|isna|interpolate")


def strings_in(node):
    """String constants of an expression that is one name, or a list of names."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [text for item in node.elts for text in strings_in(item)]
    return []


class ColumnGuesser(ast.NodeVisitor):
    """Walks a script in the order of its text."""

    COLUMN_KEYWORDS = {"columns", "names", "on", "by", "subset", "usecols", "index_col", "parse_dates", "groups", "left_on"}
    COLUMN_METHODS = {"drop", "pop", "groupby", "sort_values", "set_index", "get", "drop_duplicates", "col"}

    def __init__(self):
        self.read = []
        self.made = set()
        self.kinds = {}
        self.labels = []
        self.lists = []

    def note(self, names, kind=None):
        for name in names:
            if name not in self.made and name not in self.read:
                self.read.append(name)
            if kind is not None:
                self.kinds.setdefault(name, kind)

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                names = [name for name in strings_in(target.slice) if name not in self.read]
                self.made.update(names)
            else:
                self.visit(target)
            if isinstance(target, ast.Name) and isinstance(node.value, (ast.List, ast.Tuple)):
                self.lists.extend(strings_in(node.value))
                if re.match(r"cat(s|_|eg)", target.id, re.I):
                    self.note_groups(node.value)
            if isinstance(target, ast.Name) and re.search(r"target|label", target.id, re.I):
                self.labels.extend(strings_in(node.value))
            self.note_labels(target, node.value)

    def note_labels(self, target, value):
        """`y = frame["price"]`, `X, y = …, frame.pop("price")`, `y = np.log1p(frame["price"])`."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, other in zip(target.elts, value.elts):
                self.note_labels(one, other)
            return
        if not (isinstance(target, ast.Name) and LABEL_NAMES.match(target.id)):
            return
        for inner in ast.walk(value):
            if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Constant):
                self.labels.extend(strings_in(inner.slice))
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "pop":
                self.labels.extend(text for argument in inner.args for text in strings_in(argument))

    def visit_Subscript(self, node):
        self.visit(node.value)
        if not strings_in(node.slice):
            self.visit(node.slice)
        if isinstance(node.slice, ast.Tuple) and not all(isinstance(e, ast.Constant) for e in node.slice.elts):
            self.note(strings_in(node.slice.elts[-1]))
        else:
            self.note(strings_in(node.slice))

    def visit_Compare(self, node):
        values = [text for other in node.comparators for text in strings_in(other)]
        for name in self.subject(node.left):
            if values:
                self.kinds[name] = ["category", values]
        self.generic_visit(node)

    def note_groups(self, node):
        for name in strings_in(node):
            self.kinds.setdefault(name, "group")

    def visit_For(self, node):
        """`for city in frame["city"].unique()`"""
        if isinstance(node.iter, ast.Call) and getattr(node.iter.func, "attr", "") == "unique":
            for name in self.subject(node.iter.func):
                self.kinds.setdefault(name, "group")
        self.generic_visit(node)

    def subject(self, node):
        """The column that an expression is about: `frame["kind"].str`, `frame.kind`."""
        while isinstance(node, (ast.Call, ast.Attribute)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                return [node.attr]
            node = node.func if isinstance(node, ast.Call) else node.value
        return strings_in(node.slice) if isinstance(node, ast.Subscript) else []

    def visit_Attribute(self, node):
        self.visit(node.value)
        if node.attr in ("str", "dt"):
            for name in self.subject(node.value):
                self.kinds[name] = "text" if node.attr == "str" else "date"

    def visit_Call(self, node):
        method = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments = [text for argument in node.args[:1] for text in strings_in(argument)]
        if method in self.COLUMN_METHODS:
            self.note(arguments, "group" if method == "groupby" else None)
        if method in ("map", "replace") and node.args and isinstance(node.args[0], ast.Dict):
            keys = [key.value for key in node.args[0].keys if isinstance(key, ast.Constant)]
            for name in self.subject(node.func):
                if keys:
                    self.kinds[name] = ["category", keys]
        if method == "get_dummies":
            for keyword in node.keywords:
                if keyword.arg == "columns":
                    self.note_groups(keyword.value)
        if method == "to_datetime":
            for argument in node.args:
                for name in self.subject(argument):
                    self.kinds[name] = "date"
        for keyword in node.keywords:
            if keyword.arg in self.COLUMN_KEYWORDS:
                self.note(strings_in(keyword.value), "date" if keyword.arg == "parse_dates" else None)
        self.generic_visit(node)


def guess(source):
    """The first guess about a script's data; running the script corrects it."""
    guesser = ColumnGuesser()
    guesser.visit(ast.parse(source))
    guesser.note(guesser.lists)
    kinds = dict(guesser.kinds)
    columns = {}
    for name in guesser.read:
        if not name or len(name) > 60 or re.search(r"[/\\]|\.\w{2,8}$", name):
            continue
        kind = kinds.get(name)
        if kind is None and re.search(r"Vectorizer|Tokenizer|\.str\.", source) and TEXT_NAMES.search(name):
            kind = "text"
        columns[name] = kind or ("date" if DATE_NAMES.search(name) else "number")
    for test, prefix in re.findall(r"(startswith|endswith)\(\(?['\"](\w+)['\"]", source):
        for at in (1, 2):
            columns[f"{prefix}{at}" if test == "startswith" else f"part{at}{prefix}"] = "number"
    wide = max([3] + [int(count) + 2 for count in re.findall(r"\b(?:n_components|k)\s*=\s*(\d{1,2})\b", source)])
    labels = [name for name in dict.fromkeys(guesser.labels) if name in columns]
    classes = CLASSES.search(source) is not None and "Regressor" not in source
    for name in labels:
        if not isinstance(columns[name], list):
            columns[name] = "class" if classes else "number"
    return {
        "columns": columns,
        "labels": labels,
        "gaps": FILLS.search(source) is not None,
        "extra": [f"extra_{at}" for at in range(wide)],
        "whole": False,
        "classes": classes,
    }
