"""The pages, tables and pictures of a run, and one page that sums them up."""

from __future__ import annotations

from pathlib import Path

from benchmarks.reproduce import accuracy_report, counts_report, published_order, times_report
from benchmarks.reproduce.cells import Results
from benchmarks.reproduce.figures import draw_accuracy, draw_times
from benchmarks.reproduce.tables import markdown, write


def write_reports(results: Results, folder: Path, pictures: Path, facts: str) -> None:
    """Write what the finished parts show; `pictures` may be another folder."""
    for place in (folder, pictures):
        place.mkdir(parents=True, exist_ok=True)
    sections = []
    if counts := of_experiment(results, "counts"):
        frame = counts_report.compare(counts, of_experiment(results, published_order.EXPERIMENT))
        counts_report.write_counts(folder, frame, facts)
        sections += counts_report.summarise(frame) + unchanged_by_selection(counts)
    if times := of_experiment(results, "times"):
        frame = times_report.compare(times)
        times_report.write_times(folder, frame, facts)
        draw_times(pictures, frame)
        sections += times_report.summarise(frame)
    if accuracy := of_experiment(results, "accuracy"):
        frame = accuracy_report.collect(accuracy)
        accuracy_report.write_accuracy(folder, frame, facts)
        draw_accuracy(pictures, frame)
        sections += accuracy_report.summarise(frame)
    write(folder / "summary.md", "# The paper, reproduced", facts, *sections)


def of_experiment(results: Results, experiment: str) -> Results:
    """Return the finished parts of an experiment."""
    return [(cell, result) for cell, result in results if cell.experiment == experiment]


def unchanged_by_selection(results: Results) -> list[str]:
    """Show that accuracy is the same with every selection, as the paper says of its lemma."""
    n_boxes, n_predictions = (
        sum(result[what] for _, result in results) for what in ("same_boxes", "same_predictions")
    )
    differences = [
        abs(result["accuracy"]["all"] - result["accuracy"][name])
        for _, result in results
        for name in ("lemma", "index")
    ]
    return [
        "## The selection changes no result",
        "The paper says that accuracy is unchanged by the lemma. On its own protocol (trained on "
        "each half, the other one predicted), models with `selection` all, lemma and index were "
        "compared box by box and prediction by prediction:",
        markdown(
            ("compared", "runs", "the same"),
            (
                ("boxes, to the last bit", str(len(results)), str(n_boxes)),
                ("predictions of the other half", str(len(results)), str(n_predictions)),
            ),
        ),
        f"The largest difference of accuracy is {max(differences):g}.",
    ]
