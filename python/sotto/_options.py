"""Options of the program's commands as keyword arguments of functions."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, Callable, Iterable, Mapping, TypeVar

from . import _core
from .errors import ConfigError

#: Of every command, and without meaning in a function.
_OF_A_COMMAND_LINE = ("json", "help", "config")

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Option:
    """One option, as its declaration in the program says it."""

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
        """What a type checker takes."""
        if self.kind == "flag":
            return "bool"
        if self.kind == "list":
            return "str | Sequence[str] | None"
        return "Value | None"


def options_of(command: str) -> list[Option]:
    """Options of a command of the program, but those that only a command line has."""
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


def to_arguments(command: str, given: Mapping[str, Any], refused: Iterable[str] = ()) -> list[str]:
    """Keyword arguments as the words of a command line.

    None means "not given"; True and False are "on" and "off", or whether a flag stands there; a
    list is joined by commas.

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
        if option.kind == "list" and not isinstance(value, str):
            words.extend(_text(one) for one in value)
        elif option.kind != "flag":
            words.append(_text(value))
    return words


def _nearest(keyword: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(keyword, known, 1)
    return f" (did you mean {near[0]}?)" if near else ""


def described(command: str, refused: Iterable[str] = ()) -> str:
    """The options of a command for a docstring, by their groups."""
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
    """Gives a function ``**options`` of a command in its docstring and signature."""
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
