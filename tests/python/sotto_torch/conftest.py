"""Lets the tests import the module from the sources, and makes them repeatable."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))

import torch  # noqa: E402


@pytest.fixture(autouse=True)
def same_numbers_every_time():
    torch.manual_seed(7)
    torch.set_num_threads(1)
