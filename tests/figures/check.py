"""Cases of the tests of deploy/figures; `run` beside it names them."""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

PAGE = 830  # pixels that a page is wide
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "figures"), str(ROOT / "bench")]
import figure
import page
import pictures
import rows
import running
import verdicts
from verdicts import HIGHER, LOWER, NOT_DECIDED, SAME, Values, exact, verdict


def require(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def refused(function, kind, text):
    """What the refusal says."""
    try:
        function()
    except kind as error:
        return str(error)
    raise SystemExit(f"FAILED: {text}")


def figures(*words, **environment):
    return subprocess.run([sys.executable, str(ROOT / "bench" / "figures"), *map(str, words)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | environment)


def texts_of(path, smallest=0):
    """Texts of a picture; none has smaller letters, in pixels, where the picture is as wide as a page."""
    svg = xml.etree.ElementTree.parse(path).getroot()
    scale = min(1, PAGE / float(svg.get("viewBox").split()[2]))
    sizes = [float(element.get("font-size")) * scale for element in svg.iter() if element.get("font-size")]
    require(sizes and min(sizes) >= smallest, f"{path.name} has letters of {min(sizes, default=0):g} pixels")
    return ["".join(text.itertext()).strip() for text in svg.iter("{http://www.w3.org/2000/svg}text")]


def make(folder, asked, name, *words):
    """Table of a figure made at the tests' size; its picture and its section of the page are there and in order."""
    result = figures("--tiny", "--out", folder / "kept", *words, asked)
    require(result.returncode == 0, f"{name}: exit code {result.returncode}: {result.stderr}")
    made = named(name)
    table = rows.Table(made, rows.read_csv(folder / "kept" / f"{name}.csv"))
    texts = " ".join(texts_of(folder / "kept" / f"{name}.svg"))
    for curve in {curve for panel in pictures.panels_of(made, table.rows) for curve in panel["curves"]}:
        require(curve in texts, f"{name}: the picture does not name {curve}")
    text = (folder / "kept.md").read_text(encoding="utf-8")
    require(f"## {name}" in text and f"kept/{name}.svg" in text, f"{name}: the page has no section of it")
    require("**Small.**" in text, f"{name}: the page does not say what is smaller than in the paper")
    return table


def all_figures():
    """FIGURES of bench/figures/__main__.py."""
    import importlib.util
    spec = importlib.util.spec_from_file_location("figures_main", ROOT / "bench" / "figures" / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FIGURES


def named(name):
    return next(made for made in all_figures() if made.name == name)


# --- the rule and the tables -----------------------------------------------------------------------------------------

def by_seed(*values):
    return Values(by_seed={str(seed): value for seed, value in enumerate(values)})


def check_verdicts():
    """Lower, higher, the same and not decided by the interval of paired differences, and by nothing else."""
    few, many = verdicts.at_shared_seeds(by_seed(1, 2), by_seed(5, 6, 7))
    require(list(few.by_seed.values()) == [1, 2] and list(many.by_seed.values()) == [5, 6], "values are not those at shared seeds")
    cases = [
        ("noise that pairs take out hides nothing", by_seed(1.0, 5.0, 9.0), by_seed(1.2, 5.21, 9.19), {}, LOWER),
        ("the other way round", by_seed(1.2, 5.21, 9.19), by_seed(1.0, 5.0, 9.0), {}, HIGHER),
        ("intervals that overlap are no agreement", by_seed(1, 2, 3, 4), by_seed(2, 1, 4, 3), {}, NOT_DECIDED),
        ("a wide interval round 0 is not the same", by_seed(1, 2, 3, 4), by_seed(2, 1, 4, 3), {"margin": 0.5}, NOT_DECIDED),
        ("within the margin it is", by_seed(1, 2, 3), by_seed(1.001, 1.999, 3.0005), {"margin": 0.01}, SAME),
        ("a small difference within the margin too, though it excludes 0", by_seed(1, 2, 3), by_seed(1.001, 2.0011, 3.001),
         {"margin": 0.01}, SAME),
        ("a decided difference beyond the margin is not the same", by_seed(1, 2, 3), by_seed(1.1, 2.11, 3.1), {"margin": 0.01}, LOWER),
        ("ratios on a logarithmic axis", by_seed(1, 10, 100), by_seed(2, 21, 199), {"log": True}, LOWER),
        ("a factor as margin", by_seed(1, 10, 100), by_seed(1.01, 10.1, 99.5), {"log": True, "margin": 1.1}, SAME),
        ("without logarithm differences", by_seed(-1, -1.1, -1.3), by_seed(1, 1.1, 1.2), {"log": True}, LOWER),
        ("numbers without chance", exact(1.0), exact(1.1), {}, LOWER),
        ("up to rounding", exact(1.0), exact(1.0 + 1e-9), {}, SAME),
        ("a number against values of seeds", by_seed(8, 8.1, 9), exact(6), {}, HIGHER),
        ("one seed decides nothing", by_seed(1), by_seed(2), {}, NOT_DECIDED),
    ]
    for text, first, second, how, word in cases:
        found = verdict(first, second, **how)
        require(found.word == word, f"{text}: {found.word} ({found}) where {word} was expected")
    for second, word in [((2, 3), LOWER), ((1, 3), verdicts.NOT_ABOVE), ((2, 1), verdicts.VARIES), ((1, 2), SAME), ((0.5, 2), verdicts.NOT_BELOW)]:
        found = verdicts.by_graph(by_seed(1, 2), by_seed(*second), log=True)
        require(found.word == word, f"graph by graph 1 and 2 against {second}: {found.word} where {word} was expected")
    refused(lambda: verdict(by_seed(1, 2), by_seed(1, 2, 3)), ValueError, "other seeds are paired")
    half = verdict(by_seed(1, 2, 4), by_seed(0, 0, 0)).high - 7 / 3
    require(abs(half - 4.303 * (7 / 3) ** 0.5 / 3**0.5) < 1e-3, f"the interval of three seeds is not Student's: {half}")
    told = str(verdicts.against(by_seed(19, 20, 21), 10, log=True))
    require(told.startswith("20 (") or told.startswith("19.9"), f"a comparison with a number does not tell the values: {told}")


def size_of_t():
    return {"T": figure.Sized("T", 10, 5000)}


def check_claims():
    """A claim agrees if all of it does, differs if a part is decided otherwise, and else is not decided."""
    lower, higher, open_ = verdict(exact(1), exact(2)), verdict(exact(2), exact(1)), verdict(by_seed(1, 2), by_seed(2, 1))
    for cells, outcome in [([lower, lower], figure.AGREES), ([lower, higher], figure.DIFFERS), ([lower, open_], NOT_DECIDED),
                           ([open_, higher], figure.DIFFERS), ([], NOT_DECIDED)]:
        claim = figure.Claim("so", [(f"p = {k}", cell) for k, cell in enumerate(cells)], (LOWER,))
        require(claim.outcome() == outcome, f"{claim}: {claim.outcome()} where {outcome} was expected")
    text = page.paragraphs([figure.Claim("so", [("p = 1", lower)], (HIGHER,))], True)[0]
    require(text.startswith("**Differs from the paper.**") and "lower at p = 1" in text, f"a claim that differs is told as {text}")
    either = figure.Readings("so", [figure.Claim("one way", [("", lower)], (LOWER,)), figure.Claim("another", [("", higher)], (LOWER,))])
    require(either.outcome() == figure.DEPENDS and "another [differs]: higher" in str(either), f"two readings are told as {either}")
    alike = figure.Readings("so", [figure.Claim("one way", [("", lower)], (LOWER,)), figure.Claim("another", [("", lower)], (LOWER,))])
    require(alike.outcome() == figure.AGREES, "readings that agree do not agree")
    require(figure.Size("full", size_of_t(), kept={"T": 100})["T"] == 100, "what a kept table was measured with does not count")
    size = figure.Size("default", {"T": figure.Sized("T", 100, 5000), "p": figure.Sized("p", [1], [1])})
    require(size.smaller() == ["T 100 (5000)"], f"what is smaller is {size.smaller()}")


def check_tables():
    """Tables keep the value of every seed; without them nothing is concluded."""
    made = figure.Figure("X", "", [figure.Panel("a", "", ("p", "p"), ("y", "y"), "p")], None, None)
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "X.csv"
        written = [rows.mean_row("a", "c", 1.0, {"1": 0.25, "2": 0.5}), rows.Row("a", "d", 1.0, 3.0)]
        rows.write_csv(path, made, written)
        read = rows.read_csv(path)
        require(read[0].seeds == (("1", 0.25), ("2", 0.5)) and read[1].seeds is None, f"read back: {read}")
        path.write_text("panel,curve,x_name,x,y_name,y,low,high\na,c,p,1,y,2,1,3\n", encoding="utf-8")
        require("measure X again" in refused(lambda: rows.read_csv(path), rows.OldTable, "a table without seeds is accepted"),
                "the refusal does not say what to do")
        path.write_text("panel,curve,x_name,x,y_name,y,low,high,seeds\na,c,p,1,y,2,1,3,\n", encoding="utf-8")
        refused(lambda: rows.read_csv(path), rows.OldTable, "a row without seeds is accepted")


def check_page():
    """docs/figures.md is what `deploy/figures all --redraw` makes of the tables; every table belongs to a figure."""
    folder = ROOT / "docs" / "figures"
    old = page.old_tables(folder)
    require(bool(old) == (folder / page.MARKER).exists(), f"tables without values of seeds: {old}; {page.MARKER} says otherwise")
    names = {made.name for made in all_figures()}
    tables = sorted(folder.glob("*.csv"))
    require(tables, "docs/figures holds no tables")
    for table in tables:
        require(table.stem in names, f"{table.name} belongs to no figure")
        picture = table.with_suffix(".svg")
        require(picture.exists() and picture.stat().st_size < 100000, f"{picture.name} is missing or too large")
    if old:
        print(f"skipped: measured before tables kept the values of seeds: {' '.join(old)}")
        raise SystemExit(77)
    text = page.page_text(folder, all_figures())
    require((ROOT / "docs" / "figures.md").read_text(encoding="utf-8") == text, "docs/figures.md is not that of the tables: "
                                                                                "deploy/figures --redraw all")


# --- pictures ----------------------------------------------------------------------------------------------------------

def kept_pictures():
    """(path, figure, rows) of all kept pictures."""
    import attacks
    import plan
    for made in all_figures():
        path = ROOT / "docs" / "figures" / f"{made.name}.svg"
        if path.exists():
            yield path, made, rows.read_csv(path.with_suffix(".csv"))
    for bench in (attacks, plan):
        path = ROOT / "bench" / "results" / f"{bench.__name__}.svg"
        yield path, *bench.picture(json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["runs"])


def script_of(panels):
    """What sotto_picture tells gnuplot."""
    return subprocess.run([running.common.BUILD / "sotto_picture"], input=json.dumps(panels), text=True, stdout=subprocess.PIPE,
                          check=True).stdout


# Curves that look the same in all pictures.
KNOWN = {"ldp", "decor", "corn one-step", "corn horizon (ours)", "decor horizon (ours)", "pairs q=1 (ours)", "cdp", "none", "mafalda",
         "anti-pgd", "space-time (ours)", "trusted aggregator"}


def looks_in(script, panels):
    """[(panel, curve, (colour, dash, point))] of what a script draws, but not of its intervals."""
    found = []
    for p, c, style, colour, rest in re.findall(r'\$d(\d+)_(\d+) using \S+ with (\w+) (?:nohead )?lc rgb "(\S+)"([^,]*)', script):
        if style in ("lines", "points", "linespoints"):
            shape = [re.search(rf" {word} (\d+)", rest) for word in ("dt", "pt")]
            found.append((int(p), list(panels[int(p)]["curves"])[int(c)], (colour, *(part and part[1] for part in shape))))
    return found


def intervals_in(script):
    """(panel, curve) of those whose intervals are bars or bands."""
    return {(int(p), int(c)) for p, c in re.findall(r"\$[di](\d+)_(\d+) using \S+ with (?:[xy]errorbars|filledcurves)", script)}


def require_looks(name, script, panels, known):
    """Every curve is drawn in the look that it has in all panels, and that no other has, even without colours; known ones have that of all
    pictures. known: these looks, so far."""
    looks = {}
    for _, curve, look in looks_in(script, panels):
        require(looks.setdefault(curve, look) == look, f"{name}: {curve} looks different in two panels")
        if curve in KNOWN:
            require(known.setdefault(curve, look) == look, f"{name}: {curve} looks different in another picture")
    require(set(looks) == {curve for panel in panels for curve in panel["curves"]}, f"{name}: only {list(looks)} are drawn")
    require(len({look[1:] for look in looks.values()}) == len(looks), f"{name}: without colours two curves look the same: {looks}")
    return looks


def require_intervals(name, script, panels):
    """Curves with intervals show them."""
    having = {(p, c) for p, panel in enumerate(panels) for c, points in enumerate(panel["curves"].values())
              if any(len(point) == 4 for point in points)}
    require(intervals_in(script) == having, f"{name}: intervals are drawn of {intervals_in(script)}, and known of {having}")


def require_names(name, script, looks, texts):
    """Every curve is named, at ends of curves or in a legend with samples, not in both."""
    for curve in looks:
        require(curve in " ".join(texts), f"{name}: {curve} is not named")
    at_ends = "set arrow from first" in script
    samples = "set label '' at screen" in script and re.search(r"set label '' at screen \S+ point", script) is not None
    require(at_ends != samples or set(looks) == {""}, f"{name}: curves are named at their ends ({at_ends}) and in a legend ({samples})")


def check_looks():
    """Every kept picture is what is drawn of its table; curves look different, in every picture the same if they are known, and show their
    intervals; axes have two ticks or more, letters can be read, and names stand there once."""
    known = {}
    for path, made, points in kept_pictures():
        panels = pictures.panels_of(made, points)
        script = script_of(panels)
        looks = require_looks(made.name, script, panels, known)
        require_intervals(made.name, script, panels)
        texts = texts_of(path, 11)
        axes = re.findall(r"set ([xy])tics \((.*)\)", script)
        require(len(axes) == 2 * len(panels), f"{made.name}: {len(axes)} axes of {len(panels)} panels")
        for axis, ticks in axes:
            marked = [text for text in re.findall(r"(?:^|, )'(.+?)'", ticks) if text in texts]
            require(len(marked) > 1, f"{made.name}: an axis {axis} is marked at {marked}")
        require_names(made.name, script, looks, texts)
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder) / path.name
            pictures.draw(again, made, points)
            kept, new = (file.read_text(encoding="utf-8") for file in (path, again))
        of_gnuplot = [re.search("Produced by GNUPLOT [^<]*", text)[0] for text in (kept, new)]
        require(kept == new or of_gnuplot[0] != of_gnuplot[1], f"{path} is not what is drawn of its table: deploy/figures --redraw all, "
                                                               "or `pictures.draw` of what `picture` of the benchmark says")
    require(set(known) == KNOWN, f"no kept picture has {KNOWN - set(known)}")


def drawn(curves, xs=(1, 2), panels=1, **how):
    """Texts of a picture of these curves."""
    keys = [f"p{k}" for k in range(panels)]
    made = figure.Figure("X", "", [figure.Panel(key, "", ("p", "p"), ("y", "y"), **how) for key in keys], None, None)
    points = [rows.Row(key, curve, x, c + x) for key in keys for c, curve in enumerate(curves) for x in xs]
    with tempfile.TemporaryDirectory() as folder:
        pictures.draw(pathlib.Path(folder) / "X.svg", made, points)
        return texts_of(pathlib.Path(folder) / "X.svg", 11)


def check_pictures():
    """Few curves are named at their ends, more in one legend; categories are words; a picture without a point is refused."""
    few, many = ["ldp", "decor", "new"], [f"curve {k}" for k in range(10)]
    for curves, panels in [(few, 1), (few, 2), (few, 3), (many, 1), (many, 2), (many, 3), (many, 4)]:
        texts = drawn(curves, panels=panels)
        most = 2 if curves == few and panels == 3 else 1  # the second panel's names are those of the first beside it
        require(all(texts.count(curve) == most for curve in curves), f"{panels} panels of {len(curves)} curves have texts {texts}")
    close = rows.Row("p0", "none", 1, 1.0, 0.0, 2.0, (("1", 0.0), ("2", 2.0)))
    far = rows.Row("p0", "ldp", 1, 1.1, 0.1, 2.1, (("1", 0.1), ("2", 2.1)))
    panel = pictures.panel_of(figure.Panel("p0", "", ("p", "p"), ("y", "loss")), [close, far])
    require(panel["y"] == "loss\nless that of 'none'" and panel["curves"]["none"] == [[1, 0.0]], f"what hides differences stays: {panel}")
    require(abs(panel["curves"]["ldp"][0][1] - 0.1) < 1e-12 and panel["curves"]["ldp"][0][3] < 0.11, f"seeds are not paired: {panel}")
    doubled = rows.Row("p0", "pairs", 1, 3.0, 1.0, 5.0, (("1", 2.0), ("2", 4.0)))
    single = rows.Row("p0", "ldp", 1, 1.5, 1.0, 2.0, (("1", 1.0), ("2", 2.0)))
    over = pictures.panel_of(figure.Panel("p0", "", ("p", "p"), ("y", "noise"), over="ldp"), [single, doubled])
    require(over["y"] == "noise\nover that of 'ldp'" and over["curves"] == {"ldp": [[1, 1.0]], "pairs": [[1, 2.0, 2.0, 2.0]]},
            f"curves are not drawn over another seed by seed: {over}")
    points = [rows.Row("p0", curve, x, y) for curve, x, y in (("a", 0, 1), ("a", 1, 2), ("b", 0, 1), ("b", 1, 9), ("c", 0, 1))]
    left = {row.curve for row in pictures.below_top(figure.Panel("p0", "", ("p", "p"), ("y", "y"), top=6), points)}
    require(left == {"a", "c"}, f"below the top there are {left}, where of b one point of two is left")
    texts = drawn(few, ticks={1: "good", 2: "bad"})
    require("good" in texts and "bad" in texts and "1.5" not in texts[:2], f"categories are not words: {texts}")
    refused(lambda: drawn([]), subprocess.CalledProcessError, "nothing is drawn without a word")


# --- what is computed beside sotto -----------------------------------------------------------------------------------

def check_gossip():
    """Epsilon and the theorems of [G] as sotto has them; contributions of any sign show no less than those of one sign."""
    import epsilon
    import gossip
    try:
        import gossip_matrices
    except ModuleNotFoundError as error:
        print(f"skipped: {error}")
        raise SystemExit(77)
    for mu in (0.1, 1, 4):
        told = running.sotto_json("account", {"mu": mu, "delta": 1e-5})["epsilon"]
        require(abs(epsilon.epsilon_of(mu, 1e-5) / told - 1) < 1e-6, f"epsilon of mu {mu} is not {told}")
    graph = gossip.er_graph(12)
    edges = gossip.graph_edges(graph)
    target = min(u + v for u, v in edges if 0 in (u, v))
    weights = gossip_matrices.max_degree_weights(edges, 12)
    options = graph | {"mixing": "max-degree", "mechanism": "ldp", "noise_std": 1, "sensitivity": 1, "delta": 1e-5, "rounds": 6,
                       "inputs": "fixed",
                       "targets": target}
    for sums, view, key in [(True, "secure-sum:0", "gossip_sums_bound"), (False, "node:0", "gossip_messages_bound")]:
        matrix = gossip_matrices.gram(weights, 6, target, 0, sums)
        told = running.sotto_json("account", options | {"view": view})["pairs"][0][key]
        ours = epsilon.epsilon_of(gossip_matrices.one_sign(matrix) ** 0.5, 1e-5)
        require(abs(ours / told - 1) < 1e-6, f"{key}: {ours} from the matrix, {told} from sotto")
        low, high = gossip_matrices.any_sign(matrix)
        require(gossip_matrices.one_sign(matrix) <= low * (1 + 1e-9) and low <= high * (1 + 1e-9) and high <= 6 + 1e-6,
                f"{key}: {low} to {high}")


# --- what is computed from kept results ------------------------------------------------------------------------------

def check_kept():
    """Rows from kept results: the right cells, paired by seed; and the tables that are kept are those of the results."""
    import kept
    import kept_figures
    import kept_peers
    import price
    grid = {"settings": {"seeds": [4, 7]}, "cells": [{"way": "a", "epsilon": 1, "runs": [{"y": 0.5}, {"y": 0.25}]},
                                                     {"way": "a", "epsilon": 2, "runs": [{"y": 1.0}, {"y": 2.0}]}]}
    require(kept.runs_of(grid, "y", way="a", epsilon=1) == {"4": 0.5, "7": 0.25}, "a cell's values are not by seed")
    require("2 cells" in refused(lambda: kept.runs_of(grid, "y", way="a"), LookupError, "two cells are taken for one"), "not said how many")
    refused(lambda: kept.runs_of(grid, "y", way="b"), LookupError, "a cell that is not there is taken")
    refused(lambda: kept.less({"1": 1}, {"2": 1}), ValueError, "values of different seeds are paired")
    require(kept.less({"1": 3, "2": 5}, {"2": 1, "1": 2}, 10) == {"1": 10, "2": 40}, "differences are not paired by seed")
    require(kept_figures.best_step({"1": [1, 5], "2": [4, 4]}) == [4, 4], "the best step has not the highest mean")
    with tempfile.TemporaryDirectory() as folder:
        build, price.common.BUILD = price.common.BUILD, pathlib.Path(folder)
        for seed in range(1, 5):
            alone = price.hospitals("alone", seed)["data"].stem
            found = [site for site in kept_peers.HOSPITALS if kept_peers.of_hospital({str(seed): 0}, site)]
            require(found == [alone], f"with seed {seed} {alone} is alone, and the figure says {found}")
        price.common.BUILD = build
    for made in (*kept_figures.FIGURES, *kept_peers.FIGURES):
        path = ROOT / "docs" / "figures" / f"{made.name}.csv"
        require(path.exists(), f"{path.name} is missing: deploy/figures {made.name}")
        old, new = ({(row.panel, row.curve, row.x): row for row in found} for found in (rows.read_csv(path), made.measure(made.size("default"))))
        require(set(old) == set(new), f"{path.name} has other rows than the results: deploy/figures {made.name}")
        for at, row in new.items():
            known = old[at]
            require(abs(known.y - row.y) <= 1e-6 * abs(row.y) + 1e-12 and (known.seeds is None) == (row.seeds is None) and
                    [seed for seed, _ in known.seeds or ()] == [seed for seed, _ in row.seeds or ()],
                    f"{path.name}: {at} is {known.y} there and {row.y} in the results: deploy/figures {made.name}")


# --- figures at the tests' size ----------------------------------------------------------------------------------------

def check_list():
    """Every published figure is offered; bad names and missing data are said."""
    result = subprocess.run([ROOT / "deploy" / "figures", "list"], text=True, stdout=subprocess.PIPE)
    require(result.returncode == 0, f"list: exit code {result.returncode}")
    names = {name for line in result.stdout.splitlines() for name in line.split()[0].split("/")}
    wanted = set("W1 W2 W3 C1 C2 C3 C4 C5 G1 G2 G3 U2 U3 U4 U5 U6 H1 A9A KNOBS ALLOCATION CNN SITES LATE LIARS AVERAGING".split())
    require(wanted <= names, f"list: lacks {sorted(wanted - names)}")
    wrong = figures("C9")
    require(wrong.returncode == 2 and "C9" in wrong.stderr and "C1" in wrong.stderr, "a name that does not exist is not refused")
    with tempfile.TemporaryDirectory() as folder:
        skipped = figures("--tiny", "--out", pathlib.Path(folder) / "kept", "A9A", SOTTO_DATA_DIR=folder)
        require(skipped.returncode == 3 and "a9a.gz" in skipped.stdout, "missing data are not said")
        nothing = figures("--redraw", "--out", pathlib.Path(folder) / "kept", "C1")
        require(nothing.returncode == 3 and "measure it" in nothing.stdout, "redrawing what was never measured is not refused")


def nowhere_above(table, panel, lower, upper, slack):
    """Whether a curve lies nowhere above another (times 1 + slack), where both have points."""
    return all(table.y(panel, lower, x) <= table.y(panel, upper, x) * (1 + slack) for x in table.xs(panel, lower, upper))


def check_surviving_noise():
    """Every plan is an optimum over a larger set than the one before it: ldp, decor, corn, and cdp is the limit."""
    with tempfile.TemporaryDirectory() as folder:
        table = make(pathlib.Path(folder), "C1", "C1")
        again = figures("--redraw", "--out", pathlib.Path(folder) / "kept", "C1")
        require(again.returncode == 0 and "--tiny C1" in again.stdout, f"redrawn with another size: {again.stdout} {again.stderr}")
    for panel in ("epsilon", "p", "n"):
        # 1%: where the optimum is not attained plans are capped.
        for lower, upper in [("cdp", "corn one-step"), ("corn one-step", "decor"), ("decor", "ldp"), ("corn one-step", "pairs q=1")]:
            require(nowhere_above(table, panel, lower, upper, 0.01), f"C1, panel {panel}: {lower} is above {upper}")
    for curve in ("ldp", "decor", "corn one-step"):
        noise = table.ys("epsilon", curve)
        require(abs(noise[3] / noise[30] - 100) < 1e-6 * 100, f"C1: {curve} does not fall with the square of epsilon")
    for ours, published in (("corn horizon", "corn one-step"), ("decor horizon", "decor")):
        require(nowhere_above(table, "late", ours, published, 1e-6), f"C1: {ours} leaves more noise in 200 rounds than {published}")
    for n in (10, 30):
        require(abs(table.y("n", "cdp", n) * n / (table.y("n", "cdp", 10) * 10) - 1) < 1e-9, "C1: cdp is not ldp / n")


def check_training():
    """A figure of trainings: at the same budget less noise survives under cdp than under ldp, and so does less loss."""
    with tempfile.TemporaryDirectory() as folder:
        table = make(pathlib.Path(folder), "W2", "C3")
    for epsilon in (10, 40):
        gaps = {curve: table.y("epsilon", curve, epsilon) for curve in ("ldp", "corn horizon", "cdp")}
        require(gaps["corn horizon"] < gaps["ldp"] and gaps["cdp"] < gaps["ldp"], f"C3: {gaps} at epsilon {epsilon}")
    untrained = {row.y for row in table.rows if row.curve == "zero model"}
    require(len(untrained) == 1 and 601 < untrained.pop() < 602, "C3: the gap of untrained models, which is 601.67, is another")
    require(all(len(row.seeds) == 3 for row in table.rows if row.curve != "zero model"), "C3: a row lacks seeds")
    require(not (running.common.BUILD / "figures" / "tiny" / "C3").exists(), "C3: its trainings are left behind")
    with tempfile.TemporaryDirectory() as folder:
        size = figure.Size("tiny", {}, work=pathlib.Path(folder))
        options = {"epsilon": "10", "seed": "1 2", "rounds": "20"}
        once = running.trainings("quadratic", size, options)
        files = {path: path.stat().st_mtime_ns for path in size.work.glob("quadratic/trainings/*")}
        again = running.trainings("quadratic", size, options)
        require(once == again and files, "a sweep done twice differs")
        require(all(path.stat().st_mtime_ns == time for path, time in files.items()), "what is done was trained again")


def check_mpi():
    """A training of a figure has the same bits with one rank an agent; one that has not is seen."""
    import mpi_check
    options = running.one_training("quadratic", "corn one-step", {"rounds": 20, "agents": 4})
    require(options["seed"] == options["noise-seed"] == "1" and options["utility"] == "one-step" and "keep-runs" not in options,
            f"options of one training: {options}")
    found = mpi_check.check(options)
    require(found == {"agents": 4, "same": True, "differs": []}, f"MPI gives other bits: {found}")
    del options["noise-seed"]  # other noise every time
    found = mpi_check.check(options)
    require(not found["same"] and "NOT" in mpi_check.sentence(found), "other bits are not seen")


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
        for edges in ("florentine_families.edges", "facebook_ego_414.edges"):
            if not os.path.exists(running.data_path(edges)):
                print(f"skipped: SOTTO_DATA_DIR has no {edges}")
                raise SystemExit(77)
        (folder / "leaf").mkdir()
        write_leaf(folder / "leaf", writers=150, records=12)
        table = make(folder, "U6", "U4", "--femnist", folder / "leaf")
    for curve in ("ldp", "mafalda", "space-time"):
        accuracy = table.ys("accuracy", curve)
        require(accuracy and all(0 <= value <= 1 for value in accuracy.values()), f"U4: {curve}: {accuracy}")


{"list": check_list, "verdicts": check_verdicts, "claims": check_claims, "tables": check_tables, "page": check_page, "looks": check_looks,
 "pictures": check_pictures, "gossip": check_gossip, "kept": check_kept,
 "surviving_noise": check_surviving_noise, "training": check_training, "mpi": check_mpi, "femnist": check_femnist}[sys.argv[1]]()
print("ok")
