"""Calls in the program: the rules of functions that numbers with dependences reach, and which calls are refused."""

from __future__ import annotations

import dis
import functools
import inspect
import json
import math
import operator
import os
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GeneratorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    TracebackType,
    WrapperDescriptorType,
)
from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity import array_rules
from cassette_import.contexts.sparsity.array_rules import (
    FUNCTIONS,
    axis_of,
    call_plain,
    depends,
    each,
    handles,
    joined_over,
)
from cassette_import.contexts.sparsity.arrays import (
    Array,
    array,
    as_array,
    as_objects,
    dependences_of,
    plain,
    plain_deep,
)
from cassette_import.contexts.sparsity.branches import truth_of
from cassette_import.contexts.sparsity.errors import SparsityError, name_of
from cassette_import.contexts.sparsity.number import (
    DISPATCH,
    FOLDS,
    KINDS,
    UFUNC_KINDS,
    Number,
    apply,
    curved,
    dependence_of,
    linear,
    number,
    step,
    value_of,
)
from cassette_import.contexts.sparsity.run import Run, joined
from cassette_import.contexts.sparsity.stores import CONTAINERS, GuardedIterator, Stores, binds_outside, contains_number
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.kits.events import OVERDUBBED
from cassette_import.kits.tagging import is_new_of_named_tuple

__all__ = ["Calls", "loss_in", "product_of_matrices"]

# ---- exceptions that show that a pattern is lost: other code was given a number that is no float, and has raised
#
# A program may catch such an exception, and go on with a value that depends on nothing.


_NAMES: Final = Number.__name__, Array.__name__
_OF_ALL_NUMBERS: Final = re.compile(
    r"unsupported operand|bad operand|not supported between|not subscriptable|not callable|not iterable|non-iterable"
    r"|not a container|not an iterator|has no len|multiply sequence|does not support|concatenate"
)
"""What Python says of operations that no float has: the program itself raises the exception."""

_INTEGERS: Final = "__index__", "__int__"
"""The methods by which code in C asks for an integer, where it does not find a float."""


def names_number(error: BaseException) -> bool:
    """Whether an exception says that a number with a pattern has the wrong type."""
    text = str(error) if isinstance(error, (TypeError, ValueError)) else ""
    return any(name in text for name in _NAMES) and not _OF_ALL_NUMBERS.search(text)


def loss_in(run: Run, error: BaseException | None) -> SparsityError | None:
    """The error for a pattern that is lost; also if an exception that the program catches shows it."""
    while run.failure is None and error is not None:
        if names_number(error):
            run.refuse(f"Python or code without a rule raised {type(error).__name__}: {error}")
        error = error.__cause__ or error.__context__
    return run.failure


def is_of_program(error: BaseException, roots: frozenset[str]) -> bool:
    """Whether a converted function has raised an exception by a statement, or the arithmetic of numbers has."""
    trace = first = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace is first:
        return False
    code = trace.tb_frame.f_code
    filename = code.co_filename
    if filename.startswith(PACKAGE_FOLDER):
        return code.co_name not in _INTEGERS
    file = OVERDUBBED.files.get(filename)
    return (filename in roots or (file is not None and file.installed)) and _is_at_raise(trace)


def _is_at_raise(trace: TracebackType) -> bool:
    """Whether the frame of a traceback is at a statement `raise` or `assert`."""
    names = {one.offset: one.opname for one in dis.get_instructions(trace.tb_frame.f_code)}
    return names.get(trace.tb_lasti) in ("RAISE_VARARGS", "RERAISE")


# ---- calls of NumPy's functions: by element, sums along axes, and everything else by the table
#
# Importing the module registers it for NumPy's protocols.


def call_function(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a function of NumPy."""
    handler = FUNCTIONS.get(f)
    if handler is None:
        raise run.refuse(f"{name_of(f)} gets numbers that depend on the inputs, and there is no rule for it")
    out = keywords.pop("out", None)
    arguments, keywords = _numbers_by_position(f, arguments, keywords)
    with np.errstate(all="ignore") if not run.active.live else np.errstate():
        found = handler(run, f, arguments, keywords)
    return found if out is None else _into(run, out, found)


_BY_NAME: Final = frozenset({"initial", "weights"})
"""The parameters of reductions that are looked up by name."""


def _numbers_by_position(f: Any, arguments: Any, keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a call. Those that depend on the inputs are given by position, where rules look for them."""
    named = [name for name, one in keywords.items() if name not in _BY_NAME and _depends(one)]
    if not named:
        return arguments, keywords
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except ValueError:  # it has none
        return arguments, keywords
    names = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    if not set(named).issubset(names):
        return arguments, keywords
    rest, placed = dict(keywords), list(arguments)
    for parameter in parameters[len(arguments) : 1 + max(map(names.index, named))]:
        placed.append(rest.pop(parameter.name, parameter.default))
    return tuple(placed), rest


def _depends(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(_depends, value))
    return type(value) in (Number, Array) and depends(value)


def _outs(out: Any) -> tuple[Any, ...]:
    return out if type(out) is tuple else (out,)


def _into(run: Run, out: Any, found: Any) -> Any:
    """Store a result in the array that was given as `out`, and return it."""
    (out,) = _outs(out)
    if type(out) is not Array:
        raise run.refuse("an array that was made elsewhere gets elements that depend on the inputs")
    out[...] = found
    return out


# ---- by element


def call_ufunc(run: Run, ufunc: Any, method: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a ufunc, or one of its methods."""
    out = keywords.pop("out", None)
    if out is not None and method == "__call__" and "where" in keywords:
        found = call_ufunc(run, ufunc, method, arguments, {**keywords, "where": True})
        return _into(run, out, call_function(run, np.where, (keywords["where"], found, *_outs(out)), {}))
    if any(type(one) in (list, tuple) for one in arguments[:2]):
        arguments = tuple(as_array(run, one) if type(one) in (list, tuple) else one for one in arguments)
    with np.errstate(all="ignore") if not run.active.live else np.errstate():
        if ufunc.signature is not None:
            found = call_function(run, ufunc, arguments, keywords)
        elif method == "__call__":
            found = _by_element(run, ufunc, arguments, keywords)
        elif method in ("reduce", "accumulate"):
            keywords = {"axis": 0, **keywords} if len(arguments) == 1 else keywords
            found = (_reduce if method == "reduce" else _accumulate)(run, getattr(ufunc, method), arguments, keywords)
        elif method == "outer":
            one, other = (as_array(run, argument) for argument in arguments)
            found = _by_element(run, ufunc, (one[(..., *[None] * other.ndim)], other), keywords)
        elif method == "at":
            raise run.refuse("np.ufunc.at has no rule")
        else:
            raise run.refuse(f"{name_of(ufunc)}.{method} has no rule")
    return found if out is None else _into(run, out, found)


def _by_element(run: Run, ufunc: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    where = keywords.get("where", True)
    if type(where) is Array:
        if not where.is_constant() and not run.local:
            raise run.refuse_branch("which elements are computed (`where`) depends on the inputs")
        keywords = {**keywords, "where": where.value}
    values = ufunc(*map(plain, arguments), **keywords)
    many = values if type(values) is tuple else (values,)
    given = [dependences_of(argument) for argument in arguments]
    found = []
    for one in many:
        dependences = _dependences_by_element(run, ufunc.__name__, one, given)
        found.append(array(run, one, _without_constants(ufunc, arguments, given, dependences)))
    return tuple(found) if type(values) is tuple else found[0]


_CANCELLING: Final = {np.multiply: (0, 1), np.power: (1,), np.float_power: (1,)}
"""The arguments that make the result constant where they are a constant zero."""


def _without_constants(ufunc: Any, arguments: Sequence[Any], given: Sequence[Any], dependences: Any) -> Any:
    """The dependences of a result, without those of elements that are multiplied by zero, or are powers of zero."""
    for place in _CANCELLING.get(ufunc, ()):
        is_zero = np.equal(plain(arguments[place]), 0)
        if is_zero.any():
            is_constant = is_zero & np.equal(given[place], 0).astype(bool)
            dependences = as_objects(np.where(is_constant, 0, dependences))
    return dependences


def _dependences_by_element(run: Run, name: str, value: Any, given: list[Any]) -> Any:
    kind = UFUNC_KINDS.get(name)
    if kind is None:
        kind = curved if getattr(value, "dtype", np.dtype(float)).kind in "fcO" else step
    if name == "power" and len(given) == 2 and not run.second:
        kind = linear
    either = given[0]
    for one in given[1:]:
        either = np.bitwise_or(either, one)
    either = as_objects(either)
    if kind is step:
        return each(lambda one: run.step(one), either)
    if not run.second or kind is linear:
        return either
    return as_objects(np.frompyfunc(lambda *each: kind(run, each), len(given), 1)(*given))


# ---- sums


_KINDS: Final = {
    **dict.fromkeys(["sum", "nansum", "mean", "nanmean", "average", "add", "maximum", "minimum"], linear),
    **dict.fromkeys(["max", "min", "amax", "amin", "nanmax", "nanmin", "ptp"], linear),
    **dict.fromkeys(["any", "all", "argmax", "argmin", "count_nonzero", "logical_and", "logical_or"], step),
}  # fmt: skip


@handles(
    "sum nansum mean nanmean max min amax amin nanmax nanmin ptp prod nanprod std var nanstd nanvar any all argmax"
)
@handles("argmin count_nonzero median nanmedian average")
@handles("norm", np.linalg)
def _reduce(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Each element of the result depends on all elements along the axes."""
    given = as_array(run, arguments[0])
    axis = axis_of(arguments, keywords)
    others = [*arguments[1:], *(one for name, one in keywords.items() if name not in ("weights", "initial"))]
    if any(type(one) in (Number, Array) and depends(one) for one in others):
        raise run.refuse(f"{name_of(f)}, with an option that depends on the inputs, has no rule")
    weights = keywords.get("weights")
    if f is np.linalg.norm:
        axis = plain_deep(keywords.get("axis", arguments[2] if len(arguments) > 2 else None))
    value = call_plain(f, (given, *arguments[1:]), keywords)
    shape = np.shape(value)
    dependences = np.bitwise_or.reduce(given.dependences, axis=axis, keepdims=bool(keywords.get("keepdims", False)))
    more = joined_over(one for one in (weights, keywords.get("initial")) if one is not None)
    dependences = np.bitwise_or(as_objects(dependences), as_objects(more))
    kind = _KINDS.get(getattr(f, "__name__", ""), curved)
    if hasattr(f, "__self__"):  # a method of a ufunc
        kind = _KINDS.get(f.__self__.__name__, curved)
    if weights is not None:
        kind = curved
    if np.shape(dependences) != shape:
        dependences = joined(as_objects(dependences).flat)
    return array(run, value, each(lambda one: kind(run, (one,)), dependences))


@handles("cumsum nancumsum cumprod nancumprod")
def _accumulate(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = as_array(run, arguments[0])
    axis = axis_of(arguments, keywords)
    value = f(given.value, *map(plain, arguments[1:]), **keywords)
    dependences = given.dependences.ravel() if axis is None else given.dependences
    dependences = np.bitwise_or.accumulate(dependences, axis=axis or 0)
    is_sum = getattr(f, "__name__", "") in ("cumsum", "nancumsum") or getattr(f, "__self__", None) is np.add
    return array(run, value, dependences if is_sum else each(run.curved, dependences))


# ---- methods


def _method(owner: Any, name: str) -> Any:
    """A bound method of an array."""
    run = owner.run
    if name == "reshape":
        return lambda *shape, **keywords: call_function(
            run, np.reshape, (owner, shape[0] if len(shape) == 1 else shape), keywords
        )
    if name == "transpose":
        return lambda *axes: call_function(
            run, np.transpose, (owner, (axes[0] if len(axes) == 1 else axes) or None), {}
        )
    if name in ("conj", "conjugate"):
        return lambda: call_ufunc(run, np.conjugate, "__call__", (owner,), {})
    if not hasattr(np, name):
        raise run.refuse(f"the method {name} of an array that may depend on the inputs has no rule")
    f = getattr(np, name)
    return lambda *arguments, **keywords: call_function(run, f, (owner, *arguments), keywords)


DISPATCH.update(ufunc=call_ufunc, function=call_function, cast=array_rules.cast, method=_method)


# ---- calls in the program: the rules of functions that numbers with dependences reach, and which calls are refused

_STATISTICS: Final[dict[Any, Any]] = {
    **dict.fromkeys([statistics.mean, statistics.fmean, statistics.median], linear),
    **dict.fromkeys([statistics.variance, statistics.pvariance, statistics.stdev, statistics.pstdev], curved),
    **dict.fromkeys([statistics.harmonic_mean, statistics.geometric_mean, statistics.correlation], curved),
    statistics.covariance: curved,
}
_READING: Final = frozenset(
    ["index", "count", "copy", "get", "items", "keys", "values", "__contains__", "__len__", "__iter__", "__getitem__"]
)
_PURE: Final = frozenset({"math", "cmath", "operator", "_operator", "numpy", "statistics", "itertools", "functools"})
_EFFECTS: Final = frozenset({print, input, open, exec, eval, setattr, delattr, next, breakpoint, __import__})
_CONTEXTS: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_OWN_ARITHMETIC: Final = "{} runs a function in a context of its own, which dependences do not reach"
_WITHOUT_IT: Final = "find the pattern of the function that it runs"
_EMPTY: Final = CellType()
_CACHED: Final = type(functools.lru_cache(lambda: None))


def _is_of_context(function: Any) -> bool:
    """Whether a function is one of a ready-made context, such as `enclosure`."""
    return type(function) is FunctionType and function.__code__.co_filename.startswith(_CONTEXTS)


def _reads_number(value: Any) -> bool:
    """Whether a closure reads a number that depends on the inputs."""
    if type(value) is not FunctionType or value.__closure__ is None:
        return False
    return any(contains_number(cell.cell_contents) for cell in value.__closure__ if cell != _EMPTY)


class Calls(Stores):
    """The part of the context that makes calls."""

    def __init__(self, run: Run, roots: frozenset[str]) -> None:
        super().__init__(run)
        self.roots = roots
        self.streams = sys.stdout, sys.stderr

    def call(self, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Make a call of the program."""
        function = f.__func__ if type(f) is MethodType else f
        if type(function) is FunctionType and self._runs(function):
            return self.made(f(*arguments, **keywords))
        if self.run.is_split and type(f) is type and self._is_initialised(f):
            made: Any = self.made(object.__new__(f))  # its attributes are set on this side alone
            made.__init__(*arguments, **keywords)
            return made
        inside = contains_number(arguments) or contains_number(keywords)
        if _is_of_context(function) and (inside or any(map(_reads_number, (*arguments, *keywords.values())))):
            raise self.run.refuse(_OWN_ARITHMETIC.format(function.__name__), _WITHOUT_IT)
        if type(function) is _CACHED and inside:
            receiver = () if function is f else (f.__self__,)
            return self.call(function.__wrapped__, *receiver, *arguments, **keywords)
        if isinstance(f, functools.partial):
            return self.call(f.func, *f.args, *arguments, **{**f.keywords, **keywords})
        if type(f) in _SLOT_WRAPPERS and f.__objclass__ is object and f.__name__ in _OF_OBJECT:
            receiver = (f.__self__,) if type(f) is MethodWrapperType else ()
            return _OF_OBJECT[f.__name__](self, *receiver, *arguments)
        try:
            rule = _RULES.get(f)
        except TypeError:  # it has no hash
            rule = None
        if rule in _READERS and f not in _OF_SEQUENCES and any(isinstance(one, Iterator) for one in arguments):
            arguments = tuple(list(one) if isinstance(one, Iterator) else one for one in arguments)
            inside = inside or contains_number(arguments)
        if rule is not None and (inside or rule in _ALWAYS):
            return self.made(rule(self, f, arguments, keywords))
        if inside and (isinstance(f, np.ufunc) or _is_of_numpy(f)):
            return self._of_numpy(f, arguments, keywords)
        return self._leaf(f, arguments, keywords)

    def _of_numpy(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        owner = getattr(f, "__self__", None)
        if isinstance(f, np.ufunc):
            return call_ufunc(self.run, f, "__call__", arguments, keywords)
        if isinstance(owner, np.ufunc):
            return call_ufunc(self.run, owner, f.__name__, arguments, keywords)
        if isinstance(owner, (np.ndarray, np.generic)):
            return getattr(as_array(self.run, owner), f.__name__)(*arguments, **keywords)
        if isinstance(f, type) and issubclass(f, np.generic):
            one = arguments[0]
            return (
                one.astype(f) if type(one) is Array else apply(self.run, f, linear if f(0.5) else step, arguments[:1])
            )
        if isinstance(f, type):
            return self._leaf(f, arguments, keywords)
        return call_function(self.run, f, arguments, keywords)

    def _leaf(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a function without a rule, which gets an error if it asks for the value of a number."""
        receiver = getattr(f, "__self__", None)
        if isinstance(receiver, CONTAINERS):
            if f.__name__ not in _READING:
                self.changes_whole(receiver)
            if type(receiver) is list and f.__name__ == "sort" and contains_number(receiver):
                receiver[:] = _sorted(self, sorted, (receiver,), keywords)
                return None
        elif (
            receiver is not None and type(receiver).__module__.startswith("scipy.sparse") and contains_number(arguments)
        ):
            if f.__name__ in ("dot", "__matmul__", "_matmul_dispatch") and len(arguments) == 1:
                return product_of_matrices(self.run, receiver, arguments[0])
        elif self.run.is_split and not self._may_run_on_one_side(f):
            raise self.run.refuse_branch(f"{name_of(f)} is called on one side of a branch that depends on the inputs")
        before, self.run.leaf = self.run.leaf, name_of(f)
        try:
            found = f(*arguments, **keywords)
        except SparsityError:
            raise
        except Exception as error:
            if self._loses(f, arguments, keywords, error):
                raise self._lost(f, error) from error
            raise
        finally:
            self.run.leaf = before
        return self._adopted(f, found, arguments)

    def _lost(self, f: Any, error: Exception) -> SparsityError:
        raised = f"it raised {type(error).__name__}: {error}"
        what = f"{name_of(f)} gets a number that depends on the inputs, and there is no rule for it"
        return self.run.failure or self.run.refuse(f"{what} ({raised})")

    def _loses(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], error: Exception) -> bool:
        """Whether a function has raised an exception because it was given numbers with dependences."""
        if self.run.failure is not None or names_number(error):
            return True
        if not (contains_number(arguments) or contains_number(keywords)) or is_of_program(error, self.roots):
            return False
        given, named = plain_deep(arguments), plain_deep_of(keywords)
        if contains_number(given) or contains_number(named) or not self._may_run_on_one_side(f):
            return True
        try:
            f(*given, **named)
        except Exception as other:
            return type(other) is not type(error)
        return True

    def _may_run_on_one_side(self, f: Any) -> bool:
        """Whether a function has no effects."""
        module = getattr(f, "__module__", None)
        code = getattr(getattr(f, "__func__", f), "__code__", None)
        if code is not None and code.co_filename.startswith(PACKAGE_FOLDER):
            return True
        if isinstance(f, type) or (type(f) is FunctionType and is_new_of_named_tuple(f)):
            return True
        if getattr(f, "__self__", None) is not None and type(f.__self__) is not ModuleType:
            return isinstance(f.__self__, (str, bytes, int, float, complex, tuple, frozenset, range, type, Array))
        if module == "builtins":
            return f not in _EFFECTS
        return (isinstance(f, (np.ufunc, BuiltinFunctionType)) and module is None) or str(module).split(".")[0] in _PURE

    def _adopted(self, f: Any, found: Any, arguments: tuple[Any, ...]) -> Any:
        """What a function returned: an array of NumPy gets dependences, because the program may store some."""
        if type(found) in (list, tuple) and found and _is_of_numpy(f):
            return type(found)([self._adopted(f, one, arguments) for one in found])
        if type(found) is np.ndarray and found.dtype.kind in "fciub" and _is_of_numpy(f):
            given = [*arguments, getattr(f, "__self__", None)]
            if not any(isinstance(one, np.ndarray) and np.may_share_memory(found, plain(one)) for one in given):
                return as_array(self.run, found, dtype=found.dtype)
        return self.made(found)


def _is_of_numpy(f: Any) -> bool:
    owner = getattr(f, "__self__", None)
    if isinstance(owner, (np.ndarray, np.generic, np.ufunc)) or isinstance(f, np.ufunc):
        return type(owner) is not Array
    return str(getattr(f, "__module__", None)).partition(".")[0] == "numpy"


def product_of_matrices(run: Run, matrix: Any, given: Any) -> Any:
    """The product of a constant sparse matrix and an array."""
    rows = matrix.tocsr()
    given = as_array(run, given)
    made = np.zeros((rows.shape[0], *given.shape[1:]), object)
    for row in range(rows.shape[0]):
        first, last = rows.indptr[row], rows.indptr[row + 1]
        if last > first:
            made[row] = np.bitwise_or.reduce(given.dependences[rows.indices[first:last]], axis=0)
    return as_array(run, matrix @ given.value) if not made.any() else Array(run, matrix @ given.value, made)


# ---- rules


def _scalar(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    if any(type(one) is Array and one.size != 1 for one in arguments) or keywords:
        return context._leaf(f, arguments, keywords)
    return apply(context.run, f, KINDS[f], [_as_number(one) for one in arguments])


def _as_number(value: Any) -> Any:
    return value.item() if type(value) is Array else value


def _native(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    return f(*arguments, **keywords)


def _printed(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    file = keywords.get("file")
    shown = (sys.stdout if file is None else file) in context.streams  # otherwise the program may read the text
    return context._leaf(f, plain_deep(arguments) if shown else arguments, keywords)


def _refused(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    raise context.run.refuse(f"{name_of(f)} gets a number that depends on the inputs, and there is no rule for it")


def _items(value: Any) -> list[Any]:
    return [part for one in value for part in (_items(one) if isinstance(one, (list, tuple)) else [one])]


def _fold(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    lists = [list(one) if isinstance(one, Iterable) else one for one in arguments]
    named = {name: list(one) if isinstance(one, Iterable) else one for name, one in keywords.items()}
    kind = FOLDS[f] if f in FOLDS else _STATISTICS[f]
    if f in _STATISTICS and (contains_number(lists[1:]) or contains_number(named)):
        kind = curved  # in weights, and in a mean that is given
    run = context.run
    value = f(*plain_deep(tuple(lists)), **plain_deep_of(named))
    return number(run, value, kind(run, [dependence_of(one) for one in _items([*lists, *named.values()])]))


def plain_deep_of(keywords: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments without dependences."""
    return {name: plain_deep(value) for name, value in keywords.items()}


def _extreme(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    items = list(arguments[0]) if len(arguments) == 1 else list(arguments)
    if "default" in keywords and not items:
        return keywords["default"]
    key = keywords.get("key")
    keys = items if key is None else [context.call(key, one) for one in items]
    if not all(isinstance(one, (int, float, np.generic)) for one in (*items, *keys)):
        raise context.run.refuse(f"{name_of(f)} of other objects than numbers has no rule")
    place = f(range(len(items)), key=lambda at: value_of(keys[at]))
    if context.run.local:
        return items[place]
    changing = context.run.step(joined(map(dependence_of, keys)))
    return number(context.run, value_of(items[place]), joined(map(dependence_of, items)) | changing)


def _sorted(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    if context.run.local:
        return f(*arguments, **keywords)
    items = list(arguments[0])
    key = keywords.get("key")
    keys = items if key is None else [context.call(key, one) for one in items]
    if not all(isinstance(one, (int, float, np.generic)) for one in (*items, *keys)):
        raise context.run.refuse_branch("the order of objects depends on the inputs")
    order = sorted(range(len(items)), key=lambda at: value_of(keys[at]), reverse=bool(keywords.get("reverse", False)))
    either = joined(map(dependence_of, (*items, *keys)))
    either = joined(map(dependence_of, items)) | context.run.step(either)
    return [number(context.run, value_of(items[at]), either) for at in order]


def _truths(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    """Executions stop at different items: the other ones go on where the given inputs have stopped."""
    run = context.run
    if run.local or keywords or len(arguments) != 1:
        return f(*arguments, **keywords)
    is_seen = isinstance(arguments[0], Iterator) and sys.getrefcount(arguments[0]) > _UNSHARED
    items = arguments[0]
    if type(items) is GuardedIterator:
        items.check()
        items = items.iterator
        is_seen = is_seen or (type(items) is GeneratorType and binds_outside(items.gi_code))
    truths, before = [], run.active
    for one in items:
        truth = truth_of(one)
        truths.append(truth)
        if type(truth) is not Number:
            if truth is (f is any):
                break
            continue
        if is_seen:
            raise run.refuse_branch("how far an iterator is advanced depends on the inputs")
        run.active = run.halves(truth.value is not (f is any))[0]
    run.active = before
    return number(run, f(map(value_of, truths)), joined(map(dependence_of, truths)))


def _convert(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    given = [_as_number(one) for one in (*arguments, *keywords.values())]
    if not all(isinstance(one, (int, float, complex, np.generic)) for one in given):
        return context._leaf(f, arguments, keywords)
    count = len(arguments)

    def by_name(*values: Any) -> Any:
        return f(*values[:count], **dict(zip(keywords, values[count:], strict=True)))

    return apply(context.run, by_name if keywords else f, step if f in (int, bool) else linear, given)


def _map(context: Calls, f: Any, arguments: Any, keywords: Any) -> Iterator[Any]:
    function, *lists = arguments
    return (context.call(function, *each) for each in zip(*lists, strict=keywords.get("strict", False)))


def _reduced(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    function, *others = arguments
    return functools.reduce(lambda one, other: context.call(function, one, other), *others, **keywords)


def _type_of(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    return type(plain(arguments[0])) if len(arguments) == 1 else f(*arguments, **keywords)


def _set(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    return context.store_attribute(*arguments)


def _total(context: Calls, f: Any, arguments: Any, keywords: Any) -> Any:
    items, *start = arguments
    start = [*start, *keywords.values()] or [0]
    return functools.reduce(operator.add, items, start[0])


_Rule = Callable[[Calls, Any, Any, Any], Any]
_RULES: Final[dict[Any, _Rule]] = {
    **{f: _scalar for f in KINDS if getattr(f, "__module__", "") == "math"},
    **dict.fromkeys([*FOLDS, *_STATISTICS], _fold),
    **dict.fromkeys([min, max], _extreme),
    **dict.fromkeys([any, all], _truths),
    **dict.fromkeys([float, int, bool, complex], _convert),
    sorted: _sorted, sum: _total, type: _type_of, map: _map, functools.reduce: _reduced, setattr: _set,
    print: _printed, json.dump: _refused, json.dumps: _refused,  # they may call another function for what is no float
    isinstance: _native, len: _native, range: _native, enumerate: _native, zip: _native,
    repr: _native, str: _native, abs: _native, round: _native, pow: _native, divmod: _native, id: _native,
    math.modf: lambda context, f, arguments, keywords: (
        apply(context.run, lambda x: math.modf(x)[0], linear, arguments),
        apply(context.run, lambda x: math.modf(x)[1], step, arguments),
    ),
}  # fmt: skip
_ALWAYS: Final = frozenset({_map, _reduced, _set, _truths})
_UNSHARED: Final = 2
"""The references to an iterator that nothing else has: that of the arguments, and the argument of `getrefcount`."""
_SLOT_WRAPPERS: Final = (MethodWrapperType, WrapperDescriptorType)
_OF_OBJECT: Final[dict[str, Callable[..., Any]]] = {
    "__setattr__": Calls.store_plain_attribute,
    "__delattr__": Calls.delete_attribute,
    "__init__": lambda context, *arguments: object.__init__(*arguments),
}
"""The methods of `object` that may be called on one side of a branch."""
_READERS: Final = frozenset({_fold, _extreme, _sorted})
"""The rules of functions that read iterators to their end, unless they are in `_OF_SEQUENCES`."""
_OF_SEQUENCES: Final = frozenset({statistics.covariance, statistics.correlation})
