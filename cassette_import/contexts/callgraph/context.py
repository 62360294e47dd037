"""`CallGraph`: which function calls which, and how often.

The prehook is the only hook: the caller is the frame that calls the hook, so there is no stack to keep. Each thread
counts in its own table without a lock; the tables are added up afterwards.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from threading import get_ident
from types import CodeType, FrameType, FunctionType
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.generated_names import NAMED_TUPLES, is_generated
from cassette_import.interpreter.records import cast
from cassette_import.kits.calls.accelerator import ACCELERATOR
from cassette_import.kits.calls.graphs import formats
from cassette_import.kits.calls.graphs.graph import NOT_PYTHON, Function, Graph
from cassette_import.kits.events import OVERDUBBED, AcceleratedHooks, ModuleImport, importer
from cassette_import.kits.function_names import described, display
from cassette_import.kits.options import check_number, options_of
from cassette_import.kits.reporting import Writer
from cassette_import.kits.text import plural, text_writer
from cassette_import.rewriting.events import Events

__all__ = ["CallGraph"]

_COMPREHENSIONS: Final = frozenset({"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"})
_LRU_CACHE: Final = type(functools.lru_cache(len))
_called_from: Final = sys._getframe


class Edge:
    """A caller and a callee, and the number of calls between them in one thread."""

    __slots__ = ("callee", "caller", "count", "kept_alive")

    def __init__(self, caller: Function, callee: Function, kept_alive: tuple[Any, ...]) -> None:
        self.caller = caller
        self.callee = callee
        self.count = 0
        self.kept_alive = kept_alive  # the objects to which tables refer by id()


class CallGraph(Context, events=Events.CALLS):
    """Counts which function calls which.

    Parameters
    ----------
    leaves:
        Whether functions that are not written in Python are shown, too.
    minimum:
        The smallest number of calls of an edge that is shown.
    limit:
        How many edges the list on the terminal shows. Files have all of them.
    top:
        How many functions a picture shows, the costliest ones: `.svg`, and the first picture of `.html`. 0 means all.
    imports:
        Whether the calls of the module level of imported modules are counted, too. If not, an import is one call of
        ``import NAME``.

    Raises
    ------
    ValueError
        If `minimum`, `limit` or `top` is not such a number. The message is one line.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import install, overdub
    >>> with install("colorsys"):
    ...     graph = CallGraph()
    ...     _ = overdub(graph, colorsys.hls_to_rgb, 0.1, 0.2, 0.3)
    >>> print(graph.summary())
    callgraph: 2 functions, 1 edge, 3 calls
    <BLANKLINE>
           calls  caller -> callee
               3  colorsys.hls_to_rgb -> colorsys._v
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True
    module_level = False

    def __init__(
        self, *, leaves: bool = False, minimum: int = 1, limit: int = 30, top: int = 50, imports: bool = False
    ) -> None:
        super().__init__()
        self.module_level = imports
        for name, value in (("minimum", minimum), ("limit", limit), ("top", top)):
            check_number(name, value)
        self._leaves = leaves
        self._minimum = minimum
        self._limit = limit
        self._top = top
        self._left_out = 0
        self._threads: dict[int, dict[Any, Edge]] = {}
        self._elsewhere: Counter[tuple[Function, Function]] = Counter()  # the calls in other processes

    @options_of(__init__)
    def __new__(cls, **options: Any) -> CallGraph:
        """Make an instance of the type whose hook is in C, if there is the accelerator."""
        return super().__new__(_AcceleratedCallGraph if ACCELERATOR.is_used and cls is CallGraph else cls)

    def forked(self) -> None:
        """Start with no calls in a forked process."""
        self._threads.clear()
        self._elsewhere.clear()

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count the call."""
        try:
            edges = self._threads[get_ident()]
        except KeyError:
            edges = self._threads.setdefault(get_ident(), {})
        frame = _called_from(1)
        try:
            edges[id(frame.f_code), id(f)].count += 1
        except KeyError:
            pass
        else:
            return
        _edge(edges, frame, f, Edge)[0].count += 1

    def graph(self) -> Graph:
        """The graph so far, without the functions and edges that the options hide."""
        shown = {edge: count for edge, count in self._counts().items() if count >= max(1, self._minimum)}
        return Graph(tuple(sorted({function for edge in shown for function in edge})), shown)

    def _counts(self) -> Counter[tuple[Function, Function]]:
        counts = Counter(self._elsewhere)
        for edges in list(self._threads.values()):
            # An edge may have several keys: closures of one `def`, or a class and its `__init__`.
            for edge in {id(edge): edge for edge in list(edges.values())}.values():
                if self._leaves or edge.callee.filename != NOT_PYTHON:
                    counts[edge.caller, edge.callee] += edge.count
        return counts

    def portable_results(self) -> list[tuple[tuple[Any, ...], tuple[Any, ...], int]]:
        """See `Merging`: caller, callee and number of calls, rare edges included."""
        return [(tuple(caller), tuple(callee), count) for (caller, callee), count in self._counts().items()]

    def add_results(self, results: Iterable[tuple[tuple[Any, ...], tuple[Any, ...], int]]) -> None:
        """See `Merging`: the numbers of an edge are added up."""
        for caller, callee, count in results:
            self._elsewhere[Function(*caller), Function(*callee)] += count

    @property
    def merged_formats(self) -> Mapping[str, Writer]:
        """See `Merging`."""
        return self.formats

    def summary(self) -> str:
        """The edges, those with the most calls first, at most `limit` of them."""
        return formats.table(self.graph(), self._limit)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.html` for a page, `.svg`, `.dot` for Graphviz, `.mmd` for Mermaid, `.graphml`, and `.txt` for the list."""
        makers: dict[str, Callable[[Graph], str]] = {
            ".dot": formats.dot,
            ".gv": formats.dot,
            ".mmd": formats.mermaid,
            ".mermaid": formats.mermaid,
            ".graphml": formats.graphml,
            ".svg": self._svg,
            ".txt": formats.table,
        }
        writers = {suffix: text_writer(functools.partial(self._made, make)) for suffix, make in makers.items()}
        return {**writers, ".html": self._write_page}

    def notice(self) -> str:
        """What a picture leaves out, for the terminal; empty if it has all functions."""
        if not self._left_out:
            return ""
        left_out = plural(self._left_out, "function")
        return f"callgraph: the picture has the {self._top} costliest functions, without {left_out}; top=0 draws all"

    def _made(self, make: Callable[[Graph], str]) -> str:
        return make(self.graph())

    def _svg(self, graph: Graph) -> str:
        from cassette_import.kits.calls.graphs.svg import svg  # only pictures need it

        self._left_out = max(0, len(graph.functions) - self._top) if self._top else 0
        return svg(graph, self._top)

    def _write_page(self, path: str) -> None:
        from cassette_import.kits.calls.graphs.page import write  # as above

        write(self.graph(), self._top, path)


class _AcceleratedCallGraph(CallGraph, events=Events.CALLS):
    """A call graph whose hook is in C. One table serves all threads there, since each counts while no other runs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._edges = self._threads.setdefault(0, {})
        self.recorder = ACCELERATOR.Counter(self._edge)

    @classmethod
    def _accelerated_hooks(cls) -> AcceleratedHooks:
        """What call sites call: a method of counters."""
        return AcceleratedHooks(ACCELERATOR.Counter.enter)

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count the call."""
        edge, _ = self._edge(_called_from(1), f)
        edge.count += 1

    def _edge(self, frame: FrameType, function: Any) -> tuple[Edge, Any]:
        """The edge, and what recognises it in the next call."""
        return _edge(self._edges, frame, function, cast(type[Edge], ACCELERATOR.Edge))

    def forked(self) -> None:
        """Start with no calls in a forked process."""
        self._edges.clear()
        self._elsewhere.clear()
        self.recorder.forget()


_AcceleratedCallGraph.__name__ = _AcceleratedCallGraph.__qualname__ = CallGraph.__name__  # as reports name it


def _edge(edges: dict[Any, Edge], frame: FrameType, function: Any, make: type[Edge]) -> tuple[Edge, Any]:
    """The edge for a function that the table does not have by its identity.

    The second value is what will recognise it; None if nothing does.
    """
    if type(function) is ModuleImport:
        frame = importer(frame)
    code = frame.f_code
    callee = _callee(function)
    edge = edges.get((id(code), callee))
    if edge is None:
        caller = _importing_module(frame) if type(function) is ModuleImport else None
        edge = edges[id(code), callee] = make(caller or _caller(frame), callee, (code,))
    lasting = function if described(function).is_long_lived else None
    if lasting is None and type(function) is FunctionType:
        lasting = function.__code__  # each closure is a new function, but all closures of one `def` share its code
    if lasting is not None and (id(code), id(lasting)) not in edges:
        edge.kept_alive += (lasting,)
        edges[id(code), id(lasting)] = edge
    return edge, lasting


def _caller(frame: FrameType) -> Function:
    """The function that the frame executes; for a comprehension, the function around it."""
    outer: FrameType | None = frame
    while frame.f_code.co_name in _COMPREHENSIONS and outer is not None:
        outer = outer.f_back
        if outer is not None and _is_inside(frame.f_code, outer.f_code):
            frame = outer
    return _of_code(frame.f_code, frame.f_globals)


def _importing_module(frame: FrameType) -> Function | None:
    """The import whose module level the frame executes; None for functions, and for the program's own module level."""
    name, code = frame.f_globals.get("__name__"), frame.f_code
    if code.co_name != "<module>" or not isinstance(name, str) or name == "__main__":
        return None
    return _of_import(name, code.co_filename)


def _of_import(name: str, filename: str) -> Function:
    return Function(filename, 1, "", f"import {name}")


def _is_inside(inner: CodeType, outer: CodeType) -> bool:
    where = "" if outer.co_name == "<module>" else f"{outer.co_qualname}.<locals>."
    return inner.co_filename == outer.co_filename and inner.co_qualname == f"{where}{inner.co_name}"


def _callee(function: Any) -> Function:
    """The Python function that runs; the callee itself if there is none."""
    if type(function) is ModuleImport:
        return _of_import(function.name, function.filename)
    if type(function) is _LRU_CACHE:
        function = vars(function).get("__wrapped__", function)
    python = python_function(function)
    if python is None:
        return Function(NOT_PYTHON, 0, "", display(function))
    code, name = python.__code__, python.__qualname__  # that of the code is the same for all generated methods
    return _of_code(code, python.__globals__, name if is_generated(code.co_filename) else None)


def _of_code(code: CodeType, namespace: Mapping[str, Any], name: str | None = None) -> Function:
    module = namespace.get("__name__")
    if not isinstance(module, str):
        module = ""
    elif module.startswith(NAMED_TUPLES) and is_generated(code.co_filename):
        record = OVERDUBBED.record_with(code)
        module = "" if record is None else record.module_name
    if name is None or name == code.co_qualname:
        name = OVERDUBBED.qualified_name(code)
    return Function(code.co_filename, code.co_firstlineno, module, name.replace(".<locals>", ""))
