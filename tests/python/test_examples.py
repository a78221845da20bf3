"""The examples run, and say what they are kept with."""

import doctest
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import sotto
from conftest import LAUNCHER, Launch

EXAMPLES = pathlib.Path(os.environ["SOTTO_SOURCE"]) / "examples"


def snippets(page: str) -> list[str]:
    """The programs that a page shows."""
    return [part.split("```")[0] for part in (EXAMPLES.parent / page).read_text().split("```python\n")[1:]]


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
        ["train", "--data", "a.csv", "--label", "sick", "--missing", "indicator", "--bounds", "age=0:80", "--mechanism", "none", "--agents", "1",
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
    (program,) = snippets("README.md")
    (tmp_path / "examples").symlink_to(EXAMPLES)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert float(words[words.index("accuracy") + 1]) > float(words[words.index("constant") + 1]) + 0.15
    assert float(words[words.index("epsilon") + 1]) <= 2


def test_the_page_about_python_says_what_works(launch: Launch) -> None:
    plans, own_covariance, agents, tuned, simulated, audited = snippets("docs/python.md")
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    known: dict[str, Any] = {}
    exec(plans, known)
    assert known["plan"].covariance.shape == (20, 20)
    assert known["run"].summary["test_accuracy_mean_model"] > known["run"].summary["constant_accuracy"] + 0.02
    assert known["run"].metrics["epsilon"][-1] <= 2
    exec(own_covariance, known)
    made = known["sotto"].plan(covariance=known["correlated"], topology="ring", agents=8, epsilon=2)
    wanted = known["correlated"](known["sotto"].graph(topology="ring", agents=8))
    assert np.allclose(made.covariance / made.covariance[0, 0], wanted / wanted[0, 0], atol=1e-9)
    done = launch(8, agents)
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stdout.splitlines() if line.startswith("epsilon ")]
    assert 1.9 < float(said.removeprefix("epsilon ")) <= 2
    done = launch(4, tuned)
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stdout.splitlines() if line.startswith("accuracy ")]
    assert float(said.split()[1]) > 0.9 and "'clip_norm'" in said
    exec(simulated, known)
    truth = np.mean(np.concatenate(known["shards"]), axis=0)
    assert np.linalg.norm(known["simulation"].model - truth) < 0.2
    assert 1.9 < known["simulation"].epsilon <= 2
    exec(audited.replace("record_view=", "noise_seed=1, record_view="), known)
    assert known["said"]["verdict"] == "passed", known["said"]
    assert 0.6 * known["said"]["epsilon"] < known["said"]["epsilon_lower"] < known["said"]["epsilon"] <= 4


def test_what_the_documentation_of_functions_shows_works() -> None:
    pytest.importorskip("matplotlib")
    known: dict[str, Any] = {"sotto": sotto}
    shown = [
        example.source
        for function in (sotto.account, sotto.graph, sotto.plan, sotto.train)
        for example in doctest.DocTestParser().get_examples(function.__doc__ or "")
    ]
    for source in shown:
        exec(source, known)
    assert len(shown) >= 5
    assert known["run"].summary["test_accuracy"] > known["run"].summary["constant_accuracy"] + 0.02


FROM_MNIST = """
import os, pathlib, runpy, sys
import torch
from mpi4py import MPI
import sotto, sotto.torch
example = runpy.run_path(sys.argv[1])
folder = pathlib.Path(os.environ["SOTTO_DATA_DIR"])
shard = example["read_mnist"](folder, "train", MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size, 1)
test = example["read_mnist"](folder, "t10k")
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 10))
"""


@pytest.mark.parametrize("ranks", [1, 4])
def test_the_page_about_torch_begins_with_a_whole_program(launch: Launch, ranks: int) -> None:
    pytest.importorskip("torch")
    done = launch(ranks, snippets("docs/torch.md")[0])
    assert done.returncode == 0, done.stderr
    (said,) = [line.split() for line in done.stdout.splitlines() if line.startswith("accuracy ")]
    assert float(said[1]) > 0.85 and 3.9 < float(said[3]) <= 4


@pytest.mark.parametrize("number, ranks, least", [(0, 1, 0.8), (1, 3, 0.8), (2, 3, 0.75)])
def test_ported_programs_train(launch: Launch, number: int, ranks: int, least: float) -> None:
    pytest.importorskip("torch")
    done = launch(ranks, snippets("docs/from-other-libraries.md")[number])
    assert done.returncode == 0, done.stderr
    (said,) = [line.split() for line in done.stdout.splitlines() if line.startswith("accuracy ")]
    assert float(said[1]) > least


def test_the_page_about_torch_trains(launch: Launch) -> None:
    pytest.importorskip("torch")
    if not (pathlib.Path(os.environ.get("SOTTO_DATA_DIR", "")) / "train-images-idx3-ubyte.gz").is_file():
        pytest.skip("set SOTTO_DATA_DIR to a folder with MNIST")
    after = 'sys.stdout.write(f"reached {result[\'epsilon\']} {peer.evaluate(test).accuracy}\\n")\n'
    _, _, loop, resumed, _, _, own_agent, tuned = snippets("docs/torch.md")
    public = "public = test\n"
    made = public + "peer = sotto.torch.make_private(model, loss=torch.nn.CrossEntropyLoss(), data=shard, epsilon=2)\n"
    for program, least, whole in ((made + loop, 0.8, False), (public + resumed, 0.85, True), (own_agent, 0.75, True), (tuned, 0.85, True)):
        done = launch(4, FROM_MNIST + program + after, str(EXAMPLES / "torch_mnist.py"), seconds=300)
        assert done.returncode == 0, done.stderr
        said = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("reached ")]
        assert len(said) == 4
        for epsilon, accuracy in said:
            assert (1.9 if whole else 0) < float(epsilon) <= 2 * (1 + 1e-9) and float(accuracy) > least


def test_the_page_about_torch_simulates(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    import sotto.torch

    monkeypatch.chdir(tmp_path)

    def shard(seed: int) -> Any:
        inputs = torch.randn(2000, 20, generator=torch.Generator().manual_seed(seed))
        return torch.utils.data.TensorDataset(inputs, (inputs[:, :3].sum(1) > 0).long())

    known: dict[str, Any] = {
        "torch": torch, "sotto": sotto, "shard": shard(0), "other_shard": shard(1), "public": shard(2),
        "model": torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2)),
    }  # fmt: skip
    exec(snippets("docs/torch.md")[4], known)
    assert known["simulation"].evaluate(known["public"]).accuracy > 0.85
    assert 3.9 < known["simulation"].epsilon <= 4
    exec(snippets("docs/torch.md")[5].replace("record_view=", "noise_seed=1, record_view="), known)
    assert known["said"]["verdict"] == "passed", known["said"]
    assert 0.4 * known["said"]["epsilon"] < known["said"]["epsilon_lower"] < known["said"]["epsilon"] <= 4


def test_the_page_about_torch_protects_persons(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    import sotto.torch

    monkeypatch.chdir(tmp_path)
    inputs = torch.randn(2000, 20, generator=torch.Generator().manual_seed(0))
    shard = torch.utils.data.TensorDataset(inputs, (inputs[:, :3].sum(1) > 0).long())
    model = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
    known: dict[str, Any] = {"torch": torch, "sotto": sotto, "shard": shard, "model": model}
    exec(snippets("docs/torch.md")[1], known)
    peer = known["peer"]
    result = peer.train()
    assert peer.evaluate(shard).accuracy > 0.75
    assert 3.9 < result["epsilon"] <= 4
    ledger = json.loads((pathlib.Path(result["run_directory"]) / "ledger.json").read_text())
    assert ledger["unit_column"] == "patient"


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
