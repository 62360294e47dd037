"""One call of a vectorized function: its lanes run together where they can, and their results are put together.

The lanes of a run take one path. Those that the run has dropped are run by themselves, and those that have effects one
by one.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from cassette_import.activation.entering import files_of
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.lanes.arrays import column_of, plain_number, refuse_subclasses, shaped
from cassette_import.contexts.lanes.columns import is_immutable
from cassette_import.contexts.lanes.context import LanesContext
from cassette_import.contexts.lanes.elementwise import lane_of
from cassette_import.contexts.lanes.errors import EffectError, TooManyPaths, name_of, place_of
from cassette_import.contexts.lanes.known_functions import STANDARD_LIBRARY
from cassette_import.contexts.lanes.lane_sets import Lanes
from cassette_import.contexts.lanes.memory import keep_freed_memory
from cassette_import.contexts.lanes.merged_containers import ToldApart
from cassette_import.contexts.lanes.structures import UnknownStructure, assembled, exception_of
from cassette_import.errors import CassetteError, CassetteWarning, NotOverdubbable
from cassette_import.interpreter.callables import python_function
from cassette_import.passes.if_conversion import ConvertedCode
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE

__all__ = ["Options", "Progress", "VectorizedCall"]

_BLOCK: Final = 2**16
"""At most so many lanes are run together by default: their arrays fit into the caches of processors."""

_LARGE: Final = 2**13
"""From so many lanes on, the memory of arrays is large for the allocator."""

_FEW: Final = 4
"""So many lanes are run one by one: that is as quick as a run for all of them."""

_MANY: Final = 128
_SMALL: Final = 4
"""A warning says where lanes are split if there are many, and small groups on average."""

_READ_BY_OTHERS: Final = "is read by"
"""What is said of a function with a decorator that has the name of a compiler."""

Progress = Callable[[int, int], None]

_USE: Final = {"Intervals": "enclosure"}
"""The function that enters a context, by the context's name."""


class Options:
    """The options of `vectorize`."""

    def __init__(
        self, errors: str, effects: str, max_paths: int | None, chunk: int | None, progress: Progress | None
    ) -> None:
        self.has_warned = False
        self.errors = errors
        self.effects = effects
        self.max_paths = max_paths
        self.chunk = chunk
        self.progress = progress


class VectorizedCall:
    """One call of a vectorized function."""

    def __init__(
        self, f: Any, filename: str, arguments: tuple[Any, ...], keywords: dict[str, Any], options: Options
    ) -> None:
        self.f = f
        self.roots = frozenset({filename})
        self.options = options
        self.names = list(keywords)
        self.given = [*arguments, *keywords.values()]
        self.positional = len(arguments)
        refuse_subclasses(self.given)
        arrays = [value for value in self.given if type(value) is np.ndarray]
        self.given = list(map(plain_number, self.given)) if arrays else self.given
        shapes = {array.shape for array in arrays}
        self.shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        self.size = math.prod(self.shape)
        self.has_arrays = bool(arrays)
        self.columns = [column_of(value, self.shape) if type(value) is np.ndarray else None for value in self.given]
        self.shared = [value for value in self.given if type(value) is not np.ndarray and not is_immutable(value)]
        self.pieces: list[Any] = []
        self.failures: dict[int, BaseException] = {}
        self.places: dict[int, str] = {}  # where lanes have failed
        self.ordered: list[tuple[Any, EffectError]] = []
        self.paths = 0
        self.done = 0
        self.is_converted = False
        self.merges_containers = True
        self.runs = 0
        self.splits: Counter[str] = Counter()

    def result(self) -> Any:
        """Run all lanes, and put the results together."""
        for context in ACTIVE.get().contexts:
            if isinstance(context, ConvertedCode):
                raise NotOverdubbable(
                    f"{name_of(self.f)} is vectorized within the context {type(context).__name__}, which sees branches "
                    "and calls itself: give that context the function itself"
                )
            if context._tagging:
                lost = NotOverdubbable(
                    f"{name_of(self.f)} is vectorized within a context that tags values ({type(context).__name__}): "
                    "their metadata would be lost in arrays. Give the context the function itself, or call it in the "
                    f"vectorized function, as in vectorize(lambda x: {_USE.get(type(context).__name__, 'derivative')}"
                    "(f, x))"
                )
                refuse = getattr(context, "refuse", None)  # what the context says in its place would be less clear
                raise lost if refuse is None else refuse(lost)
        if self.size >= _LARGE:
            keep_freed_memory()
        start = 0
        size = self.options.chunk or -(-self.size // -(-self.size // _BLOCK)) if self.size else 1  # blocks of one size
        while start < self.size:
            self.paths = 0
            end = min(start + size, self.size)
            self._run_all(np.arange(start, end))
            if self.options.chunk is None and self.paths > _FEW:
                size = self.size  # every block would run all these paths again
            start = end
        self._run_in_order()
        self._warn_of_splits()
        if not self.has_arrays:
            if self.failures:
                raise self._noted(0)
            return self.pieces[0][1]
        if self.failures and self.options.errors == "raise":
            error = self._noted(min(self.failures))
            # For the type checker: `vectorize` documents this attribute.
            error.lanes = [self._index(number) for number in sorted(self.failures)]  # type: ignore[attr-defined]
            raise error
        failed = np.array(sorted(self.failures), np.intp)
        made = shaped(self._checked(assembled, self.size, self.pieces, failed), self.size, self.shape, 0)
        if self.options.errors == "return":
            return made, {self._index(number): error for number, error in sorted(self.failures.items())}
        return made

    def _warn_of_splits(self) -> None:
        """Warn, once for a function, if the lanes were run in many small groups."""
        if self.size < _MANY or self.runs * _SMALL < self.size or self.options.has_warned:
            return
        import warnings

        self.options.has_warned = True
        where = self.splits.most_common(1)[0][0] if self.splits else name_of(self.f)
        warnings.warn(
            f"{self.size} lanes were run in {self.runs} groups, which is slower than a loop. They are split at {where}",
            CassetteWarning,
            stacklevel=4,
        )

    def _noted(self, number: int) -> BaseException:
        """The exception of a lane, with notes that say where it was raised, and for which lane."""
        error = self.failures[number]
        where = f"at {self.places[number]}" if number in self.places else f"by {name_of(self.f)}"
        if self.has_arrays:
            count = len(self.failures)
            failed = "no other lane fails" if count == 1 else f"{count} of {self.size} lanes fail"
            where = f"{where}, for the lane {self._index(number)}; {failed}"
        error.add_note(f"This exception was raised {where}.")
        names = [*map(str, range(1, self.positional + 1)), *self.names]
        given = [name for name, value in zip(names, self.given, strict=True) if isinstance(value, (list, tuple))]
        if isinstance(error, TypeError) and given:
            error.add_note(
                f"Lanes are arrays: each lane gets the whole sequence in argument {', '.join(given)}. "
                "To have a lane for each item, give numpy.array(sequence)."
            )
        return error

    def _checked(self, make: Callable[..., Any], *arguments: Any) -> Any:
        """A result or exception, taken apart for the lanes."""
        try:
            return make(*arguments)
        except UnknownStructure as error:
            raise EffectError(
                f"{name_of(self.f)} has as its result {error}: return the values in a list, a dict or an object of a "
                "class in Python"
            ) from None

    def _index(self, number: int) -> Any:
        if len(self.shape) == 1:
            return number
        return tuple(int(part) for part in np.unravel_index(number, self.shape)) if self.shape else ()

    def _run_all(self, ids: Any) -> None:
        work: deque[Any] = deque([ids])
        start = self.done
        while work:
            group = work.popleft()
            if len(group) <= _FEW:
                for number in group.tolist():
                    self._run(np.array([number]))
            else:
                self.paths += 1
                if self.options.max_paths is not None and self.paths > self.options.max_paths:
                    rest = len(group) + sum(map(len, work))
                    raise TooManyPaths(
                        f"the lanes take more than {self.options.max_paths} paths through {name_of(self.f)}: {rest} of "
                        f"{self.size} lanes are left; max_paths=None has no limit"
                    )
                work.extend(self._run(group))
            if self.options.progress is not None:
                self.done = start + len(ids) - sum(map(len, work))
                self.options.progress(self.done, self.size)
        self.done = start + len(ids)

    def _values(self, lanes: Lanes, ids: Any) -> list[Any]:
        first, end = int(ids[0]), int(ids[-1]) + 1
        which = slice(first, end) if end - first == len(ids) else ids
        return [
            value if column is None else lane_of(lanes, lanes.whole, column[which])
            for value, column in zip(self.given, self.columns, strict=True)
        ]

    def _run(self, ids: Any) -> list[Any]:
        """Run the function for some lanes; return the groups of those that have to be run by themselves."""
        self.runs += 1
        lanes = Lanes(len(ids), self.merges_containers)
        context = LanesContext(lanes, self.roots | files_of(STANDARD_LIBRARY), self.shared)
        given = self._values(lanes, ids)
        keywords = dict(zip(self.names, given[self.positional :], strict=True))
        outcome: list[Any] = []
        error: Exception | None = None
        try:
            outcome.append(overdub(context, self.f, *given[: self.positional], **keywords))
        except Exception as raised:
            error = raised
        has_raised = error is not None
        del given, keywords
        self._check_converted()
        self.splits += lanes.splits
        if lanes.failure is not None or (isinstance(error, CassetteError) and not hasattr(error, "of_lane")):
            context.forget()
            failure = lanes.failure or error
            assert failure is not None
            is_told_apart = isinstance(failure, ToldApart)
            where = context.log.outliving([]) if is_told_apart else None
            context.log.undo()
            if is_told_apart:
                if where is not None and not context.log.is_undone:
                    raise _not_put_back(where)
                self.merges_containers = False
                return [ids]
            if isinstance(failure, EffectError) and self.options.effects == "split":
                return self._in_order(lanes, ids, failure)
            raise failure
        if error is not None:
            lanes.commit()
            if not lanes.alive:  # the same lanes would be run again for ever
                raise EffectError(f"code of {name_of(self.f)} has run for no lanes") from error
            where_raised = place_of(error)
            _without_frames(error)
            outcome.append(error)
            error = None  # else what it refers to would seem to outlive the call
        context.forget()
        where = context.log.outliving(outcome)
        if where is not None:
            context.log.undo()
            effect = EffectError(
                f"an object that outlives the call is changed at {where}: change a copy that the function makes "
                "itself, or return the value"
            )
            if not context.log.is_undone:
                raise _not_put_back(where)
            if self.options.effects == "split":
                return self._in_order(lanes, ids, effect)
            raise effect
        here = ids if lanes.whole.is_everything else ids[lanes.whole.ids]
        if has_raised:
            for position, number in enumerate(here.tolist()):
                self.failures[number] = self._checked(exception_of, outcome[0], lanes.whole, position)
                self.places[number] = where_raised
        else:
            self.pieces.append((here, outcome[0], lanes.whole))
        return [ids[group] for group in lanes.groups]

    def _check_converted(self) -> None:
        """Refuse a function that has been left alone: its effects would not be seen."""
        if self.is_converted:
            return
        self.is_converted = True
        function = python_function(self.f)
        if function is None or OVERDUBBED.overdubbable(function):
            return
        reason = OVERDUBBED.reason_left_alone(function)
        if reason is not None and _READ_BY_OTHERS not in reason:
            raise NotOverdubbable(
                f"{name_of(self.f)} cannot be vectorized: {reason}. Functions that are alike, in one line, may not be "
                "told apart: give each a line of its own"
            )
        raise NotOverdubbable(
            f"{name_of(self.f)} cannot be vectorized: it is left alone, because another compiler, such as Numba, "
            "may read its source. One of its decorators, or of those around it, has the name of such a compiler "
            "(njit, jit, vectorize and the like): take it away"
        )

    def _in_order(self, lanes: Lanes, ids: Any, effect: EffectError) -> list[Any]:
        """Note that the active lanes have an effect; return the groups of all others."""
        lanes.commit()
        self.ordered.append((ids[lanes.whole.ids], effect))
        return [ids[group] for group in lanes.groups]

    def _run_in_order(self) -> None:
        """Run the lanes with effects one by one, as a loop does."""
        if not self.ordered:
            return
        import warnings

        numbers = np.sort(np.concatenate([ids for ids, _ in self.ordered]))
        warnings.warn(
            f"{len(numbers)} of {self.size} lanes were run one by one: {self.ordered[0][1]}",
            CassetteWarning,
            stacklevel=4,
        )
        for number in numbers.tolist():
            given = [
                value if column is None else column[number : number + 1].tolist()[0]
                for value, column in zip(self.given, self.columns, strict=True)
            ]
            keywords = dict(zip(self.names, given[self.positional :], strict=True))
            try:
                value = self.f(*given[: self.positional], **keywords)
            except Exception as error:
                self.failures[number] = error
                self.places[number] = place_of(error)
            else:
                self.pieces.append((np.array([number]), value, None))


def _not_put_back(where: str) -> EffectError:
    return EffectError(
        f"an iterator that outlives the call is advanced at {where}, and cannot be put back: give each lane its item "
        "as an argument"
    )


def _without_frames(error: BaseException | None) -> None:
    """Release the frames of an exception: their variables refer to objects that the function has made."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
