"""`Flops`: counts the floating-point operations of a program by kind and by function.

Each thread counts in a table of its own without a lock; `counts` and `by_function` combine the tables. A leaf that
computes numbers from numbers, and for which no rule is known, is counted as a call in `uncounted`.
"""

from __future__ import annotations

import json
import operator
import re
import sys
from collections.abc import Mapping
from itertools import islice
from threading import get_ident
from types import CodeType, FrameType, FunctionType
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.activation.verbs import canrecurse, recurse
from cassette_import.contexts.common.function_names import full_name
from cassette_import.contexts.common.numeric_values import holds_floats, is_array
from cassette_import.contexts.common.options import check_number
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.running_totals import show_additions
from cassette_import.contexts.common.text import plural, text_writer
from cassette_import.contexts.flops.arrays import ArrayRules
from cassette_import.contexts.flops.operations import COUNTED_ITEMS, OPERATIONS, Operations, items_of
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime.tagging.classification import COMPUTES, UNCLASSIFIED, classification

__all__ = ["Flops"]

_PACKAGE: Final = __name__.partition(".")[0] + "."
_INNER: Final = re.compile(r"(\.<locals>\.|^)<(genexpr|listcomp|setcomp|dictcomp)>")
_called_from: Final = sys._getframe

_BY_ID: Final = {id(function): rule for function, rule in OPERATIONS.items()}
_OF_ITEMS: Final = {id(function): rule for function, rule in COUNTED_ITEMS.items()}
_OPERATOR_NAMES: Final = {
    id(getattr(operator, prefix + name)): name
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "abs")
    for prefix in (("", "i") if name not in ("neg", "abs") else ("",))
} | {id(abs): "abs", id(pow): "pow"}


class Flops(Context, events=Events.CALLS | Events.OPERATORS):
    """Counts floating-point operations by kind and by function.

    An operation is named after the function of `operator` or `math` that does it: ``add``, ``sub``, ``mul``,
    ``truediv``, ``pow``, ``neg``, ``sqrt``, ``exp``. Operations on arrays count once for each element; comparisons,
    conversions and operations on integers do not count. An operation on complex numbers counts as those on its parts.

    Parameters
    ----------
    limit:
        How many functions the list on the terminal shows. Files have all of them.

    Raises
    ------
    ValueError
        If `limit` is not a number. The message is one line.

    Example
    -------
    >>> import math
    >>> from cassette_import import overdub
    >>> def norm(xs):
    ...     return math.sqrt(sum(x * x for x in xs))
    >>> flops = Flops()
    >>> overdub(flops, norm, [2.0, 3.0, 6.0])
    7.0
    >>> flops.counts
    {'mul': 3, 'add': 2, 'sqrt': 1}
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True
    module_level = False

    def __init__(self, *, limit: int = 30) -> None:
        super().__init__()
        check_number("limit", limit, "functions")
        self._limit = limit
        self._arrays: ArrayRules | None = None
        self._threads: dict[int, dict[int, tuple[CodeType, str, dict[str, int]]]] = {}
        self._items: dict[int, int] = {}
        self._overdubbed: dict[int, tuple[CodeType, bool]] = {}
        self.uncounted: dict[str, int] = {}
        """The calls of leaves that computed numbers, and for which no rule is known, by the name of the leaf."""

    def forked(self) -> None:
        """Start with no operations in a forked process."""
        self._threads.clear()
        self.uncounted.clear()

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count the operations of a call."""
        found = self._operations(result, f, args, kwargs)
        if not found:
            return
        counts = self._counts_of(_program_frame(_called_from(1)))
        for name, number in found.items():
            counts[name] = counts.get(name, 0) + number

    def _operations(self, result: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Operations | None:
        identity = id(f)
        if identity in _BY_ID:
            if not is_array(result):
                return _BY_ID[identity](result, args, kwargs)
        elif identity in _OF_ITEMS:
            count = items_of(args)
            if count is None:
                count = self._items.pop(get_ident(), 0)
            starts = len(args) > 1 or "start" in kwargs
            return _OF_ITEMS[identity](result, count, starts)
        arrays = self._array_rules()
        if arrays is not None:
            if identity in _OPERATOR_NAMES:
                return arrays.of_operator(_OPERATOR_NAMES[identity], result, args)
            rule = arrays.rule(f)
            if rule is not None:
                found = rule(result, args, kwargs)
                if found is not None:
                    return found
        if self._computes_unseen(result, f, args, kwargs):
            name = full_name(f)
            self.uncounted[name] = self.uncounted.get(name, 0) + 1
        return None

    def _array_rules(self) -> ArrayRules | None:
        if self._arrays is None:
            numpy = sys.modules.get("numpy")
            if hasattr(numpy, "ufunc") and hasattr(numpy, "linalg"):  # the import is over
                self._arrays = ArrayRules(numpy)
        return self._arrays

    def _computes_unseen(self, result: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        if not holds_floats((result,)) or not holds_floats((*args, *kwargs.values())):
            return False
        if type(f) is FunctionType:
            code = f.__code__
            known = self._overdubbed.get(id(code))
            if known is None:
                known = self._overdubbed[id(code)] = code, canrecurse(self, f)
            return not known[1]
        return classification(f) in (COMPUTES, UNCLASSIFIED) and not canrecurse(self, f)

    def _counts_of(self, frame: FrameType) -> dict[str, int]:
        try:
            functions = self._threads[get_ident()]
        except KeyError:
            functions = self._threads.setdefault(get_ident(), {})
        code = frame.f_code
        try:
            return functions[id(code)][2]
        except KeyError:
            name = _INNER.sub("", code.co_qualname).replace(".<locals>", "") or "<module>"
            functions[id(code)] = code, f"{frame.f_globals.get('__name__')}.{name}", {}
            return functions[id(code)][2]

    @property
    def counts(self) -> dict[str, int]:
        """How often each operation was done, the most frequent first."""
        found: dict[str, int] = {}
        for operations in self.by_function.values():
            for name, number in operations.items():
                found[name] = found.get(name, 0) + number
        return _most_frequent_first(found)

    @property
    def by_function(self) -> dict[str, dict[str, int]]:
        """The operations of each function, by `module.function`; those with most operations come first.

        The operations of a comprehension or generator expression are those of the function that contains it.
        """
        found: dict[str, dict[str, int]] = {}
        for functions in list(self._threads.values()):
            for _, function, operations in list(functions.values()):
                counts = found.setdefault(function, {})
                for name, number in list(operations.items()):
                    counts[name] = counts.get(name, 0) + number
        order = sorted(found, key=lambda function: -sum(found[function].values()))
        return {function: _most_frequent_first(found[function]) for function in order}

    def summary(self) -> str:
        """The operations by kind and by function, at most `limit` functions, and what was not counted."""
        return self._text(self._limit)

    def _text(self, limit: int | None = None) -> str:
        by_function = self.by_function
        total = sum(self.counts.values())
        lines = [f"flops: {plural(total, 'operation')} in {plural(len(by_function), 'function')}"]
        if by_function:
            lines += ["", *(f"{number:>12}  {name}" for name, number in self.counts.items()), ""]
        for function, counts in islice(by_function.items(), limit):
            kinds = ", ".join(f"{number} {name}" for name, number in counts.items())
            lines.append(f"{sum(counts.values()):>12}  {function}: {kinds}")
        if limit is not None and len(by_function) > limit:
            lines.append(f"{'':>12}  … {plural(len(by_function) - limit, 'further function')}")
        for name, calls in _most_frequent_first(self.uncounted).items():
            lines.append(
                f"not counted: the operations in {plural(calls, 'call')} of {name}, for which no rule is known"
            )
        return "\n".join(lines)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the complete list, `.json` for the same as data."""
        return {
            ".txt": text_writer(self._text, "backslashreplace"),
            ".json": text_writer(
                lambda: json.dumps(
                    {"counts": self.counts, "by_function": self.by_function, "uncounted": self.uncounted}, indent=2
                ),
                "backslashreplace",
            ),
        }


def _most_frequent_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _program_frame(frame: FrameType) -> FrameType:
    """The frame of the program, if the event is a call that a leaf makes of a function that it was given."""
    while frame.f_globals.get("__name__", "").startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _seen_by_the_method(ctx: Flops, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
    """Make a function an event also where a leaf calls it, as `map(math.sqrt, xs)` does."""


@hidden
def _count_items(ctx: Flops, f: Any, *args: Any, **kwargs: Any) -> Any:
    """Count the items of an iterator, which are used up when the hook sees the call."""
    if not args or items_of(args) is not None:
        return recurse(ctx, f, *args, **kwargs)
    numbered = enumerate(args[0])
    try:
        return recurse(ctx, f, map(_second, numbered), *args[1:], **kwargs)
    finally:
        state: Any = numbered.__reduce__()
        ctx._items[get_ident()] = state[1][1]


_second: Final = operator.itemgetter(1)

_hooks: Any = Flops
_hooks.posthook.register(*OPERATIONS)(_seen_by_the_method)
_hooks.overdub.register(*COUNTED_ITEMS)(_count_items)
show_additions(Flops)
