"""Runs programs under mpirun, and folders of their own for runs."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Callable

import pytest

LAUNCHER = [
    "mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
]  # fmt: skip


@pytest.fixture(autouse=True)
def own_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


Launch = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def launch(tmp_path: pathlib.Path) -> Launch:
    """launch(ranks, program text, *arguments): its outcome; standard output and error are text."""

    def run(
        ranks: int, text: str, *arguments: str, seconds: float = 120
    ) -> "subprocess.CompletedProcess[str]":
        program = tmp_path / "program.py"
        program.write_text(text)
        words = [sys.executable, str(program), *arguments]
        return subprocess.run(
            [*LAUNCHER, "-n", str(ranks), *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=seconds,
            env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        )

    return run


def in_a_fork(call: Callable[[], object]) -> str:
    """What a call says in a forked process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            call()
            said = "nothing"
        except RuntimeError as error:
            said = str(error)
        except BaseException as error:
            said = repr(error)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said
