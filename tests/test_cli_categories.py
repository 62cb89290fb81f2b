"""Tables with categories and dates on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hyperboxes
from hyperboxes._cli import main
from tests.tables import make_table


def test_command_line(tmp_path, capsys):
    table, y = make_table()
    data, model = tmp_path / "data.csv", tmp_path / "m.hyperboxes"
    table.assign(label=y).to_csv(data, index=False)
    fit = ["fit", str(data), "--target", "label", "-o", str(model)]
    for learner in ("improved", "boosted", "random", "mixed"):
        main([*fit, "--learner", learner])
        assert "Categories: colour, sold (" in capsys.readouterr().err
        main(["evaluate", str(model), str(data), "--target", "label"])
        assert "accuracy" in capsys.readouterr().out
        assert main(["evaluate", str(model), str(data), "--target", "label", "--cv", "2"]) == 0
        main(["predict", str(model), str(data), "-o", str(tmp_path / "p.csv")])
        predicted = pd.read_csv(tmp_path / "p.csv")["prediction"]
        assert (predicted == y).mean() > (0.7 if learner == "mixed" else 0.8)
        main(["rules", str(model)])
        assert "colour" in capsys.readouterr().out
    main([*fit, "--categorical", "size", "--learner", "boosted"])
    assert list(hyperboxes.load(model).categories_) == ["size", "colour", "sold"]
    for wrong, message in {
        ("--numeric", "colour"): "not numbers: colour",
        ("--categorical", "hue"): "hue is not a feature",
        ("--categorical", "colour", "--learner", "adaptive"): "takes no categories",
    }.items():
        assert main([*fit, *wrong]) != 0
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("learner", ["improved", "mixed"])
def test_batches_may_bring_categories(learner, tmp_path, capsys):
    table, y = make_table()
    order = np.argsort(table["colour"], kind="stable")
    y[::11] = "?"
    mark = [] if learner == "mixed" else ["--unlabeled", "?"]
    data, path = tmp_path / "data.csv", tmp_path / "m.hyperboxes"
    table.assign(label=y).iloc[order].to_csv(data, index=False)
    fit = ["fit", str(data), "--target", "label", "--learner", learner, *mark]
    assert main([*fit, "-o", str(path), "--batch-rows", "50"]) == 0
    model = hyperboxes.load(path)
    assert set(model.categories_["colour"]) == set(table["colour"].dropna())
    has_label = y != "?"
    assert model.score(table[has_label], y[has_label]) > 0.7
    capsys.readouterr()


def test_booleans_are_categories_however_they_are_written(tmp_path, capsys):
    table, y = make_table()
    data, path = tmp_path / "data.csv", tmp_path / "m.hyperboxes"
    table.assign(label=y).to_csv(data, index=False)
    assert main(["fit", str(data), "--target", "label", "-o", str(path)]) == 0
    model = hyperboxes.load(path)
    assert sorted(model.categories_["sold"]) == [False, True]
    capsys.readouterr()
    main(["rules", str(path)])
    assert "sold    = True" in capsys.readouterr().out
    predicted = []
    for name in ("lower.csv", "as-they-are.parquet"):
        other = tmp_path / name
        if name.endswith("csv"):
            table.assign(sold=table["sold"].astype(str).str.lower()).to_csv(other, index=False)
        else:
            table.to_parquet(other)
        main(["predict", str(path), str(other)])
        predicted.append(capsys.readouterr().out.split()[1:])
    assert predicted == [model.predict(table).tolist()] * 2
    main(["fit", str(data), "--target", "label", "-o", str(path), "--numeric", "sold"])
    assert list(hyperboxes.load(path).categories_) == ["colour"]


@pytest.mark.parametrize("text", ["2024-03-01", "01.03.2024", "2024-03-01 10:30:00", "10:30"])
def test_dates_are_refused_with_advice(text, tmp_path, capsys):
    table, y = make_table(20)
    data = tmp_path / "data.csv"
    table.assign(day=text, label=y).to_csv(data, index=False)
    fit = ["fit", str(data), "--target", "label", "-o", str(tmp_path / "m.hyperboxes")]
    assert main(fit) != 0
    error = " ".join(capsys.readouterr().err.split())
    assert "not numbers: day" in error
    assert "days since a date, the weekday or the hour" in error
    assert main([*fit, "--drop", "day"]) == 0
    assert main([*fit, "--categorical", "day"]) == 0
