"""Random hyperboxes compared with forests: accuracy, log-loss and time, on the same folds.

Settings were chosen on every other one of the paper's sets by name, on two large ones (electricity
and covertype) and on generated sets with useless features; the others confirm them. Forests are
also calibrated out of bag like random hyperboxes, by the same three numbers; ExtraTrees need
bootstrap samples for that. Results are kept, so that a run may be stopped and continued.

`--published` compares random hyperboxes as published with forests by the authors' protocol.
`--times` measures sets of more than 2,000 samples, in processor time of one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.data import all_sets, draw, in_file_order, paper_sets
from benchmarks.harness import KEPT, Kept, command, digest, machine, medians, progress, table
from benchmarks.internals import calibrate_votes
from benchmarks.probabilities import Answers, Scores, cross_validate
from hyperboxes import ImprovedOnlineGFMM, RandomHyperboxes

LARGE = ("ijcnn1", "moving_squares", "shuttle", "skin_segmentation")
N_MEMBERS = 100


def published(n_features: int, seed: int = 0) -> RandomHyperboxes:
    """Return random hyperboxes as their authors ran them."""
    return RandomHyperboxes(
        ImprovedOnlineGFMM(theta=0.1, membership_function="min"),
        n_estimators=N_MEMBERS,
        max_samples=0.5,
        max_features=min(int(2 * n_features**0.5), n_features),
        weighted_features=False,
        scaling="minmax",
        temperature=0,
        calibrate=False,
        random_state=seed,
    )


def answer(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, seed: int) -> Answers:
    """Train all contenders and predict the test samples."""
    ours = RandomHyperboxes(n_estimators=N_MEMBERS, random_state=seed).fit(X, y)
    yield "RandomHyperboxes", ours.predict_proba(X_test)
    even = ours.set_params(weighted_features=False).fit(X, y)
    yield "  features drawn evenly", even.predict_proba(X_test)
    yield "  as published", published(X.shape[1], seed).fit(X, y).predict_proba(X_test)
    forest = RandomForestClassifier(N_MEMBERS, oob_score=True, random_state=seed).fit(X, y)
    yield "random forest", forest.predict_proba(X_test)
    yield "  calibrated", calibrated(forest, y, X_test)
    trees = ExtraTreesClassifier(N_MEMBERS, random_state=seed)
    yield "ExtraTrees", trees.fit(X, y).predict_proba(X_test)
    trees = trees.set_params(bootstrap=True, oob_score=True).fit(X, y)
    yield "  bootstrapped, calibrated", calibrated(trees, y, X_test)


def calibrated(forest: Any, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Calibrate the votes of a forest out of bag, as `RandomHyperboxes` does."""
    votes = forest.oob_decision_function_
    is_known = ~np.isnan(votes).any(axis=1)
    calibrate = calibrate_votes(votes[is_known], y[is_known], np.bincount(y) / len(y))
    return calibrate(forest.predict_proba(X_test))


def sets(folder: Path) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return all sets by name: what they were used for, and how they are read."""
    uses = cycle(["the paper's, for choosing", "the paper's, for confirming"])
    known = all_sets(folder, LARGE)
    return {name: (next(uses) if own else "others", read) for name, (own, read) in known.items()}


def print_scores(found: dict[str, Scores], uses: dict[str, str]) -> None:
    """Print means over sets, and on how many of them random hyperboxes are ahead."""
    groups: dict[str, list[str]] = {}
    for name in found:
        groups.setdefault(uses[name], []).append(name)
    paper = [name for name in found if uses[name] != "others"]
    for use, names in {**groups, "the paper's, all": paper}.items():
        if not names:
            continue
        means = {
            name: {who: np.mean(scores, axis=0) for who, scores in found[name].items()}
            for name in names
        }
        ours = np.array([means[name]["RandomHyperboxes"] for name in names])
        rows = []
        for who in found[names[0]]:
            theirs = np.array([means[name][who] for name in names])
            accuracy, loss, _ = theirs.mean(axis=0)
            ahead = (np.sum(ours[:, 0] > theirs[:, 0]), np.sum(ours[:, 1] < theirs[:, 1]))
            rows.append([who, f"{accuracy:.4f}", f"{loss:.4f}", *(f"{n}" for n in ahead)])
        n_folds = {len(scores) for name in names for scores in found[name].values()}
        print(f"\n{len(names)} sets ({use}), {'/'.join(map(str, sorted(n_folds)))} folds\n")
        print(table(["", "accuracy", "log-loss", "ours above", "ours below"], rows))


def print_published(folder: Path) -> None:
    """Print weighted F1 in four folds, in the order of the files, as the authors have them."""
    rows, found = [], []
    for name in paper_sets(folder):
        progress(name)
        X, y = in_file_order(name, folder / "authors")  # type: ignore[misc]
        m = min(int(2 * X.shape[1] ** 0.5), X.shape[1])
        contenders = {
            "as published": published(X.shape[1]),
            "forest of depth 10": RandomForestClassifier(
                N_MEMBERS, max_depth=10, max_features=m, random_state=0
            ),
            "default": RandomHyperboxes(n_estimators=N_MEMBERS, random_state=0),
        }
        scores = []
        for model in contenders.values():
            folds = StratifiedKFold(4).split(X, y)
            values = [
                f1_score(y[b], model.fit(X[a], y[a]).predict(X[b]), average="weighted")
                for a, b in folds
            ]
            scores.append(float(np.mean(values)))
        found.append(scores)
        rows.append([name, *(f"{value:.4f}" for value in scores)])
    rows.append(["mean", *(f"{value:.4f}" for value in np.mean(found, axis=0))])
    print("\nWeighted F1, 4 folds\n")
    print(table(["", *contenders], rows))


def print_times(folder: Path) -> None:
    """Print the times of fits and predictions of sets with many samples, a quarter held out."""
    rows = []
    for name, (_, read) in sets(folder).items():
        X, y = read()
        if len(y) < 4000:
            continue
        progress(name)
        X, y = draw(X, np.unique(y, return_inverse=True)[1], 20_000)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
        ours = RandomHyperboxes(n_estimators=N_MEMBERS, random_state=0)
        forest = RandomForestClassifier(N_MEMBERS, random_state=0)
        ours.fit(X, y).predict(X_test)  # compiles
        models = {"ours": ours, "forest": forest}
        clock = {"clock": time.process_time}
        fits = medians({n: partial(m.fit, X, y) for n, m in models.items()}, **clock)
        predicts = medians({n: partial(m.predict, X_test) for n, m in models.items()}, **clock)
        fit = [timing.seconds for timing in fits.values()]
        us = [1e6 * timing.seconds / len(y_test) for timing in predicts.values()]
        scores = (f"{np.mean(timing.result == y_test):.3f}" for timing in predicts.values())
        cells = [f"{fit[0]:.2f}", f"{fit[1]:.2f}", f"{fit[0] / fit[1]:.2f}"]
        cells += [f"{us[0]:.1f}", f"{us[1]:.1f}", f"{us[0] / us[1]:.2f}"]
        rows.append([name, f"{len(y):,} x {X.shape[1]}", *cells, *scores])
        print(rows[-1], flush=True)
    both = ("ours", "forest")
    header = [*(f"fit, {n} (s)" for n in both), "ratio"]
    header += [*(f"a row, {n} (us)" for n in both), "ratio", *(f"accuracy, {n}" for n in both)]
    print("\nProcessor time of one thread\n")
    print(table(["", "trained on", *header], rows))


def main() -> None:
    """Print the chosen tables."""
    parser = command("bench-ensembles", __doc__)
    add = parser.add_argument
    add("--most", type=int, help="samples of a set, drawn at random")
    add("--published", action="store_true", help="the authors' protocol")
    add("--times", action="store_true", help="processor time on large sets")
    options = parser.parse_args()
    print(machine("numpy", "scikit-learn"))
    if options.published:
        print_published(options.data)
    if options.times:
        print_times(options.data)
    if options.published or options.times:
        return
    kept, known, found = Kept(KEPT / "ensembles.jsonl"), sets(options.data), {}
    for name, (_, read) in known.items():
        key = f"{name}, {options.most} samples, {digest()}"
        if key not in kept:
            progress(name)
            kept[key] = cross_validate(*draw(*read(), options.most), 5, answer)
        found[name] = kept[key]
    print_scores(found, {name: use for name, (use, _) in known.items()})


if __name__ == "__main__":
    main()
