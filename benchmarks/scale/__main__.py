"""`make bench-scale`: how the package behaves on much data, on streams and on single samples.

Other programs run on the same data in turns: the paper's lemma for the index, scikit-learn's
nearest neighbour for prediction, river for streams.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.harness import command, machine, progress
from benchmarks.scale import fitting, predicting, streaming
from benchmarks.scale.common import QUICK, Run

SECTIONS: dict[str, Callable[[Run], None]] = {
    "fit": fitting.bench_fit,
    "sets": fitting.bench_sets,
    "growth": fitting.bench_growth,
    "predict": predicting.bench_predict,
    "decision": predicting.bench_decision,
    "onnx": predicting.bench_onnx,
    "classifiers": predicting.bench_classifiers,
    "stream": streaming.bench_stream,
    "memory": streaming.bench_memory,
}


def main() -> None:
    """Run the benchmark from the command line."""
    parser = command("bench-scale", __doc__, quick=f"sizes divided by {QUICK}")
    add = parser.add_argument
    add("--only", action="append", choices=SECTIONS, help="repeat for several")
    add(
        "--membership",
        choices=("mean", "min"),
        default="mean",
        help="of fits with the lemma: the default, or the paper's, for which it was made",
    )
    options = parser.parse_args()
    print(machine("numpy", "numba", "scikit-learn", "river"))
    print(f"Membership by the {options.membership} of the features.")
    print("gamma 1, one pass, features scaled to [0, 1] beforehand. Seconds are medians of runs in")
    print("turns; of a single run where one round of turns takes 8 seconds or more.\n")
    progress("warm-up")
    fitting.warm_up()
    run = Run(options)
    for name in options.only or SECTIONS:
        SECTIONS[name](run)


if __name__ == "__main__":
    main()
