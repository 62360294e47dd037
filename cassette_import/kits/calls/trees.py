"""Weighted call trees: the paths of calls of each thread with what they weigh, and their sums by function and caller.

A context says what the weights are: it makes the trees, and has the subclass of `CallTrees` that names their unit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from cassette_import.kits.function_names import Label
from cassette_import.kits.text import plural, short_path

__all__ = [
    "CallStatistics",
    "CallTrees",
    "Callers",
    "FoldedPath",
    "SiteRow",
    "Tree",
    "label_text",
    "place_text",
    "table_lines",
]

SiteRow: TypeAlias = tuple[int, float, str, str]
"""Calls, weight, text and function of a call site."""
_Key = TypeVar("_Key", bound=Hashable)
_Row = TypeVar("_Row")


class FoldedPath(NamedTuple):
    """The node of many paths from one function to another, and the label of the caller.

    Calls are recursive if the function was in progress further up, or the step from the caller to it.
    """

    node: Any
    caller: Label
    is_recursive: bool
    is_recursive_step: bool


class Tree:
    """The calls of one thread at one moment: lists that have the same position for the same path.

    The tree comes first, `size` paths, each of them before those in it. Folded paths follow, which have none in them.
    What other threads add meanwhile is not seen.

    Attributes
    ----------
    calls, own, cumulative:
        How often each path was called, what its calls weigh without the calls in them, and what with these.
    shows_root:
        Whether the code outside of all calls was measured, too.
    """

    def __init__(self, name: str, root: Any, folded: Sequence[FoldedPath] = ()) -> None:
        self.name = name
        self.nodes: list[Any] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self._collect(root)
        self.size = len(self.nodes)
        self.folded = folded
        self.nodes += [path.node for path in folded]
        self.parents += [-1] * len(folded)
        self.labels: list[Label] = [node.label for node in self.nodes]
        self.calls: list[int] = [node.calls for node in self.nodes]
        self.own: list[float] = []
        self.cumulative: list[float] = []
        self.shows_root = True

    def _collect(self, root: Any) -> None:
        """Collect the paths. There is no recursion here, because a tree is as deep as the program's own was."""
        nodes, parents, depths = self.nodes, self.parents, self.depths
        work = [(root, -1, 0)]
        while work:
            node, parent, depth = work.pop()
            if node.children:
                # They are copied first: other threads may add some meanwhile. A child may have several keys.
                children = dict.fromkeys(list(node.children.values()))
                position = len(nodes)
                work += [(child, position, depth + 1) for child in reversed(children)]
            nodes.append(node)
            parents.append(parent)
            depths.append(depth)

    def weigh(self, own: list[float], folded: Iterable[float] = ()) -> None:
        """Set what each path weighs without the calls in it, and what the folded paths weigh that each has called."""
        self.own = own
        self.cumulative = cumulative = list(map(operator.add, own, folded)) if folded else list(own)
        for position in range(self.size - 1, 0, -1):
            cumulative[self.parents[position]] += cumulative[position]

    def walk(self) -> Iterator[tuple[int, bool]]:
        """The position of every path twice: before the paths in it with False, and after them with True."""
        inside: list[int] = []
        for position, depth in enumerate(self.depths):
            while len(inside) > depth:
                yield inside.pop(), True
            inside.append(position)
            yield position, False
        while inside:
            yield inside.pop(), True

    def outermost(self, keys: Sequence[Hashable]) -> list[bool]:
        """Whether each path of the tree is in no other one with the same key."""
        in_progress = dict.fromkeys(keys, 0)
        inside: list[Hashable] = []
        is_outermost: list[bool] = []
        for key, depth in zip(keys, self.depths, strict=False):
            while len(inside) > depth:
                in_progress[inside.pop()] -= 1
            is_outermost.append(not in_progress[key])
            in_progress[key] += 1
            inside.append(key)
        return is_outermost

    def add_to(self, sums: dict[_Key, CallStatistics], keys: Sequence[_Key], is_recursive: Iterable[bool]) -> None:
        """Add each path to its key; of folded ones, it is known whether they were in another one with the same key.

        The cumulative weight of a recursive call is part of that of the outermost call.
        """
        outermost = [*self.outermost(keys), *map(operator.not_, is_recursive)]
        for key, calls, own, cumulative, is_outermost in zip(
            keys, self.calls, self.own, self.cumulative, outermost, strict=True
        ):
            found = sums.get(key)
            if found is None:
                found = sums[key] = CallStatistics()
            found.calls += calls
            found.own += own
            if is_outermost:
                found.primitive += calls
                found.cumulative += cumulative


class CallStatistics:
    """Calls and weights of a function, of a function as called by one caller, or of a call site.

    `primitive` calls are those that were not made from within the function itself.
    """

    __slots__ = ("calls", "cumulative", "own", "primitive")

    def __init__(self) -> None:
        self.calls = self.primitive = 0
        self.own: float = 0
        self.cumulative: float = 0

    def add(self, other: CallStatistics) -> None:
        """Add the numbers of another process."""
        self.calls += other.calls
        self.primitive += other.primitive
        self.own += other.own
        self.cumulative += other.cumulative


Callers: TypeAlias = dict[Label, CallStatistics]


class CallTrees:
    """The call trees of all threads at one moment. Subclasses say what the weights are.

    Attributes
    ----------
    name:
        The name of the context.
    unit:
        The unit of the weights, ``"seconds"`` or ``"bytes"``.
    parts:
        How many parts of a unit collapsed stacks count: they have whole numbers.
    own_title, site_title:
        What a page calls the weights of functions without the calls in them, and of call sites.
    names_scripts:
        Whether the file of a function of the program's own module stands for its module on the page.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    parts: ClassVar[float] = 1
    own_title: ClassVar[str]
    site_title: ClassVar[str]
    names_scripts: ClassVar[bool] = True
    trees: Sequence[Tree]

    def headline(self, totals: Mapping[Label, CallStatistics], own: float) -> str:
        """The line above the flame graph, from the statistics of the functions and the sum of the weights."""
        raise NotImplementedError

    def site_rows(self, folders: list[str]) -> list[SiteRow]:
        """The call sites, with paths relative to the folders."""
        raise NotImplementedError

    def roots(self) -> set[Label]:
        """The labels of the code outside all calls."""
        return {tree.labels[0] for tree in self.trees}

    def totals(self) -> dict[Label, CallStatistics]:
        """The statistics of each function."""
        found: dict[Label, CallStatistics] = {}
        for tree in self.trees:
            tree.add_to(found, tree.labels, [path.is_recursive for path in tree.folded])
        return found

    def steps(self) -> dict[tuple[Label, Label], CallStatistics]:
        """The statistics of each function as called by each caller: the keys are the labels of both."""
        found: dict[tuple[Label, Label], CallStatistics] = {}
        for tree in self.trees:
            labels = tree.labels
            steps = [(labels[parent], label) for parent, label in zip(tree.parents, labels, strict=True)]
            steps[tree.size :] = [(path.caller, path.node.label) for path in tree.folded]
            tree.add_to(found, steps, [path.is_recursive_step for path in tree.folded])
            del found[steps[0]]  # nothing has called the root
        return found

    def functions(self) -> dict[Label, tuple[CallStatistics, Callers]]:
        """The statistics of each function, in all and by caller."""
        functions: dict[Label, tuple[CallStatistics, Callers]] = {
            label: (found, {}) for label, found in self.totals().items()
        }
        roots = self.roots()
        for (caller, label), found in self.steps().items():
            if caller not in roots and label in functions:
                functions[label][1][caller] = found
        return functions


def label_text(label: Label, folders: list[str]) -> str:
    """A label as `pstats` prints it, with a short path.

    >>> label_text(("/shop/bills.py", 3, "total"), ["/shop"])
    'bills.py:3(total)'
    """
    filename, line, name = label
    return f"{short_path(filename, folders)}:{line}({name})"


def place_text(label: Label, folders: list[str]) -> str:
    """The file and the line of a function; empty if it is not in Python."""
    return "" if label[0] == "~" else f"{short_path(label[0], folders)}:{label[1]}"


def table_lines(
    columns: Sequence[tuple[str, int]],
    title: str,
    entries: Sequence[_Row],
    row: Callable[[_Row], tuple[object, ...]],
    limit: int | None,
    further: str = "further row",
) -> list[str]:
    """The lines of a table: the heading, at most `limit` rows, and how many further ones there are.

    The last column has text and no width. `row` makes the cells of an entry.

    >>> table_lines([("calls", 6), ("self", 9)], "function", ["f", "g"], lambda name: (3, 0.5, name), 1)
    [' calls      self  function', '     3  0.500000  f', '     … 1 further row']
    """
    widths = [width for _, width in columns]
    lines = [" ".join(f"{head:>{width}}" for head, width in columns) + f"  {title}"]
    for entry in entries[:limit]:
        *cells, text = row(entry)
        texts = (f"{cell:.6f}" if isinstance(cell, float) else str(cell) for cell in cells)
        lines.append(" ".join(map(str.rjust, texts, widths)) + f"  {text}")
    if limit is not None and limit < len(entries):
        lines.append(f"{'…':>{widths[0]}} {plural(len(entries) - limit, further)}")
    return lines
