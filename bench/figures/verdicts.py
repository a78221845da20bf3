"""The one rule by which a figure says lower, higher, the same or not decided.

Values that have seeds are paired by seed. Their differences, or on a logarithmic axis the logarithms of their ratios, have a
95% interval (Student's t); where a value has no logarithm, differences, and a margin that is a factor f is f - 1 of the second's mean. The same: the whole interval lies within the margin that the sentence states. Otherwise lower or
higher: the interval excludes 0. Everything else is not decided. Numbers that were computed without chance are compared as
intervals of no width. Where a sentence states no margin it is TOLERANCE, relative: rounding and solvers' stopping.
"""
import dataclasses
import math

import common

LOWER, HIGHER, SAME, NOT_DECIDED = "lower", "higher", "the same", "not decided"
TOLERANCE = 1e-6


@dataclasses.dataclass(frozen=True)
class Values:
    """A number that was computed exactly, or a value for every seed."""
    number: float | None = None
    by_seed: dict | None = None


def exact(number):
    return Values(number=float(number))


def combine(function, *values):
    """function of numbers, applied seed by seed; exact numbers count for every seed. Seeds must be the same everywhere."""
    seeded = [value.by_seed for value in values if value.by_seed is not None]
    if not seeded:
        return exact(function(*(value.number for value in values)))
    if any(set(found) != set(seeded[0]) for found in seeded):
        raise ValueError(f"values with different seeds cannot be paired: {[sorted(found) for found in seeded]}")
    at = lambda value, seed: value.number if value.by_seed is None else value.by_seed[seed]
    return Values(by_seed={seed: function(*(at(value, seed) for value in values)) for seed in seeded[0]})


def ratio(first, second):
    return combine(lambda a, b: a / b if b else math.inf if a else math.nan, first, second)


def difference(first, second):
    return combine(lambda a, b: a - b, first, second)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """word; the middle and ends of the interval of first - second, or of first / second with log. why: where there is none."""
    word: str
    middle: float | None = None
    low: float | None = None
    high: float | None = None
    log: bool = False
    why: str = ""

    def __str__(self):
        if self.middle is None:
            return self.why
        unit = " times" if self.log else ""
        sign = "" if self.log else "+"
        if self.low is None:
            return f"{self.middle:{sign}.3g}{unit} ({self.why})"
        if math.isclose(self.low, self.high, rel_tol=1e-4, abs_tol=1e-12):
            return f"{self.middle:{sign}.3g}{unit}"
        return f"{self.middle:{sign}.3g}{unit} ({self.low:{sign}.3g} to {self.high:{sign}.3g})"


def verdict(first, second, log=False, margin=None):
    """Of first against second. margin: with log a factor above 1, otherwise an absolute difference."""
    if log and min(numbers(first) + numbers(second)) > 0:
        pairs = combine(lambda a, b: math.log(a / b), first, second)
        return decided(pairs, True, math.log(margin) if margin else TOLERANCE)
    size = max(abs(number) for number in numbers(first) + numbers(second))
    if log and margin:
        margin = (margin - 1) * abs(sum(numbers(second)) / len(numbers(second)))
    return decided(difference(first, second), False, margin or TOLERANCE * size)


def decided(pairs, log, margin):
    """The verdict on differences, or logarithms of ratios."""
    found = numbers(pairs)
    if not all(math.isfinite(number) for number in found):
        return Verdict(NOT_DECIDED, log=log, why="a value is not finite")
    middle, half = (found[0], 0.0) if pairs.by_seed is None else common.interval95(found)
    back = math.exp if log else float
    if half is None:
        return Verdict(NOT_DECIDED, back(middle), log=log, why="one seed")
    return Verdict(word_of(middle - half, middle + half, margin), back(middle), back(middle - half), back(middle + half), log)


def word_of(low, high, margin):
    """The rule."""
    if -margin <= low and high <= margin:
        return SAME
    return LOWER if high < 0 else HIGHER if low > 0 else NOT_DECIDED


def numbers(value):
    return [value.number] if value.by_seed is None else list(value.by_seed.values())
