"""Shared by the figures: running sotto, rows of results, drawing with gnuplot, captions and docs/figures.md.

A figure is measured into rows, and everything else is made from its rows: the CSV holds them, the picture and every
number of the caption come from them.
"""
import concurrent.futures
import contextlib
import csv
import dataclasses
import io
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import common
import grid

CORES = len(os.sched_getaffinity(0))


@dataclasses.dataclass
class Size:
    """How much is measured: the default (minutes), the papers' sizes (full), or a trial of the tests (tiny). work: where the
    sweeps of a figure keep what is done, until the figure is made."""
    name: str = "default"
    femnist: str | None = None
    work: pathlib.Path | None = None

    def of(self, default, full, tiny=None):
        if self.name == "full":
            return full
        return tiny if self.name == "tiny" and tiny is not None else default


@dataclasses.dataclass(frozen=True)
class Row:
    panel: str
    curve: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclasses.dataclass
class Panel:
    """One set of axes. x and y: (name in the CSV, label). ticks: where the x axis is marked."""
    key: str
    title: str
    x: tuple
    y: tuple
    log_x: bool = False
    log_y: bool = False
    ticks: list | None = None
    top: float | None = None
    bars: bool = False


@dataclasses.dataclass(eq=False)
class Figure:
    """name, other names, one line, panels; measure(size) -> rows; caption(rows, size) -> Caption."""
    name: str
    title: str
    panels: list
    measure: object
    caption: object
    needs: tuple = ()
    aliases: tuple = ()


@dataclasses.dataclass
class Caption:
    """paper: what its figure shows (empty: our own figure). setting: what was computed here. claims: (sentence, whether it holds here).
    differs: what is different, and why. extra: what our own curves add."""
    paper: str
    setting: str
    claims: list
    differs: str = ""
    extra: str = ""


class Missing(Exception):
    """Something that a figure needs is not there; the message says what."""


# --- running sotto ---------------------------------------------------------------------------------------------------

def sotto_json(command, options):
    """The JSON object of one command of sotto."""
    return json.loads(common.output_of([common.SOTTO, command, "--json", "-", "--quiet", *grid.arguments(options)]))


def sotto_many(command, list_of_options, keep):
    """keep(JSON object) of many runs, in order, as many at a time as there are cores."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=CORES) as pool:
        return list(pool.map(lambda options: keep(sotto_json(command, options)), list_of_options))


def data_path(name):
    return os.path.join(os.environ.get("SOTTO_DATA_DIR", ""), name)


def sweep_folder(name, size, tiny=None, full=None, settings=None):
    """A sweep file beside this one, done; the folder with all that it leaves. What an interrupted one did is not done again.
    full, tiny: options that replace the file's at that size; settings: options that replace them always."""
    options = dict(settings or {}) | (size.of({}, full or {}, tiny or {}))
    folder = size.work / name
    launch = common.mpirun(CORES) if CORES > 1 else []
    silent = [] if sys.stderr.isatty() else ["--quiet"]
    command = [str(word) for word in [*launch, common.SOTTO, "sweep", pathlib.Path(__file__).parent / f"{name}.ini",
                                      "--output", folder, *silent, *grid.arguments(options)]]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=common.ROOT)
    try:
        code = process.wait()
    except KeyboardInterrupt:
        stop(process)
        raise
    if code != 0:
        raise SystemExit(f"figures: sotto sweep of {name}.ini failed with exit code {code}")
    return folder


def stop(process):
    """At a terminal the signal went to the process too."""
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait(30)


def sweep(name, size, **options):
    """results.csv of a sweep as dictionaries, a cell each."""
    return table_of(sweep_folder(name, size, **options) / "results.csv")


def table_of(path):
    """A CSV file as dictionaries; of columns of one name the first."""
    with open(path, encoding="utf-8") as file:
        names, *lines = csv.reader(file)
    return [dict(reversed(list(zip(names, line)))) for line in lines]


def trainings(name, size, **options):
    """The test trainings of a sweep, that is runs.csv without validation; the sweep must have been done entirely."""
    folder = sweep_folder(name, size, **options)
    return [run for run in table_of(folder / "runs.csv") if run["purpose"] == "test"]


def training_rows(panel, runs, x, metric, row=None):
    """A row for every variant and value of option x (a number where it does not vary) from runs; curves that diverged
    anywhere lack that point."""
    cells = {}
    for run in runs:
        cells.setdefault((run["variant"], float(run[x]) if isinstance(x, str) else x), []).append(run)
    return [(row or mean_row)(panel, variant, value, [float(run[metric]) for run in found])
            for (variant, value), found in cells.items() if all(run["status"] == "done" for run in found)]


def geometric_row(panel, curve, x, values):
    """The geometric mean with its 95% interval; of positive values."""
    row = mean_row(panel, curve, x, [math.log(value) for value in values])
    exp = lambda value: None if value is None else math.exp(value)
    return Row(panel, curve, x, exp(row.y), exp(row.low), exp(row.high))


# --- rows ------------------------------------------------------------------------------------------------------------

def mean_row(panel, curve, x, values):
    """The mean of values with its 95% interval."""
    mean, half_width = common.interval95(values)
    if half_width is None:
        return Row(panel, curve, x, mean)
    return Row(panel, curve, x, mean, mean - half_width, mean + half_width)


def at(rows, panel, curve, x=None):
    """y of one row, or where x is not given of all, by x."""
    found = {row.x: row.y for row in rows if row.panel == panel and row.curve == curve}
    if x is None:
        return found
    return found[x]


def row_at(rows, panel, curve, x):
    return next(row for row in rows if (row.panel, row.curve, row.x) == (panel, curve, x))


def compare(rows, panel, lower, upper, slack=0.0):
    """Whether curve `lower` lies nowhere above curve `upper` (times 1 + slack), where both have points."""
    low, high = at(rows, panel, lower), at(rows, panel, upper)
    return all(low[x] <= high[x] * (1 + slack) for x in low if x in high)


def ratios(rows, panel, upper, lower):
    """upper / lower by x, where both have points."""
    low, high = at(rows, panel, lower), at(rows, panel, upper)
    return {x: high[x] / low[x] for x in high if x in low}


def span(values, form="{:.2f}"):
    """'1.2 to 3.4' of some values."""
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def number(value):
    """Short text that gives the same number back."""
    return "" if value is None else f"{value:.10g}"


COLUMNS = ["panel", "curve", "x_name", "x", "y_name", "y", "low", "high"]


def write_csv(path, figure, rows):
    panels = {panel.key: panel for panel in figure.panels}
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in rows:
        panel = panels[row.panel]
        table.writerow([row.panel, row.curve, panel.x[0], number(row.x), panel.y[0], number(row.y), number(row.low),
                        number(row.high)])
    common.replace_file(path, text.getvalue())


def read_csv(path):
    value = lambda text: float(text) if text else None
    with open(path, encoding="utf-8") as file:
        return [Row(line["panel"], line["curve"], float(line["x"]), float(line["y"]), value(line["low"]),
                    value(line["high"])) for line in csv.DictReader(file)]


# --- pictures --------------------------------------------------------------------------------------------------------

# The same colour, dash and point for a mechanism in every figure.
STYLES = {
    "none": ("#777777", 3, 0), "cdp": ("#000000", 2, 1), "ldp": ("#d62728", 1, 4), "decor": ("#ff7f0e", 1, 8),
    "corn one-step": ("#74a9e8", 1, 6), "corn horizon": ("#08419c", 1, 7), "corn one-step, exact": ("#74a9e8", 4, 6),
    "corn horizon, exact": ("#08419c", 4, 7), "pairs q=1": ("#2ca02c", 1, 9), "pairs q=2": ("#0b5d1e", 1, 11),
    "mafalda": ("#9467bd", 1, 5), "space-time": ("#d4229c", 1, 13), "anti-pgd": ("#8c564b", 1, 10),
    "no shared seed (ldp)": ("#d62728", 2, 0), "a seed for every pair (190)": ("#2ca02c", 1, 0),
    "laplace": ("#ff7f0e", 1, 8), "homomorphic": ("#9467bd", 1, 5),
    "central aggregation, T/n": ("#000000", 2, 0), "constant sign ([G])": ("#ff7f0e", 1, 8), "certified": ("#08419c", 2, 7),
    "exact accounting": ("#08419c", 1, 7), "Muffliato's bound": ("#ff7f0e", 1, 5), "local DP": ("#d62728", 2, 0),
    "all messages (LDP)": ("#d62728", 2, 0), "one server, all data": ("#777777", 1, 3), "trusted aggregator": ("#000000", 2, 1), "each agent alone": ("#8c564b", 1, 10),
    "pairs, records in turn": ("#2ca02c", 4, 0),
    "messages": ("#08419c", 1, 7), "secure sums": ("#9467bd", 1, 5),
}
OTHER_COLOURS = ["#1f77b4", "#e07b00", "#2ca02c", "#9467bd", "#8c564b", "#d4229c", "#7f7f7f", "#17becf"]


def styles_of(curves):
    """gnuplot line styles; 'NAME: DETAIL' shares the colour of NAME, dashed unless it is the first of its name."""
    chosen, colours, dashes = {}, {}, {}
    for curve in curves:
        if curve in STYLES:
            chosen[curve] = STYLES[curve]
            continue
        base = curve.split(":")[0]
        if base not in colours:
            colours[base] = STYLES[base][0] if base in STYLES else OTHER_COLOURS[len(colours) % len(OTHER_COLOURS)]
        dashes[base] = dashes.get(base, 0) + 1
        point = STYLES[base][2] if base in STYLES else [7, 5, 9, 13, 11, 8, 6, 4][list(colours).index(base) % 8]
        chosen[curve] = (colours[base], [1, 2, 3, 4][(dashes[base] - 1) % 4], point)
    return chosen


def quoted(text):
    """For gnuplot's enhanced text in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("_", "\\\\_").replace("@", "\\\\@") + '"'


def block(name, lines):
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def draw(path, figure, rows):
    """The panels beside each other, three in a row, one legend below them."""
    curves = list(dict.fromkeys(row.curve for row in rows))
    styles = styles_of(curves)
    panels = [panel for panel in figure.panels if any(row.panel == panel.key for row in rows)]
    columns = 2 if len(panels) == 4 else min(len(panels), 3)
    lines = -(-len(panels) // columns)
    panel_width, panel_height = (560 if columns == 1 else 430 if columns == 2 else 380), 330
    longest = max(map(len, curves))
    entries = max(1, min(len(curves), int(columns * panel_width / (7.2 * longest + 60))))
    legend = 22 * -(-len(curves) // entries) + 12
    width, height = columns * panel_width, lines * panel_height + legend
    script = [f'set terminal svg size {width},{height} enhanced background rgb "white" font "Helvetica,12"',
              f'set output "{path}"', "set multiplot", "set border 3 back", "set tics nomirror out", "set mytics 1", "set mxtics 1",
              'set grid back lc rgb "#dddddd" lt 1 lw 0.5', "unset key", "set style fill transparent solid 0.15 noborder"]
    data = []
    for p, panel in enumerate(panels):
        drawn = [curve for curve in curves if any(r.panel == panel.key and r.curve == curve for r in rows)]
        shares = (p % columns / columns, 1 - (p // columns + 1) * panel_height / height)
        script += [f"set origin {shares[0]},{shares[1]}", f"set size {1 / columns},{panel_height / height}",
                   f"set title {quoted(panel.title)}", f"set xlabel {quoted(panel.x[1])}",
                   f"set ylabel {quoted(panel.y[1])}", "unset logscale",
                   "set xtics autofreq", "set ytics autofreq", 'set format "%g"']
        inside = [r for r in rows if r.panel == panel.key and (panel.top is None or r.y <= panel.top)]
        script += axis("x", panel.log_x, [r.x for r in inside]) + axis(
            "y", panel.log_y, [r.y for r in inside] + [v for r in inside for v in (r.low, r.high) if v is not None])
        if panel.ticks:
            script.append("set xtics (" + ", ".join(f"{number(t)}" for t in panel.ticks) + ")")
        bands, curves_drawn = [], []
        for c, curve in enumerate(drawn):
            name = f"d{p}_{c}"
            points = sorted((r for r in rows if r.panel == panel.key and r.curve == curve), key=lambda r: r.x)
            if panel.top is not None:
                points = [r for r in points if r.y <= panel.top]
            if not points:
                continue
            if curve == "none" and len(points) == 1:  # without noise nothing depends on x
                points = [dataclasses.replace(points[0], x=x) for x in sorted({r.x for r in inside})]
            shift = (1.0 + 0.012 * (c - len(drawn) / 2)) if panel.bars and panel.log_x else 1.0
            offset = 0.03 * (c - (len(drawn) - 1) / 2) if panel.bars and not panel.log_x else 0.0
            data.append(block(name, [" ".join(number(v) if v is not None else number(r.y) for v in
                                              (r.x * shift + offset, r.y, r.low, r.high)) for r in points]))
            colour, dash, point = styles[curve]
            widths = any(r.low is not None for r in points)
            if widths and not panel.bars:
                low = f"($3>0?$3:{min(r.y for r in points) / 10:g})" if panel.log_y else "3"
                bands.append(f'${name} using 1:{low}:4 with filledcurves lc rgb "{colour}"')
            if widths and panel.bars:
                curves_drawn.append(f'${name} using 1:2:3:4 with yerrorbars lc rgb "{colour}" lw 1.2 pt {point} ps 0.5')
            many = len(points) > 30
            style = "lines" if many or point == 0 else "linespoints"
            mark = "" if style == "lines" else f" pt {point} ps 0.6"
            curves_drawn.append(f'${name} using 1:2 with {style} lc rgb "{colour}" lw 1.6 dt {dash}{mark}')
        script.append("plot " + ", \\\n  ".join(bands + curves_drawn))
    script += ["set origin 0,0", f"set size 1,{legend / height}", "unset title", "unset xlabel", "unset ylabel",
               "unset logscale", "unset border", "unset tics", "unset grid", "set xrange [0:1]", "set yrange [0:1]",
               "set lmargin 0", "set rmargin 0", "set tmargin 0", "set bmargin 0",
               f"set key center center horizontal maxcols {entries} samplen 3 spacing 1.1 width 1",
               "plot " + ", \\\n  ".join(
                   f'NaN with {"lines" if styles[c][2] == 0 else "linespoints"} lc rgb "{styles[c][0]}" lw 1.6 '
                   f'dt {styles[c][1]}' + ("" if styles[c][2] == 0 else f' pt {styles[c][2]} ps 0.6') +
                   f" title {quoted(c)}" for c in curves), "unset multiplot"]
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gnuplot"], input="".join(data) + "\n".join(script) + "\n", text=True, check=True)
    shrink(path)


def axis(name, logarithmic, values):
    """Its range: all values and a little room; 1, 2, 5 marked where it spans little, powers of ten where it spans much."""
    if not logarithmic:
        room = 0.04 * (max(values) - min(values) or abs(values[0]) or 1)
        return [f"set {name}range [{min(values) - room:g}:{max(values) + room:g}]"]
    positive = [value for value in values if value > 0]
    low, high = min(positive), max(positive)
    room = max((high / low) ** 0.04, 1.02)
    ticks = [step * 10.0**decade for decade in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
             for step in (1, 2, 5)] if high / low < 50 else []
    marks = [f"set {name}tics (" + ", ".join(f'"{tick:g}" {tick:g}' for tick in ticks) + ")"] if ticks else []
    form = [f'set format {name} "10^{{%T}}"'] if high / low > 1e4 or high >= 1e5 or low < 1e-3 else []
    return [f"set logscale {name}", f"set {name}range [{low / room:g}:{high * room:g}]", *marks, *form]


def shrink(path):
    """Leaves out of gnuplot's SVG what says nothing: empty groups, defaults, line ends."""
    text = path.read_text(encoding="utf-8")
    for default in (' stroke-linecap="butt"', ' stroke-linejoin="miter"', ' font-family="Helvetica"', ' class="gridline"'):
        text = text.replace(default, "")
    text = re.sub(r"\s*\n\s*", "\n", text)
    text = re.sub(r"(\d\.\d)\d(?=[ ,])", r"\1", text)
    count = 1
    while count:
        text, count = re.subn(r"<g [^>]*>\s*</g>\n?", "", text)
    text = text.replace('<g id="gnuplot_canvas">', '<g id="gnuplot_canvas" font-family="Helvetica, Arial, sans-serif">')
    common.replace_file(path, text)


# --- captions and docs/figures.md ------------------------------------------------------------------------------------

def caption_text(figure, rows, size):
    """The part of a figure's section that follows from its rows."""
    caption = figure.caption(rows, size)
    parts = [f"**Paper.** {caption.paper}"] if caption.paper else []
    parts.append(f"**Here.** {caption.setting}")
    holds = [text for text, true in caption.claims if true]
    fails = [text for text, true in caption.claims if not true]
    if holds:
        parts.append(("**Agrees.** " if caption.paper else "**Found.** ") + "; ".join(holds) + ".")
    if fails:
        parts.append("**Does not agree.** Not so here: " + "; ".join(fails) + ".")
    if caption.differs:
        parts.append(f"**Differs.** {caption.differs}")
    if caption.extra:
        parts.append(f"**Our curves.** {caption.extra}")
    return "\n\n".join(re.sub(r"^(\*\*[^*]+\*\* )([a-z])", lambda found: found[1] + found[2].upper(),
                              re.sub(r"\s+", " ", part)) for part in parts)


def section(figure, rows, size, folder, made):
    names = " and ".join([figure.name, *figure.aliases])
    return (f"## {names}: {figure.title}\n\n![{figure.name}]({folder}/{figure.name}.svg)\n\n"
            f"{caption_text(figure, rows, size)}\n\n{made} Numbers: [{figure.name}.csv]({folder}/{figure.name}.csv).\n")


def made_line(figure, size, seconds, resumed=False):
    """The command, how long it took, and on what."""
    about = common.header()
    flag = "" if size.name == "default" else f" --{size.name}"
    after = " after an interruption" if resumed else ""
    return (f"Made by `deploy/figures{flag} {figure.name}` in {seconds:.0f} s{after}: commit {about['commit']}, "
            f"{about['machine']['processor']}, {about['machine']['cores']} cores, {about['date']}.")


INTRODUCTION = """# Published figures, made again

`deploy/figures NAME...` makes figures, `deploy/figures all` all of them (those below took {minutes:.0f} minutes
together on two cores), `deploy/figures list` names them. `--full` takes the papers' sizes (hours), `--out DIR` writes
elsewhere, `--femnist DIR` says where LEAF's JSON files of FEMNIST are. Trainings that an interrupted one has done are not
done again. Data come from `SOTTO_DATA_DIR` (`deploy/fetch-data`); a figure whose data are missing is skipped and says so.
What a figure shows is computed by sotto (`plan`, `account`, `train`, `sweep`); `bench/figures` only tabulates and draws. The
sweep files there (`*.ini`) are made to be copied.

Papers: [W] Whisper D-SGD, [C] CorN-DSGD, [G] gossip averaging under varying threat models, [U] unified guarantees by matrix
factorization, [H] graph-homomorphic perturbations. The papers' pictures were not at hand, only their texts: where a
text gives no number, trends are compared. Names are paper and number of the figure there.

What holds for all of them:

- Budgets are spent as accounted: the noise that is injected is the noise that is accounted, with the clip that is
  accounted, and tests measure it on the messages. Weights are Metropolis, 1/(1 + larger degree): the papers print
  1/(degree + 1), which is not doubly stochastic on irregular graphs (the published code of [W] uses the larger degree too).
- The papers print a closed form for the budget (`--calibration paper`), which at delta 1e-5 spends less than it
  could below epsilon 36 and more above; the published code of [W] inverts its Theorem 2 (`rdp`); sotto's default is exact. Captions say which is used.
- Bands and bars are 95% intervals of the mean over seeds (Student's t), unless the caption says otherwise. One colour is one
  mechanism: `corn` is the papers' Whisper/CorN, `horizon` minimises the noise of 200 rounds instead of one, `pairs q=1` gives every pair
  of agents a seed and withstands any one curious agent, `cdp` is the trusted aggregator.
"""


def update_page(page, figures, texts, introduction=INTRODUCTION):
    """Replaces the sections of `texts` (by name) in the page, keeps the others, in the order of figures."""
    old = {}
    if page.exists():
        for part in re.split(r"^(?=## )", page.read_text(encoding="utf-8"), flags=re.M)[1:]:
            old[re.match(r"## (\w+)", part).group(1)] = part.rstrip("\n") + "\n"
    merged = old | texts
    ordered = "\n".join(merged[figure.name] for figure in figures if figure.name in merged)
    minutes = sum(int(seconds) for seconds in re.findall(r"^Made by .* in (\d+) s[a-z ]*: commit ", ordered, flags=re.M)) / 60
    common.replace_file(page, introduction.format(minutes=minutes) + "\n" + ordered)


def made_of(page, name):
    """The line about how the section of the page was made."""
    found = re.search(rf"^Made by `deploy/figures[^`\n]* {name}` .*?(?= Numbers: )", page.read_text(encoding="utf-8"),
                      flags=re.M)
    if not found:
        raise SystemExit(f"figures: {page} has no section of {name} to draw again")
    return found.group(0)


@contextlib.contextmanager
def group_file(groups):
    """A file for --seed-groups."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="ascii") as file:
        file.write("\n".join(" ".join(map(str, group)) for group in groups) + "\n")
        file.flush()
        yield file.name
