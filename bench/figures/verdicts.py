"""The rule by which figures say lower, higher, the same or not decided.

Values are paired by seed. The rule takes the 95% interval (Student's t) of their differences or, on a logarithmic axis, of the
logarithms of their ratios. If a value has no logarithm, it takes differences, and a margin of factor f is f - 1 of the second's mean.
The same: the whole interval lies within the margin. Otherwise lower or higher: the interval excludes 0. Everything else is not decided.
Intervals of numbers computed without chance have no width. The default margin is TOLERANCE, relative, for rounding and solvers.
"""
import dataclasses
import math

import common

LOWER, HIGHER, SAME, NOT_DECIDED = "lower", "higher", "the same", "not decided"
# Of numbers compared graph by graph: on no graph higher, on no graph lower, and each on some.
NOT_ABOVE, NOT_BELOW, VARIES = "not above", "not below", "different by graph"
TOLERANCE = 1e-4


@dataclasses.dataclass(frozen=True)
class Values:
    """A number computed without chance, or a value for every seed."""
    number: float | None = None
    by_seed: dict | None = None


def exact(number):
    return Values(number=float(number))


def combine(function, *values):
    """Applies a function of numbers seed by seed; an exact number counts for every seed. All values must have the same seeds."""
    seeded = [value.by_seed for value in values if value.by_seed is not None]
    if not seeded:
        return exact(function(*(value.number for value in values)))
    if any(set(found) != set(seeded[0]) for found in seeded):
        raise ValueError(f"values with different seeds cannot be paired: {[sorted(found) for found in seeded]}")
    at = lambda value, seed: value.number if value.by_seed is None else value.by_seed[seed]
    return Values(by_seed={seed: function(*(at(value, seed) for value in values)) for seed in seeded[0]})


def at_shared_seeds(first, second):
    """Both values at the seeds that both have."""
    shared = [seed for seed in first.by_seed if seed in second.by_seed]
    return [Values(by_seed={seed: value.by_seed[seed] for seed in shared}) for value in (first, second)]


def ratio(first, second):
    return combine(lambda a, b: a / b if b else math.inf if a else math.nan, first, second)


def difference(first, second):
    return combine(lambda a, b: a - b, first, second)


RATIO, DIFFERENCE, VALUE = "ratio", "difference", "value"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The word, and the middle and ends of the interval: of first / second, of first - second, or of a value compared with a number.
    why: the reason if there is no interval. ends: what low and high are the ends of."""
    word: str
    middle: float
    low: float | None = None
    high: float | None = None
    kind: str = DIFFERENCE
    why: str = ""
    ends: str = "intervals"

    def __str__(self):
        unit = " times" if self.kind == RATIO else ""
        ends = f"{text_of(self.low, self.kind)} to {text_of(self.high, self.kind)}" if self.low is not None else self.why
        if self.low is not None and math.isclose(self.low, self.high, rel_tol=1e-4, abs_tol=1e-12):
            return f"{text_of(self.middle, self.kind)}{unit}"
        return f"{text_of(self.middle, self.kind)}{unit} ({ends})"

    def moved(self, function, kind):
        """The same verdict in other units."""
        low, high = (None if end is None else function(end) for end in (self.low, self.high))
        return dataclasses.replace(self, middle=function(self.middle), low=low, high=high, kind=kind)


def text_of(number, kind):
    """Three digits; a ratio near 1 gets enough to show on which side of 1 it is."""
    if kind == RATIO and TOLERANCE < abs(number - 1) < 0.005:
        return f"{number:.{min(8, 1 - math.floor(math.log10(abs(number - 1))))}f}"
    return f"{number:{'+' if kind == DIFFERENCE else ''}.3g}"


def reach(found):
    """The range of several verdicts of one kind, and the range of the ends of their intervals."""
    unit = " times" if found[0].kind == RATIO else ""
    span = lambda values: " to ".join(dict.fromkeys(text_of(end, found[0].kind) for end in (min(values), max(values))))
    middles = span([one.middle for one in found]) + unit
    ends = [end for one in found if one.low is not None for end in (one.low, one.high)]
    return middles if not ends or span(ends) + unit == middles else f"{middles}; {found[0].ends} within {span(ends)}"


def verdict(first, second, log=False, margin=None):
    """The verdict on first against second. margin: with log a factor above 1, otherwise an absolute difference."""
    if log and min(numbers(first) + numbers(second)) > 0:
        return decided(combine(lambda a, b: math.log(a / b), first, second),
                       math.log(margin) if margin else TOLERANCE).moved(math.exp, RATIO)
    size = max(abs(number) for number in numbers(first) + numbers(second))
    if log and margin:
        margin = (margin - 1) * abs(mean(second))
    return decided(difference(first, second), margin or TOLERANCE * size)


def by_graph(first, second, log=False, margin=None):
    """The verdict on numbers that are computed without chance on every graph (a seed each): on each graph exactly, and then on all of
    them. The middle is the mean over graphs, low and high are the smallest and the largest of them."""
    if first.by_seed is None:
        return verdict(first, second, log, margin)
    pairs = combine(lambda a, b: verdict(exact(a), exact(b), log, margin), first, second).by_seed
    words = {pair.word for pair in pairs.values()}
    word = (next(iter(words)) if len(words) == 1 else NOT_ABOVE if words == {LOWER, SAME} else NOT_BELOW if words == {HIGHER, SAME}
            else VARIES)
    return dataclasses.replace(verdict(first, second, log, margin), word=word, low=min(pair.middle for pair in pairs.values()),
                               high=max(pair.middle for pair in pairs.values()), ends="graphs")


def against(values, number, log=False, margin=None):
    """The verdict on values against a number, in the units of the values."""
    found = verdict(values, exact(number), log, margin)
    return found.moved((lambda x: x * number) if found.kind == RATIO else (lambda x: x + number), VALUE)


def decided(pairs, margin):
    """The verdict on differences, or logarithms of ratios."""
    found = numbers(pairs)
    if not all(math.isfinite(number) for number in found):
        return Verdict(NOT_DECIDED, math.nan, why="a value is not finite")
    middle, half = (found[0], 0.0) if pairs.by_seed is None else common.interval95(found)
    if half is None:
        return Verdict(NOT_DECIDED, middle, why="one seed")
    return Verdict(word_of(middle - half, middle + half, margin), middle, middle - half, middle + half)


def word_of(low, high, margin):
    """The word for an interval from low to high."""
    if -margin <= low and high <= margin:
        return SAME
    return LOWER if high < 0 else HIGHER if low > 0 else NOT_DECIDED


def mean(value):
    return sum(numbers(value)) / len(numbers(value))


def numbers(value):
    return [value.number] if value.by_seed is None else list(value.by_seed.values())
