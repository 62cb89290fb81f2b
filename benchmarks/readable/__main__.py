"""Accuracy over the number of rules: boosted boxes beside trees, rule learners and black boxes.

`make bench-readable` prints mean accuracy and log-loss over groups of sets: those of the paper on
which the defaults of `BoostedHyperboxes` were chosen, the paper's others, of these apart those with
few samples a class, and others: scikit-learn's own, river's, and large ones. 2-fold
cross-validation, at most 1,500 samples a set, the same for all. Learners of rules of one class are
fitted for each class in turn, with its part of the rules.

A fit of the other rule learners or of EBM that takes longer than `--seconds` of processor time is
given up, and so are larger ones of that contender on that set; the same where it raises an error.
Then its mean is one over fewer sets, so the last table compares boxes with each contender on the
sets that it finished. `--keep FILE` keeps scores, so that a run may be stopped and continued.
`--pieces` compares boxes with boxes that are found without one of the steps, or with more of it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.data import add_data_option, names_in
from benchmarks.readable.contenders import OURS
from benchmarks.readable.scoring import Asked, Scores, Store, score
from benchmarks.readable.sets import UNSEEN, Data, groups
from benchmarks.readable.showing import difference_table, frontier, mean_table
from benchmarks.timing import machine, progress
from benchmarks.validating import QUICK_LIMIT

SIZES = (5, 10, 20, 40, 80, 300, 1000)
LIMIT = 1500  # samples of a set
SECONDS = 10.0  # of processor time for a fit
SPLIT = 101
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "readable.png"


def measure(sets: dict[str, Data], asked: Asked, store: Store, jobs: int) -> list[Scores]:
    """Score the contenders on sets."""
    tasks = (delayed(score)(X, y, asked, store.known(name)) for name, (X, y) in sets.items())
    for name, found in zip(sets, Parallel(jobs, return_as="generator")(tasks), strict=True):
        progress(name)
        store.add(name, found)
    return [store.scores(name, asked) for name in sets]


def main() -> None:
    """Score all contenders and print the tables."""
    parser = argparse.ArgumentParser(prog="bench-readable", description=__doc__)
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="small sets, 20 and 40 rules")
    parser.add_argument("--groups", nargs="+", metavar="TITLE", help="of sets (default: all)")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="numbers of rules")
    parser.add_argument("--samples", type=int, default=LIMIT, help="of a set, at most")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="contenders")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each fit")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="file, if all is run")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    parser.add_argument("--split", type=int, default=SPLIT, help="seed of the cross-validation")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="of scores, read and added to")
    parser.add_argument("--pieces", action="store_true", help="boxes without some of their pieces")
    options = parser.parse_args()
    sizes = tuple(options.sizes or ((20, 40) if options.quick else SIZES))
    if not names_in(options.data / "authors"):
        parser.error(f"{options.data} does not hold the paper's data; name a folder with --data")
    print(machine("numpy", "scikit-learn"))
    asked = Asked(sizes, tuple(options.only), options.seconds, options.split, options.pieces)
    store = Store(options.keep, f"{options.samples} {options.split}")
    everything: list[Scores] = []
    unseen: list[Scores] = []
    for title, sets in groups(options.data, options.samples).items():
        if options.groups and title not in options.groups:
            continue
        chosen = {n: d for n, d in sets.items() if not options.quick or len(d[1]) <= QUICK_LIMIT}
        scores = measure(chosen, asked, store, options.jobs)
        everything += scores
        unseen += scores if title in UNSEEN else []
        print(f"\n{title}: {len(scores)} sets, accuracy/log-loss\n")
        print(mean_table(scores, sizes), flush=True)
    print(f"\nAll {len(everything)} sets\n")
    print(mean_table(everything, sizes))
    print(f"\nPoints of accuracy that {OURS} is above, on all sets that a contender finished\n")
    print(difference_table(everything, sizes))
    is_whole = sizes == SIZES and options.samples == LIMIT and not options.groups
    if is_whole and not options.quick and not options.pieces:
        protocol = f"one 2-fold cross-validation, at most {LIMIT:,} samples a set"
        frontier(unseen, sizes, protocol).savefig(options.picture, dpi=110)


if __name__ == "__main__":
    main()
