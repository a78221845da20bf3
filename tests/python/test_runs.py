"""Trainings of the program's tasks, and run directories."""

import pathlib

import numpy as np
import pytest

import sotto

OPTIONS = {"task": "quadratic", "mechanism": "ldp", "agents": 4, "rounds": 25, "noise_seed": 5}


def test_train_leaves_a_run() -> None:
    run = sotto.train(**OPTIONS, run_directory="run")
    assert run.completed
    assert run.summary["rounds"] == 25
    assert run.ledger["rounds"]["completed"] == 25
    assert run.agents == [0, 1, 2, 3]
    assert run.models().shape == (4, 2)
    assert run.metrics["round"][-1] == 25
    assert run.metrics["epsilon"][-1] == pytest.approx(run.summary["epsilon"], rel=1e-5)
    assert run.config["mechanism"] == "ldp"
    with pytest.raises(sotto.DataError, match="agent: 9"):
        run.model(9)


def test_same_noise_gives_the_same_models() -> None:
    first = sotto.train(**OPTIONS, run_directory="first").models()
    second = sotto.train(**OPTIONS, run_directory="second").models()
    assert np.array_equal(first, second)


def test_frame_and_plot() -> None:
    pandas = pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    run = sotto.train(**OPTIONS, run_directory="run")
    assert isinstance(run.frame(), pandas.DataFrame)
    assert len(run.frame()) == len(run.metrics["round"])
    axes = run.plot("epsilon")
    assert np.array_equal(axes.lines[0].get_ydata(), run.metrics["epsilon"])
    with pytest.raises(sotto.DataError, match="is not a column"):
        run.plot("loss")


def test_estimate_leaves_nothing(tmp_path: pathlib.Path) -> None:
    said = sotto.estimate(task="quadratic", agents=4, rounds=25)
    assert said["dry_run"] is True
    assert list(tmp_path.iterdir()) == []


def test_refuses_what_is_no_run(tmp_path: pathlib.Path) -> None:
    with pytest.raises(sotto.DataError, match="holds no run"):
        sotto.Run(tmp_path)
    with pytest.raises(sotto.ConfigError, match="dry_run"):
        sotto.train(dry_run=True)
    with pytest.raises(sotto.ConfigError, match="--mechanism"):
        sotto.train(mechanism="none-such")


def test_tables_say_how_they_are_scaled(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("dose,sick\n" + "".join(f"{i % 20},{['no', 'yes'][i % 20 > 9]}\n" for i in range(100)))
    options = {"data": str(table), "label": "sick", "mechanism": "none", "agents": 2, "topology": "complete", "rounds": 3,
               "batch_size": "all"}  # fmt: skip
    with pytest.raises(sotto.ConfigError, match="columns of numbers need a scale: dose "):
        sotto.train(**options, run_directory="refused")
    by_bounds = sotto.train(**options, bounds="dose=0:20", run_directory="bounds")
    assert "standardise" not in by_bounds.config
    assert any("bounds that are public" in statement for statement in by_bounds.ledger["statements"])
    by_data = sotto.train(**options, standardise="public", run_directory="public")
    assert any("not counted" in statement for statement in by_data.ledger["statements"])


def test_trainings_are_tuned_where_a_record_is_protected() -> None:
    options = {"task": "logistic", "adjacency": "record-add-remove", "agents": 4, "epsilon": 2}
    run = sotto.train(**options, run_directory="run")
    tuning = run.summary["tuning"]
    assert tuning["rounds"] == run.summary["rounds"] and tuning["clip_norm"] == float(run.config["clip-norm"])
    assert [phase["rounds"] for phase in run.ledger["phases"]] == [1, tuning["rounds"]]
    assert "tuning" not in sotto.train(**options, tune="off", rounds=5, run_directory="off").summary
