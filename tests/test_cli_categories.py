"""Tables with categories and dates on the command line."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

import hyperboxes
from hyperboxes import ImprovedOnlineGFMM
from hyperboxes._cli import main
from hyperboxes._estimators.registry import commands
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
        ("--categorical", "hue"): "hue is no feature",
        ("--categorical", "colour", "--learner", "adaptive"): "takes no categories",
        ("--chunk-size", "10", "--learner", "mixed"): "learns a file with categories as a whole",
    }.items():
        assert main([*fit, *wrong]) != 0
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("learner", ["improved", "online", "exclude"])
def test_command_line_learns_categories_in_chunks(learner, tmp_path, capsys):
    """Chunks, whatever their size, give the places and boxes of the whole file."""
    table, y = make_table()
    y[::11] = "?"
    data = tmp_path / "data.csv"
    table.assign(label=y).to_csv(data, index=False)
    fit = ["fit", str(data), "--target", "label", "--unlabeled", "?", "--learner", learner]
    models = []
    for size in ("7", "1000"):
        path = tmp_path / f"{size}.hyperboxes"
        assert main([*fit, "-o", str(path), "--chunk-size", size]) == 0
        models.append(hyperboxes.load(path))
    parts, whole = models
    assert parts.categories_ == whole.categories_
    np.testing.assert_array_equal(parts.hyperboxes_.lower, whole.hyperboxes_.lower)
    chosen = {"categorical_features": ["colour", "sold"], "unlabeled": "?", "random_state": 0}
    direct = find_by_command(learner)(**chosen).fit(table, y)
    assert direct.categories_ == whole.categories_
    np.testing.assert_array_equal(direct.hyperboxes_.lower, whole.hyperboxes_.lower)
    np.testing.assert_array_equal(direct.predict(table), whole.predict(table))
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


def test_command_line_resumes_with_categories(tmp_path, capsys, monkeypatch):
    """A run that was interrupted goes on with the places of its first pass."""
    table, y = make_table()
    data, path = tmp_path / "data.csv", tmp_path / "m.hyperboxes"
    table.assign(label=y).to_csv(data, index=False)
    fit = ["fit", str(data), "--target", "label", "-o", str(path), "--chunk-size", "20"]
    assert main(fit) == 0
    whole = hyperboxes.load(path)
    learn, n_calls = ImprovedOnlineGFMM.partial_fit, 0

    def fail(self, *args, **kwargs):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 4:
            raise OSError("the disk is gone")
        return learn(self, *args, **kwargs)

    monkeypatch.setattr(ImprovedOnlineGFMM, "partial_fit", fail)
    assert main([*fit, "--checkpoint-every", "20"]) != 0
    monkeypatch.undo()
    assert main([*fit, "--categorical", "size", "--resume"]) != 0
    assert "was made with categorical ['colour', 'sold']" in capsys.readouterr().err
    assert main([*fit, "--resume"]) == 0
    resumed = hyperboxes.load(path)
    assert resumed.categories_ == whole.categories_
    assert resumed.get_params() == whole.get_params()
    np.testing.assert_array_equal(resumed.hyperboxes_.lower, whole.hyperboxes_.lower)
    np.testing.assert_array_equal(resumed.predict(table), whole.predict(table))


def find_by_command(name: str) -> type:
    """Return what makes the learner of a name in the command line."""
    learner = commands()[name]
    parameters = {
        key: value for key, value in learner.commands[name].items() if key != "random_state"
    }
    return partial(learner.estimator, **parameters)


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
