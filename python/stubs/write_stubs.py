"""Writes the types of functions that take the program's options: PACKAGE/NAME.pyi for each module.

usage: write_stubs.py PACKAGE   (a folder with the built package)

A stub is the module's own source without bodies, with `**options` replaced by the options.
"""

from __future__ import annotations

import ast
import pathlib
import sys

import sotto._options

VALUE = "Value"


def options_of(decorator: ast.expr) -> str | None:
    """The command of `@takes_options_of("command", ...)`."""
    if (
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Name)
        and decorator.func.id == "takes_options_of"
    ):
        return ast.literal_eval(decorator.args[0])
    return None


def taken(function: ast.FunctionDef, command: str, refused: set[str]) -> None:
    """Replaces **options by the command's own."""
    own = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
    for option in sotto._options.options_of(command):
        if option.keyword in own or option.keyword in refused:
            continue
        function.args.kwonlyargs.append(
            ast.arg(option.keyword, ast.Name(option.annotation, ast.Load()))
        )
        function.args.kw_defaults.append(ast.Constant(...))
    function.args.kwarg = None


class Stub(ast.NodeTransformer):
    """A module without bodies."""

    def __init__(self, refused: dict[str, set[str]]) -> None:
        self.refused = refused

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        for decorator in node.decorator_list:
            command = options_of(decorator)
            if command is not None:
                taken(node, command, self.refused[node.name])
        node.decorator_list = [d for d in node.decorator_list if options_of(d) is None]
        node.body = [ast.Expr(ast.Constant(...))]
        return node


def stub_of(name: str, source: str, module: object) -> str | None:
    """Nothing where no function takes options."""
    if "takes_options_of(" not in source:
        return None
    refused: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.args.kwarg is not None:
            function = getattr(module, node.name, None)
            if node.name == "__init__":
                function = module.Agent.__init__  # type: ignore[attr-defined]
            if function is None:
                continue
            import inspect

            allowed = set(inspect.signature(function).parameters)
            for command in sotto._options._core.command_names():
                keywords = {o.keyword for o in sotto._options.options_of(command)}
                refused.setdefault(node.name, set()).update(keywords - allowed)
    tree = Stub(refused).visit(ast.parse(source))
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.FunctionDef) and node.name.startswith("_"))
    ]
    head = (
        "import numpy.typing as _npt, os as _os, sotto.plans as _plans\n"
        "from typing import Any as _Any, Callable as _Callable, Sequence, Union\n"
        f"{VALUE} = Union[str, int, float, bool]\n"
        "_Matrix = _npt.NDArray[_Any]\n"
        "Covariance = Union[str, _os.PathLike[str], _Matrix, _Callable[[_plans.Graph], _Matrix]]\n"
    )
    text = ast.unparse(ast.fix_missing_locations(tree))
    future = "from __future__ import annotations\n"
    return text.replace(future, future + head, 1)


def main() -> None:
    package = pathlib.Path(sys.argv[1])
    for path in sorted(package.glob("*.py")):
        if path.stem.startswith("_"):
            continue
        module = __import__(f"sotto.{path.stem}", fromlist=["sotto"])
        stub = stub_of(path.stem, path.read_text(encoding="utf-8"), module)
        if stub is not None:
            path.with_suffix(".pyi").write_text(stub + "\n", encoding="utf-8")


main()
