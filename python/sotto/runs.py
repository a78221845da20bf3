"""Trainings of the program, and their results."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._command import run_for_json
from ._options import takes_options_of, to_arguments
from .errors import DataError

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas


class Run:
    """A run directory (docs/run-directory.md): metrics, ledger and models of a training.

    Files are read on each access, so a run under way can be watched.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        """:raises DataError: if there is no run."""
        #: The path.
        self.directory = Path(directory)
        if not (self.directory / "config.ini").is_file():
            raise DataError(f"directory: {directory} holds no run (config.ini is missing)")

    def _json(self, name: str) -> dict[str, Any]:
        path = self.directory / name
        try:
            said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except OSError as failure:
            raise DataError(f"{path}: {failure.strerror}") from None
        return said

    @property
    def config(self) -> dict[str, str]:
        """Options of the run, from config.ini."""
        lines = (self.directory / "config.ini").read_text(encoding="utf-8").splitlines()
        pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
        return {name.strip(): text.strip() for name, text in pairs}

    @property
    def summary(self) -> dict[str, Any]:
        """The JSON of ``sotto train``. :raises DataError: before the run has ended."""
        return self._json("summary.json")

    @property
    def ledger(self) -> dict[str, Any]:
        """What was revealed so far (docs/ledger.md); during a run, that of all planned rounds."""
        return self._json("ledger.json")

    @property
    def completed(self) -> bool:
        """Whether all planned rounds are done."""
        return bool(self.ledger["status"] == "completed")

    @property
    def metrics(self) -> dict[str, npt.NDArray[Any]]:
        """Columns of metrics.csv by name: numbers as float64, unknown values as NaN."""
        with open(self.directory / "metrics.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        names = list(rows[0]) if rows else []
        return {name: _column([row[name] for row in rows]) for name in names}

    def frame(self) -> "pandas.DataFrame":
        """The metrics as a pandas data frame, one row per evaluation. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.metrics)

    @property
    def agents(self) -> list[int]:
        """Numbers of the agents whose models are here, ascending."""
        found = (self.directory / "agents").glob("*/model.npy")
        return sorted(int(path.parent.name) for path in found)

    def model(self, agent: int) -> npt.NDArray[np.float64]:
        """The final model of an agent: d parameters, mapped from the file, read-only.

        :raises DataError: if its model is not here.
        """
        path = self.directory / "agents" / str(agent) / "model.npy"
        if not path.is_file():
            raise DataError(f"agent: {agent} has no model in {self.directory} (there: {self.agents})")
        model: npt.NDArray[np.float64] = np.load(path, mmap_mode="r")
        return model.reshape(-1)

    def models(self) -> npt.NDArray[np.float64]:
        """Models of all agents that are here, agents x d (a copy)."""
        return np.stack([self.model(agent) for agent in self.agents])

    def plot(
        self, *names: str, against: str = "round", axes: "matplotlib.axes.Axes | None" = None
    ) -> "matplotlib.axes.Axes":
        """Draws columns of the metrics; by default test loss and accuracy, as far as known.

        :param against: the column on the horizontal axis: "round", "epsilon", ...
        :param axes: matplotlib axes; default: new ones.
        """
        import matplotlib.pyplot

        metrics = self.metrics
        wanted = names or tuple(
            name
            for name in ("test_loss", "test_accuracy")
            if name in metrics and np.isfinite(metrics[name]).any()
        )
        if axes is None:
            axes = matplotlib.pyplot.figure().add_subplot()
        for name in (against, *wanted):
            if name not in metrics:
                raise DataError(f"{name}: is not a column of metrics.csv ({', '.join(metrics)})")
        for name in wanted:
            axes.plot(metrics[against], metrics[name], label=name)
        axes.set_xlabel(against)
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return f"<sotto.Run: {self.directory}>"


def _column(texts: list[str]) -> npt.NDArray[Any]:
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts)


_NOT_OF_TRAIN = ("quiet", "dry_run")


@takes_options_of("train", refused=_NOT_OF_TRAIN)
def train(*, verbose: bool = False, **options: Any) -> Run:
    """Trains one of the program's tasks: ``sotto train``, all agents in this process.

    Under mpirun every rank calls it and hosts one or more agents. An interrupt (Ctrl-C) stops the
    training after a round, with a checkpoint: ``summary["interrupted"]`` is then true, and
    ``train(resume=run.directory)`` resumes the run. To compute gradients yourself, use
    :class:`sotto.Agent`.

    >>> run = sotto.train(task="logistic", adjacency="record-add-remove", agents=8, epsilon=2)
    >>> run.summary["test_accuracy"], run.plot("test_accuracy", against="epsilon")

    :param verbose: prints progress to standard error and the report to standard output.
    :raises ConfigError: for options that are not allowed.
    :raises Error: with the program's message; see sotto.errors.
    """
    quiet = [] if verbose else ["--quiet"]
    said = run_for_json("train", quiet + to_arguments("train", options, _NOT_OF_TRAIN))[1]
    directory = said.get("run_directory")
    if _core.launched():
        from mpi4py import MPI

        directory = MPI.COMM_WORLD.bcast(directory, root=0)
    return Run(str(directory))


@takes_options_of("train", refused=_NOT_OF_TRAIN)
def estimate(**options: Any) -> dict[str, Any]:
    """Estimates memory, seconds per round and epsilon without training: ``sotto train --dry-run``.

    Returns the JSON of the program. Under mpirun every rank calls it.
    """
    words = to_arguments("train", options, _NOT_OF_TRAIN)
    return run_for_json("train", ["--quiet", "--dry-run", *words])[1]
