"""The accelerator: an optional extension in C with hooks of ready-made contexts.

Contexts work the same without it, and slower.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Final

from cassette_import.interpreter.callables import CALLS_OF_INSTANCES, SPLITTERS, CallableProxy, split
from cassette_import.interpreter.extensions import extension, problem_of
from cassette_import.runtime.followed_bodies import NOT_FOLLOWED
from cassette_import.runtime.state import ACTIVE, Activation

if TYPE_CHECKING:
    from cassette_import.kits.calls.accelerator._accelerator import (
        BlockFile,
        CallStack,
        Counter,
        Edge,
        Formatter,
        Node,
        Recorder,
        TraceRecorder,
        Tree,
        TreeLines,
        TypeRecorder,
    )

__all__ = ["ACCELERATOR", "Accelerator"]

_VERSION: Final = 5
"""Of the sources in C: another one whenever the extension and the modules in Python have to fit each other anew."""
_OTHER_CARRIERS: Final = (type("".__str__), functools.partial, staticmethod, CallableProxy)
"""The further types of callables that carry a function, see `callables.split`."""


class Accelerator:
    """The extension, and why it is not used.

    Attributes
    ----------
    is_used:
        Whether contexts that are made from now on use it.
    reason:
        Why it is not used; empty if it is.
    """

    BlockFile: type[BlockFile]
    CallStack: type[CallStack]
    Counter: type[Counter]
    Edge: type[Edge]
    Formatter: type[Formatter]
    Node: type[Node]
    Recorder: type[Recorder]
    TraceRecorder: type[TraceRecorder]
    Tree: type[Tree]
    TreeLines: type[TreeLines]
    TypeRecorder: type[TypeRecorder]
    record_types: Callable[..., None]
    begin_call: Callable[..., None]
    end_call: Callable[..., None]

    def __init__(self) -> None:
        found = extension(f"{__name__}._accelerator")
        self.reason = found if isinstance(found, str) else self.use(found)
        self.is_used = not self.reason

    def use(self, module: ModuleType) -> str:
        """Take the types of the extension; return why it cannot be used, or an empty text."""
        if problem := problem_of(module, _VERSION):
            return problem
        before, usual, after = module.clock(), time.perf_counter(), module.clock()
        if not before <= usual <= after:
            return "its clock is not that of time.perf_counter"
        of_callees = split, SPLITTERS, CALLS_OF_INSTANCES, _OTHER_CARRIERS
        contexts = vars(Activation)["contexts"]
        module.configure(ACTIVE, contexts, NOT_FOLLOWED, of_callees)
        self.Node, self.Recorder, self.Tree = module.Node, module.Recorder, module.Tree
        self.Counter, self.Edge = module.Counter, module.Edge
        self.CallStack, self.TraceRecorder = module.CallStack, module.TraceRecorder
        self.BlockFile, self.Formatter, self.TreeLines = module.BlockFile, module.Formatter, module.TreeLines
        self.begin_call, self.end_call = module.begin_call, module.end_call
        self.TypeRecorder, self.record_types = module.TypeRecorder, module.record_types
        return ""


ACCELERATOR: Final = Accelerator()
