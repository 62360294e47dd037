"""The public functions: the patterns of derivatives of unmodified functions, and the colouring of their columns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from cassette_import.activation.context import Context
from cassette_import.activation.entering import files_of
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.sparsity.arrays import Array, array, as_array, dependences_of
from cassette_import.contexts.sparsity.branches import Frame, Loop, choice_of, truth_of
from cassette_import.contexts.sparsity.calls import Calls, loss_in, product_of_matrices
from cassette_import.contexts.sparsity.errors import SparsityError, is_guarded
from cassette_import.contexts.sparsity.number import Number, dependence_of, number, value_of
from cassette_import.contexts.sparsity.run import VARIES, Executions, Run, joined
from cassette_import.contexts.sparsity.stores import contains_number, merged
from cassette_import.interpreter.callables import python_function
from cassette_import.kits.tagged_containers import sequence_like
from cassette_import.passes.if_conversion import if_conversion
from cassette_import.rewriting.events import Events

__all__ = ["SparsityContext", "coloring", "hessian", "jacobian"]

# ---- the context of a run: what converted code calls


class SparsityContext(Context, Calls, events=Events.NONE):
    """Runs a function with numbers that know on which inputs they depend. `jacobian` is its interface."""

    passes: Any = [if_conversion]
    _entered_modules = ("colorsys",)

    def __init__(self, run: Run, roots: frozenset[str]) -> None:
        Context.__init__(self)
        Calls.__init__(self, run, roots)

    # ---- branches

    def choice(self, test: Any, *saved: Any, names: tuple[str, ...] = ()) -> Any:
        """A branch."""
        return choice_of(self.run, test, saved)

    def unless(self, test: Any) -> bool:
        """Whether to run a block that raises: for the given inputs only, because others that do have no result."""
        truth = truth_of(test)
        if type(truth) is not Number:
            return bool(truth)
        if is_guarded():
            raise self.run.refuse_branch("an exception is raised for some inputs, and the program catches it")
        return bool(self.run.active.live and truth.value)

    def raises(self) -> bool:
        """Whether to run a `raise` statement: executions that others than the given inputs make have no result."""
        if self.run.active.live or is_guarded():
            return True
        self.run.drop()
        return False

    def loop(self, *iterable: Any, names: tuple[str, ...] = ()) -> Loop:
        """A loop."""
        return Loop(self.run)

    def frame(self) -> Frame:
        """A function that is left in several places."""
        return Frame(self.run)

    def alive(self) -> bool:
        """Whether some executions have not left."""
        return self.run.active.share > 0

    # ---- expressions

    def not_(self, value: Any) -> Any:
        """`not value`."""
        truth = truth_of(value)
        return number(self.run, not value_of(truth), dependence_of(truth))

    def contains(self, item: Any, container: Any) -> Any:
        """`item in container`."""
        if type(container) in (list, tuple) and contains_number((item, container)):
            truths = [truth_of(item == one) for one in container]
            return number(self.run, any(map(value_of, truths)), joined(map(dependence_of, truths)))
        if type(item) is Number and type(container) in (range, set, frozenset, dict):
            return number(self.run, item.value in container, self.run.step(item.dependence))
        return item in container

    def item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`."""
        if not contains_number(key):
            try:
                return holder[key]
            except TypeError as error:
                self._raise_loss(error)  # a method `__index__` may return a number
                raise
        if issubclass(type(holder), np.ndarray):
            return as_array(self.run, holder)[key]
        if type(holder) in (list, tuple) and type(key) is Number and not self.run.local:
            pieces = [(Executions(one is holder[key.value], self.run.active.share), one) for one in holder]
            return self._touched(merged(self.run, pieces))
        return holder[key]

    def _touched(self, value: Any) -> Any:
        return Number(self.run, value_of(value), dependence_of(value) | VARIES) if type(value) is Number else value

    def matmul(self, one: Any, other: Any) -> Any:
        """`one @ other`."""
        if type(other) is Array and type(one).__module__.startswith("scipy.sparse"):
            return product_of_matrices(self.run, one, other)
        return one @ other

    # ---- variables, exceptions, scopes

    def caught(self) -> None:
        """Begin a handler."""
        self._raise_loss(sys.exception())
        if self.run.is_split:
            raise self.run.refuse_branch("an exception is caught on one side of a branch that depends on the inputs")

    def _raise_loss(self, error: BaseException | None) -> None:
        loss = loss_in(self.run, error)
        if loss is not None:
            raise loss

    def here(self) -> Executions:
        """The active executions, before a `with` statement."""
        return self.run.active

    def still(self, before: Executions) -> None:
        """End a `with` statement, which may have caught an exception."""
        self._raise_loss(None)
        if self.run.active is not before:
            raise self.run.refuse_branch("a with statement has caught an exception of one side of a branch")

    def refuses(self, what: str) -> None:
        """Refuse a construct."""
        raise self.run.refuse(f"{what} cannot be followed")


# ---- the public functions: the patterns of derivatives of unmodified functions, and the colouring of their columns


def jacobian(f: Callable[[Any], Any], x: Any, *, local: bool = False) -> Any:
    """Which outputs of a function depend on which inputs.

    An entry is false only if the derivative is zero for all inputs of this structure, or, with `local`, on all branches
    that `x` takes.

    Parameters
    ----------
    f:
        A function of one argument, in Python: its own module and the installed packages are followed.
    x:
        The argument: a number, an array, or a list, tuple or dict of these. Its numbers are the inputs, in their order.
    local:
        Whether each branch is decided as for this `x`. By default, both sides run and are joined.

    Returns
    -------
    A boolean `scipy.sparse.csr_array`: a row for each number of the result, a column for each input.

    Raises
    ------
    SparsityError
        If the dependences of a value cannot be followed. The message names the call site, and what to do.
    TypeError
        If `x` has no number, or the result contains something else than numbers.

    Example
    -------
    >>> def chain(x):
    ...     return [x[0] * x[1], x[1] if x[0] > 0 else x[2]]
    >>> jacobian(chain, [1.0, 2.0, 3.0]).toarray().astype(int).tolist()
    [[1, 1, 0], [0, 1, 1]]
    >>> jacobian(chain, [1.0, 2.0, 3.0], local=True).toarray().astype(int).tolist()
    [[1, 1, 0], [0, 1, 0]]
    """
    run, outputs, size = _dependences(f, x, local, second=False)
    found = [run.inputs_of(one) for one in outputs]
    return _csr([(row, column) for row, columns in enumerate(found) for column in columns], (len(outputs), size))


def hessian(f: Callable[[Any], Any], x: Any, *, local: bool = False) -> Any:
    """Which second derivatives of a function with one result may be different from zero.

    Parameters
    ----------
    f:
        A function of one argument, as for `jacobian`. Its result is one number; of several, the pattern is that of all
        together.
    x:
        The argument: a number, an array, or a list, tuple or dict of these. Its numbers are the inputs, in their order.
    local:
        Whether each branch is decided as for this `x`. By default, both sides run and are joined.

    Returns
    -------
    A symmetric boolean `scipy.sparse.csr_array`, with a row and a column for each input.

    Raises
    ------
    SparsityError
        If the dependences of a value cannot be followed. The message names the call site, and what to do.
    TypeError
        If `x` has no number, or the result contains something else than numbers.

    Example
    -------
    >>> hessian(lambda x: x[0] * x[1] + 3 * x[2], [1.0, 2.0, 3.0]).toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """
    run, outputs, size = _dependences(f, x, local, second=True)
    found = set()
    for dependence in outputs:
        for ones, others in run.pairs_of(dependence):
            found |= {pair for one in ones for other in others for pair in ((one, other), (other, one))}
    return _csr(sorted(found), (size, size))


def coloring(pattern: Any) -> Any:
    """Colours for the columns of a pattern: columns that share a row get different ones.

    Columns of one colour can be found by one difference of the function. The columns with most neighbours get
    their colours first.

    Parameters
    ----------
    pattern:
        A sparse or dense matrix; every entry that is not zero counts.

    Returns
    -------
    An array of integers: the colour of each column, from 0 on.

    Example
    -------
    >>> coloring([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]).tolist()
    [1, 0, 1, 0]
    """
    columns = sparse.csc_array(pattern) != 0
    rows = columns.tocsr()
    degrees = np.diff(rows.indptr)
    weight = [
        int(degrees[columns.indices[a:b]].sum()) for a, b in zip(columns.indptr, columns.indptr[1:], strict=False)
    ]
    colors = np.full(columns.shape[1], -1)
    for column in sorted(range(columns.shape[1]), key=lambda one: -weight[one]):
        taken: set[int] = set()
        for row in columns.indices[columns.indptr[column] : columns.indptr[column + 1]]:
            taken.update(colors[rows.indices[rows.indptr[row] : rows.indptr[row + 1]]].tolist())
        color = 0
        while color in taken:
            color += 1
        colors[column] = color
    return colors


def _dependences(f: Any, x: Any, local: bool, second: bool) -> tuple[Run, list[int], int]:
    """Run the function; return the dependences of its outputs, and the number of inputs."""
    function = python_function(f) if callable(f) else None
    if function is None:
        if not callable(f):
            raise TypeError(f"the function must be callable, not {f!r}")
        return _dependences(lambda given: f(given), x, local, second)
    size = sum(1 for _ in _numbers(x))
    if not size:
        raise TypeError(f"the argument {x!r} contains no number")
    run = Run(size, local, second)
    roots = files_of(SparsityContext._entered_modules) | {function.__code__.co_filename}
    context = SparsityContext(run, roots)
    given, _ = _tagged(run, x, 0)
    try:
        result = overdub(context, f, given)
        outputs = [dependence_of(one) if type(one) is Number else 0 for one in _numbers(result)]
    except Exception as error:
        loss = loss_in(run, error)
        if loss is not None:
            raise loss from (None if error is loss else error)
        if not run.active.live:
            raise SparsityError(
                "the side of a branch that these inputs do not take raised an exception: "
                f"{type(error).__name__}: {error}\nGive local=True for the pattern of these inputs alone"
            ) from error
        raise
    finally:
        context.undo()
    if run.failure is not None:
        raise run.failure
    return run, outputs, size


def _tagged(run: Run, x: Any, start: int) -> tuple[Any, int]:
    """The argument with a dependence for each number, and the number of the next input."""
    if isinstance(x, np.ndarray):
        dependences = np.empty_like(x, dtype=object)
        for place in np.ndindex(x.shape):
            dependences[place] = run.input(start)
            start += 1
        return array(run, x.copy(), dependences), start
    if isinstance(x, dict):
        made = {}
        for key, part in x.items():
            made[key], start = _tagged(run, part, start)
        return made, start
    if isinstance(x, (list, tuple)):
        parts = []
        for part in x:
            tagged, start = _tagged(run, part, start)
            parts.append(tagged)
        return sequence_like(x, parts), start
    return Number(run, x, run.input(start)), start + 1


def _numbers(value: Any) -> Iterator[Any]:
    """The numbers of a structure, in their order."""
    if type(value) is Array:
        for one, dependence in zip(value.value.flat, dependences_of(value).flat, strict=True):
            yield Number(value.run, one, dependence)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _numbers(part)
    elif isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, (int, float, complex, np.generic)) or hasattr(value, "__float__"):
        yield value
    elif isinstance(value, np.ndarray):
        yield value[()]
    else:
        raise TypeError(f"a number is needed, or an array, list, tuple or dict of numbers, not {value!r}")


def _csr(entries: list[tuple[int, int]], shape: tuple[int, int]) -> Any:
    rows, columns = zip(*entries, strict=True) if entries else ((), ())
    return sparse.csr_array((np.ones(len(entries), bool), (rows, columns)), shape=shape)
