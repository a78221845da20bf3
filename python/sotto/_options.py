"""Options of the program's commands as keyword arguments of functions."""

from __future__ import annotations

import hashlib
import inspect
import io
import os
import pathlib
import tempfile
import textwrap
from typing import Any, Callable, Iterable, Mapping, TypeVar

import numpy as np

from . import _core
from .errors import ConfigError

#: Options of every command that have no meaning in a function.
_OF_A_COMMAND_LINE = ("json", "help", "config")

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Option:
    """One option, as the program declares it."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.name: str = facts["name"]
        self.group: str = facts["group"]
        self.help: str = facts["help"]
        self.details: str = facts["details"]
        self.kind: str = facts["kind"]
        self.allowed: str = facts["allowed"]
        self.default: str | None = facts["default"]
        self.describes_data: bool = facts["describes_data"]

    @property
    def keyword(self) -> str:
        """The name in Python: ``batch_size`` of ``--batch-size``."""
        return self.name.replace("-", "_") + ("_" if self.name in ("lambda", "global") else "")

    @property
    def annotation(self) -> str:
        """The type of the keyword argument."""
        if self.kind == "flag":
            return "bool"
        if self.kind == "list":
            return "str | Sequence[str] | None"
        if self.name == "covariance":
            return "Covariance | None"
        return "Value | None"


def options_of(command: str) -> list[Option]:
    """Options of a command, except those that only a command line has."""
    options = [Option(facts) for facts in _core.options(command)]
    return [option for option in options if option.name not in _OF_A_COMMAND_LINE]


def _text(value: Any) -> str:
    if value is True:
        return "on"
    if value is False:
        return "off"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(_text(one) for one in value)
    return str(value)


def to_arguments(
    command: str, given: Mapping[str, Any], refused: Iterable[str] = (), agents: int | None = None
) -> list[str]:
    """Converts keyword arguments to the words of a command line.

    None means "not given". True and False mean "on" and "off", or whether a flag is given. A list
    is joined by commas. A covariance may be an array, or a function of the graph.

    :param agents: their number, if no option gives it.
    :raises ConfigError: for an option that does not exist, or is refused here.
    """
    known = {option.keyword: option for option in options_of(command)}
    words: list[str] = []
    for keyword, value in given.items():
        option = known.get(keyword)
        if option is None or keyword in refused:
            raise ConfigError(
                f"{keyword}: has no meaning here"
                if option is not None or keyword in _OF_A_COMMAND_LINE
                else f"{keyword}: no such option of {command}{_nearest(keyword, known)}"
            )
        if value is None or (option.kind == "flag" and not value):
            continue
        words.append("--" + option.name)
        if keyword == "covariance":
            value = _covariance_file(value, given, agents)
        if option.kind == "list" and not isinstance(value, str):
            words.extend(_text(one) for one in value)
        elif option.kind != "flag":
            words.append(_text(value))
    return words


def _covariance_file(value: Any, given: Mapping[str, Any], agents: int | None) -> str:
    """Returns the path of a file with R. ``value`` is a path, an array, or a function.

    A function is called with the :class:`sotto.Graph` of the options and returns an array. Arrays
    are written to runs/covariance-DIGEST.npy and stay there, because the run's config.ini names it.

    :raises ConfigError: unless the value is a matrix of numbers; the program checks the rest.
    """
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if callable(value):
        from .plans import graph

        of_graphs = inspect.signature(graph).parameters
        asked = {keyword: given[keyword] for keyword in given if keyword in of_graphs}
        if agents is None and _core.launched():
            from mpi4py import MPI

            agents = MPI.COMM_WORLD.size
        if agents is not None:
            asked.setdefault("agents", agents)
        value = value(graph(**asked))
    matrix = np.asarray(value)
    if matrix.dtype.kind not in "fiu" or matrix.ndim != 2:
        raise ConfigError(
            f"covariance: an array of shape {matrix.shape} with values of type {matrix.dtype} is not"
            " allowed (allowed: agents x agents real numbers, a function that returns them, or a file)"
        )
    content = io.BytesIO()
    np.save(content, matrix.astype(np.float64), allow_pickle=False)
    digest = hashlib.sha256(content.getvalue()).hexdigest()[:12]
    path = pathlib.Path("runs") / f"covariance-{digest}.npy"
    path.parent.mkdir(exist_ok=True)
    # All ranks write the file, on one file system or several.
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.")
    with open(descriptor, "wb") as file:
        file.write(content.getvalue())
    os.replace(unfinished, path)
    return str(path)


def _nearest(keyword: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(keyword, known, 1)
    return f" (did you mean {near[0]}?)" if near else ""


def described(command: str, refused: Iterable[str] = ()) -> str:
    """The options of a command by groups, for a docstring."""
    lines: list[str] = []
    group = ""
    for option in options_of(command):
        if option.keyword in refused:
            continue
        if option.group != group:
            group = option.group
            lines += ["", f"{group}:"]
        default = f" [{option.default}]" if option.default not in (None, "", "false") else ""
        lines += textwrap.wrap(
            f"{option.keyword}: {option.help}{default}",
            width=92,
            initial_indent="    ",
            subsequent_indent="        ",
        )
    return "\n".join(lines)


def takes_options_of(command: str, refused: Iterable[str] = ()) -> Callable[[_Function], _Function]:
    """Adds the options of a command to a function's docstring and signature."""
    refused = tuple(refused)

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in own}
        added = [
            inspect.Parameter(option.keyword, inspect.Parameter.KEYWORD_ONLY, default=None)
            for option in options_of(command)
            if option.keyword not in refused and option.keyword not in taken
        ]
        setattr(function, "__signature__", signature.replace(parameters=own + added))
        doc = inspect.cleandoc(function.__doc__ or "")
        function.__doc__ = (
            f"{doc}\n\nOptions, as `sotto {command}` has them (docs/cli), with [defaults]:\n"
            f"{described(command, (*refused, *taken))}\n"
        )
        return function

    return decorate
