"""The function `vectorize`: scalar code of unmodified packages, on whole arrays.

>>> import numpy as np
>>> def clipped(x):
...     if x < 0:
...         return 0.0
...     return x * x
>>> vectorize(clipped)(np.array([-1.0, 2.0, 3.0]))
array([0., 4., 9.])
"""

from __future__ import annotations

import functools
import math
from collections import Counter, deque
from collections.abc import Callable, Sequence
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

import numpy as np

from cassette_import.activation.entering import files_of
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.lanes.columns import Mixed, is_immutable, kind_of, packed, same
from cassette_import.contexts.lanes.containers import Parts, holds_lane, parts_of
from cassette_import.contexts.lanes.context import LanesContext
from cassette_import.contexts.lanes.elementwise import lane_of
from cassette_import.contexts.lanes.errors import EffectError, TooManyPaths, is_compiled_by_numba, name_of, place_of
from cassette_import.contexts.lanes.known_functions import STANDARD_LIBRARY
from cassette_import.contexts.lanes.lane import Lane, LaneRange
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet, ToldApart
from cassette_import.contexts.lanes.nested_functions import VECTORIZED
from cassette_import.errors import CassetteError, CassetteWarning, NotOverdubbable
from cassette_import.importing.installation import install
from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.kits.events import ACTIVE, OVERDUBBED
from cassette_import.passes.if_conversion import ConvertedCode

__all__ = ["vectorize"]


# ---- results: the pieces of all runs, put together in the structure that the function returns

_CONTAINERS: Final = (list, tuple, dict, deque)
_DEPTH: Final = 20
_NUMBERS: Final = (int, float, bool, complex)
_DTYPES: Final[dict[str, Any]] = {"f": np.float64, "i": np.int64, "b": np.bool_, "c": np.complex128}

Pieces = Sequence[tuple[Any, Any, LaneSet | None]]
"""The numbers of the lanes, the value, and the set of the run that the value belongs to (None: a single lane)."""


class UnknownStructure(Exception):
    """A result keeps values of lanes in an object that cannot be taken apart. The argument says in which."""


def _of_lane(value: Any, members: LaneSet, position: int, depth: int = _DEPTH) -> Any:
    """The value that one lane has, in a value of all lanes."""
    if type(value) is Lane:
        return value.fixed(members)[position : position + 1].tolist()[0]
    if not holds_lane(value):
        return value
    if type(value) is LaneRange:
        start, stop = (_of_lane(part, members, position) for part in (value.start, value.stop))
        return range(start, stop, value.step)
    parts = _parts(value, depth)
    if parts is None:
        raise UnknownStructure(f"a {type(value).__qualname__} that keeps values which differ between lanes")
    return parts.rebuilt([_of_lane(part, members, position, depth - 1) for part in parts.items])


def _parts(value: Any, depth: int) -> Parts | None:
    if isinstance(value, (GeneratorType, CoroutineType, AsyncGeneratorType)):
        raise UnknownStructure(f"a {type(value).__qualname__}, which would run when the lanes have ended")
    if depth == 0:
        raise UnknownStructure(f"a {type(value).__qualname__} in more than {_DEPTH} others, or in itself")
    return parts_of(value)


def _exception_of(error: BaseException, members: LaneSet, position: int) -> BaseException:
    """The exception of one lane."""
    exception: BaseException = _of_lane(error, members, position)
    return exception


def _assembled(size: int, pieces: Pieces, failed: Any = None, depth: int = _DEPTH) -> Any:
    """The result for all lanes.

    Parameters
    ----------
    size:
        The number of lanes.
    pieces:
        What the runs have returned.
    failed:
        The numbers of the lanes that raised an exception: they get NaN, or None.
    depth:
        How deeply results may be in each other.

    Raises
    ------
    UnknownStructure
        If values of lanes are in an object that cannot be taken apart.
    """
    if not pieces:
        return np.full(size, np.nan)
    values = [value for _, value, _ in pieces]
    first = values[0]
    if all(_is_column(value) for value in values):
        return _column(size, pieces, failed)
    if not isinstance(first, _CONTAINERS) and all(value is first for value in values) and not holds_lane(first):
        _parts(first, depth)
        return first
    taken = [_parts(value, depth) for value in values]
    known = taken[0]
    if known is not None and known.shape is not None and all(one and one.shape == known.shape for one in taken):
        merged_items = []
        for items in zip(*[one.items for one in taken if one], strict=True):
            parts = [(ids, item, members) for (ids, _, members), item in zip(pieces, items, strict=True)]
            merged_items.append(_assembled(size, parts, failed, depth - 1))
        return known.rebuilt(merged_items)
    if all(_agree(first, value) for value in values) and not holds_lane(first):
        return first
    return _objects(size, pieces, failed)


def _agree(one: Any, other: Any) -> bool:
    """Whether two values that are no columns cannot be told apart, identity aside."""
    if type(one) is not type(other) or not isinstance(one, (set, frozenset)):
        return same(one, other)
    return bool(one == other) and not holds_lane(one, other) and _members(one) == _members(other)


def _members(of: Any) -> set[tuple[type, str]]:
    return {(type(value), repr(value)) for value in of}  # 1 is not True, and zeros have signs


def _is_column(value: Any) -> bool:
    return type(value) is Lane or type(value) in _NUMBERS


def _column(size: int, pieces: Pieces, failed: Any) -> Any:
    columns = []
    for ids, value, members in pieces:
        data = value.fixed(members) if members is not None and type(value) is Lane else value
        parts = [(ids, data)]
        if type(data) is Mixed:
            parts = [(ids[data.codes == code], array[data.codes == code]) for code, array in enumerate(data.arrays)]
        columns += [(where, part) for where, part in parts if len(where)]
    kinds = {kind_of(part) for _, part in columns}
    kind = next((one for one in "Ocfib" if one in kinds), "f")
    if kinds == {"b", "i"} or kinds == {"b", "f"}:
        kind = "i" if "i" in kinds else "f"
    if failed is not None and len(failed) and kind in "ib":
        kind = "f"
    if kind == "f" and "i" in kinds and any(_inexact(part) for _, part in columns):
        kind = "O"
    result = np.empty(size, _DTYPES.get(kind, object))
    for where, part in columns:
        first, end = int(where[0]), int(where[-1]) + 1
        place = slice(first, end) if end - first == len(where) else where
        result[place] = part if kind != "O" or type(part) is not np.ndarray else part.astype(object)
    if failed is not None and len(failed):
        result[failed] = np.nan if kind != "O" else None
    return result


def _inexact(part: Any) -> bool:
    return kind_of(part) == "i" and bool(np.any(np.abs(np.asarray(part, np.float64)) >= 2.0**53))


def _objects(size: int, pieces: Pieces, failed: Any) -> Any:
    result: Any = np.empty(size, object)
    for ids, value, members in pieces:
        for position, number in enumerate(ids.tolist()):
            result[number] = value if members is None else _of_lane(value, members, position)
    return result


# ---- arrays of the caller: arguments become columns of lanes, and results get the shape of the arguments


def _refuse_subclasses(values: list[Any]) -> None:
    """Raise a `TypeError` for an array of a subclass, whose elements may mean something else."""
    for value in values:
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            raise TypeError(f"lanes are arrays of type numpy.ndarray, not {type(value).__qualname__}: convert it first")


def _plain_number(value: Any) -> Any:
    """A number of NumPy as the element of an array of its type is one; any other value is its own."""
    return _column_of(np.array([value]), (1,)).tolist()[0] if isinstance(value, np.generic) else value


def _column_of(array: Any, shape: tuple[int, ...]) -> Any:
    """The values of an argument as a column, for all lanes."""
    flat = array if array.shape == shape else np.broadcast_to(array, shape)
    if flat.ndim != 1:
        flat = flat.reshape(-1)
    kind = flat.dtype.kind
    if kind == "f" and flat.dtype.itemsize <= 8:
        return np.ascontiguousarray(flat, np.float64)
    if kind == "c" and flat.dtype.itemsize <= 16:
        return np.ascontiguousarray(flat, np.complex128)
    if kind == "b":
        return flat.copy()
    if kind == "i" or (kind == "u" and (flat.size == 0 or flat.max() <= np.iinfo(np.int64).max)):
        return np.ascontiguousarray(flat, np.int64)
    if kind not in "uOUS":
        raise TypeError(f"lanes are arrays of numbers, texts or immutable objects, not of type {flat.dtype}")
    values = flat.tolist()
    if not all(type(value) is not Lane and is_immutable(value) for value in values):
        raise TypeError("lanes are arrays of numbers, texts or other immutable objects")
    return packed(values) if values else flat.astype(object)


def _shaped(value: Any, size: int, shape: tuple[int, ...], depth: int) -> Any:
    """A result whose arrays have the broadcast shape."""
    if len(shape) == 1 or depth > 20:
        return value
    if type(value) is np.ndarray and value.shape == (size,):
        return value.reshape(shape)
    parts = parts_of(value)
    if parts is None or parts.shape is None or not _holds_arrays(value, size):
        return value
    return parts.rebuilt([_shaped(part, size, shape, depth + 1) for part in parts.items])


def _holds_arrays(value: Any, size: int, depth: int = 8) -> bool:
    """Whether a result has arrays of lanes: other ones stay the objects that they are."""
    if type(value) is np.ndarray:
        return bool(value.shape == (size,))
    parts = parts_of(value) if depth else None
    return parts is not None and any(_holds_arrays(part, size, depth - 1) for part in parts.items)


# ---- memory of intermediate arrays: freed memory stays in the process, for the arrays of the next operation
#
# An operation makes an array and frees others. The allocator of the C library on Linux gives large pieces that are
# freed back to the system at once, and the system clears each page when it is used again: this takes longer than the
# arithmetic. The allocator keeps more if the program has freed a large piece before.

_MOST: Final = 31 * 2**20
"""The size in bytes of the piece that is freed: the allocator learns from pieces below 32 MB, and keeps twice that."""


@functools.cache
def _keep_freed_memory() -> None:
    """Have the allocator keep freed memory, once for the process: memory that is allocated here is never touched.

    Other allocators, and one whose limits are set in the environment, go on as before.
    """
    np.empty(_MOST, np.uint8)


# ---- one call of a vectorized function: its lanes run together where they can, and their results are put together
#
# The lanes of a run take one path. Those that the run has dropped are run by themselves, and those that have effects
# one by one.

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

_Progress = Callable[[int, int], None]

_USE: Final = {"Intervals": "enclosure"}
"""The function that enters a context, by the context's name."""


class Options:
    """The options of `vectorize`."""

    def __init__(
        self, errors: str, effects: str, max_paths: int | None, chunk: int | None, progress: _Progress | None
    ) -> None:
        self.has_warned = False
        self.errors = errors
        self.effects = effects
        self.max_paths = max_paths
        self.chunk = chunk
        self.progress = progress


class _VectorizedCall:
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
        _refuse_subclasses(self.given)
        arrays = [value for value in self.given if type(value) is np.ndarray]
        self.given = list(map(_plain_number, self.given)) if arrays else self.given
        shapes = {array.shape for array in arrays}
        self.shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        self.size = math.prod(self.shape)
        self.has_arrays = bool(arrays)
        self.columns = [_column_of(value, self.shape) if type(value) is np.ndarray else None for value in self.given]
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
            _keep_freed_memory()
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
        whole = _shaped(self._checked(_assembled, self.size, self.pieces, failed), self.size, self.shape, 0)
        if self.options.errors == "return":
            return whole, {self._index(number): error for number, error in sorted(self.failures.items())}
        return whole

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
        sequences = [name for name, value in zip(names, self.given, strict=True) if isinstance(value, (list, tuple))]
        if isinstance(error, TypeError) and sequences:
            error.add_note(
                f"Lanes are arrays: each lane gets the whole sequence in argument {', '.join(sequences)}. "
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
        arguments = self._values(lanes, ids)
        keywords = dict(zip(self.names, arguments[self.positional :], strict=True))
        outcome: list[Any] = []
        error: Exception | None = None
        try:
            outcome.append(overdub(context, self.f, *arguments[: self.positional], **keywords))
        except Exception as raised:
            error = raised
        has_raised = error is not None
        del arguments, keywords
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
                self.failures[number] = self._checked(_exception_of, outcome[0], lanes.whole, position)
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
            arguments = [
                value if column is None else column[number : number + 1].tolist()[0]
                for value, column in zip(self.given, self.columns, strict=True)
            ]
            keywords = dict(zip(self.names, arguments[self.positional :], strict=True))
            try:
                value = self.f(*arguments[: self.positional], **keywords)
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


# ---- the function `vectorize`: scalar code of unmodified packages, on whole arrays


def vectorize(
    f: Callable[..., Any] | None = None,
    *,
    packages: Any = (),
    errors: str = "raise",
    effects: str = "refuse",
    max_paths: int | None = 1000,
    chunk: int | None = None,
    progress: _Progress | None = None,
) -> Any:
    """A function that computes for whole arrays what an unmodified function computes for numbers.

    Parameters
    ----------
    f:
        The function. Its own module and the installed packages are converted. Without it, the result is a decorator.
    packages:
        Packages to install.
    errors:
        What happens if the function raises an exception for some lanes. `"raise"`: the exception of the first one is
        raised, with an attribute `lanes`, the indices of all lanes that fail. `"mask"`: these lanes have NaN.
        `"return"`: the result is a tuple of the results and a dict from the index to the exception.
    effects:
        What happens if the function changes something that outlives the call, or writes output. `"refuse"`: an
        `EffectError`. `"split"`: the lanes that do are run one by one, in their order, with a `CassetteWarning`.
    max_paths:
        How many paths through the function may be run one after the other, for each chunk; None for any number.
    chunk:
        How many lanes are computed together: it bounds the memory. None chooses a number for the caches of
        processors.
    progress:
        Called with the number of lanes that are done, and of all lanes.

    Returns
    -------
    A function with the arguments of `f`. Arguments that are arrays are lanes; they broadcast. All other arguments are
    the same for all lanes; numbers of NumPy become Python's, as the elements of arrays do. The result has the structure
    of `f`'s, with arrays of the broadcast shape in place of numbers.

    Raises
    ------
    EffectError
        If the function has effects, or gives a value of lanes to code that cannot compute with it.
    TooManyPaths
        If the lanes take more than `max_paths` paths.
    NotOverdubbable
        If the function has no Python source.

    Example
    -------
    >>> import numpy as np
    >>> vectorize(lambda x, y: divmod(x, y))(np.array([7, 8]), 3)
    (array([2, 2]), array([1, 2]))
    """
    for name, value, known in [
        ("errors", errors, ("raise", "mask", "return")),
        ("effects", effects, ("refuse", "split")),
    ]:
        if value not in known:
            raise ValueError(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")
    for name, number in [("max_paths", max_paths), ("chunk", chunk)]:
        if number is not None and (type(number) is not int or number < 1):
            raise ValueError(f"{name} is a positive number or None, not {number!r}")
    options = Options(errors, effects, max_paths, chunk, progress)
    if packages:
        install(packages)
    if f is None:
        return lambda function: _vectorized(function, options)
    return _vectorized(f, options)


def _vectorized(f: Any, options: Options) -> Callable[..., Any]:
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    if is_compiled_by_numba(f):
        raise NotOverdubbable(
            f"{name_of(f)} cannot be vectorized, because Numba has compiled it: take its decorator away, or have Numba "
            "compute arrays, with numba.vectorize in place of its decorator"
        )
    function = python_function(f)
    if function is None:
        raise NotOverdubbable(f"{f!r} cannot be vectorized: it has no Python source")
    if function.__code__.co_filename.startswith(PACKAGE_FOLDER):
        what = "it is vectorized already" if VECTORIZED in vars(function) else "it is a part of cassette_import itself"
        raise NotOverdubbable(f"{name_of(f)} cannot be vectorized: {what}")

    def vectorized(*arguments: Any, **keywords: Any) -> Any:
        return _VectorizedCall(f, function.__code__.co_filename, arguments, keywords, options).result()

    try:
        functools.update_wrapper(vectorized, f)
    except AttributeError:
        pass
    if options.errors == "raise" and options.effects == "refuse":
        setattr(vectorized, VECTORIZED, f)
    return vectorized
