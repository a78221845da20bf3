"""Pictures of figures: panels of named lines, drawn by gnuplot. No picture is wider than a page, so letters keep their size."""
import dataclasses
import json
import re
import subprocess
import textwrap

import common
from axes import Axis, axis_of, quoted
from rows import number

# What all pictures look like, those of the program too (src/core/picture.cpp, which draws the same): colours that people with any colour
# vision can tell apart (Okabe and Ito), black and grey; sizes in pixels, "letter" an upper bound of the mean width of a letter.
STYLE = json.loads((common.ROOT / "src" / "core" / "picture_style.json").read_text(encoding="utf-8"))
WIDTH, ONE_PANEL, HEIGHT, ABOVE, BELOW, LETTER, LINE, SAMPLE = (STYLE["pixels"][name] for name in (
    "width", "one_panel", "height", "above", "below", "letter", "line", "sample"))
# (colour, dash, point; 0: none) of a mechanism, in every figure.
STYLES = {curve: (STYLE["colours"][colour], dash, point) for curve, (colour, dash, point) in STYLE["curves"].items()}
COLOURS = [STYLE["colours"][colour] for colour in STYLE["colours_of_others"]]
# Variants that no paper has: pictures mark them as ours.
OURS = ("corn horizon", "decor horizon", "pairs q=1", "pairs q=2", "pairs q=3", "space-time", "exact accounting")


def name_of(curve):
    """A curve's name in the picture."""
    base, _, detail = curve.partition(":")
    return f"{base} (ours)" + (f":{detail}" if detail else "") if base in OURS else curve


def styles_of(curves):
    """{curve: (colour, dash, point)}. 'NAME: DETAIL' has the colour of NAME. @throws ValueError if two look the same."""
    chosen, colours = {curve: STYLES[curve] for curve in curves if curve in STYLES}, {}
    for curve in curves:
        if curve not in chosen:
            used = [colour for colour, _, _ in chosen.values()]
            base = curve.split(":")[0]
            colour = colours.setdefault(base, STYLES[base][0] if base in STYLES else min(COLOURS, key=used.count))
            taken = [point for _, _, point in chosen.values()]
            chosen[curve] = (colour, 1 + used.count(colour) % 4, min(STYLE["points_of_others"], key=taken.count))
    same = [curve for curve in chosen if list(chosen.values()).count(chosen[curve]) > 1]
    if same:
        raise ValueError(f"curves of one picture look the same: {', '.join(same)}; give them other STYLES")
    return {curve: chosen[curve] for curve in curves}


def block(name, lines):
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


@dataclasses.dataclass
class Plot:
    """A panel with its drawn curves: {curve: rows from left to right}."""
    panel: object
    curves: dict
    x: Axis
    y: Axis
    named: bool = True  # whether curves are named at their ends

    def across(self, row):
        """The place of a row on the x axis: bars of several curves stand side by side."""
        barred = sum(any(point.low is not None for point in points) for points in self.curves.values())
        step = 0 if not self.panel.bars else 0.06 if isinstance(self.panel.ticks, dict) else 0.01 if barred > 1 else 0
        return self.x.moved(row.x, step * (list(self.curves).index(row.curve) - (len(self.curves) - 1) / 2))

    def ends(self, row):
        """The ends of a row's interval that are on the y axis."""
        return [row.y if value is None else min(max(value, self.y.low), self.y.high) for value in (row.low, row.high)]


def plot_of(panel, rows):
    """Axes span all curves and intervals, with room around them if intervals are far wider than the curves differ."""
    inside = [row for row in rows if row.curve not in panel.left_out and (panel.top is None or row.y <= panel.top)]
    curves = {curve: sorted((row for row in inside if row.curve == curve), key=lambda row: row.x)
              for curve in dict.fromkeys(row.curve for row in inside)}
    means = [row.y for row in inside]
    ends = means + [value for row in inside for value in (row.low, row.high) if value is not None]
    slab = not panel.log_y and max(ends) - min(ends) > 4 * (max(means) - min(means)) > 0
    return Plot(panel, curves, axis_of([row.x for row in inside], panel.log_x, panel.ticks, 0.06 if panel.bars else 0.04, 4),
                axis_of(ends, panel.log_y, room=0.8 if slab else 0.04))


def plots_of(figure, rows):
    return [plot_of(panel, [row for row in rows if row.panel == panel.key]) for panel in figure.panels
            if panel.drawn and any(row.panel == panel.key for row in rows)]


def draw(path, figure, rows):
    """Draws a figure. @throws ValueError if two curves look the same, or an axis has fewer than two ticks."""
    script = script_of(path, figure, rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    shrink(path)


def script_of(path, figure, rows):
    """What gnuplot is told: panels in two columns. Few curves are named at their ends, more in a legend: in the free place beside three
    panels, or below. The program writes the same of the same panels (tests/core/picture_examples)."""
    plots = plots_of(figure, rows)
    styles = styles_of(list(dict.fromkeys(curve for plot in plots for curve in plot.curves)))
    lined = {curve for plot in plots for curve, points in plot.curves.items() if plot.panel.joined and len(points) > 1}
    columns = min(len(plots), 2)
    direct = all(can_be_direct(plot) for plot in plots)
    for plot, right in zip(plots, plots[1:]):
        plot.named = not (plots.index(plot) % 2 == 0 and set(plot.curves) <= set(right.curves))
    entries = [(curve, name_of(curve)) for curve in styles]
    width = WIDTH if columns == 2 else ONE_PANEL
    across = 1 if len(plots) == 3 else max(1, int((width - 40) / (LETTER * max(len(name) for _, name in entries) + SAMPLE + 24)))
    below = 0 if direct or len(plots) == 3 else 24 * -(-len(entries) // across) + 14
    canvas = Canvas(width, -(-len(plots) // columns) * HEIGHT + below)
    data, script = [], [f"set terminal svg size {canvas.width},{canvas.height} {STYLE['terminal']}",
                        f"set output {quoted(str(path))}", *STYLE["start"]]
    for p, (plot, box) in enumerate(zip(plots, boxes(plots, width, columns, direct))):
        samples = end_samples(canvas, plot, box, styles, lined) if direct and plot.named else []
        if not direct and plot is plots[-1]:
            left, top = (width / 2 + 60, HEIGHT + ABOVE + 10) if len(plots) == 3 else (30, canvas.height - below + 8)
            step = (width - 40) / across
            samples = [line for e, (curve, name) in enumerate(entries) for line in canvas.sample(
                left + e % across * step, top + e // across * 24, name, styles[curve], curve in lined)]
        blocks, lines = panel_script(f"d{p}", plot, styles)
        data += blocks
        script += [*canvas.margins(box), "unset label", "unset arrow", *axis_names(canvas, plot, box), *samples, *lines]
    return "".join(data) + "\n".join([*script, "unset multiplot"]) + "\n"


@dataclasses.dataclass
class Canvas:
    """gnuplot commands in pixels from the upper left corner."""
    width: int
    height: int

    def place(self, x, y):
        return f"screen {x / self.width:.5f},{1 - y / self.height:.5f}"

    def margins(self, box):
        left, top, right, bottom = box
        return [f"set {name}margin at screen {part:.5f}" for name, part in (
            ("l", left / self.width), ("r", right / self.width), ("t", 1 - top / self.height), ("b", 1 - bottom / self.height))]

    def sample(self, x, y, name, style, lined):
        """A piece of a curve from x, with its name to the right."""
        colour, dash, point = style
        line = [f"set arrow from {self.place(x, y)} to {self.place(x + SAMPLE, y)} nohead {stroke(style)}"] if lined else []
        mark = [f'set label \'\' at {self.place(x + SAMPLE / 2, y)} point pt {point} {STYLE["point"]} lc rgb "{colour}"'] if point else []
        first = y - (name.count("\n") * LINE) / 2
        return line + mark + [f"set label {quoted(part)} at {self.place(x + SAMPLE + 5, first + k * LINE)} left"
                              for k, part in enumerate(name.split("\n"))]


def axis_names(canvas, plot, box):
    """The title, and the names of the axes (none for categories)."""
    left, top, right, bottom = box
    middle, beside = (left + right) / 2, LETTER * max(map(len, plot.y.ticks.values())) + 32
    return [f"set label {quoted(text)} at {canvas.place(x, y)} center{turned}" for text, x, y, turned in (
        (plot.panel.title, middle, top - 20, ""), (plot.panel.y[1], left - beside, (top + bottom) / 2, " rotate"),
        ("" if isinstance(plot.panel.ticks, dict) else plot.panel.x[1], middle, bottom + 49, ""))]


def stroke(style, dash=None):
    return f'lc rgb "{style[0]}" {STYLE["line"]} dt {dash or style[1]}'


def boxes(plots, width, columns, direct):
    """(left, top, right, bottom) of the axes of every plot."""
    left = 42 + LETTER * max(len(text) for plot in plots for text in plot.y.ticks.values())
    beside = [max([16] + [SAMPLE + 24 + LETTER * max(len(line) for curve in plot.curves for line in wrapped(curve, columns).split("\n"))
                          for p, plot in enumerate(plots) if direct and plot.named and p % columns == column
                          and not (columns == 2 and p % 2 == 0 and plot is plots[-1])]) for column in range(columns)]
    axes = (width - columns * left - sum(beside)) / columns
    starts = [left, 2 * left + axes + beside[0]]
    return [(starts[p % columns], p // columns * HEIGHT + ABOVE, starts[p % columns] + axes, (p // columns + 1) * HEIGHT - BELOW)
            for p in range(len(plots))]


def wrapped(curve, columns):
    return textwrap.fill(name_of(curve), 18 if columns == 2 else 24, break_on_hyphens=False, break_long_words=False)


def can_be_direct(plot):
    """Whether names fit at the ends of the curves, and are near them."""
    return len(plot.curves) <= STYLE["most_named_at_ends"] and all(plot.x.part(points[-1].x) > 0.5 for points in plot.curves.values())


def end_samples(canvas, plot, box, styles, lined):
    """Names beside the ends of curves, as near to them as possible without overlap, and thin lines to them."""
    left, top, right, bottom = box
    names = {curve: wrapped(curve, 2 if canvas.width == WIDTH else 1) for curve in plot.curves}
    order = sorted(plot.curves, key=lambda curve: -plot.curves[curve][-1].y)
    wanted = [bottom - plot.y.part(plot.curves[curve][-1].y) * (bottom - top) for curve in order]
    heights = [LINE * (names[curve].count("\n") + 1) + 2 for curve in order]
    commands = []
    for curve, y in zip(order, spread(wanted, heights, top - 8, bottom + 8)):
        end, style, to = plot.curves[curve][-1], styles[curve], right + 10 + (0 if curve in lined else SAMPLE / 2 - 5)
        commands += [f"set arrow from first {number(plot.across(end))},{number(end.y)} to {canvas.place(to, y)} nohead "
                     f'lc rgb "{style[0]}" {STYLE["thin_line"]}', *canvas.sample(right + 10, y, names[curve], style, curve in lined)]
    return commands


def spread(wanted, heights, low, high):
    """Middles of boxes of these heights, from low to high, without overlap and near the wanted ones (ascending)."""
    groups = []
    for middle, height in zip(wanted, heights):
        groups.append([[middle], [height]])
        while True:
            tops = [min(max(sum(middles) / len(middles) - sum(tall) / 2, low), high - sum(tall)) for middles, tall in groups]
            if len(groups) < 2 or tops[-2] + sum(groups[-2][1]) <= tops[-1]:
                break
            middles, tall = groups.pop()
            groups[-1] = [groups[-1][0] + middles, groups[-1][1] + tall]
    return [top + sum(tall[:k]) + tall[k] / 2 for top, (_, tall) in zip(tops, groups) for k in range(len(tall))]


def panel_script(prefix, plot, styles):
    """Data blocks and commands of one panel."""
    panel = plot.panel
    script = [*plot.x.commands("x"), *plot.y.commands("y")]
    intervals = sum(any(row.low is not None for row in points) for points in plot.curves.values())
    data, bands, lines = [], [], []
    for c, (curve, points) in enumerate(plot.curves.items()):
        name, style = f"{prefix}_{c}", styles[curve]
        data.append(block(name, [" ".join(map(number, (plot.across(row), row.y, *plot.ends(row)))) for row in points]))
        if any(row.low is not None for row in points):
            if panel.bars:
                lines.append(f"${name} using 1:2:3:4 with yerrorbars {stroke(style, 1)} pt {style[2]} {STYLE['point']}")
            else:
                bands.append(f'${name} using 1:3:4 with filledcurves lc rgb "{style[0]}" fs transparent solid '
                             f"{min(0.15, 0.45 / intervals):.3f} noborder")
        if panel.joined or not panel.bars:
            marks = f" pt {style[2]} {STYLE['point']} pointinterval {-(-len(points) // 10)}" if style[2] else ""
            lines.append(f"${name} using 1:2 with {'linespoints' if marks else 'lines'} {stroke(style)}{marks}")
    return data, [*script, "plot " + ", \\\n  ".join(bands + lines)]


def shrink(path):
    """Removes empty groups, defaults, titles that name columns of data, and line ends from gnuplot's SVG."""
    text = re.sub("<title>[^<]*</title>", "", path.read_text(encoding="utf-8"))
    for default in (' stroke-linecap="butt"', ' stroke-linejoin="miter"', ' font-family="Helvetica"', ' class="gridline"'):
        text = text.replace(default, "")
    text = re.sub(r"\s*\n\s*", "\n", text)
    text = re.sub(r"(\d\.\d)\d(?=[ ,])", r"\1", text)
    count = 1
    while count:
        text, count = re.subn(r"<g [^>]*>\s*</g>\n?", "", text)
    text = text.replace('<g id="gnuplot_canvas">', '<g id="gnuplot_canvas" font-family="Helvetica, Arial, sans-serif">')
    common.replace_file(path, text)
