"""Pictures of figures: their panels as sotto_picture (src/core/picture.hpp) takes them, which lays them out and has gnuplot draw them."""
import json
import re
import subprocess

import common
from rows import Row, mean_row

# Variants that no paper has: pictures mark them as ours.
OURS = ("corn horizon", "decor horizon", "pairs q=1", "pairs q=2", "pairs q=3", "space-time")


# What curves are drawn less of where what they have in common, such as the data of a seed, hides how they differ.
REFERENCE = "none"
HIDDEN = 4  # intervals are so many times wider than the curves differ


def name_of(curve):
    """A curve's name in the picture."""
    base, _, detail = curve.partition(":")
    return f"{base} (ours)" + (f":{detail}" if detail else "") if base in OURS else curve


def panels_of(figure, rows):
    """What is drawn of a figure."""
    drawn = [(panel, below_top(panel, [row for row in rows if row.panel == panel.key and row.curve not in panel.left_out]))
             for panel in figure.panels if panel.drawn]
    return [panel_of(panel, points) for panel, points in drawn if points]


def below_top(panel, rows):
    """The rows below the top of a panel, without curves of which only one of several points is left."""
    if panel.top is None:
        return rows
    kept = [row for row in rows if row.y <= panel.top]
    points = lambda curve, some: sum(row.curve == curve for row in some)
    return [row for row in kept if points(row.curve, kept) > 1 or points(row.curve, rows) == 1]


def panel_of(panel, rows):
    against = panel.against or (None if panel.over else hidden_reference(panel, rows))
    rows = paired(rows, against, lambda y, of: y - of) if against else paired(rows, panel.over, lambda y, of: y / of) if panel.over else rows
    words = panel.rows or (panel.ticks if isinstance(panel.ticks, dict) else {})
    place = {x: k for k, x in enumerate(words)}
    curves = {}
    for row in rows:
        ends = [] if row.low is None else [row.low, row.high]
        curves.setdefault(name_of(panel.names.get(row.curve, row.curve)), []).append([place.get(row.x, row.x), row.y, *ends])
    y = panel.y[1] + (f"\nless that of '{against}'" if against else f"\nover that of '{panel.over}'" if panel.over else "")
    if panel.rows:
        return {"title": panel.title, "x": y, "y": "", "log_x": panel.log_y, "rows": list(words.values()), "curves": curves}
    axis = {"columns": list(words.values()), "x": ""} if words else {"marks": panel.ticks or [], "x": panel.x[1]}
    return axis | {"title": panel.title, "y": y, "log_x": panel.log_x, "log_y": panel.log_y, "bars": panel.bars or bool(against),
                   "joined": panel.joined, "curves": curves}


def hidden_reference(panel, rows):
    """REFERENCE if intervals hide by how much curves differ, and every curve can be paired with it."""
    ends = [end for row in rows if row.low is not None for end in (row.low, row.high)]
    means = [row.y for row in rows]
    if panel.log_y or not ends or max(ends) - min(ends) <= HIDDEN * (max(means) - min(means)):
        return None
    known = {row.x: {seed for seed, _ in row.seeds or ()} for row in rows if row.curve == REFERENCE}
    return REFERENCE if all({seed for seed, _ in row.seeds or ()} == known.get(row.x, "none") for row in rows) else None


def paired(rows, against, how):
    """Every row with how(its value, that of a curve at its place): means and intervals over seeds. That curve itself has no interval."""
    of = {row.x: dict(row.seeds) for row in rows if row.curve == against}
    each = lambda row: {seed: how(value, of[row.x][seed]) for seed, value in row.seeds}
    return [Row(row.panel, row.curve, row.x, how(1.0, 1.0)) if row.curve == against else mean_row(row.panel, row.curve, row.x, each(row))
            for row in rows if row.x in of]


def draw(path, figure, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([common.BUILD / "sotto_picture", path], input=json.dumps(panels_of(figure, rows)), text=True, check=True)
    shrink(path)


def shrink(path):
    """Removes empty groups, defaults, titles that name columns of data, and line ends from gnuplot's SVG."""
    text = re.sub("<title>[^<]*</title>", "", path.read_text(encoding="utf-8"))
    for default in (' stroke-linecap="butt"', ' stroke-linejoin="miter"', ' font-family="Helvetica"', ' class="gridline"'):
        text = text.replace(default, "")
    text = re.sub(r"\s*\n\s*", "\n", text)
    text = re.sub(r'="[^"]*"', lambda value: re.sub(r"(\d\.\d)\d(?=[ ,])", r"\1", value[0]), text)  # not in words
    count = 1
    while count:
        text, count = re.subn(r"<g [^>]*>\s*</g>\n?", "", text)
    text = text.replace('<g id="gnuplot_canvas">', '<g id="gnuplot_canvas" font-family="Helvetica, Arial, sans-serif">')
    common.replace_file(path, text)
