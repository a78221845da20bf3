"""What a figure is: sizes, panels, claims and captions. No figure is named here."""
import dataclasses

import verdicts
from verdicts import NOT_DECIDED


@dataclasses.dataclass(frozen=True)
class Sized:
    """A number or list that a figure has in three sizes. label: its name in a caption. tiny: for tests (None: the default)."""
    label: str
    default: object
    full: object
    tiny: object = None


@dataclasses.dataclass
class Size:
    """How much is measured: the default (minutes), the papers' sizes (full), or a trial of the tests (tiny). values: what the
    figure has in several sizes. work: where what is done is kept until the figure is made."""
    name: str = "default"
    values: dict = dataclasses.field(default_factory=dict)
    femnist: str | None = None
    work: object = None

    def __getitem__(self, key):
        sized = self.values[key]
        if self.name == "full":
            return sized.full
        return sized.tiny if self.name == "tiny" and sized.tiny is not None else sized.default

    def smaller(self):
        """What is not as in the paper, each as 'label ours (the paper's)'."""
        return [f"{sized.label} {shown(self[key])} ({shown(sized.full)})" for key, sized in self.values.items()
                if self[key] != sized.full]


def shown(value):
    """A value of a size as text."""
    if isinstance(value, (list, tuple, range)):
        return ", ".join(shown(item) for item in value)
    return f"{value:g}".replace("e-0", "e-") if isinstance(value, float) else str(value)


@dataclasses.dataclass
class Panel:
    """One set of axes. x and y: (name in the CSV, label). symbol: of x, in sentences. ticks: where the x axis is marked, or
    {value: word} of categories. top: what lies above is not drawn. bars: intervals as bars. joined: points of a curve by lines.
    drawn: whether it is in the picture, or only in the table. left_out: curves that are only in the table."""
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


@dataclasses.dataclass(eq=False)
class Figure:
    """name, other names, one line, panels; measure(size) -> rows; caption(table, size) -> Caption. needs: data files.
    sizes: {key: Sized}. checked(size) -> options of one training that `--check-mpi` repeats with one rank an agent."""
    name: str
    title: str
    panels: list
    measure: object
    caption: object
    needs: tuple = ()
    aliases: tuple = ()
    sizes: dict = dataclasses.field(default_factory=dict)
    checked: object = None

    def size(self, name, femnist=None, work=None):
        return Size(name, self.sizes, femnist, work)


AGREES, DIFFERS = "agrees", "differs"
NOT_MEASURED = "not measured at this size"


FEW = 3  # comparisons with the same verdict that are told one by one


def told(cells):
    """Cells as text, those with the same verdict together: a few one by one, more as where they are and how far they reach."""
    groups = {}
    for label, verdict in cells:
        groups.setdefault(verdict.word, []).append((label, verdict))
    return "; ".join(told_together(word, group, [label for label, _ in cells]) for word, group in groups.items())


def told_together(word, group, labels):
    """Cells of one verdict; labels: of all cells."""
    if not labels[0]:
        return f"{word}, {', '.join(str(verdict) for _, verdict in group)}"
    if len(group) <= FEW or len({verdict.kind for _, verdict in group}) > 1:
        return f"{word} at {', '.join(f'{label}: {verdict}' for label, verdict in group)}"
    found = [label for label, _ in group]
    where = f"all {len(group)}: " if len(group) == len(labels) else ""
    return f"{word} at {where}{places(found, labels)} ({verdicts.reach([verdict for _, verdict in group])})"


def places(found, labels):
    """Labels 'NAME = VALUE' by name; the values as a range where they follow each other among all labels."""
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
    """What is said (a clause), the comparisons it is about as (label, Verdict), the verdicts with which it holds, and what is
    told where there are no comparisons."""
    text: str
    cells: list
    expect: tuple
    otherwise: str = NOT_MEASURED

    def outcome(self):
        """Agrees if all comparisons come out as expected, differs if one is decided otherwise, else it is not decided."""
        words = [verdict.word for _, verdict in self.cells]
        if any(word not in self.expect and word != NOT_DECIDED for word in words):
            return DIFFERS
        return AGREES if words and all(word in self.expect for word in words) else NOT_DECIDED

    def __str__(self):
        return f"{self.text}: {told(self.cells)}" if self.cells else f"{self.text}: {self.otherwise}"


@dataclasses.dataclass
class Told:
    """Comparisons nobody claims anything about, told as they come out."""
    text: str
    cells: list
    otherwise: str = NOT_MEASURED

    def __str__(self):
        return f"{self.text}: {told(self.cells)}" if self.cells else f"{self.text}: {self.otherwise}"


@dataclasses.dataclass
class Caption:
    """paper: what its figure shows (empty: our own figure). setting: what was computed here. claims: Claim of the paper, or of ours
    where there is none. ours: Claim or Told about our own curves. notes: what is set up otherwise than in the paper, and why; no
    verdicts."""
    paper: str
    setting: str
    claims: list
    ours: list = dataclasses.field(default_factory=list)
    notes: str = ""
