"""Call paths: the nodes of the functions that a profile meets, which are made at their first call.

Nodes refer to functions and code by `id()`, which is valid as long as these are alive: so they are kept.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any

from cassette_import.contexts.common.function_names import Label, described, label_of_code
from cassette_import.contexts.profile.call_tree import (
    BODY,
    CALLBACK,
    NO_CHILDREN,
    SUSPENDABLE,
    KnownFunction,
    Node,
    ThreadTree,
    folded_node,
    kind_of,
    new_child,
    place_of,
)

__all__ = ["CallPaths"]


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
        lasting = function
        if type(function) is FunctionType and "<" in function.__qualname__:
            lasting = function.__code__  # each closure is a new function, but all closures of one `def` share its code
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
