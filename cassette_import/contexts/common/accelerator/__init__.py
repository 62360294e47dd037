"""The accelerator: an optional extension in C with hooks of ready-made contexts.

Contexts work the same without it, and slower. It is not there if the package was installed without a C compiler, in a
checkout where it was not built, and for free-threaded Python. Knows how it is loaded; must not know what its hooks do.
"""

from __future__ import annotations

import functools
import importlib
import os
import time
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Final

from cassette_import.interpreter.callables import CALLS_OF_INSTANCES, SPLITTERS, CallableProxy, split
from cassette_import.runtime.followed_bodies import NOT_FOLLOWED, FollowedBody
from cassette_import.runtime.state import ACTIVE

if TYPE_CHECKING:
    from cassette_import.contexts.common.accelerator._accelerator import (
        BlockFile,
        Body,
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

__all__ = ["ACCELERATOR", "VARIABLE", "Accelerator"]

VARIABLE: Final = "CASSETTE_IMPORT_ACCELERATOR"
"""The environment variable: with ``0``, the accelerator is not used."""

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
    Body: type[Body]
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
        self.reason = self._load()
        self.is_used = not self.reason

    def _load(self) -> str:
        """Import and check the extension; return why it cannot be used, or an empty text."""
        if os.environ.get(VARIABLE) == "0":
            return f"{VARIABLE}=0 is set"
        try:
            return self.use(importlib.import_module(f"{__name__}._accelerator"))
        except ModuleNotFoundError:
            return "it is not built; pip builds it where there are a C compiler and Python's headers"
        except ImportError as error:
            return str(error)

    def use(self, module: ModuleType) -> str:
        """Take the types of the extension; return why it cannot be used, or an empty text."""
        if not hasattr(module, "TreeLines"):
            return "it was built from the sources of an earlier version; build it again"
        before, usual, after = module.clock(), time.perf_counter(), module.clock()
        if not before <= usual <= after:
            return "its clock is not that of time.perf_counter"
        of_callees = split, SPLITTERS, CALLS_OF_INSTANCES, _OTHER_CARRIERS
        module.configure(ACTIVE, FollowedBody.awaited, FollowedBody.delegated, NOT_FOLLOWED, of_callees)
        self.Body, self.Node, self.Recorder, self.Tree = module.Body, module.Node, module.Recorder, module.Tree
        self.Counter, self.Edge = module.Counter, module.Edge
        self.CallStack, self.TraceRecorder = module.CallStack, module.TraceRecorder
        self.BlockFile, self.Formatter, self.TreeLines = module.BlockFile, module.Formatter, module.TreeLines
        self.begin_call, self.end_call = module.begin_call, module.end_call
        self.TypeRecorder, self.record_types = module.TypeRecorder, module.record_types
        return ""


ACCELERATOR: Final = Accelerator()
