"""The tree of a module without the bodies of its functions: what rewriting a module level needs.

Most of a module's text is in its functions, and rewriting a module level leaves these as they are. So stubs replace
their bodies before the text is parsed, and the plain functions replace the stubs in the code that results.

A body ends before the next line that has code of the module level or of a class: the plain code names these lines.
Where other text stands between the two, the function is parsed by itself to see whether it ends there. A function whose
end is not certain is no stub.
"""

from __future__ import annotations

import ast
import dis
from bisect import bisect_right
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.rewriting.trees.code_matching import nested_functions, replace_functions
from cassette_import.rewriting.trees.function_lines import OF_ANY_DEPTH, depth_of_line, parses

_LAMBDA: Final = "<lambda>"
_STATIC_ATTRIBUTES: Final = "__static_attributes__"


def tree_without_bodies(text: str, plain: CodeType) -> ast.Module | None:
    """The tree of a module whose functions are stubs.

    Parameters
    ----------
    text:
        The source of the module.
    plain:
        What Python compiled it to.

    Returns
    -------
    The tree; None if there is nothing to leave out, or if the text does not parse without it.
    """
    lines = text.split("\n")
    levels = list(_levels(plain))
    functions = [code for code in nested_functions(plain) if _has_name(code)]
    if "\f" in text or len({_name(code) for code in functions}) < len(functions):
        return None
    if not _put_stubs(lines, functions, levels, _declared_names(plain)):
        return None
    try:
        tree = ast.parse("\n".join(lines), plain.co_filename)
    except (SyntaxError, ValueError):
        return None
    _restore_ends(tree, levels)
    return tree


def with_plain_functions(code: CodeType, plain: CodeType) -> CodeType | None:
    """The code of a module level with the functions of the plain code in it: instead of stubs, and of equal ones.

    None if the classes and named functions of the two are not the same.
    """
    if set(_definitions(code)) != set(_definitions(plain)):
        return None
    functions = {_name(inner): inner for inner in nested_functions(plain) if _has_name(inner)}
    return replace_functions(code, lambda inner: functions[_name(inner)] if _has_name(inner) else inner)


_Name = tuple[str, int, tuple[str, ...]]


def _name(code: CodeType) -> _Name:
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_qualname, code.co_firstlineno, code.co_varnames[:count]


def _has_name(function: CodeType) -> bool:
    return function.co_name != _LAMBDA


def _definitions(code: CodeType) -> Iterator[_Name]:
    """The names of the functions and classes of a module level."""
    for const in code.co_consts:
        if not isinstance(const, CodeType):
            continue
        if not code_objects.is_function(const):
            yield const.co_qualname, const.co_firstlineno, ()
            yield from _definitions(const)
        elif _has_name(const):
            yield _name(const)


def _levels(code: CodeType) -> Iterator[CodeType]:
    """The code of a module level, and that of its class bodies and comprehensions."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType) and not code_objects.is_function(const):
            yield from _levels(const)


# ---- stubs


def _put_stubs(lines: list[str], functions: list[CodeType], levels: list[CodeType], declared: set[str]) -> bool:
    """Replace the bodies of functions in the lines of a module by stubs; return whether they do for all of them."""
    outer_lines = sorted({line for level in levels for _, _, line in level.co_lines() if line})
    attributes = dict(_attribute_statements(levels))
    stubs: list[tuple[int, int, str]] = []
    for code in functions:
        found = _body_lines(lines, code, outer_lines)
        if found is not None:
            first, last = found
            stub = "".join(f"{name}, " for name in code.co_freevars) or "pass"
            stub += attributes.pop(code.co_qualname.rpartition(".")[0], "")
            if declared and declared.isdisjoint(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2]):
                stub = f"global {', '.join(sorted(declared))}; {stub}"
                declared = set()
            line = lines[first - 1]
            stubs.append((first, last, line[: depth_of_line(line)] + stub))
    for first, last, stub in stubs:
        lines[first - 1 : last] = [stub, *[""] * (last - first)]
    return bool(stubs) and not declared


def _declared_names(plain: CodeType) -> set[str]:
    """The names of the module level that some function declares `global`: the compiler treats them as such."""
    if _GLOBAL.isdisjoint(plain.co_code[::2]):
        return set()
    return {str(instruction.argval) for instruction in dis.get_instructions(plain) if instruction.opcode in _GLOBAL}


_GLOBAL: Final = frozenset(dis.opmap[name] for name in ("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL"))


def _body_lines(lines: list[str], code: CodeType, outer_lines: list[int]) -> tuple[int, int] | None:
    """The first line of a function's body that has code, and the line in which the body ends; None if not certain."""
    header = code.co_firstlineno
    inside = {line for _, _, line in code.co_lines() if line and line > header}
    if not inside or max(inside) > len(lines):
        return None
    first = min(inside)
    depth = depth_of_line(lines[header - 1])
    if depth_of_line(lines[first - 1]) <= depth:
        return None
    number = bisect_right(outer_lines, first)
    end = outer_lines[number] if number < len(outer_lines) else len(lines) + 1
    for last in range(max(inside), end - 1):
        if not OF_ANY_DEPTH.match(lines[last]) and depth_of_line(lines[last]) <= depth:
            # Text of the function, or a statement without code.
            return (first, last) if parses(lines, header, last) else None
    return first, end - 1


def _attribute_statements(levels: list[CodeType]) -> Iterator[tuple[str, str]]:
    """From 3.13 on, a class body stores the names of the attributes that its methods assign: statements that assign
    them, by the qualified name of the class."""
    for code in levels:
        if _STATIC_ATTRIBUTES not in code.co_names:
            continue
        loaded: object = None
        for instruction in dis.get_instructions(code):
            if instruction.argval == _STATIC_ATTRIBUTES and instruction.opname.startswith("STORE"):
                break
            loaded = instruction.argval
        if isinstance(loaded, tuple) and loaded:
            yield code.co_qualname, "; " + " = ".join(f"self.{name}" for name in loaded) + " = 0"


# ---- ends


def _restore_ends(tree: ast.Module, levels: list[CodeType]) -> None:
    """Restore the ends of statements with functions in them: they end where the last stub ends.

    No expression begins where such a statement begins, so all instructions that begin there end where it ends.
    """
    ends: dict[tuple[int | None, int | None], tuple[int, int]] = {
        (line, column): (last, last_column)
        for level in levels
        for line, last, column, last_column in level.co_positions()
        if line != last and last is not None and last_column is not None
    }
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        for field in _BLOCKS.get(node.__class__, ()):
            block: list[ast.AST] = getattr(node, field)
            nodes += [part for part in block if part.__class__ in _ENDING_LATER]
    changed: set[ast.AST] = set()
    for node in reversed(nodes):  # a node after those in it
        if node.__class__ not in _WITHOUT_POSITION:
            last_part = _last_part(node)
            # For the type checker: statements have positions.
            end = ends.get((node.lineno, node.col_offset)) or (_end(last_part) if last_part in changed else None)  # type: ignore[attr-defined]
            if end is not None and end != _end(node):
                node.end_lineno, node.end_col_offset = end  # type: ignore[attr-defined]  # its kind is known
                changed.add(node)


def _last_part(node: ast.AST) -> ast.AST:
    """The last statement or handler in a node; itself if there is none."""
    for field in reversed(_BLOCKS.get(node.__class__, ())):
        block: list[ast.AST] = getattr(node, field)
        if block:
            return _last_part(block[-1]) if block[-1].__class__ in _WITHOUT_POSITION else block[-1]
    return node


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


_WITHOUT_POSITION: Final = frozenset((ast.Module, ast.match_case))
_BLOCKS: Final[dict[type[ast.AST], tuple[str, ...]]] = {
    ast.Module: ("body",),
    ast.ClassDef: ("body",),
    ast.If: ("body", "orelse"),
    ast.For: ("body", "orelse"),
    ast.While: ("body", "orelse"),
    ast.With: ("body",),
    ast.AsyncFor: ("body", "orelse"),
    ast.AsyncWith: ("body",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.TryStar: ("body", "handlers", "orelse", "finalbody"),
    ast.ExceptHandler: ("body",),
    ast.Match: ("cases",),
    ast.match_case: ("body",),
}
_ENDING_LATER: Final = frozenset((*_BLOCKS, ast.FunctionDef, ast.AsyncFunctionDef))
