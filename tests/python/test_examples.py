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


def test_a_model_is_read_without_sotto(tmp_path: pathlib.Path) -> None:
    rows = [(30 + 7 * i % 60, ["no", "yes"][i % 3 == 0], 30 + 7 * i % 60 > 60 or i % 3 == 0) for i in range(90)]
    text = "age,smokes,sick\n" + "".join(f"{a},{s},{['well', 'ill'][sick]}\n" for a, s, sick in rows)
    (tmp_path / "a.csv").write_text(text.replace("\n30,", "\n,", 1))
    sotto = os.environ["SOTTO"]
    for arguments in (
        ["train", "--data", "a.csv", "--label", "sick", "--missing", "indicator", "--mechanism", "none", "--agents", "1",
         "--topology", "complete", "--clip-norm", "9", "--step-size", "1", "--batch-size", "all", "--run-directory", "run", "--rounds", "200"],
        ["predict", "--run", "run", "--data", "a.csv", "--out", "predictions.csv"],
    ):  # fmt: skip
        done = subprocess.run([sotto, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    read = subprocess.run(
        [sys.executable, str(EXAMPLES / "read_model.py"), "run", "a.csv"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert read.returncode == 0, read.stderr
    predicted = [line.split(",")[0] for line in (tmp_path / "predictions.csv").read_text().splitlines()[1:]]
    assert read.stdout.split() == predicted
    right = sum(p == ["well", "ill"][sick] for p, (_, _, sick) in zip(predicted, rows, strict=True))
    assert right >= 0.9 * len(rows)


def test_the_readme_trains_from_python(tmp_path: pathlib.Path) -> None:
    readme = (EXAMPLES.parent / "README.md").read_text()
    program = readme.split("```python\n")[1].split("```")[0]
    (tmp_path / "examples").symlink_to(EXAMPLES)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert float(words[words.index("accuracy") + 1]) > float(words[words.index("constant") + 1]) + 0.15
    assert float(words[words.index("epsilon") + 1]) <= 2


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
