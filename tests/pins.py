"""What small models compute and print, pinned so that refactoring changes nothing unseen.

`python -m tests.pins` compares; `--write` accepts what is different, for a change made on purpose;
`--show MODEL ASPECT` prints one aspect, to compare with that of another commit.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import sqlite3
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hyperboxes as hb
from hyperboxes import literature
from tests.decisions import decide_by

PINS = Path(__file__).with_name("pins.json")
N_ROWS = 90
N_SHOWN = 3  # samples to explain


def _make_data(n_classes: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return samples of overlapping classes, with ties and a constant column."""
    random = np.random.default_rng(n_classes)
    y = np.arange(N_ROWS) % n_classes
    X = np.round(random.normal(size=(N_ROWS, 4)) + y[:, None] * [1.0, -0.7, 0.3, 0.0], 1)
    X[:, 3] = np.where(random.random(N_ROWS) < 0.5, 2.0, X[:, 3])
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c c": X[:, 2], "d": X[:, 3], "e": 1.0}), y


def _with_gaps(X: pd.DataFrame) -> pd.DataFrame:
    return X.mask(np.random.default_rng(0).random(X.shape) < 0.15)


def _with_categories(X: pd.DataFrame) -> pd.DataFrame:
    kinds = np.array(["red", "green", "it's", "blue"])
    codes = (X["a"] * 2).round().astype(int) % 4
    return X.assign(k=pd.Categorical(kinds[codes]), flag=X["b"] > 0).drop(columns="e")


DATA = {
    "two": lambda: _make_data(2),
    "five": lambda: _make_data(5),
    "gaps": lambda: (_with_gaps(_make_data(3)[0]), _make_data(3)[1]),
    "categories": lambda: (_with_categories(_make_data(3)[0]), _make_data(3)[1]),
    "names": lambda: (_make_data(3)[0], np.array(["it's", "b", "c"])[_make_data(3)[1]]),
}
SEEDED = {"random_state": 0, "decision": "nearest"}
MAIN_ROAD: dict[str, tuple[type, dict[str, Any]]] = {
    "online": (hb.OnlineGFMM, SEEDED),
    "improved": (hb.ImprovedOnlineGFMM, {"theta": 0.3, **SEEDED}),
    "agglo-sm": (hb.AgglomerativeGFMM, {"decision": "nearest"}),
    "agglo2": (hb.AgglomerativeGFMM, {"algorithm": "agglo2", "theta": 0.4, "decision": "nearest"}),
    "boosted": (hb.BoostedHyperboxes, {"random_state": 0, "max_boxes": 8}),
    "random": (hb.RandomHyperboxes, {"random_state": 0, "n_estimators": 6}),
    "adaptive": (hb.AdaptiveGFMM, {"max_boxes": 40}),
}
PAPER = {"overlap": "paper", "membership_function": "min", "shuffle": False, "calibrate": False}


def make_models() -> dict[str, Any]:
    """Return what fits each model, by name: (model, X, y, X_upper)."""
    made: dict[str, Any] = {}

    def add(name: str, cls: Any, data: str, params: dict[str, Any]) -> None:
        def fit() -> tuple[Any, Any, Any, Any]:
            X, y = DATA[data]()
            return (
                cls(**params).fit(X, y),
                X,
                y,
                None,
            )

        made[name] = fit

    for name, (cls, params) in MAIN_ROAD.items():
        for data in ("two", "five", "gaps", "names", "categories"):
            if (name, data) != ("adaptive", "categories"):
                add(f"{name}-{data}", cls, data, params)
    add("improved-paper", hb.ImprovedOnlineGFMM, "five", {"theta": 0.2, **PAPER})
    add("improved-lemma", hb.ImprovedOnlineGFMM, "two", {"selection": "lemma", **PAPER})
    add("improved-limited", hb.ImprovedOnlineGFMM, "five", {**SEEDED, "max_boxes": 12})
    add("boosted-many", hb.BoostedHyperboxes, "five", {"random_state": 0, "max_boxes": 120})

    def intervals() -> tuple[Any, Any, Any, Any]:
        X, y = DATA["two"]()
        upper = X + np.random.default_rng(1).random(X.shape).round(1) / 2
        return hb.ImprovedOnlineGFMM(**SEEDED).fit(X, y, X_upper=upper), X, y, upper

    def merged() -> tuple[Any, Any, Any, Any]:
        X, y = DATA["five"]()
        parts = [
            hb.ImprovedOnlineGFMM(
                theta=0.3, scaling=[X.min().tolist(), X.max().tolist()], **SEEDED
            ).fit(X[k::2], y[k::2])
            for k in range(2)
        ]
        return hb.merge(parts), X, y, None

    def pruned() -> tuple[Any, Any, Any, Any]:
        X, y = DATA["five"]()
        model = hb.AgglomerativeGFMM(theta=0.2, decision="nearest").fit(X[::2], y[::2])
        return hb.prune(model, X, y), X, y, None

    def streamed() -> tuple[Any, Any, Any, Any]:
        X, y = DATA["five"]()
        model = hb.OnlineGFMM(theta=0.3, decision="nearest")
        for rows in np.array_split(np.arange(len(X)), 3):
            model.partial_fit(X.iloc[rows], y[rows], classes=range(5))
        return model, X, y, None

    def several() -> tuple[Any, Any, Any, Any]:
        X, y = DATA["gaps"]()
        return decide_by(hb.ImprovedOnlineGFMM(random_state=0).fit(X, y), 5), X, y, None

    made |= {
        "improved-several": several,
        "improved-intervals": intervals,
        "improved-merged": merged,
        "agglo-sm-pruned": pruned,
        "online-streamed": streamed,
    }

    def clustering() -> tuple[Any, Any, Any, Any]:
        X, y = DATA["two"]()
        return hb.HyperboxClustering(theta=0.2, min_samples=2).fit(X), X, y, None

    made["clustering"] = clustering
    for variant in ("fmnn", "efmnn", "knefmnn", "rfmnn"):
        add(
            f"literature-{variant}",
            literature.FuzzyMinMax,
            "five",
            {"variant": variant, "random_state": 0},
        )
    for resolution in ("exclude", "compensate", "levels"):
        add(
            f"literature-{resolution}",
            literature.OverlappingFuzzyMinMax,
            "five",
            {"resolution": resolution, "random_state": 0},
        )
    add("literature-granular", literature.MultiGranularGFMM, "five", {"random_state": 0})
    add("literature-mixed", literature.MixedGFMM, "categories", {"random_state": 0})
    add("literature-frequency", literature.FrequencyGFMM, "categories", {"random_state": 0})
    return made


def _digest(value: Any) -> str:
    data = value if isinstance(value, bytes) else str(value).encode()
    return hashlib.sha256(data).hexdigest()[:12]


def _array(values: Any) -> str:
    """Return an array as text, with the digits that every machine computes."""
    values = np.asarray(values)
    if values.dtype.kind != "f":
        return str(values.tolist())
    return str([f"{value:.10g}" for value in values.ravel().tolist()] + [values.shape])


def _boxes(model: Any) -> str:
    if not hasattr(model, "hyperboxes_"):
        return ""
    return "\n".join(_array(value) for value in vars(model.hyperboxes_).values())


def _probabilities(model: Any, X: Any, upper: Any) -> list[list[float]]:
    if not hasattr(model, "predict_proba"):
        return []
    rows = slice(None, None, 15)
    ends = {} if upper is None else {"X_upper": upper[rows]}
    return np.round(model.predict_proba(X[rows], **ends), 12).tolist()


def _sql_rows(model: Any, X: Any) -> str:
    query = hb.export_sql(model, table="data")
    rows = X.astype({name: object for name in X if X[name].dtype.kind not in "fb"})
    rows = rows.astype({name: int for name in X if X[name].dtype.kind == "b"})
    with closing(sqlite3.connect(":memory:")) as connection:
        rows.to_sql("data", connection, index_label="row number")
        return str([row[-1] for row in connection.execute(query).fetchall()])


def _page_data(model: Any, X: Any, y: Any) -> str:
    page = hb.export_html(model, X, y, title="A page")
    found = re.search(r"<script[^>]*application/json[^>]*>(.*?)</script>", page, re.DOTALL)
    return json.dumps(json.loads(found[1]), indent=1) if found else page


def _saved(model: Any) -> str:
    """Return the arrays of a file, whatever their names."""
    file = io.BytesIO()
    hb.save(model, file)
    with zipfile.ZipFile(file) as archive:
        arrays = [
            np.load(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        ]
    return "\n".join(sorted(_array(array) for array in arrays))


def _onnx(model: Any, X: Any) -> str:
    import onnxruntime

    graph = hb.to_onnx(model)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    feed = {}
    for taken in session.get_inputs():
        if taken.name == "categories":
            columns = [name for name in X if X[name].dtype.kind not in "f"]
            feed[taken.name] = X[columns].astype(str).to_numpy().astype(object)
        elif taken.name == "numbers":
            feed[taken.name] = X.select_dtypes("number").to_numpy(float)
        else:
            feed[taken.name] = X.to_numpy(float)
    names = [output.name for output in session.get_outputs()]
    outputs = [_array(output) for output in session.run(names, feed)]
    operators = [node.op_type for node in graph.graph.node]
    return "\n".join([*names, *outputs, *operators])


def aspects(name: str, model: Any, X: Any, y: Any, upper: Any) -> dict[str, Any]:
    """Return what computes each aspect of a model."""
    ends = {} if upper is None else {"X_upper": upper}
    shown = {} if upper is None else {"X_upper": upper[:N_SHOWN]}
    found: dict[str, Any] = {
        "boxes": lambda: _boxes(model),
        "predicted": lambda: _array(model.predict(X, **ends)),
        "probabilities": lambda: _probabilities(model, X, upper),
        "frame": lambda: hb.export_frame(model).to_csv(float_format="%.10g"),
    }
    if name.startswith("literature"):
        return found
    found |= {
        "text": lambda: hb.export_text(model),
        "saved": lambda: _saved(model),
    }
    if name == "clustering":
        return found
    found |= {"explanations": lambda: "\n".join(map(str, hb.explain(model, X[:N_SHOWN], **shown)))}
    if upper is None:
        found["page"] = lambda: _page_data(model, X[:30], y[:30])
    if name.split("-")[0] not in ("random", "adaptive"):
        found |= {"sql": lambda: hb.export_sql(model, table="data")}
        if upper is None:
            found |= {"sql rows": lambda: _sql_rows(model, X), "onnx": lambda: _onnx(model, X)}
    return found


def compute(name: str) -> dict[str, Any]:
    """Return the digests of all aspects of a model; probabilities as they are."""
    fitted = make_models()[name]()
    values = {aspect: make() for aspect, make in aspects(name, *fitted).items()}
    return {
        aspect: value if isinstance(value, list) else _digest(value)
        for aspect, value in values.items()
    }


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return the aspects that differ."""
    same = {
        aspect: np.shape(expected[aspect]) == np.shape(value)
        and np.allclose(expected[aspect], value, rtol=0, atol=1e-11)
        if isinstance(value, list)
        else expected[aspect] == value
        for aspect, value in found.items()
        if aspect in expected
    }
    return sorted([*(a for a, is_same in same.items() if not is_same), *(found.keys() ^ expected)])


def main() -> int:
    """Compare, write or show pins."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", nargs=2, metavar=("MODEL", "ASPECT"))
    args = parser.parse_args()
    if args.show:
        name, aspect = args.show
        print(aspects(name, *make_models()[name]())[aspect]())
        return 0
    found = {name: compute(name) for name in make_models()}
    if args.write:
        PINS.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
        return 0
    pins = json.loads(PINS.read_text())
    different = {name: differences(pins.get(name, {}), value) for name, value in found.items()}
    for name, names in different.items():
        if names:
            print(f"{name}: {', '.join(names)}")
    return int(any(different.values()))


if __name__ == "__main__":
    sys.exit(main())
