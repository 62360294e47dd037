"""Hooks that raise: which hook of which context an exception came from, and at which call site.

A traceback shows the hook below the line of the program as if this line had called it.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import os
from types import FrameType, TracebackType
from typing import Final, TypeAlias

from cassette_import.activation.context import Context
from cassette_import.frontends.programs.tracebacks import entries_of
from cassette_import.kits.function_names import display
from cassette_import.runtime.dispatch.hook_analysis import argument_free_kind
from cassette_import.runtime.dispatch.hook_functions import HOOK_FUNCTIONS

__all__ = ["failed_hook"]

# ---- the source text of the event at which a traceback is: what is called there, as the program has written it
#
# Some hooks get no function, since they do not use it.

_LIMIT: Final = 100
"""How many characters are shown of an event that is longer."""

_NODES: Final[dict[str, tuple[type[ast.expr | ast.stmt], ...]]] = {
    "CALLS": (ast.Call,),
    "OPERATORS": (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.AugAssign),
    "ATTRIBUTES": (ast.Attribute, ast.AugAssign),
    "DISPLAYS": (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.JoinedStr, ast.Constant),
}
"""The nodes of those kinds of events that do not have the position of an operand; others may be any expression."""

_Place: TypeAlias = tuple[int, int]


def _event_text(entry: TracebackType, kind: str) -> str | None:
    """The text of the event at an entry of a traceback, on one line; of a call, that of its callee.

    `kind` is the name of one of `Events`. Returns None if Python has no positions or no source text for it.
    """
    code = entry.tb_frame.f_code
    line, end_line, *columns = next(itertools.islice(code.co_positions(), max(entry.tb_lasti, 0) // 2, None))
    column, end_column = columns
    if line is None or end_line is None or column is None or end_column is None:
        return None
    source = "".join(linecache.getlines(code.co_filename, entry.tb_frame.f_globals))
    try:
        node = _event(ast.parse(source), (line, column), (end_line, end_column), kind)
    except (SyntaxError, ValueError):
        return None
    if node is None:
        return None
    shown = node.func if kind == "CALLS" and isinstance(node, ast.Call) else node
    text = " ".join((ast.get_source_segment(source, shown) or "").split())
    return text if len(text) <= _LIMIT else f"{text[: _LIMIT - 1]}…"


def _event(tree: ast.Module, start: _Place, end: _Place, kind: str) -> ast.expr | ast.stmt | None:
    """The node of the event with a position.

    An event whose last operand begins on another line has the position of its first character (`At.on_line_of`).
    """
    kinds = _NODES.get(kind, (ast.expr,))
    enclosing = []
    for node in ast.walk(tree):
        if isinstance(node, kinds):
            if (_begin(node), (node.end_lineno, node.end_col_offset)) == (start, end):
                return node
            if node.lineno < start[0] and start in map(_begin, ast.iter_child_nodes(node)):
                enclosing.append(node)
    return max(enclosing, key=_begin, default=None)


def _begin(node: ast.AST) -> _Place:
    """Where an operand begins, without the name or the stars before it."""
    if isinstance(node, (ast.keyword, ast.Starred)):
        node = node.value
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


# ---- hooks that raise: which hook of which context an exception came from, and at which call site

_WITH_RESULT: Final = ("posthook", "errorhook")


def failed_hook(traceback: TracebackType | None) -> str | None:
    """A sentence that names the hook in which an exception was raised, its context, event and call site.

    Returns None if no hook of the traceback was called by the program.
    """
    for at, following in itertools.pairwise(entries_of(traceback)):
        frame = following.tb_frame
        context = _context_of(frame)
        if context is not None and HOOK_FUNCTIONS.has_place(frame.f_code):
            place = f"{os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}"
            event = _event_of(frame, at)
            return (
                f"This exception was raised by {frame.f_code.co_name} of the context {type(context).__qualname__}, "
                f"at {place} in {at.tb_frame.f_code.co_name}{f', for {event}' if event else ''}."
            )
    return None


def _context_of(frame: FrameType) -> Context | None:
    """The context that a hook got; None if it is no hook."""
    names = frame.f_code.co_varnames[:1]
    context = frame.f_locals.get(names[0]) if names else None
    return context if isinstance(context, Context) else None


def _event_of(frame: FrameType, at: TracebackType) -> str | None:
    """What a hook was called for; None if the hook takes it otherwise.

    A hook that uses nothing but its context got no function: the source at the call site says which it was.
    """
    code = frame.f_code
    kind = argument_free_kind(code)
    if kind is not None:
        text = _event_text(at, kind)
        return text and (f"the call of {text}" if kind == "CALLS" else f"the {kind} event {text}")
    position = 2 if code.co_name in _WITH_RESULT else 1
    parameters = code.co_varnames[: code.co_argcount]
    return f"the call of {display(frame.f_locals.get(parameters[position]))}" if len(parameters) > position else None
