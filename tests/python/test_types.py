"""The module's own types, and those of a program that uses it."""

import os
import pathlib
import subprocess
import sys

import pytest

import sotto

pytest.importorskip("mypy")


def mypy(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", "mypy-cache", *words], capture_output=True, text=True
    )
    return done.stdout + done.stderr


def test_module_is_typed() -> None:
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


def test_options_have_types(tmp_path: pathlib.Path) -> None:
    (tmp_path / "good.py").write_text(PROGRAM)
    assert "Success" in mypy("--strict", "good.py")
    (tmp_path / "bad.py").write_text("import sotto\nsotto.train(mechanisn='corn')\nsotto.Agent(None, 3, data='a')\n")
    said = mypy("bad.py")
    assert 'Unexpected keyword argument "mechanisn"' in said
    assert 'Unexpected keyword argument "data"' in said
