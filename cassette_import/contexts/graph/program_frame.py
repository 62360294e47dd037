"""The frame of a program: its imports and tables, the head of the function, and the tests of its arguments."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from cassette_import.contexts.graph.errors import NotRepresentable
from cassette_import.contexts.graph.expressions import Names, bare, negated
from cassette_import.contexts.graph.nodes import Constant, Node, Template
from cassette_import.contexts.graph.tracing import Argument, parts_of
from cassette_import.runtime.dispatch.call_sites import CallSite, characters_before

__all__ = ["DEEPEST", "ProgramFrame", "as_name", "assigned_name"]

# ---- the names that variables of a program have: those of the source to which a call site's result is assigned

_Place: TypeAlias = tuple[int, int | None, int, int | None]


def as_name(place: str) -> str:
    """The name of a part of an argument: ``xs[0]`` is ``xs_0``."""
    return "_".join("".join(one if one.isalnum() or one == "_" else " " for one in place).split())


@functools.lru_cache(maxsize=64)
def _assignments(filename: str) -> dict[_Place, str]:
    """The names of the variables of a file, by the position of what is assigned to them."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return {}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target: Any = node.targets[0]
            name = getattr(target, "id", None) or getattr(target, "attr", None)
            if isinstance(name, str):
                found[_position(filename, node.value)] = name
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found[_position(filename, node)] = node.target.id
    return found


def _position(filename: str, node: Any) -> _Place:
    """The position of a node, with columns in characters: those of trees count bytes of UTF-8."""
    first, last = node.lineno, node.end_lineno
    start, end = node.col_offset, node.end_col_offset
    return first, characters_before(filename, first, start), last, characters_before(filename, last, end)


def assigned_name(site: CallSite | None) -> str | None:
    """The name of the variable that gets what a call site computes; None if there is none."""
    if site is None or site.column is None or site.end_column is None:
        return None
    place = site.lineno, site.column, site.end_lineno, site.end_column
    return _assignments(site.filename).get(place)


# ---- the frame of a program: its imports and tables, the head of the function, and the tests of its arguments

DEEPEST: Final = 60
"""How deeply blocks may be nested; Python's parser has a limit of 100."""


class ProgramFrame:
    """A program that is being written.

    Parameters
    ----------
    name:
        The name of the function.

    Attributes
    ----------
    names:
        The names that are taken.
    lines:
        The lines of the function.
    """

    def __init__(self, name: str) -> None:
        self.names = Names()
        self.lines: list[str] = []
        self._function = self.names.new(name if name.isidentifier() else "function")
        self._parameters: list[str] = []

    def line(self, indent: int, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * indent + text)

    def read_arguments(self, arguments: Sequence[Argument]) -> dict[int, str]:
        """Write the tests of the arguments; returns the names of the inputs, by number."""
        self._parameters = [self.names.new(argument.name) for argument in arguments]
        known: dict[int, str] = {}
        for parameter, argument in zip(self._parameters, arguments, strict=True):
            self._read(parameter, argument.template, known)
        return known

    def module(self) -> str:
        """The text of the module."""
        head = [f"import {module}" for module in sorted(self.names.modules)]
        tables = [f"{name} = {text}" for text, name in self.names.tables.items()]
        helpers = [function.source.replace("NAME", name, 1) + "\n" for function, name in self.names.helpers.items()]
        parts = ["\n".join(head), *helpers, "\n".join(tables), f"def {self._function}({', '.join(self._parameters)}):"]
        return "\n\n".join(part for part in parts if part) + "\n" + "\n".join(self.lines) + "\n"

    def _read(self, place: str, template: Template, known: dict[int, str]) -> None:
        """The tests of an argument, and the names of its inputs."""
        if isinstance(template, Node):
            self.unless(1, f"type({place}) is {self.names.function(template.type)}", f"the type of {template.name}")
            name = place if place.isidentifier() else self.names.new(as_name(template.name))
            if name != place:
                self.line(1, f"{name} = {place}")
            known[template.number] = name
        elif isinstance(template, Constant):
            self.unless(1, f"{place} is {self.names.constant(template.value)}", f"{place}, which was a known value")
        else:
            if template.kind not in (list, tuple, dict):
                raise NotRepresentable(
                    f"a program cannot name {template.kind.__qualname__}, the type of {place}\n"
                    "Give its attributes as unknown values, or use `graph`"
                )
            size = f"len({place}) == {len(template.parts)}"
            if template.kind is dict:
                size = f"list({place}) == [{', '.join(map(self.names.constant, template.keys))}]"
            self.unless(1, f"type({place}) is {template.kind.__name__} and {size}", f"the structure of {place}")
            for key, part, _ in parts_of(place, template):
                self._read(f"{place}[{self.names.constant(key)}]", part, known)

    def unless(self, indent: int, test: str, what: str) -> None:
        """Take another path where a test fails."""
        self.line(indent, f"if {bare(negated(test))}:")
        self.line(indent + 1, f"raise LookupError({what!r})")
