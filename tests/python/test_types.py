"""The module's own types, and those of a program that uses it."""

import os
import pathlib
import subprocess
import sys
from typing import Callable

import pytest

import sotto

pytest.importorskip("mypy")


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """What mypy says; numpy's types are read once for all tests."""
    cache = tmp_path_factory.mktemp("mypy")

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--cache-dir", str(cache), *words],
            capture_output=True,
            text=True,
        )
        return done.stdout + done.stderr

    return run


def test_module_is_typed(mypy: Callable[..., str]) -> None:
    package = pathlib.Path(sotto.__file__).parent
    sources = pathlib.Path(os.environ["SOTTO_SOURCE"]) / "python" / "sotto"
    said = mypy("--strict", "--ignore-missing-imports", "--explicit-package-bases", "--exclude", "torch", str(sources))
    assert "Success" in said, said
    assert (package / "py.typed").is_file()


PROGRAM = """
import sotto
run = sotto.train(agents=4, rounds=10, mechanism="corn", secure_sum=False)
losses = run.metrics["test_loss"]
agent = sotto.Agent(None, 3, records=2, epsilon=1.5)
"""


def test_options_have_types(tmp_path: pathlib.Path, mypy: Callable[..., str]) -> None:
    (tmp_path / "good.py").write_text(PROGRAM)
    assert "Success" in mypy("--strict", "good.py")
    (tmp_path / "bad.py").write_text("import sotto\nsotto.train(mechanisn='corn')\nsotto.Agent(None, 3, data='a')\n")
    said = mypy("bad.py")
    assert 'Unexpected keyword argument "mechanisn"' in said
    assert 'Unexpected keyword argument "data"' in said
