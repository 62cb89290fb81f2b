"""Prediction: compared with a nearest neighbour, in an ONNX runtime, and with other classifiers."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from benchmarks.data import Split, generated_for_training, tangled, uniform
from benchmarks.harness import call_in_fresh_process, progress, table, yes_no
from benchmarks.scale.common import ALONE, COLOURS, MARKERS, Run, save
from hyperboxes import BoostedHyperboxes, ImprovedOnlineGFMM, RandomHyperboxes, to_onnx
from hyperboxes._models.calibration import N_NEIGHBORS

# The metrics in which the nearest point is the one of the largest membership.
METRICS = {"min": "chebyshev", "mean": "manhattan"}

N_FEATURES = 20
BATCHES = (1, 10, 100, 1_000, 100_000)
# Boxes, and how they predict: a membership function, or additive boxes.
CASES = ((2_000, "min"), (2_000, "mean"), (1_000, "boosted"), (10_000, "min"), (10_000, "mean"))

SIZES = (10_000, 31_623, 100_000)
N_TEST = 3_000
BRAIN = "hyperbox-brain's IOL-GFMM"
# hyperbox-brain takes many minutes for the smallest size already, so it learns fewer samples, and
# predicts a few.
BRAIN_LIMIT, BRAIN_TEST = 4_000, 100
CONTENDERS: dict[str, Callable[[], Any]] = {
    "ImprovedOnlineGFMM": partial(ImprovedOnlineGFMM, random_state=0),
    "ImprovedOnlineGFMM, one pass": partial(
        ImprovedOnlineGFMM, shuffle=False, calibrate=False, random_state=0
    ),
    "RandomHyperboxes": partial(RandomHyperboxes, random_state=0),
    "BoostedHyperboxes": partial(BoostedHyperboxes, random_state=0),
    "RandomForestClassifier": partial(RandomForestClassifier, n_jobs=1, random_state=0),
    "HistGradientBoostingClassifier": partial(HistGradientBoostingClassifier, random_state=0),
    "KNeighborsClassifier": partial(KNeighborsClassifier, n_jobs=1),
}


def bench_predict(run: Run) -> None:
    """Compare prediction with a nearest neighbour's, and two threads with one."""
    rows = []
    for function in METRICS:
        for n_features in (8, 20):
            clustered = generated_for_training(run.size(100_000), n_features)
            anywhere = uniform(run.size(100_000), n_features, n_test=run.size(20_000))
            for data in (clustered, anywhere):
                for size in (20_000, 100_000):
                    rows.append(compare_predictions(run, data.head(run.size(size)), function))
    header = (
        "predict", "membership", "boxes", "test", "seconds", "neighbour", "ratio",
        "labels differ", "wrong", "test", "1 thread", "2 threads", "ratio",
    )  # fmt: skip
    print(table(header, rows, left=2), end="\n\n")
    print(
        "Every training sample is a box. The neighbour is scikit-learn's KNeighborsClassifier\n"
        '(1, algorithm="kd_tree", n_jobs=1) in the metric of the membership: Chebyshev of "min",\n'
        'Manhattan of "mean". Wrong: where labels differ though the nearest points of the two\n'
        "classes are not equally far.\n"
    )


def compare_predictions(run: Run, data: Split, function: str) -> tuple[str, ...]:
    """Predict a few samples, and more of them with one and two threads."""
    progress(f"prediction of {data.name}, {len(data.y_train):,} boxes, {function!r}")
    samples = data.X_train, data.y_train
    params: dict[str, Any] = {"membership_function": function, "shuffle": False, **ALONE}
    boxes = ImprovedOnlineGFMM(1e-9, **params).fit(*samples)
    threaded = ImprovedOnlineGFMM(1e-9, n_jobs=2, **params).fit(*samples)
    neighbour = KNeighborsClassifier(1, metric=METRICS[function], algorithm="kd_tree", n_jobs=1)
    neighbour.fit(*samples)
    few, many = data.X_test[: run.size(2_000)], data.X_test[: run.size(20_000)]
    ours, theirs = run.medians(
        {"boxes": partial(boxes.predict, few), "neighbour": partial(neighbour.predict, few)}
    ).values()
    one, two = run.medians(
        {"one": partial(boxes.predict, many), "two": partial(threaded.predict, many)},
        clock=time.perf_counter,
    ).values()
    different = np.flatnonzero(ours.result != theirs.result)
    n_wrong = sum(
        not is_tie(data, function, few[row], ours.result[row], theirs.result[row])
        for row in different
    )
    return (
        *(data.name, function, f"{len(data.y_train):,}", f"{len(few):,}"),
        *(f"{ours.seconds:.4f}", f"{theirs.seconds:.4f}", f"{theirs.seconds / ours.seconds:.1f}x"),
        *(f"{len(different)}", f"{n_wrong}", f"{len(many):,}"),
        *(f"{one.seconds:.3f}", f"{two.seconds:.3f}", f"{one.seconds / two.seconds:.2f}x"),
    )


def is_tie(data: Split, function: str, x: np.ndarray, first: int, second: int) -> bool:
    """Whether the nearest points of two classes are equally far, but for rounding."""
    gaps = np.abs(data.X_train - x)
    distance = gaps.mean(axis=1) if function == "mean" else gaps.max(axis=1)
    nearest = [distance[data.y_train == label].min() for label in (first, second)]
    return abs(nearest[0] - nearest[1]) <= 4 * np.finfo(float).eps


def bench_decision(run: Run) -> None:
    """Time probabilities where several boxes of each class decide."""
    rows = []
    for n_samples, n_features in ((2_000, 8), (20_000, 20), (100_000, 20)):
        data = tangled(run.size(n_samples), n_features, n_informative=6)
        for function in METRICS:
            model = ImprovedOnlineGFMM(random_state=0, membership_function=function)
            model.fit(data.X_train, data.y_train)
            models = {str(n): decided_by(model, number) for number, n in enumerate(N_NEIGHBORS)}
            progress(f"probabilities, {data.name}, {function!r}")
            X = data.X_test[:N_TEST]
            calls = {n: partial(m.predict_proba, X) for n, m in models.items()}
            timings = run.medians(calls | {"predict": partial([*models.values()][-1].predict, X)})
            seconds = [timing.seconds for timing in timings.values()]
            ratios = (f"{each / seconds[0]:.2f}x" for each in seconds[1:])
            n_boxes = f"{len(model.hyperboxes_):,}"
            rows.append((data.name, function, n_boxes, f"{seconds[0]:.4f}", *ratios))
    several = (*(f"{n} boxes" for n in N_NEIGHBORS[1:]), "predict")
    print(table(("", "membership", "boxes", "1 box", *several), rows, left=2), end="\n\n")
    print(
        f"predict_proba of {N_TEST:,} samples, by so many boxes of each class, and predict by the "
        "most: seconds, ratios.\n"
    )


def decided_by(model: ImprovedOnlineGFMM, number: int) -> ImprovedOnlineGFMM:
    """Return a model in which so many boxes of each class decide, by position."""
    twin = copy(model)
    calibration = model._model.calibration
    losses = calibration.decision_losses.copy()
    losses[:, number] -= 1e9
    calibration = replace(calibration, decision_losses=losses)
    twin._model = replace(model._model, calibration=calibration)
    return twin


def bench_onnx(run: Run) -> None:
    """Time graphs and `predict` in batches of several sizes."""
    rows = []
    for n_boxes, kind in CASES:
        name = f"{run.size(n_boxes):,} boxes, {kind}"
        progress(f"ONNX, {name}")
        model, session = export(run.size(n_boxes), kind)
        rows += [(name, *time_batches(run, model, session, size)) for size in BATCHES]
    print(table(("", "batch", "onnx us", "predict us", "same"), rows), end="\n\n")
    print(f"Microseconds of the processor for a sample of {N_FEATURES} features, one thread.\n")


def export(n_boxes: int, kind: str) -> tuple[Any, Any]:
    """Return a model of so many boxes, and a session of its graph that uses one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if kind == "boosted":
        data = uniform(10 * n_boxes, N_FEATURES, n_test=0)
        model = BoostedHyperboxes(n_boxes, early_stopping=False, random_state=0)
    else:
        data = uniform(n_boxes, N_FEATURES, n_test=0)
        model = ImprovedOnlineGFMM(1e-9, shuffle=False, membership_function=kind, **ALONE)
    model.fit(data.X_train, data.y_train)
    return model, onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), options)


def draw_samples(n_samples: int) -> np.ndarray:
    """Draw samples to predict."""
    return np.random.default_rng(1).random((n_samples, N_FEATURES))


def time_batches(run: Run, model: Any, session: Any, n_samples: int) -> tuple[str, ...]:
    """Return the size of a batch, microseconds for a sample of it, and whether labels agree."""
    X = draw_samples(n_samples)
    functions = {
        "onnx": partial(session.run, ["label"], {"X": X}),
        "predict": partial(model.predict, X),
    }
    for function in functions.values():
        function()  # to warm up
    timings = run.medians(functions)
    is_same = np.array_equal(timings["onnx"].result[0], timings["predict"].result)
    us = (f"{1e6 * timing.seconds / n_samples:,.1f}" for timing in timings.values())
    return f"{n_samples:,}", *us, yes_no(is_same)


def bench_classifiers(run: Run) -> None:
    """Time fit and predict of other classifiers at growing sizes, with defaults."""
    found = []
    for name, size in [*product(CONTENDERS, SIZES), (BRAIN, BRAIN_LIMIT)]:
        progress(f"{name} on {run.size(size):,} samples")
        data = tangled(run.size(size), N_FEATURES)
        found.append((name, *call_in_fresh_process(time_contender, name, data)))
    rows = [
        (name, f"{n:,}", f"{fit:.2f}", f"{1e6 * predict:.1f}", f"{accuracy:.3f}")
        for name, n, fit, predict, accuracy in found
    ]
    header = (f"{N_FEATURES} features, 5 classes", "train", "fit s", "predict us", "accuracy")
    print(table(header, rows), end="\n\n")
    print(
        "Defaults, one thread each, seconds of the processor. "
        "ImprovedOnlineGFMM learns in\ntwo orders, and calibrates its probabilities, except in "
        "one pass. hyperbox-brain: theta 0.5,\n"
        f"one pass, {run.size(BRAIN_LIMIT):,} samples: it is slow on more.\n"
    )
    path = run.picture("classifiers.png")
    if path:
        draw_contenders(found, path)


def time_contender(name: str, data: Split) -> tuple[int, float, float, float]:
    """Return training samples, seconds to fit and for a prediction, and accuracy, once warm.

    Gradient boosting takes as many threads as there are cores, which wait for each other, and
    count as busy meanwhile; so all have one.
    """
    data = replace(data, X_test=data.X_test[:N_TEST], y_test=data.y_test[:N_TEST])
    if name == BRAIN:
        from hbbrain.numerical_data.incremental_learner.iol_gfmm import ImprovedOnlineGFMM as Brain

        make: Callable[[], Any] = partial(Brain, theta=0.5)
        data = replace(data, X_test=data.X_test[:BRAIN_TEST], y_test=data.y_test[:BRAIN_TEST])
    else:
        make = CONTENDERS[name]
        make().fit(data.X_train[:500], data.y_train[:500]).predict(data.X_test[:50])
    with threadpool_limits(1):
        start = time.process_time()
        model = make().fit(data.X_train, data.y_train)
        fitted = time.process_time()
        accuracy = float(np.mean(model.predict(data.X_test) == data.y_test))
        predicted = time.process_time()
    return len(data.y_train), fitted - start, (predicted - fitted) / len(data.y_test), accuracy


def draw_contenders(found: list[tuple[str, int, float, float, float]], path: Any) -> None:
    """Draw seconds to fit and to predict over samples."""
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots(1, 2)
    names = dict.fromkeys(name for name, *_ in found)
    for name, colour, marker in zip(names, COLOURS, MARKERS, strict=True):
        _, sizes, *seconds, _ = zip(*(row for row in found if row[0] == name), strict=True)
        for ax, values in zip(axes, seconds, strict=True):
            ax.loglog(sizes, values, color=colour, marker=marker, label=name)
    for ax, title in zip(axes, ("Time to fit", "Time to predict a sample"), strict=True):
        ax.set(xlabel="training samples", ylabel="processor seconds", title=title)
    figure.suptitle(f"Default settings, {N_FEATURES} features, 5 overlapping classes, one thread")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    save(figure, path)
