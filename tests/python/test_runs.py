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
