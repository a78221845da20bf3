"""Pictures of figures: panels of lines, drawn by gnuplot."""
import math
import re
import subprocess

import common
from rows import number

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
    "all messages (LDP)": ("#d62728", 2, 0), "one server, all data": ("#777777", 1, 3), "trusted aggregator": ("#000000", 2, 1),
          "each agent alone": ("#8c564b", 1, 10),
    "pairs, records in turn": ("#2ca02c", 4, 0), "decor horizon": ("#ff7f0e", 4, 8),
    "messages": ("#08419c", 1, 7), "secure sums": ("#9467bd", 1, 5),
}
# What sotto has beside the papers' variants: named so in legends.
OURS = ("corn horizon", "decor horizon", "pairs q=1", "pairs q=2", "space-time", "exact accounting")
OTHER_COLOURS = ["#1f77b4", "#e07b00", "#2ca02c", "#9467bd", "#8c564b", "#d4229c", "#7f7f7f", "#17becf"]


def legend_of(curve):
    """A curve's name in the legend."""
    base, _, detail = curve.partition(":")
    return f"{base} (ours)" + (f":{detail}" if detail else "") if base in OURS else curve


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
        hollow = 1 if dashes[base] % 2 == 0 and point % 2 else 0  # gnuplot's point before a filled one is its outline
        chosen[curve] = (colours[base], [1, 2, 3, 4][(dashes[base] - 1) % 4], point - hollow)
    return chosen


def quoted(text):
    """For gnuplot's enhanced text in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("_", "\\\\_").replace("@", "\\\\@") + '"'


def block(name, lines):
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


PANEL_HEIGHT = 330
START = ["set multiplot", "set border 3 back", "set tics nomirror out", "set mytics 1", "set mxtics 1",
         'set grid back lc rgb "#dddddd" lt 1 lw 0.5', "unset key", "set style fill transparent solid 0.15 noborder"]
EMPTY = ["set origin 0,0", "unset title", "unset xlabel", "unset ylabel", "unset logscale", "unset border", "unset tics", "unset grid",
         "set xrange [0:1]", "set yrange [0:1]", "set lmargin 0", "set rmargin 0", "set tmargin 0", "set bmargin 0"]


def draw(path, figure, rows):
    """The panels beside each other, three in a row, one legend below them."""
    panels = [panel for panel in figure.panels if panel.drawn and any(row.panel == panel.key for row in rows)]
    shown = {panel.key for panel in panels}
    curves = list(dict.fromkeys(row.curve for row in rows if row.panel in shown))
    styles = styles_of(curves)
    columns = 2 if len(panels) == 4 else min(len(panels), 3)
    panel_width = 560 if columns == 1 else 430 if columns == 2 else 380
    longest = max(len(legend_of(curve)) for curve in curves)
    entries = max(1, min(len(curves), int(columns * panel_width / (7.8 * longest + 60))))
    legend = 22 * -(-len(curves) // entries) + 12
    width, height = columns * panel_width, -(-len(panels) // columns) * PANEL_HEIGHT + legend
    data, script = [], [f'set terminal svg size {width},{height} enhanced background rgb "white" font "Helvetica,12"',
                        f'set output "{path}"', *START]
    for p, panel in enumerate(panels):
        script += [f"set origin {p % columns / columns},{1 - (p // columns + 1) * PANEL_HEIGHT / height}",
                   f"set size {1 / columns},{PANEL_HEIGHT / height}"]
        blocks, lines = panel_script(f"d{p}", panel, [row for row in rows if row.panel == panel.key], styles)
        data += blocks
        script += lines
    script += [*EMPTY, f"set size 1,{legend / height}",
               f"set key center center horizontal maxcols {entries} samplen 3 spacing 1.1 width 1",
               "plot " + ", \\\n  ".join(f"NaN with {look(styles[c])} title {quoted(legend_of(c))}" for c in curves), "unset multiplot"]
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gnuplot"], input="".join(data) + "\n".join(script) + "\n", text=True, check=True)
    shrink(path)


def look(style, many=False):
    """How a line of this colour, dash and point is drawn; many: without points."""
    colour, dash, point = style
    plain = many or point == 0
    return f'{"lines" if plain else "linespoints"} lc rgb "{colour}" lw 1.6 dt {dash}' + ("" if plain else f" pt {point} ps 0.6")


def panel_script(prefix, panel, rows, styles):
    """Data blocks and commands of one panel."""
    inside = [row for row in rows if panel.top is None or row.y <= panel.top]
    script = [f"set title {quoted(panel.title)}", f"set xlabel {quoted(panel.x[1])}", f"set ylabel {quoted(panel.y[1])}",
              "unset logscale", "set xtics autofreq", "set ytics autofreq", 'set format "%g"']
    script += axis("x", panel.log_x, [row.x for row in inside], 0.1 if panel.bars else 0.04) + axis(
        "y", panel.log_y, [row.y for row in inside] + [v for row in inside for v in (row.low, row.high) if v is not None])
    if panel.ticks:
        script.append("set xtics (" + ", ".join(f"{number(tick)}" for tick in panel.ticks) + ")")
    data, bands, lines = [], [], []
    drawn = list(dict.fromkeys(row.curve for row in rows))
    for c, curve in enumerate(drawn):
        points = sorted((row for row in inside if row.curve == curve), key=lambda row: row.x)
        if points:
            name = f"{prefix}_{c}"
            data.append(block(name, [point_text(panel, row, c, len(drawn)) for row in points]))
            band, own = curve_script(name, panel, points, styles[curve])
            bands += band
            lines += own
    return data, [*script, "plot " + ", \\\n  ".join(bands + lines)]


def point_text(panel, row, place, count):
    """x, y and the ends of the interval; bars of several curves stand a little beside each other."""
    shift = (1.0 + 0.012 * (place - count / 2)) if panel.bars and panel.log_x else 1.0
    offset = 0.03 * (place - (count - 1) / 2) if panel.bars and not panel.log_x else 0.0
    return " ".join(number(row.y if value is None else value) for value in (row.x * shift + offset, row.y, row.low, row.high))


def curve_script(name, panel, points, style):
    """Bands, and lines with bars, of one curve."""
    bands, lines = [], []
    if any(row.low is not None for row in points):
        if panel.bars:
            lines.append(f'${name} using 1:2:3:4 with yerrorbars lc rgb "{style[0]}" lw 1.2 pt {style[2]} ps 0.5')
        else:
            low = f"($3>0?$3:{min(row.y for row in points) / 10:g})" if panel.log_y else "3"
            bands.append(f'${name} using 1:{low}:4 with filledcurves lc rgb "{style[0]}"')
    return bands, lines if lines and not panel.joined else [*lines, f"${name} using 1:2 with {look(style, len(points) > 20)}"]


def axis(name, logarithmic, values, room=0.04):
    """Its range: all values and a little room (a part of it); 1, 2, 5 marked where it spans little, powers of ten where it spans much."""
    if not logarithmic:
        room *= max(values) - min(values) or abs(values[0]) or 1
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
