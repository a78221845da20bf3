"""Axes of pictures: ranges and ticks."""
import dataclasses
import math

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def quoted(text):
    """Text for gnuplot, without markup."""
    return "'" + text.replace("'", "''").replace("\n", "'.\"\\n\".'") + "'"


@dataclasses.dataclass
class Axis:
    """From low to high; ticks: {value: text}."""
    low: float
    high: float
    log: bool
    ticks: dict

    def part(self, value):
        """The place of a value on the axis, from 0 to 1."""
        scale = math.log if self.log else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))

    def moved(self, value, part):
        """The value that lies this part of the axis further."""
        return value * (self.high / self.low) ** part if self.log else value + (self.high - self.low) * part

    def commands(self, name):
        """Commands for gnuplot. @throws ValueError with fewer than two ticks."""
        if len(self.ticks) < 2:
            raise ValueError(f"the {name} axis from {self.low:g} to {self.high:g} has {len(self.ticks)} ticks; it needs two")
        marks = ", ".join(f"{quoted(text)} {value:.10g}" for value, text in self.ticks.items())
        return [f"{'set' if self.log else 'unset'} logscale {name}", f"set {name}range [{self.low:.10g}:{self.high:.10g}]",
                f"set {name}tics ({marks})"]


def axis_of(values, log, ticks=None, room=0.04, most=8):
    """An axis of all values and a little room (a part of their span). ticks: its marks, or {value: word} for categories. most: the
    most ticks within a few powers of ten."""
    if isinstance(ticks, dict):
        return Axis(min(ticks) - 0.5, max(ticks) + 0.5, False, ticks)
    values = [value for value in values if value > 0] if log else values
    low, high = min(values), max(values)
    if log:
        factor = max((high / low) ** room, 1.02)
        axis = Axis(low / factor, high * factor, True, {})
    else:
        span = (high - low or abs(low) or 1) * room
        axis = Axis(low - span, high + span, False, {})
    inside = [tick for tick in ticks or [] if axis.low <= tick <= axis.high]
    axis.ticks = named(inside if len(inside) > 1 else log_ticks(axis.low, axis.high, most) if log else even_ticks(axis.low, axis.high))
    return axis


def even_ticks(low, high):
    """Three to seven multiples of 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((high - low) / 3))
    step = max(factor for factor in (1, 2, 2.5, 5) if factor * power <= (high - low) / 3) * power
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def log_ticks(low, high, most):
    """Powers of ten if there are three; else 1, 2 and 5 or 1 and 3 times these; else even ticks."""
    powers = [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    inside = lambda values: [value for value in values if low <= value <= high]
    decades = inside(powers)
    if len(decades) > 2:
        return decades[::math.ceil(len(decades) / 6)]
    finer = [inside(step * power for power in powers for step in steps) for steps in ((1, 2, 5), (1, 3))]
    return next((found for found in finer if 2 < len(found) <= most), None) or even_ticks(low, high)


def named(values):
    """{value: text}; written as powers of ten if one is far from 1."""
    exponents = [round(math.log10(value)) if value > 0 else 0 for value in values]
    powers = all(abs(value / 10.0**exponent - 1) < 1e-9 for value, exponent in zip(values, exponents))
    if powers and not (min(values) >= 1e-3 and max(values) < 1e5):
        return {value: "10" + str(exponent).translate(RAISED) for value, exponent in zip(values, exponents)}
    return {value: f"{value:g}" for value in values}
