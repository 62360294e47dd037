"""A function found by its own lines: only these are parsed, and its name says which scopes are around it.

A `def` begins in the line that its code object names. It ends before the next line that is not indented more deeply.
If that line is within quotes or brackets, the lines do not parse; the caller then parses more of the text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Final

from cassette_import.rewriting.trees.places import Index, Place, fits

_DEFINITION: Final = re.compile(r"([ \t]*)(?:@|def\b|async[ \t]+def\b)")
OF_ANY_DEPTH: Final = re.compile(r"[ \t]*(?:\Z|[#)\]}])")
"""Lines whose indentation does not show whether they belong to a block: empty lines, comments, closing brackets."""
_DECLARATION: Final = re.compile(r"\bglobal\b((?:[^\n\\]|\\\r?\n)*)")
_NAME: Final = re.compile(r"\w+")
_LOCALS: Final = "<locals>"
_LAMBDA: Final = "<lambda>"


class FunctionLines:
    """Finds functions by their own lines in the text of one module.

    Parameters
    ----------
    text:
        The text of the module.
    are_names_enough:
        Whether the names of the scopes around a function are all that has to be known of them.
    """

    def __init__(self, text: str, are_names_enough: bool = True) -> None:
        self.lines: Final = text.split("\n")
        declarations = _DECLARATION.findall(text) if "global" in text else []
        self._global_names = {name for names in declarations for name in _NAME.findall(names)}
        self._is_ordinary = are_names_enough and "\f" not in text and "\r" not in text

    def find(self, code: CodeType, parse: Callable[[str], ast.Module]) -> Place | None:
        """The place of a function. Its node is new, and belongs to the caller.

        Parameters
        ----------
        code:
            The function's code.
        parse:
            Parses a text.

        Returns
        -------
        The place; None if it is not certain.
        """
        name = code.co_qualname
        if not self._is_ordinary or name.partition(".")[0] in self._global_names:
            return None  # the name does not show all scopes
        if not 0 < code.co_firstlineno <= len(self.lines):
            return None
        return self._find_lambda(code, parse) if name.endswith(_LAMBDA) else self._find_definition(code, parse)

    def _find_definition(self, code: CodeType, parse: Callable[[str], ast.Module]) -> Place | None:
        scopes, first = _scopes(code.co_qualname), code.co_firstlineno
        header = _DEFINITION.match(self.lines[first - 1])
        if scopes is None or header is None or bool(header[1]) is not bool(scopes):
            return None
        body = _parsed(self.lines, first, self._last_line(code, len(header[1])), parse)
        node = body[0] if body is not None and len(body) == 1 else None
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not fits(node, code):
            return None
        return Place(node, scopes, is_shared=False)

    def _find_lambda(self, code: CodeType, parse: Callable[[str], ast.Module]) -> Place | None:
        """The place of a lambda in a `def`: only the nearest `def` above it of the right name is parsed."""
        around, _, _ = code.co_qualname.partition(f".{_LOCALS}.{_LAMBDA}")
        scopes, name = _scopes(around), around.rpartition(".")[2]
        if scopes is None:
            return None
        first, pattern = code.co_firstlineno, re.compile(rf"([ \t]*)(?:async[ \t]+)?def[ \t]+{name}\b")
        while first and ("def" not in self.lines[first - 1] or not pattern.match(self.lines[first - 1])):
            first -= 1
        if not first or ((depth := depth_of_line(self.lines[first - 1])) == 0 and scopes):
            return None
        body = _parsed(self.lines, first, self._last_line(code, depth), parse)
        place = None if body is None else Index(ast.Module(list(body), [])).find(code)
        if place is None or place.qualified_name != name + code.co_qualname[len(around) :]:
            return None
        return Place(place.node, (*scopes, *place.scopes), is_shared=False)

    def _last_line(self, code: CodeType, depth: int) -> int:
        """The last line of a definition that is indented by `depth` characters."""
        lines = self.lines
        last = max(_lines_of(code))
        while last < len(lines):
            line = lines[last]
            if not OF_ANY_DEPTH.match(line) and depth_of_line(line) <= depth:
                break
            last += 1
        return last


def depth_of_line(line: str) -> int:
    """By how many characters a line is indented."""
    return len(line) - len(line.lstrip(" \t"))


def parses(lines: Sequence[str], first: int, last: int) -> bool:
    """Whether some lines, which are numbered from 1 on, are whole statements of one depth."""
    return _parsed(lines, first, last, ast.parse) is not None


def _parsed(
    lines: Sequence[str], first: int, last: int, parse: Callable[[str], ast.Module]
) -> Sequence[ast.stmt] | None:
    """The statements in some lines at the positions that they have in the module; None if they do not parse."""
    is_indented = lines[first - 1][:1] in (" ", "\t")
    above = "\n" * (first - 2) + "if 1:\n" if is_indented else "\n" * (first - 1)
    try:
        body = parse(above + "\n".join(lines[first - 1 : last])).body
    except (SyntaxError, ValueError):
        return None
    return body[0].body if is_indented else body  # type: ignore[attr-defined]  # its kind is known


def _scopes(qualified_name: str) -> tuple[ast.AST, ...] | None:
    """The scopes that a qualified name names, without their bodies; None if one of them is no class or `def`."""
    if _LAMBDA in qualified_name:
        return None
    *names, _ = qualified_name.split(".")
    scopes: list[ast.AST] = []
    for name in names:
        if name == _LOCALS:
            scope = scopes.pop()
            assert isinstance(scope, ast.ClassDef)
            arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            scopes.append(ast.FunctionDef(name=scope.name, args=arguments, body=[], decorator_list=[]))
        else:
            scopes.append(ast.ClassDef(name=name, bases=[], keywords=[], body=[], decorator_list=[]))
    return tuple(scopes)


def _lines_of(code: CodeType) -> Iterator[int]:
    for _, _, line in code.co_lines():
        if line is not None:
            yield line
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _lines_of(const)
