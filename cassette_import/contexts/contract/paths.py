"""The paths of a function through its branches, each recorded as a trace.

Every number of the box takes one of the paths, or raises an exception.
"""

from __future__ import annotations

import functools
import math
import numbers
import operator
from collections.abc import Callable
from math import inf
from typing import Any, Final

from cassette_import.activation.tagging import metadata
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.contract.context import Node, Option, PathRecorder, Unreachable
from cassette_import.contexts.contract.operations import OPERATIONS, power, raised_to
from cassette_import.contexts.contract.traces import Box, Condition, Trace
from cassette_import.errors import CassetteError
from cassette_import.kits.numbers.compositions import COMPOSITIONS
from cassette_import.kits.numbers.elementary import ELEMENTARY
from cassette_import.kits.numbers.enclosures.bounds import Bounds, contains
from cassette_import.kits.numbers.enclosures.functions import HALF_PI, PI
from cassette_import.kits.numbers.lost_numbers import UNKNOWN
from cassette_import.kits.numbers.row import Row
from cassette_import.kits.numbers.ruled_numbers import NO_RULE_FOR_OPERANDS, check_function
from cassette_import.kits.tagged_containers import with_items_read
from cassette_import.kits.tagging import plain

__all__ = ["FOLDS", "RULES", "Path", "check_recordable", "paths"]

# ---- the rules of functions of numbers: the operations and decisions of which each one consists
#
# A rule gets the recorder, the function and the nodes of its operands, and returns a node, or an integer or truth value
# that it has decided.

Rule = Callable[..., Any]

_LARGEST: Final = 1.7976931348623157e308


# ---- decisions


def _difference(to: PathRecorder, x: Node, y: Node) -> Node:
    return x if to.bounds[y.place] == (0.0, 0.0) else to.node("sub", x, y)


def less(to: PathRecorder, f: Any, x: Node, y: Node) -> bool:
    """Whether x < y."""
    if x == y:
        return False
    (a, b), (c, d) = to.bounds[x.place], to.bounds[y.place]
    if b < c or a >= d:
        return b < c
    gap = _difference(to, x, y).place
    return bool(
        to.decide(
            [
                Option(True, (Condition(gap, (-inf, 0.0), open=True, nonzero=True),)),
                Option(False, (Condition(gap, (0.0, inf)),)),
            ]
        )
    )


def _at_most(to: PathRecorder, f: Any, x: Node, y: Node) -> bool:
    return not less(to, f, y, x)


def _equal(to: PathRecorder, f: Any, x: Node, y: Node) -> bool:
    if x == y:
        return True
    gap = _difference(to, x, y).place
    return bool(
        to.decide(
            [Option(False, (Condition(gap, (-inf, inf), nonzero=True),)), Option(True, (Condition(gap, (0.0, 0.0)),))]
        )
    )


def _within(node: Node, low: float, high: float) -> tuple[Condition, ...]:
    return (Condition(node.place, (low, high), open=True),)


def _integers(to: PathRecorder, f: Any, x: Node, nearest: Callable[[float], int]) -> range:
    low, high = to.bounds[x.place]
    if math.isinf(low) or math.isinf(high):
        raise to.too_many_paths()
    if max(-low, high) > 2.0**52:
        raise to.refused(f, "the integers are too large for the bounds of")
    return range(nearest(low), nearest(high) + 1)


def _floor(to: PathRecorder, f: Any, x: Node) -> int:
    return to.integer(_integers(to, f, x, math.floor), lambda n: _within(x, float(n), float(n + 1)))


def _ceil(to: PathRecorder, f: Any, x: Node) -> int:
    return to.integer(_integers(to, f, x, math.ceil), lambda n: _within(x, float(n - 1), float(n)))


def _trunc(to: PathRecorder, f: Any, x: Node) -> int:
    return to.integer(
        _integers(to, f, x, math.trunc),
        lambda n: _within(x, float(n - 1 if n <= 0 else n), float(n + 1 if n >= 0 else n)),
    )


def _round(to: PathRecorder, f: Any, x: Node, *digits: Node) -> int:
    if digits:
        raise to.refused(f, NO_RULE_FOR_OPERANDS)
    return to.integer(_integers(to, f, x, round), lambda n: _within(x, n - 0.5, n + 0.5))


def _floordiv(to: PathRecorder, f: Any, x: Node, y: Node) -> Node:
    return to.constant(_floor(to, f, _div(to, f, x, y)))


def _remainder(integer: Rule) -> Rule:
    """x - y n for an integer n that is decided from x / y."""

    def rule(to: PathRecorder, f: Any, x: Node, y: Node) -> Node:
        number = integer(to, f, _div(to, f, x, y))
        return to.node("sub", x, to.node("mul", y, to.constant(number))) if number else x

    return rule


# ---- functions that are not defined everywhere


class _Raise:
    """The value of an option: the call raises an exception."""


def _domain(to: PathRecorder, f: Any, x: Node, inside: Condition, outside: Condition, *offending: float) -> None:
    """Go on for the numbers in the domain of a function. For the others it raises, as it does for an example."""
    if to.decide([Option(None, (inside,)), Option(_Raise, (outside,))]) is _Raise:
        try:
            f(*offending)
        except Exception as error:
            to.intended = error
            raise
        raise to.refused(f, "some numbers of the box leave the domain of")


def _above(name: str, low: float, *, closed: bool, offending: float) -> Rule:
    """A function of the numbers above one."""

    def rule(to: PathRecorder, f: Any, x: Node) -> Node:
        first, _ = to.bounds[x.place]
        if first < low or (first == low and not closed):
            inside = Condition(x.place, (low, inf), open=not closed)
            _domain(to, f, x, inside, Condition(x.place, (-inf, low), open=closed), offending)
        return to.node(name, x)

    return rule


def _between(name: str, *, closed: bool) -> Rule:
    """A function of the numbers from -1 to 1."""

    def rule(to: PathRecorder, f: Any, x: Node) -> Node:
        for low, high, offending in ((-1.0, inf, -2.0), (-inf, 1.0, 2.0)):
            bounds = to.bounds[x.place]
            if bounds[0] > low and bounds[1] < high:
                continue
            outside: Bounds = (-inf, -1.0) if offending < 0.0 else (1.0, inf)
            _domain(
                to, f, x, Condition(x.place, (low, high), open=not closed), Condition(x.place, outside, open=closed),
                offending,
            )  # fmt: skip
        return to.node(name, x)

    return rule


def _nonzero(to: PathRecorder, f: Any, y: Node, *offending: float) -> None:
    if contains(to.bounds[y.place], 0.0):
        inside = Condition(y.place, (-inf, inf), nonzero=True)
        _domain(to, f, y, inside, Condition(y.place, (0.0, 0.0)), *offending)


def _div(to: PathRecorder, f: Any, x: Node, y: Node) -> Node:
    _nonzero(to, f, y, 1.0, 0.0)
    return to.node("div", x, y)


def _finite(to: PathRecorder, f: Any, z: Node, *offending: float) -> Node:
    """The result of a function that raises OverflowError where floats overflow."""
    low, high = to.bounds[z.place]
    if low < -_LARGEST or high > _LARGEST:
        inside = Condition(z.place, (-_LARGEST, _LARGEST), narrows=False)
        _domain(to, f, z, inside, Condition(z.place, (inf, -inf), narrows=False), *offending)
    return z


def _growing(name: str, *offending: float) -> Rule:
    return lambda to, f, x: _finite(to, f, to.node(name, x), *offending)


def _gamma(name: str) -> Rule:
    """A function that has a rule for numbers above zero only."""

    def rule(to: PathRecorder, f: Any, x: Node) -> Node:
        if to.bounds[x.place][0] <= 0.0:
            raise to.refused(f, "there is a rule only for numbers above zero of")
        return _finite(to, f, to.node(name, x), 1e308)

    return rule


# ---- functions that are compositions


def _pow(to: PathRecorder, f: Any, x: Node, y: Node) -> Node:
    low, high = to.bounds[y.place]
    exponent = to.exact.get(y)
    if low == high and exponent is not None:
        return _constant_power(to, f, x, exponent)
    first = to.bounds[x.place][0]
    if first <= 0.0:
        raise to.refused(f, "there is a rule only for powers of numbers above zero of")
    return _finite(to, f, to.node("exp", to.node("mul", y, to.node("log", x))), 10.0, 1000.0)


def _constant_power(to: PathRecorder, f: Any, x: Node, exponent: Any) -> Node:
    if exponent == int(exponent):
        n = int(exponent)
        if n < 0:
            _nonzero(to, f, x, 0.0, -1.0)
        if n in (0, 1):
            return to.constant(1) if n == 0 else x
        return _finite(to, f, to.node(power(n), x), 10.0, 1000.0)
    low, _ = to.bounds[x.place]
    if low < 0.0:
        raise to.refused(f, "some numbers of the box are negative and have no real power, in")
    if exponent < 0:
        _nonzero(to, f, x, 0.0, -1.0)
    return _finite(to, f, to.node(raised_to(to.bounds[to.constant(exponent).place]), x), 10.0, 1000.0)


def _log(to: PathRecorder, f: Any, x: Node, *base: Node) -> Node:
    natural = _above("log", 0.0, closed=False, offending=-1.0)
    found = natural(to, math.log, x)
    return _div(to, operator.truediv, found, natural(to, math.log, base[0])) if base else found


def _hypot(to: PathRecorder, f: Any, *coordinates: Node) -> Node:
    total = to.constant(0)
    for number, x in enumerate(coordinates):
        square = to.node(power(2), x)
        total = square if number == 0 else to.node("add", total, square)
    return to.node("sqrt", total)


def _unsure(node: Node) -> tuple[Condition, ...]:
    """The condition of a path that perhaps no number takes: it excludes none, and is never certain to hold."""
    return (Condition(node.place, (inf, -inf), narrows=False),)


def _atan2(to: PathRecorder, f: Any, y: Node, x: Node) -> Node:
    zero, quarter = to.constant(0), to.fixed(HALF_PI, "π/2")
    if less(to, f, zero, x):
        return to.node("atan", to.node("div", y, x))
    if less(to, f, zero, y):
        return to.node("sub", quarter, to.node("atan", to.node("div", x, y)))
    if less(to, f, y, zero):
        return to.node("sub", to.node("neg", quarter), to.node("atan", to.node("div", x, y)))
    half = to.fixed(PI, "π")  # the signs of zeros decide, which bounds do not know
    # For the type checker: `decide` returns one of the nodes.
    return to.decide([Option(node, _unsure(y)) for node in (half, to.node("neg", half), zero)])  # type: ignore[no-any-return]


def _copysign(to: PathRecorder, f: Any, x: Node, y: Node) -> Node:
    size, zero = to.node("abs", x), to.constant(0)
    opposite = to.node("neg", size)
    if less(to, f, y, zero):
        return opposite
    if less(to, f, zero, y):
        return size
    # For the type checker: `decide` returns one of the nodes.
    return to.decide([Option(node, _unsure(y)) for node in (size, opposite)])  # type: ignore[no-any-return]


def _ldexp(to: PathRecorder, f: Any, x: Node, y: Node) -> Node:
    exponent = to.exact.get(y)
    if exponent is None:
        raise to.refused(f, NO_RULE_FOR_OPERANDS)
    return _finite(to, f, to.node("mul", x, to.constant(2.0**exponent)), 1.0, 10000)


def _fused(to: PathRecorder, f: Any, x: Node, y: Node, z: Node) -> Node:
    return _finite(to, f, to.node("add", _mul(to, f, x, y), z), 1e200, 1e200, 0.0)


def _degrees(to: PathRecorder, f: Any, x: Node) -> Node:
    return to.node("div", to.node("mul", x, to.constant(180)), to.fixed(PI, "π"))


def _radians(to: PathRecorder, f: Any, x: Node) -> Node:
    return to.node("div", to.node("mul", x, to.fixed(PI, "π")), to.constant(180))


def _is_close(to: PathRecorder, f: Any, x: Node, y: Node) -> bool:
    size = to.node("max", to.node("abs", x), to.node("abs", y))
    gap = to.node("abs", to.node("sub", x, y))
    return x == y or _at_most(to, f, gap, to.node("mul", to.constant(1e-9), size))


def _same(to: PathRecorder, f: Any, x: Node) -> Node:
    return x


def _of(name: str) -> Rule:
    return lambda to, f, *operands: to.node(name, *operands)


def _swapped(rule: Rule) -> Rule:
    return lambda to, f, x, y: rule(to, f, y, x)


def _zero(to: PathRecorder, f: Any, x: Node) -> bool:
    return _equal(to, f, x, to.constant(0))


def _mul(to: PathRecorder, f: Any, x: Node, y: Node) -> Node:
    """A product; the square of a number is narrower than a product of two independent ones."""
    return to.node(power(2), x) if x == y else to.node("mul", x, y)


_MOD: Final = _remainder(_floor)


def _operation(row: Row) -> Rule:
    """The rule of a function of one argument that is an operation of traces, with its domain and its overflows."""
    if row.domain is not None and row.domain.high < inf:
        return _between(row.name, closed=row.domain.closed)
    if row.domain is not None:
        low, outside = row.domain.low, row.domain.example_outside(above=False)
        return _above(row.name, low, closed=row.domain.closed, offending=outside)
    return _growing(row.name, *row.overflows) if row.overflows else _of(row.name)


RULES: Final[dict[Any, Rule]] = {
    **{function: _operation(row) for row in ELEMENTARY if row.name in OPERATIONS for function in row.functions},
    operator.add: _of("add"), operator.iadd: _of("add"), operator.sub: _of("sub"), operator.isub: _of("sub"),
    operator.mul: _mul, operator.imul: _mul, operator.truediv: _div, operator.itruediv: _div,
    operator.floordiv: _floordiv, operator.ifloordiv: _floordiv, operator.mod: _MOD, operator.imod: _MOD,
    operator.pow: _pow, operator.ipow: _pow, pow: _pow, math.pow: _pow,
    operator.neg: _of("neg"), operator.pos: _same, operator.abs: _of("abs"), abs: _of("abs"), math.fabs: _of("abs"),
    math.hypot: _hypot, math.atan2: _atan2, math.log: _log, math.gamma: _gamma("gamma"), math.lgamma: _gamma("lgamma"),
    math.degrees: _degrees, math.radians: _radians,
    math.fmod: _remainder(_trunc), math.remainder: _remainder(_round), math.copysign: _copysign, math.ldexp: _ldexp,
    math.floor: _floor, math.ceil: _ceil, math.trunc: _trunc, int: _trunc, round: _round,
    operator.lt: less, operator.le: _at_most, operator.eq: _equal,
    operator.gt: _swapped(less), operator.ge: _swapped(_at_most),
    operator.ne: lambda to, f, x, y: not _equal(to, f, x, y),
    operator.truth: lambda to, f, x: not _zero(to, f, x), bool: lambda to, f, x: not _zero(to, f, x),
    operator.not_: _zero,
    math.isnan: lambda to, f, x: False, math.isinf: lambda to, f, x: False, math.isfinite: lambda to, f, x: True,
    math.isclose: _is_close,
    **({math.fma: _fused} if hasattr(math, "fma") else {}),
}  # fmt: skip
"""Functions of numbers."""

FOLDS: Final[dict[Any, str]] = {sum: "add", math.fsum: "add", math.prod: "mul", min: "min", max: "max"}
"""Functions of the items of an iterable, and the operation that takes one more item."""


PathRecorder.register(RULES, FOLDS)


# ---- the paths of a function through its branches, each recorded as a trace

_MISTAKES: Final = (TypeError, NameError, AttributeError, ImportError, NotImplementedError, RecursionError)
"""Exceptions that are mistakes of the program: they do not say that a function has no value for these numbers."""


class Path:
    """What a function computes on one path: the trace, and whether the result is a tuple of numbers."""

    def __init__(self, trace: Trace, is_tuple: bool) -> None:
        self.trace = trace
        self.is_tuple = is_tuple


def check_recordable(f: Callable[..., Any]) -> None:
    """Raise an error if a function cannot be recorded."""
    refusal = f"{f!r} has no Python source, and no rule is known that contracts it"
    check_function(f, (RULES, FOLDS, COMPOSITIONS), refusal)


def paths(f: Callable[..., Any], box: Box, max_paths: int) -> list[Path]:
    """All paths that some number of a box may take to a result.

    Raises
    ------
    TooManyPaths
        If there are more than `max_paths`; paths that end in an exception count, too.
    NotContracted
        If a function without a rule computes something from the numbers.
    """
    pending: list[list[int]] = [[]]
    found: list[Path] = []
    runs = 0
    while pending:
        decisions = pending.pop()
        room = max_paths - runs - 1 - len(pending)
        recorder = PathRecorder(box, decisions, room=room, paths=max_paths)
        path = _recorded(f, recorder)
        runs += 1
        if path is not None:
            found.append(path)
        pending += recorder.other_paths
    return found


def _recorded(f: Callable[..., Any], recorder: PathRecorder) -> Path | None:
    """One path; None if no number takes it, or if it ends in an exception."""
    try:
        with recorder.checked():
            result = overdub(recorder, f, *recorder.arguments())
        outputs = _outputs(recorder, result)
    except Unreachable:
        return None
    except (CassetteError, *_MISTAKES):
        if recorder.unreachable:
            return None
        raise
    except Exception:
        return None  # the function has no value there
    if recorder.unreachable:
        return None
    nodes = [outputs] if isinstance(outputs, Node) else outputs
    trace = Trace(recorder.box, recorder.start, recorder.steps, recorder.conditions, [node.place for node in nodes])
    return Path(trace, is_tuple=not isinstance(outputs, Node))


def _outputs(recorder: PathRecorder, result: Any) -> Any:
    """The nodes of a result: one, or a list."""
    node = _read(recorder, result)
    if isinstance(node, Node):
        return node
    if isinstance(plain(result), (list, tuple)):
        return list(with_items_read(recorder, result, functools.partial(_number, recorder)))
    raise TypeError(f"the function must return a number or a tuple of numbers, not {plain(result)!r}")


def _read(recorder: PathRecorder, value: Any) -> Node | None:
    found, bare = metadata(value, recorder), plain(value)
    if isinstance(found, Node):
        return found
    if found is UNKNOWN or not isinstance(bare, numbers.Real) or bare != bare:
        return None
    return recorder.constant(bare)


def _number(recorder: PathRecorder, value: Any) -> Node:
    node = _read(recorder, value)
    if node is None:
        raise TypeError(f"the function must return a number or a tuple of numbers, which {plain(value)!r} is not")
    return node
