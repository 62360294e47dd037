"""Call paths: the nodes of the functions that a profile meets, which are made at their first call.

Nodes refer to functions and code by `id()`, which is valid as long as these are alive: so they are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from threading import get_ident
from types import CodeType
from typing import Any, Final, Protocol

from cassette_import.contexts.profile.call_tree import (
    BODY,
    CALLBACK,
    NO_CHILDREN,
    NOWHERE,
    SUSPENDABLE,
    KnownFunction,
    Node,
    ThreadTree,
    folded_node,
    kind_of,
    new_child,
    place_of,
)
from cassette_import.interpreter.clock import perf_counter
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import ACTIVE, CLOSING_RESUMES, FollowedBody
from cassette_import.kits.function_names import Label, described, label_of_code, lasting_part

__all__ = ["CallPaths", "ProfiledBody", "new_body"]

# ---- call paths: the nodes of the functions that a profile meets, which are made at their first call


class CallPaths:
    """The functions that a profile has met, and their nodes.

    Parameters
    ----------
    most:
        How many nodes there may be. Later paths share folded nodes.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._known: dict[int, KnownFunction] = {}
        self._bodies: dict[int, KnownFunction] = {}
        self._labels: dict[Label, Label] = {}

    def node_below(self, thread: ThreadTree, function: Any) -> Node:
        """The node for a function that the parent node does not have by its identity."""
        parent = thread.node
        lasting = lasting_part(function)
        node: Node | None = parent.children.get(id(lasting)) if lasting is not function else None
        if node is None:
            known = self._known.get(id(lasting)) or self._described(function, lasting)
            node = parent.children.get(place_of(known.label, known.kind))
            if node is None:
                if self._left <= 0:
                    node = folded_node(thread, known.label, known.kind)
                    node.key = id(function)
                    return node
                node = self._new_node(thread, known)
            if known.lasting is not None:
                parent.children[id(lasting)] = node
            if known.lasting is function:
                node.key = function
                return node
        node.key = id(function)  # it is short-lived, and must not be kept alive
        return node

    def _described(self, function: Any, lasting: Any) -> KnownFunction:
        """What nodes need to know of a function. It is kept if the function is long-lived, or code represents it."""
        label, is_long_lived = described(function)
        label = self._labels.setdefault(label, label)
        if not is_long_lived and lasting is function:
            return KnownFunction(None, label, kind_of(function))
        known = self._known[id(lasting)] = KnownFunction(lasting, label, kind_of(function))
        return known

    def _new_node(self, thread: ThreadTree, known: KnownFunction) -> Node:
        self._left -= 1
        parent = thread.node
        node = new_child(parent, known.label, known.kind)
        if parent.children is NO_CHILDREN:
            parent.children = {}
        parent.children[node.place] = node
        return node

    def node_of_body(self, thread: ThreadTree, code: CodeType) -> Node:
        """The node for the body of a generator or coroutine that the parent node does not have yet."""
        known = self.body(code)
        place = place_of(known.label, known.kind)
        if self._left <= 0:
            node = thread.node.children.get(place) or folded_node(thread, known.label, known.kind)
        else:
            node = thread.node.children.get(place) or self._new_node(thread, known)
            thread.node.children[~id(code)] = node
        return node

    def body(self, code: CodeType) -> KnownFunction:
        """What nodes need to know of the body of a function with this code."""
        known = self._bodies.get(id(code))
        if known is None:
            label = label_of_code(code)
            label = self._labels.setdefault(label, label)
            is_callback = (not code.co_flags & SUSPENDABLE and code.co_name[0] != "<") or code.co_name == "<lambda>"
            known = self._bodies[id(code)] = KnownFunction(code, label, CALLBACK if is_callback else BODY)
        return known


# ---- one run of the body of a generator, coroutine or generator expression, as a profile measures it
#
# From each resumption to the next suspension, the body is a call in the tree of the thread that advances it, as in
# cProfile.


class BodyTrees(Protocol):
    """What a run of a body needs of a profile."""

    def tree_of_this_thread(self) -> ThreadTree:
        """The call tree of the running thread; a new one at its first event."""

    @property
    def paths(self) -> CallPaths:
        """What finds the node for a body that the current node does not have yet."""

    def leave_body(self, thread: ThreadTree, node: Node, end: float) -> None:
        """Leave the node of a body above which the nodes of interrupted calls are left."""


class ProfiledBody(FollowedBody):
    """One run of a body."""

    __slots__ = (
        "_code",
        "_contexts",
        "_first",
        "_is_regular",
        "_node",
        "_profile",
        "_thread",
        "_threads",
        "is_running",
    )

    @hidden
    def begin(self, profile: BodyTrees, threads: dict[int, ThreadTree], code: CodeType) -> ProfiledBody:
        """Begin; return the run itself. It is no `__init__`, which the interpreter calls by way of C."""
        self._profile = profile
        self._threads = threads
        self._code = code
        self._contexts: tuple[Any, ...] = ()
        self._node: Node = NOWHERE
        self._thread: ThreadTree
        self._is_regular = self.is_running = False
        self.resumed()
        return self

    @hidden
    def resumed(self, value: Any = None) -> Any:
        """Descend to the node of the body and start its clock, if the profile is active here and the body is not."""
        if self.is_running:
            return value
        began = perf_counter()
        contexts = ACTIVE.get().contexts
        if contexts is not self._contexts:
            profile = self._profile
            for context in contexts:  # without `any`: each callback of C code comes here
                if context is profile:
                    break
            else:
                return value
            self._contexts = contexts
        try:
            thread = self._threads[get_ident()]
        except KeyError:
            thread = self._profile.tree_of_this_thread()
        node = self._node
        if node.parent is not thread.node or not self._is_regular:
            node = self._find(thread)
        self._thread = thread
        thread.node = node
        self.is_running = True
        start = node.start = began - thread.measured_overhead
        thread.measured_overhead = perf_counter() - start
        return value

    @hidden
    def suspended(self, value: Any = None) -> Any:
        """Stop the clock and return to the parent node."""
        if not self.is_running:
            return value
        end = perf_counter()
        self.is_running = False
        thread, node = self._thread, self._node
        end -= thread.measured_overhead
        if thread.node is node:
            node.calls += 1
            node.total += end - node.start
            thread.node = node.parent
            if not self._is_regular:
                node.parent.folded_time += end - node.start
        else:
            self._profile.leave_body(thread, node, end)
        thread.measured_overhead = perf_counter() - end
        return value

    @hidden
    def ended(self) -> None:
        """Stop the clock. If the body was suspended, it has been closed: the interpreter resumed it before."""
        if CLOSING_RESUMES and not self.is_running:
            self.resumed()
        self.suspended()

    @hidden
    def resuming(self) -> Iterator[FollowedBody]:
        return iter(partial(self.resumed, self), None)

    @hidden
    def _find(self, thread: ThreadTree) -> Node:
        """The node below the innermost call."""
        children = thread.node.children
        key = ~id(self._code)
        node = children.get(key)
        self._is_regular = node is not None
        if node is None:
            node = self._profile.paths.node_of_body(thread, self._code)
            self._is_regular = thread.node.children.get(key) is node
        self._node = node
        return node


new_body: Final = ProfiledBody.__new__
"""Makes an instance, which then begins."""
