"""Cases of the tests of deploy/figures; `run` beside it names them."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "figures"))
import shared
from shared import at, compare


def require(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def figures(*words, **environment):
    return subprocess.run([sys.executable, str(ROOT / "bench" / "figures"), *map(str, words)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | environment)


def make(folder, asked, name, *words):
    """Rows of a figure made at the tests' size; its picture and its section of the page are there and in order."""
    result = figures("--tiny", "--out", folder / "kept", *words, asked)
    require(result.returncode == 0, f"{name}: exit code {result.returncode}: {result.stderr}")
    rows = shared.read_csv(folder / "kept" / f"{name}.csv")
    svg = xml.etree.ElementTree.parse(folder / "kept" / f"{name}.svg").getroot()
    words = " ".join("".join(text.itertext()) for text in svg.iter("{http://www.w3.org/2000/svg}text"))
    for curve in {row.curve for row in rows}:
        require(curve in words, f"{name}: the legend lacks {curve}")
    page = (folder / "kept.md").read_text(encoding="utf-8")
    require(f"## {name}" in page and f"kept/{name}.svg" in page, f"{name}: the page has no section of it")
    return rows


def check_list():
    """Every published figure is offered; bad names and missing data are said."""
    result = subprocess.run([ROOT / "deploy" / "figures", "list"], text=True, stdout=subprocess.PIPE)
    require(result.returncode == 0, f"list: exit code {result.returncode}")
    names = {name for line in result.stdout.splitlines() for name in line.split()[0].split("/")}
    wanted = set("W1 W2 W3 C1 C2 C3 C4 C5 G1 U2 U3 U5 H1 A9A".split())
    require(wanted <= names, f"list: lacks {sorted(wanted - names)}")
    wrong = figures("C9")
    require(wrong.returncode == 2 and "C9" in wrong.stderr and "C1" in wrong.stderr, "a name that does not exist is not refused")
    with tempfile.TemporaryDirectory() as folder:
        skipped = figures("--tiny", "--out", pathlib.Path(folder) / "kept", "A9A", SOTTO_DATA_DIR=folder)
        require(skipped.returncode == 3 and "a9a.gz" in skipped.stdout, "missing data are not said")


def check_surviving_noise():
    """Every plan is an optimum over a larger set than the one before it: ldp, decor, corn, and cdp is the limit."""
    with tempfile.TemporaryDirectory() as folder:
        rows = make(pathlib.Path(folder), "C1", "C1")
    for panel in ("epsilon", "p", "n"):
        # 1%: where the optimum is not attained plans are capped.
        for lower, upper in [("cdp", "corn one-step"), ("corn one-step", "decor"), ("decor", "ldp"), ("corn one-step", "pairs q=1")]:
            require(compare(rows, panel, lower, upper, 0.01), f"C1, panel {panel}: {lower} is above {upper}")
    for curve in ("ldp", "decor", "corn one-step"):
        noise = at(rows, "epsilon", curve)
        require(abs(noise[3] / noise[30] - 100) < 1e-6 * 100, f"C1: {curve} does not fall with the square of epsilon")
    require(compare(rows, "late", "corn horizon", "corn one-step", 1e-6), "C1: a plan for 200 rounds leaves more noise in 200 rounds")
    for n in (10, 30):
        require(abs(at(rows, "n", "cdp", n) * n / (at(rows, "n", "cdp", 10) * 10) - 1) < 1e-9, "C1: cdp is not ldp / n")


def check_training():
    """A figure of trainings: at the same budget less noise survives under cdp than under ldp, and so does less loss."""
    with tempfile.TemporaryDirectory() as folder:
        rows = make(pathlib.Path(folder), "W2", "C3")
    for epsilon in (10, 40):
        gaps = {curve: at(rows, "epsilon", curve, epsilon) for curve in ("ldp", "corn horizon", "cdp")}
        require(gaps["corn horizon"] < gaps["ldp"] and gaps["cdp"] < gaps["ldp"], f"C3: {gaps} at epsilon {epsilon}")
    require(not (shared.common.BUILD / "figures" / "tiny" / "C3").exists(), "C3: its trainings are left behind")
    with tempfile.TemporaryDirectory() as folder:
        size = shared.Size("tiny", work=pathlib.Path(folder))
        options = {"tiny": {"epsilon": "10", "seed": "1 2", "rounds": "20"}}
        once = shared.trainings("quadratic", size, **options)
        files = {path: path.stat().st_mtime_ns for path in size.work.glob("quadratic/trainings/*")}
        again = shared.trainings("quadratic", size, **options)
        require(once == again and files, "a sweep done twice differs")
        require(all(path.stat().st_mtime_ns == time for path, time in files.items()), "what is done was trained again")


def write_leaf(folder, writers, records):
    """LEAF's JSON files as FEMNIST has them: 28 x 28 grey values in [0, 1], 62 classes, here told apart by one bright line."""
    draw = random.Random(1)
    for part in range(2):
        users = [f"f{writer:04}_{part}" for writer in range(writers // 2)]
        data = {}
        for user in users:
            labels = [draw.randrange(62) for _ in range(records)]
            images = [[float(pixel // 28 == label % 28 or (label >= 28 and pixel % 28 == label // 28)) for pixel in range(784)]
                      for label in labels]
            data[user] = {"x": images, "y": labels}
        (folder / f"all_data_{part}.json").write_text(
            json.dumps({"users": users, "num_samples": [records] * len(users), "user_data": data}), encoding="utf-8")


def check_femnist():
    """FEMNIST in LEAF's format: refused without it, trained with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        without = figures("--tiny", "--out", folder / "kept", "U4")
        require(without.returncode == 3 and "--femnist" in without.stdout, "missing FEMNIST is not said")
        if not os.path.exists(shared.data_path("florentine_families.edges")):
            print("skipped: SOTTO_DATA_DIR has no florentine_families.edges")
            raise SystemExit(77)
        (folder / "leaf").mkdir()
        write_leaf(folder / "leaf", writers=150, records=12)
        rows = make(folder, "U6", "U4", "--femnist", folder / "leaf")
    for curve in ("ldp", "mafalda", "space-time"):
        accuracy = at(rows, "accuracy", curve)
        require(accuracy and all(0 <= value <= 1 for value in accuracy.values()), f"U4: {curve}: {accuracy}")


def check_captions():
    """What docs/figures.md says is what the kept tables say."""
    figures_by_name = {figure.name: figure for figure in all_figures()}
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    tables = sorted((ROOT / "docs" / "figures").glob("*.csv"))
    require(tables, "docs/figures holds no tables")
    for table in tables:
        figure = figures_by_name.get(table.stem)
        require(figure is not None, f"{table.name} belongs to no figure")
        text = shared.caption_text(figure, shared.read_csv(table), shared.Size())
        require(text in page, f"the caption of {table.stem} in docs/figures.md is not that of {table.name}: deploy/figures --redraw {table.stem}")
        picture = table.with_suffix(".svg")
        require(picture.exists() and picture.stat().st_size < 60000, f"{picture.name} is missing or too large")
        require(f"(figures/{table.stem}.svg)" in page, f"docs/figures.md does not show {picture.name}")


def all_figures():
    """FIGURES of bench/figures/__main__.py."""
    import importlib.util
    spec = importlib.util.spec_from_file_location("figures_main", ROOT / "bench" / "figures" / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FIGURES


{"list": check_list, "surviving_noise": check_surviving_noise, "training": check_training, "femnist": check_femnist,
 "captions": check_captions}[sys.argv[1]]()
print("ok")
