"""The tree of a module without the bodies of its functions: what rewriting a module level needs.

Most of a module's text is in its functions, and rewriting a module level leaves these as they are. So stubs replace
their bodies before the text is parsed. The tree is right if it compiles to the code that Python made of the whole
text, except for the functions. This is checked; otherwise the whole text is parsed.

Knows text, trees and code objects; must not know events or files.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Final, NamedTuple

from cassette_import.rewriting.trees.code_matching import is_function, nested_functions, replace_functions

Compile = Callable[[ast.Module], CodeType]
"""Compiles a tree as the module was compiled."""

_LAMBDA: Final = "<lambda>"
_STATIC_ATTRIBUTES: Final = "__static_attributes__"


def tree_without_bodies(text: str, plain: CodeType, compile_tree: Compile) -> ast.Module | None:
    """The tree of a module whose functions are stubs.

    Parameters
    ----------
    text:
        The source of the module.
    plain:
        What Python compiled it to.
    compile_tree:
        Compiles a tree as the module was compiled.

    Returns
    -------
    The tree; None if it is not certain that it is right.
    """
    lines = text.split("\n")
    stubs = list(_stubs(plain, lines))
    if not stubs:
        return None
    for stub in stubs:
        lines[stub.first - 1 : stub.last] = [stub.text, *[""] * (stub.last - stub.first)]
    names = [_name(code) for code in nested_functions(plain) if _has_name(code)]
    if len(set(names)) < len(names):
        return None
    try:
        tree = ast.parse("\n".join(lines), plain.co_filename)
        made = compile_tree(tree)
        ends: dict[_Start, _End] = {}
        if not _compare(made, plain, ends):
            return None
        if ends:  # statements with functions in them end where the last stub ends
            _restore_ends(tree, ends)
            if not _compare(compile_tree(tree), plain, None):
                return None
    except (SyntaxError, ValueError):
        return None
    return tree


def with_plain_functions(code: CodeType, plain: CodeType) -> CodeType:
    """The code of a module level with the functions of the plain code in it: instead of stubs, and of equal ones."""
    functions = {_name(inner): inner for inner in nested_functions(plain) if _has_name(inner)}
    return replace_functions(code, lambda inner: functions[_name(inner)] if _has_name(inner) else inner)


def _has_name(function: CodeType) -> bool:
    return function.co_name != _LAMBDA


# ---- stubs


class _Stub(NamedTuple):
    """The lines of a function's body, and what replaces them."""

    first: int
    last: int
    text: str


def _stubs(plain: CodeType, lines: list[str]) -> Iterator[_Stub]:
    taken = 0
    statements = dict(_attribute_statements(plain))
    for code in sorted(nested_functions(plain), key=lambda function: function.co_firstlineno):
        if not _has_name(code):
            continue
        inside = [line for line in _lines_of(code) if line > code.co_firstlineno]
        first = min(inside, default=0)
        if first <= max(taken, code.co_firstlineno) or max(inside) > len(lines):
            continue
        depth = _depth(lines[code.co_firstlineno - 1])
        indentation = _depth(lines[first - 1])
        if indentation <= depth:
            continue
        last = max(inside)
        while last < len(lines) and _is_inside(lines[last], depth):
            last += 1
        while not lines[last - 1].strip() and last > first:
            last -= 1
        taken = last
        free_names = "".join(f"{name}, " for name in code.co_freevars) or "pass"
        attributes = statements.pop(code.co_qualname.rpartition(".")[0], "")
        yield _Stub(first, last, f"{lines[first - 1][:indentation]}{free_names}{attributes}")


def _attribute_statements(code: CodeType) -> Iterator[tuple[str, str]]:
    """From 3.13 on, a class body stores the names of the attributes that its methods assign: statements that assign
    them, by the qualified name of the class."""
    for const in code.co_consts:
        if isinstance(const, CodeType) and not is_function(const):
            yield from _attribute_statements(const)
    if _STATIC_ATTRIBUTES in code.co_names:
        loaded: object = None
        for instruction in dis.get_instructions(code):
            if instruction.argval == _STATIC_ATTRIBUTES and instruction.opname.startswith("STORE"):
                break
            loaded = instruction.argval
        if isinstance(loaded, tuple) and loaded:
            yield code.co_qualname, "; " + " = ".join(f"self.{name}" for name in loaded) + " = 0"


def _lines_of(code: CodeType) -> Iterator[int]:
    for _, _, line in code.co_lines():
        if line is not None:
            yield line
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _lines_of(const)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_inside(line: str, depth: int) -> bool:
    """Whether a line after the last one with code still belongs to a body: an empty line, or one that is indented."""
    return not line.strip() or _depth(line) > depth


# ---- comparing

_Name = tuple[str, int, tuple[str, ...]]
_Start = tuple[int, int]
_End = tuple[int, int]
_Position = tuple[int | None, int | None, int | None, int | None]


def _name(code: CodeType) -> _Name:
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_qualname, code.co_firstlineno, code.co_varnames[:count]


def _compare(made: CodeType, plain: CodeType, ends: dict[_Start, _End] | None) -> bool:
    """Whether two module levels do the same. Where positions differ in their ends alone, these are noted in `ends`."""
    if (
        made.co_code != plain.co_code
        or made.co_names != plain.co_names
        or made.co_varnames != plain.co_varnames
        or made.co_freevars != plain.co_freevars
        or made.co_cellvars != plain.co_cellvars
        or made.co_flags != plain.co_flags
        or made.co_exceptiontable != plain.co_exceptiontable
        or len(made.co_consts) != len(plain.co_consts)
    ):
        return False
    if made.co_linetable != plain.co_linetable and not _compare_positions(made, plain, ends):
        return False
    in_any_order = _STATIC_ATTRIBUTES in plain.co_names
    return all(
        _compare_constants(one, other, ends, in_any_order)
        for one, other in zip(made.co_consts, plain.co_consts, strict=True)
    )


def _compare_constants(one: object, other: object, ends: dict[_Start, _End] | None, in_any_order: bool) -> bool:
    if in_any_order and type(one) is tuple and type(other) is tuple and set(one) == set(other):
        return True
    if not isinstance(one, CodeType) or not isinstance(other, CodeType):
        return type(one) is type(other) and repr(one) == repr(other)
    if is_function(one) and is_function(other):
        return _name(one) == _name(other) and one.co_freevars == other.co_freevars
    return one.co_name == other.co_name and _compare(one, other, ends)


def _compare_positions(made: CodeType, plain: CodeType, ends: dict[_Start, _End] | None) -> bool:
    if ends is None:
        return False
    for one, other in zip(made.co_positions(), plain.co_positions(), strict=True):
        if one == other:
            continue
        (line, _, column, _), (plain_line, plain_end, plain_column, plain_end_column) = one, other
        if (line, column) != (plain_line, plain_column) or None in other:
            return False
        assert line is not None
        assert column is not None
        assert plain_end is not None
        assert plain_end_column is not None
        ends[line, column] = plain_end, plain_end_column
    return True


def _restore_ends(tree: ast.Module, ends: dict[_Start, _End]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) in ends:
            node.end_lineno, node.end_col_offset = ends[node.lineno, node.col_offset]
