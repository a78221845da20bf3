"""The programs of docs/tutorials are short, and reach what their pages show."""

import collections
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import LAUNCHER

FOLDER = pathlib.Path(os.environ["SOTTO_SOURCE"]) / "docs" / "tutorials"
DATA = pathlib.Path(os.environ.get("SOTTO_DATA_DIR", "/nonexistent"))
NAMES = ["cnn", "lora", "regression", "shakespeare", "tabular", "vit"]
MNIST, HOUSING = "train-images-idx3-ubyte.gz", "cal_housing.data.gz"
NUMBER = re.compile(r"(?<![\w-])\d+(?:\.\d+)?")

#: What runs of a program must reach at least: the figure after these words. Its page shows it with this file in SOTTO_DATA_DIR.
LEAST = {
    "cnn": ("accuracy: ", 0.85, MNIST),
    "lora": ("accuracy: ", 0.8, None),
    "regression": ("explained: ", 0.57, HOUSING),
    "shakespeare": ("right: ", 0.28, None),
    "tabular": ("accuracy: ", 0.65, None),
    "vit": ("accuracy: ", 0.7, MNIST),
}


def shown(name: str) -> dict[int, str]:
    """What a page says that its program prints, by the number of processes."""
    blocks = re.findall(r"^\$ (.*)\n(.*)\n", (FOLDER / f"{name}.md").read_text(), re.MULTILINE)
    ends = f"python3 docs/tutorials/{name}.py"
    return {4 if command.startswith("mpirun -n 4 ") else 1: line for command, line in blocks if command.endswith(ends)}


def run(name: str, ranks: int, *arguments: str) -> str:
    """The last line of a program, which must have trained."""
    launcher = [] if ranks == 1 else [*LAUNCHER, "-n", str(ranks)]
    done = subprocess.run(
        [*launcher, sys.executable, str(FOLDER / f"{name}.py"), *arguments],
        capture_output=True, text=True, timeout=900, env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("name", NAMES)
def test_is_short_and_its_page_shows_parts_of_it(name: str) -> None:
    program, page = (FOLDER / f"{name}.py").read_text(), (FOLDER / f"{name}.md").read_text()
    lines = program.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 140
    parts = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert parts and all(part in program for part in parts)
    assert f"]({name}.py)" in page and shown(name).keys() == {1, 4}


def test_all_pages_are_listed() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == NAMES
    index = (FOLDER / "README.md").read_text()
    assert all(f"]({name}.md)" in index for name in NAMES)


def test_counting_characters_predicts_them_as_the_page_says() -> None:
    speeches = (FOLDER / "romeo_and_juliet.txt").read_text().strip().split("\n\n")
    lines = [line.lower() + "\n" for speech in speeches for line in speech.split("\n")[1:]]
    follow: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for place, line in enumerate(lines):
        for last, character in zip("^" + line, line) if place % 5 else ():
            follow[last][character] += 1
            follow["any"][character] += 1
    tests = [pair for line in lines[::5] for pair in zip("^" + line, line)]
    shares = [np.mean([character == follow[known or last].most_common(1)[0][0] for last, character in tests]) for known in ("any", "")]
    assert [f"{share:.0%}" for share in shares] == re.findall(r"\d+%", (FOLDER / "shakespeare.md").read_text())


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("name", NAMES)
def test_reaches_what_its_page_shows(name: str, ranks: int) -> None:
    pytest.importorskip("torch")
    words, least, data = LEAST[name]
    said, page = run(name, ranks), shown(name)[ranks]
    assert NUMBER.sub("", said) == NUMBER.sub("", page)
    numbers, wanted = ([float(number) for number in NUMBER.findall(line)] for line in (said, page))
    assert numbers[-1] == wanted[-1], "epsilon"
    reached = float(NUMBER.findall(said.split(words, 1)[1])[0])
    assert reached > least
    if data is None or (DATA / data).is_file():
        assert reached == pytest.approx(float(NUMBER.findall(page.split(words, 1)[1])[0]), abs=0.08)


@pytest.mark.skipif(not (DATA / "shakespeare.txt").is_file(), reason="SOTTO_DATA_DIR has no shakespeare.txt")
def test_learns_more_of_more_plays() -> None:
    pytest.importorskip("torch")
    said = run("shakespeare", 8, str(DATA / "shakespeare.txt"))
    assert said.startswith("agents: 8, ") and float(NUMBER.findall(said)[1]) > 0.33
