"""One agent's work is the same in Python and in C++: to the last bit, and in the ledger."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import sotto
from conftest import LAUNCHER, Launch

PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
import sotto
comm = MPI.COMM_WORLD
steps = 0.01 * np.arange(1, 8)

def gradients(model, rows):
    return model[None, :] * 0.5 - (rows % 11).astype(float)[:, None] * steps[None, :]

options = eval(sys.argv[1])
with sotto.Agent(comm, 7, records=40 + comm.rank, run_directory="module", quiet=True, **options) as agent:
    while agent.more:
        if sys.argv[2] == "array":
            agent.step(gradients(agent.model, agent.batch()))
        else:
            agent.step(gradients)
"""

CASES = {
    "pairs": {"mechanism": "pairs"},
    "corn over rounds": {"mechanism": "mafalda", "temporal": "banded:3", "participation": "cyclic:8"},
    "sampled": {"mechanism": "pairs", "adjacency": "record-zero-out", "participation": "poisson",
                "momentum": 0.9},
    "allocated": {"mechanism": "pairs", "adjacency": "record-add-remove", "participation": "allocation:8", "batch_size": None},
    "sums": {"mechanism": "ldp", "topology": "complete", "secure_sum": True, "agents": 4},
}


@pytest.mark.parametrize("how", ["array", "function"])
@pytest.mark.parametrize("name", list(CASES))
def test_models_and_ledger(launch: Launch, tmp_path: pathlib.Path, name: str, how: str) -> None:
    options = {
        "topology": "ring", "rounds": 16, "epsilon": 6, "adjacency": "record", "batch_size": 5,
        "step_size": 0.3, "clip_norm": 1, "noise_seed": 21, "final_gossip": 0, **CASES[name],
    }  # fmt: skip
    options.pop("agents", None)
    done = launch(4, PROGRAM, repr(options), how)
    assert done.returncode == 0, done.stderr
    words = sotto._options.to_arguments("train", options)  # type: ignore[attr-defined]
    subprocess.run(
        [*LAUNCHER, "-n", "4", os.environ["SOTTO"], "train", "--task",
         os.environ["SOTTO_MADE_GRADIENTS"], "--run-directory", "program", "--quiet", *words],
        check=True, cwd=tmp_path,
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    )  # fmt: skip
    module, program = sotto.Run("module"), sotto.Run("program")
    assert np.array_equal(module.models(), program.models())
    assert np.abs(module.models()).max() > 1e-3
    assert _figures(module) == _figures(program)


def _figures(run: sotto.Run) -> dict[str, object]:
    """A ledger without what says who computed gradients, and which start it was."""
    ledger = json.loads((run.directory / "ledger.json").read_text())
    for phase in ledger["phases"]:
        assert phase.pop("sessions")
    statements = ("Gradients come from the user's program", "Records are read, dealt and")
    ledger["statements"] = [
        said for said in ledger["statements"] if not said.startswith(statements)
    ]
    return dict(ledger)
