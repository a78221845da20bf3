"""The parts of a figure: sizes, panels, claims and captions."""
import dataclasses

import verdicts
from verdicts import NOT_DECIDED


@dataclasses.dataclass(frozen=True)
class Sized:
    """A number or list with a value for each of three sizes. label: its name in a caption. tiny: for tests (None: the default)."""
    label: str
    default: object
    full: object
    tiny: object = None


@dataclasses.dataclass
class Size:
    """How much is measured: the default (minutes), the papers' sizes (full), or a trial for tests (tiny). values: the figure's
    Sized. femnist: folder of FEMNIST. work: folder of finished trainings until the figure is made. kept: what a kept table was measured
    with, where that was something else."""
    name: str = "default"
    values: dict = dataclasses.field(default_factory=dict)
    femnist: str | None = None
    work: object = None
    kept: dict = dataclasses.field(default_factory=dict)

    def __getitem__(self, key):
        if key in self.kept:
            return self.kept[key]
        sized = self.values[key]
        if self.name == "full":
            return sized.full
        return sized.tiny if self.name == "tiny" and sized.tiny is not None else sized.default

    def smaller(self):
        """What is smaller than in the paper, each as 'label ours (the paper's)'."""
        return [f"{sized.label} {shown(self[key])} ({shown(sized.full)})" for key, sized in self.values.items()
                if self[key] != sized.full]


def shown(value):
    """A value of a size as text."""
    if isinstance(value, (list, tuple, range)):
        return ", ".join(shown(item) for item in value)
    return f"{value:g}".replace("e-0", "e-") if isinstance(value, float) else str(value)


@dataclasses.dataclass
class Panel:
    """One set of axes. x and y: (name in the CSV, label). symbol: of x, in sentences. ticks: marks of the x axis, or {value: word}
    for categories. top: points above are not drawn. bars: draw intervals as bars. joined: draw lines between points. drawn: in the
    picture, not only in the table. left_out: curves that are only in the table. names: {curve: its name in the picture}. against: the
    curve whose value every curve is drawn less of, paired by seed (without: see pictures.py); over: divided by. rows: {value of x: word} for points
    beside words, from top to bottom; log_y is then about the axis below them."""
    key: str
    title: str
    x: tuple
    y: tuple
    symbol: str = ""
    log_x: bool = False
    log_y: bool = False
    ticks: list | dict | None = None
    top: float | None = None
    bars: bool = False
    joined: bool = True
    drawn: bool = True
    left_out: tuple = ()
    names: dict = dataclasses.field(default_factory=dict)
    against: str | None = None
    over: str | None = None
    rows: dict | None = None


@dataclasses.dataclass(eq=False)
class Figure:
    """A figure. measure(size) -> rows; caption(table, size) -> Caption. needs: data files. aliases: other names. sizes: {key: Sized}.
    checked(size) -> options of the training that `--check-mpi` repeats with one rank per agent."""
    name: str
    title: str
    panels: list
    measure: object
    caption: object
    needs: tuple = ()
    aliases: tuple = ()
    sizes: dict = dataclasses.field(default_factory=dict)
    checked: object = None

    def size(self, name, femnist=None, work=None, kept=None):
        return Size(name, self.sizes, femnist, work, kept or {})


AGREES, DIFFERS, DEPENDS = "agrees", "differs", "depends on the reading"
NOT_MEASURED = "not measured at this size"


FEW = 3  # so many comparisons with the same verdict are written one by one


def told(cells):
    """Cells as text, grouped by verdict: a few one by one, more with their places and their range."""
    groups = {}
    for label, verdict in cells:
        groups.setdefault(verdict.word, []).append((label, verdict))
    return "; ".join(told_together(word, group, [label for label, _ in cells]) for word, group in groups.items())


def told_together(word, group, labels):
    """Text of the cells with one verdict. labels: of all cells."""
    if not labels[0]:
        return f"{word}, {', '.join(str(verdict) for _, verdict in group)}"
    if len(group) <= FEW or len({verdict.kind for _, verdict in group}) > 1:
        return f"{word} at {', '.join(f'{label}: {verdict}' for label, verdict in group)}"
    found = [label for label, _ in group]
    where = f"all {len(group)}: " if len(group) == len(labels) else ""
    return f"{word} at {where}{places(found, labels)} ({verdicts.reach([verdict for _, verdict in group])})"


def places(found, labels):
    """Labels 'NAME = VALUE' by name, with values as a range if they are consecutive among all labels."""
    by_name = lambda some: {name: [label.rpartition(" = ")[2] for label in some if label.rpartition(" = ")[0] == name]
                            for name in dict.fromkeys(label.rpartition(" = ")[0] for label in some)}
    everything, texts = by_name(labels), []
    for name, values in by_name(found).items():
        start = everything[name].index(values[0])
        numbers = all(value.replace(".", "", 1).isdigit() for value in values)
        follow = len(values) > 2 and numbers and everything[name][start:start + len(values)] == values
        texts.append((f"{name} = " if name else "") + (f"{values[0]} to {values[-1]}" if follow else ", ".join(values)))
    return ", ".join(texts)


@dataclasses.dataclass
class Claim:
    """A claim (a clause), its comparisons as (label, Verdict), the words with which it holds, and the text if there are no
    comparisons."""
    text: str
    cells: list
    expect: tuple
    otherwise: str = NOT_MEASURED

    def outcome(self):
        """Agrees if all comparisons come out as expected, differs if one is decided otherwise, otherwise not decided."""
        words = [verdict.word for _, verdict in self.cells]
        if any(word not in self.expect and word != NOT_DECIDED for word in words):
            return DIFFERS
        return AGREES if words and all(word in self.expect for word in words) else NOT_DECIDED

    def __str__(self):
        return f"{self.text}: {told(self.cells)}" if self.cells else f"{self.text}: {self.otherwise}"


@dataclasses.dataclass
class Readings:
    """A claim whose paper leaves something open that decides it: one Claim for every plausible reading, whose text names the reading.
    It agrees, differs or is not decided where all readings do so alike, and otherwise depends on the reading."""
    text: str
    readings: list

    def outcome(self):
        found = {reading.outcome() for reading in self.readings}
        return found.pop() if len(found) == 1 else DEPENDS

    def __str__(self):
        return f"{self.text}:" + "".join(f"\n  - {reading.text} [{reading.outcome()}]: {told(reading.cells) or reading.otherwise}"
                                         for reading in self.readings)


@dataclasses.dataclass
class Told:
    """Comparisons without a claim."""
    text: str
    cells: list
    otherwise: str = NOT_MEASURED

    def __str__(self):
        return f"{self.text}: {told(self.cells)}" if self.cells else f"{self.text}: {self.otherwise}"


@dataclasses.dataclass
class Caption:
    """paper: what its figure shows (empty: our own figure). setting: what is computed here. claims: the paper's (Claim or Readings), or
    our own if there is no paper. ours: Claim or Told about our own curves. notes: differences in the setup, and why; no verdicts."""
    paper: str
    setting: str
    claims: list
    ours: list = dataclasses.field(default_factory=list)
    notes: str = ""
