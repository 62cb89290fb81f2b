"""The table of capabilities: every operation follows it, and the documentation prints it."""

from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from hyperboxes import (
    AdaptiveGFMM,
    BoostedHyperboxes,
    BoxesDisplay,
    ContributionsDisplay,
    HyperboxClustering,
    MemoryDisplay,
    ParallelCoordinatesDisplay,
    RandomHyperboxes,
    dask,
    explain,
    export_frame,
    export_html,
    export_sql,
    export_text,
    merge,
    prune,
    to_onnx,
)
from hyperboxes._estimators.capabilities import SUPPORTED, Operation
from hyperboxes.literature import OverlappingFuzzyMinMax
from tests.decisions import decide_by
from tests.learners import ImprovedOnlineGFMM

pytestmark = pytest.mark.usefixtures("close_figures")

PAGE = Path(__file__).parent.parent / "docs" / "choosing.md"
X, Y = load_iris(return_X_y=True)
MODELS = {
    "nearest": ImprovedOnlineGFMM(theta=0.3, decision="nearest"),
    "clusters": HyperboxClustering(),
    "additive": BoostedHyperboxes(3, random_state=0),
    "neighbors": AdaptiveGFMM(),
    "ensemble": RandomHyperboxes(n_estimators=3, random_state=0),
    "undecided": OverlappingFuzzyMinMax(resolution="compensate"),
}
CALLS = {
    Operation.TEXT: export_text,
    Operation.FRAME: export_frame,
    Operation.EXPLAIN: lambda model: explain(model, X[:2]),
    Operation.REPORT: lambda model: export_html(model, X[:9], Y[:9]),
    Operation.SQL: export_sql,
    Operation.CRISP_SQL: lambda model: export_sql(model, nearest=False),
    Operation.ONNX: to_onnx,
    Operation.BOXES: lambda model: BoxesDisplay.from_estimator(model, grid_resolution=2),
    Operation.PARALLEL_COORDINATES: lambda model: ParallelCoordinatesDisplay.from_estimator(
        model, X[0]
    ),
    Operation.CONTRIBUTIONS: lambda model: ContributionsDisplay.from_estimator(model, X[0]),
    Operation.MEMORY: MemoryDisplay.from_estimator,
    Operation.MERGE: lambda model: merge([model, model]),
    Operation.PRUNE: lambda model: prune(model, X, Y),
}


@pytest.mark.parametrize("kind", SUPPORTED)
def test_operations_take_the_models_of_the_table(kind):
    model = MODELS[kind].fit(X, Y)
    for operation, call in CALLS.items():
        if (kind, operation) == ("nearest", Operation.CONTRIBUTIONS):
            call(decide_by(ImprovedOnlineGFMM(theta=0.3).fit(X, Y), 5))
        elif operation in SUPPORTED[kind]:
            call(model)
        else:
            message = rf"{operation.split('(')[0]}.* {type(model).__name__}"
            with pytest.raises(TypeError, match=message):
                call(model)


def test_several_boxes_decide_in_all_but_crisp_sql():
    model = decide_by(ImprovedOnlineGFMM(theta=0.3).fit(X, Y), 5)
    for operation in SUPPORTED["nearest"] & CALLS.keys() - {Operation.CRISP_SQL}:
        CALLS[operation](model)
    with pytest.raises(TypeError, match=r'5 nearest .* Leave out nearest=.* decision="nearest"'):
        export_sql(model, nearest=False)


def test_dask_follows_the_table():
    for kind in ("neighbors", "ensemble", "undecided"):
        with pytest.raises(TypeError, match=r"dask\.fit is unsupported for"):
            dask.fit(MODELS[kind], X, Y)


def test_the_documentation_prints_the_table():
    rows = [["", *SUPPORTED], ["---"] * (len(SUPPORTED) + 1)]
    for operation in Operation:
        rows.append([operation, *("yes" if operation in of else "" for of in SUPPORTED.values())])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows).replace("  ", " ")
    assert table in PAGE.read_text(encoding="utf-8"), table
