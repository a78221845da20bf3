"""The example trains, on small files of MNIST's shape and with an agent alone."""
import gzip
import pathlib
import runpy
import struct
import sys

import numpy
import pytest

import sotto
import sotto.torch
from stand_in_agent import StandInAgent

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "torch_mnist.py"


@pytest.fixture
def example():
    return runpy.run_path(str(EXAMPLE))


def write_idx(path, array):
    head = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}i", *array.shape)
    with gzip.open(path, "wb") as file:
        file.write(head + array.tobytes())


@pytest.fixture
def images(tmp_path):
    random = numpy.random.default_rng(1)
    for part, records in (("train", 40), ("t10k", 10)):
        write_idx(tmp_path / f"{part}-images-idx3-ubyte.gz", random.integers(0, 256, (records, 28, 28), numpy.uint8))
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte.gz", random.integers(0, 10, records, numpy.uint8))
    return tmp_path


class StandIn(StandInAgent):
    """Takes the options of sotto.Agent and remembers them."""

    made = []

    def __init__(self, comm, dimension, records, initial, rounds, step_size, clip_norm, **options):
        super().__init__(comm, dimension, records, initial, rounds, step_size, clip_norm)
        self.options = options
        self.made.append(self)


def test_the_example_trains(example, images, monkeypatch, capsys):
    monkeypatch.setattr(sotto, "Agent", StandIn, raising=False)
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "argv", ["torch_mnist.py", "--data", str(images), "--rounds", "2"])
    assert example["main"]() == 0
    agent = StandIn.made[-1]
    assert agent.options["epsilon"] == 2 and agent.options["participation"] == "poisson"
    assert [e["test"][2] for e in agent.evaluations] == [10, 10]
    assert "1 agents, d = 20586, gradients by ghost, 2 rounds" in capsys.readouterr().out


def test_shards_share_no_record_and_leave_none(example):
    found = [row for agent in range(4) for row in example["rows_of"](23, agent, 4, seed=1)]
    assert sorted(found) == list(range(23))


def test_all_ranks_start_from_the_same_model(example):
    first, second = (sotto.torch.parameters(example["cnn"](3)) for _ in range(2))
    assert numpy.array_equal(first, second)


def test_other_files_are_refused(example, tmp_path):
    with gzip.open(tmp_path / "x.gz", "wb") as file:
        file.write(b"text and more")
    with pytest.raises(SystemExit, match="no IDX"):
        example["read_idx"](tmp_path / "x.gz")
