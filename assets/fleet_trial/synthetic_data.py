"""Small made-up tables and arrays in place of the files that a script reads."""

import os
import re
import zlib

import numpy as np
import pandas as pd

ROWS = 300
original_makedirs = os.makedirs
original_to_csv = pd.DataFrame.to_csv
WORDS = "good bad plot film cast fine dull great poor music light heavy quick slow house garden river stone".split()


def values_of(name, kind, rows, rng, gaps):
    """One column. Values of text columns tell their column, so that an error message names it."""
    if isinstance(kind, list) and kind[0] == "category":
        return rng.choice(np.array(kind[1], dtype=object), rows)
    if kind == "text":
        return np.array([" ".join(rng.choice(WORDS, 8)) + f" {name}~" for _ in range(rows)], dtype=object)
    if kind == "codes":
        return np.array([f"{name}~{letter}" for letter in rng.choice(list("abc"), rows)], dtype=object)
    if kind == "digits":
        return np.array([f"{at % 90:04d}_{at % 7:02d}" for at in range(rows)], dtype=object)
    if kind == "group":
        # Some levels are rare, as they are in real data: one part of a split may lack them.
        values = rng.choice(np.array(["north", "south", "west"], dtype=object), rows)
        values[rng.choice(rows, 3, replace=False)] = ["rare one", "rare two", "rare three"]
        return values
    if kind == "date":
        return pd.date_range("2023-01-01", periods=rows, freq="2D").to_numpy()
    if kind == "class":
        return rng.integers(0, 2, rows)
    if kind == "count":
        return rng.integers(0, 5, rows)
    values = rng.gamma(4.0, 25.0, rows).round(3)
    if gaps:
        values[rng.random(rows) < 0.08] = np.nan
    return values


def table(path, spec):
    """The table of one file: the same for the same path and guesses, whoever reads it."""
    base = os.path.basename(str(path)).lower()
    rng = np.random.default_rng(zlib.crc32(base.encode()))
    isTest = re.search(r"test|holdout|unlabel", base) is not None and not spec["whole"]
    rows = ROWS // 3 if re.search(r"test|sub|valid|holdout|dev", base) else ROWS
    frame = {name: values_of(name, "number", rows, rng, spec["gaps"]) for name in spec["extra"]}
    for name, kind in spec["columns"].items():
        if isTest and name in spec["labels"]:
            continue
        gaps = spec["gaps"] and name not in spec["labels"] and not re.search(r"(^|_)id$|fold", name, re.I)
        frame[name] = values_of(name, kind, rows, rng, gaps)
    for name in frame:
        if re.search(r"fold", name, re.I) and spec["columns"].get(name) == "number":
            frame[name] = np.arange(rows) % 5
    return pd.DataFrame(frame)


class Arrays(dict):
    """What `np.load` gives: any name is an array in it."""

    def __init__(self, spec):
        super().__init__()
        self.spec = spec
        self.files = []

    def __missing__(self, name):
        rng = np.random.default_rng(zlib.crc32(str(name).encode()))
        if re.match(r"^(y|t|b|label|labels|target|targets|states)(_|$)", str(name)):
            return rng.integers(0, 2, ROWS) if self.spec["classes"] else rng.normal(size=ROWS)
        return rng.normal(5.0, 2.0, size=(ROWS, 40))


class Recorder:
    """Stands in front of the readers and writers of pandas and numpy, and keeps what was written."""

    def __init__(self, spec):
        self.spec = spec
        self.written = []

    def read(self, path="", *args, **options):
        frame = table(path, self.spec)
        names = options.get("names")
        if isinstance(names, list):
            frame = frame[names] if set(names) <= set(frame) else frame.iloc[:, : len(names)].set_axis(names, axis=1)
        elif "header" in options and options["header"] is None:
            frame = frame.set_axis(range(frame.shape[1]), axis=1)
        wanted = options.get("usecols")
        if isinstance(wanted, list) and all(isinstance(name, str) for name in wanted):
            frame = frame[wanted]
        index = options.get("index_col")
        if isinstance(index, str):
            frame = frame.set_index(index)
        elif isinstance(index, int) and not isinstance(index, bool):
            frame = frame.set_index(frame.columns[index])
        if isinstance(options.get("nrows"), int):
            frame = frame.head(options["nrows"])
        return iter([frame]) if options.get("chunksize") else frame

    def read_matrix(self, path="", *args, **options):
        """What `np.loadtxt` gives: numbers alone."""
        values = table(path, {**self.spec, "gaps": False}).select_dtypes("number").to_numpy(dtype=float)
        columns = options.get("usecols")
        if columns is not None:
            values = values[:, columns]
        return values.T if options.get("unpack") else values

    def write_files(self, source):
        """Writes the text files that a script names by a relative path, for scripts that open or look for them."""
        for path in dict.fromkeys(re.findall(r"""["']([\w./ -]{1,200}\.(?:csv|tsv|txt))["']""", source)):
            # What a script writes is not there before.
            if path.startswith("/") or ".." in path or re.search(r"sub|pred|result|output", path, re.I):
                continue
            original_makedirs(os.path.dirname(path) or ".", exist_ok=True)
            text = original_to_csv(table(path, self.spec), None, index=False, sep="\t" if path.endswith("tsv") else ",")
            with open(path, "w") as file:
                file.write(text)

    def write(self, frame, path=None, *args, **options):
        self.written.append([os.path.basename(str(path)), len(frame), int(np.prod(frame.shape))])

    def install(self):
        for name in ("read_csv", "read_parquet", "read_feather", "read_excel", "read_pickle", "read_json", "read_table", "read_fwf"):
            setattr(pd, name, self.read)
        for kind in (pd.DataFrame, pd.Series):
            for name in ("to_csv", "to_parquet", "to_feather", "to_pickle"):
                if hasattr(kind, name):
                    setattr(kind, name, lambda frame, *args, **options: self.write(frame, *args, **options))
        np.load = lambda path, *args, **options: Arrays(self.spec)
        np.loadtxt = np.genfromtxt = self.read_matrix
        np.save = lambda path, values, *args, **options: self.written.append(
            [os.path.basename(str(path)), len(values), int(np.size(values))]
        )
        os.makedirs = lambda *args, **options: None
