"""Lets the tests import the module (the sources, unless PYTHONPATH names a built one), and makes them repeatable."""
import importlib.util
import pathlib
import sys

import pytest

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]

if importlib.util.find_spec("sotto") is None:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))


@pytest.fixture(autouse=True)
def same_numbers_every_time():
    import torch

    torch.manual_seed(7)
    torch.set_num_threads(1)
