"""Runs commands of the program in this process."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Sequence

from . import _core


def run_for_json(command: str, arguments: Sequence[str]) -> tuple[int, dict[str, Any]]:
    """Runs a command with ``--json``. Returns its exit code and the JSON object.

    Under mpirun every rank calls it; ranks that write no object get {}.
    """
    prepare_mpi()
    with tempfile.TemporaryDirectory(prefix="sotto-") as folder:
        path = os.path.join(folder, "said.json")
        code: int = _core.run(command, [*arguments, "--json", path])
        if not os.path.exists(path):
            return code, {}
        with open(path, encoding="utf-8") as file:
            said: dict[str, Any] = json.load(file)
        return code, said


def prepare_mpi() -> None:
    """Under a launcher, starts MPI through mpi4py, which also ends it."""
    if _core.launched():
        os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
        from mpi4py import MPI  # noqa: F401
