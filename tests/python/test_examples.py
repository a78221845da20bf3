"""The examples run, and say what they are kept with."""

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import LAUNCHER

EXAMPLES = pathlib.Path(os.environ["SOTTO_SOURCE"]) / "examples"


def test_own_loop_finds_the_truth() -> None:
    done = subprocess.run(
        [*LAUNCHER, "-n", "6", sys.executable, str(EXAMPLES / "own_loop.py")],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert float(words[words.index("truth") + 1]) < 0.1
    assert "epsilon 1.00 for one record" in done.stdout


@pytest.mark.parametrize("name", ["quickstart", "threat_model"])
def test_notebooks_run(name: str) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert any(output for output in outputs), "it is kept without its output"
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
    again = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert [len(output) > 0 for output in again] == [len(output) > 0 for output in outputs]
