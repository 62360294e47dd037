"""The base `Algebra` of number systems: the metadata of a number is its meaning, which a table of rules computes."""

from __future__ import annotations

import functools
import math
import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from cassette_import.activation.tagging import NO_METADATA, metadata, tag
from cassette_import.activation.verbs import overdub
from cassette_import.errors import NotOverdubbable
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import nearest_site
from cassette_import.kits.numbers.composed_calls import compose
from cassette_import.kits.numbers.compositions import COMPOSITIONS, ORDERINGS
from cassette_import.kits.numbers.lost_numbers import UNKNOWN, is_decided_by_types, unshared
from cassette_import.kits.numbers.numeric_values import is_array
from cassette_import.kits.numbers.overloads import (
    call_without_overload,
    fold_call,
    runs_own_method,
    split_metadata,
    with_metadata,
)
from cassette_import.kits.numbers.partials import JOINT_PARTIALS, PARTIALS
from cassette_import.kits.numbers.row import STEP
from cassette_import.kits.numbers.ruled_numbers import Ruled
from cassette_import.kits.numbers.table import (
    COMPARING,
    COUNTS,
    FOLDS,
    NUMBERS,
    QUESTIONS,
    ROUNDINGS,
    SIZES,
    TRUTHS,
    functions_of,
)
from cassette_import.kits.tagged_containers import with_items_tagged
from cassette_import.kits.tagging import Tagged, leaf_name, plain, run

__all__ = ["EVERY_ALGEBRA", "SYNONYMS", "Algebra", "Meaningless", "Number", "apply_rule", "evaluate"]


# ---- the overloads of number systems: how a call becomes that of a rule for the meanings of its arguments
#
# The overloads are hidden frames, because the program may inspect its callers.

SYNONYMS: Final[dict[Any, Any]] = {
    function: row.functions[0] for row in (*NUMBERS, *TRUTHS) for function in row.functions[1:]
}
"""Functions that have the rule of another one, so that a table needs one row for both."""

_TRUTH_VALUES: Final = COMPARING.union(functions_of((*TRUTHS, *QUESTIONS)))
"""Functions that return a truth value. A system that follows values decides them by the values."""

_ROUNDINGS: Final = (
    *functions_of(row for row in NUMBERS if row.dependence == STEP),
    *(function for function in functions_of(ROUNDINGS) if function is not math.ulp),
)


@hidden
def apply_rule(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """The overload of a function of numbers."""
    own_tag, values, pairs = split_metadata(ctx, arguments)
    if keywords or not pairs or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    if not _are_numbers(values):
        if f in COMPARING and is_decided_by_types(ctx, arguments, (numbers.Number,)):
            return f(*map(plain, arguments))
        return call_without_overload(f, arguments, keywords)
    found, name = dict(pairs), SYNONYMS.get(f, f)
    if name in ctx.decisions:
        value = run(f, *values)
        return ctx.guarded(f, lambda: ctx.decisions[name](value, *ctx.operands(f, values, found)))
    if not ctx.knows(name):
        if f in _TRUTH_VALUES and ctx.follows_values:
            return run(f, *values)
        if f is operator.pos:
            return arguments[0]
        raise ctx.refused(f, ctx.without_rule)
    value = run(f, *values)
    return with_metadata(value, own_tag, _meaning(ctx, name, value, values, found))


def _meaning(ctx: Any, f: Any, value: Any, values: Sequence[Any], found: dict[int, Any]) -> Any:
    return ctx.guarded(f, lambda: ctx.meaning(f, value, values, ctx.operands(f, values, found)))


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(plain(value), numbers.Number) for value in values)


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    call = fold_call(f, items, more, keywords)
    own_tag, values, pairs = split_metadata(ctx, call.operands)
    pair = FOLDS[f]
    if not pairs or set(keywords) - {"start", "default"} or not _are_numbers(values) or runs_own_method(f, values):
        return call_without_overload(f, call.arguments, keywords)
    if not ctx.knows(pair):
        if f in (min, max):  # the metadata of the item moves; the context decides whether values may be compared
            return call_without_overload(f, call.arguments, keywords)
        raise ctx.refused(f, ctx.without_rule)
    meanings = ctx.guarded(f, lambda: ctx.operands(f, values, dict(pairs)))

    def both(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
        operands = one[0], other[0]
        value = run(pair, *operands)
        return value, _meaning(ctx, pair, value, operands, {0: one[1], 1: other[1]})

    value, meaning = functools.reduce(both, zip(values, meanings, strict=True))
    if not any(type(one) is Tagged for one in values):
        value = call.value_of(values)
    return with_metadata(value, own_tag, meaning)


@hidden
def _compose(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if ctx.knows(f) or f in ctx.decisions:
        return apply_rule(ctx, f, *arguments, **keywords)
    if f in ORDERINGS and not COMPARING.isdisjoint(ctx.decisions):
        return call_without_overload(f, arguments, keywords)  # the system's order may differ from that of the values
    return compose(ctx, f, *arguments, **keywords)


EVERY_ALGEBRA: Final[dict[Any, Callable[..., Any]]] = {
    **dict.fromkeys([*PARTIALS, *JOINT_PARTIALS, *_TRUTH_VALUES, *_ROUNDINGS], apply_rule),
    **dict.fromkeys(COMPOSITIONS, _compose),
    **dict.fromkeys(FOLDS, _fold),
}
"""The overloads that every number system has. It adds those of further functions in its table."""


# ---- the base `Algebra` of number systems: the metadata of a number is its meaning, which a table of rules computes


class Meaningless(NotOverdubbable):
    """A number has no meaning in a number system: no rule is known for a function, or a rule refuses its operands.

    Example
    -------
    >>> str(Meaningless("metres and seconds"))
    'metres and seconds'
    """


class Algebra(Ruled, tagging=True):
    """The base of number systems: unmodified code computes with numbers that have a meaning beside their value.

    A subclass gives a table `rules`, or a method `meaning`. A function without a rule is an error, `Meaningless`.

    Attributes
    ----------
    rules:
        A function of the meanings of all arguments, for each function of the program. It returns the meaning of the
        result. `operator.add` is also the rule of `+=` and `sum`, `abs` that of `math.fabs`, `operator.pow` that of
        `pow`. `sum`, `math.prod`, `min` and `max` of many numbers apply the rule of two. A rule may raise
        `Meaningless`.
    decisions:
        A function of the result for the values and of the meanings, for functions whose result has no meaning:
        comparisons, `operator.truth`, `math.floor`. It returns what the program gets.
    follows_values:
        Whether comparisons without a rule are decided by the values, where the meaning is something beside the value,
        as an error or a unit is. Otherwise they are errors.

    Example
    -------
    >>> import operator
    >>> from cassette_import.contexts.algebra import Number, evaluate
    >>> class Tropical(Algebra):
    ...     rules = {operator.add: max, operator.mul: operator.add}
    ...     def lift(self, value):
    ...         return value
    >>> def f(x, y):
    ...     return x * y + x * x
    >>> evaluate(Tropical(), f, Number(1.0, 2.0), Number(1.0, 5.0)).meaning
    7.0
    """

    rules: ClassVar[Mapping[Any, Callable[..., Any]]] = {}
    decisions: ClassVar[Mapping[Any, Callable[..., Any]]] = {}
    follows_values: ClassVar[bool] = False
    without_rule = "no rule is known for"
    its_numbers = "numbers of the system"

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for function in {*cls.rules, *cls.decisions} - EVERY_ALGEBRA.keys():
            cls.overdub.register(function)(apply_rule)

    def lift(self, value: Any) -> Any:
        """The meaning of a number that has none yet: a constant of the program, or a plain argument."""
        raise Meaningless(f"a plain number such as {value!r} has no meaning: the method `lift` gives it one")

    def knows(self, f: Any) -> bool:
        """Whether `meaning` has a rule for a function."""
        return f in self.rules

    def meaning(self, f: Any, value: Any, values: Sequence[Any], operands: Sequence[Any]) -> Any:
        """The meaning of the result of a call.

        Parameters
        ----------
        f, value:
            The function, and its result. Of several functions with one rule, as `+` and `+=` have, the first.
        values, operands:
            The arguments, and their meanings.
        """
        return self.rules[f](*operands)

    def operands(self, f: Any, values: Sequence[Any], found: Mapping[int, Any]) -> list[Any]:
        """The meanings of arguments, of which some have one already, by their number."""
        if any(one is UNKNOWN for one in found.values()):
            raise self.refused(f, "an argument was made from numbers by code without rules, in")
        return [found[number] if number in found else self.lift(value) for number, value in enumerate(values)]

    def refused(self, f: Any, reason: str) -> Meaningless:
        """The error for a call whose result has no meaning. It is raised again if the program catches it."""
        site = nearest_site()
        name = type(self).__name__
        error = Meaningless(f"{name}: {reason} {leaf_name(f)}, at {site}: {site.source}")
        self.refuse(error)
        return error

    def guarded(self, f: Any, rule: Callable[[], Any]) -> Any:
        """What a rule returns. An error in it is not one of the program, which must not catch it."""
        try:
            return rule()
        except Exception as error:
            if error is self.failure:
                raise
            text = str(error) if isinstance(error, Meaningless) else f"{type(error).__name__}: {error}"
            raise self.refused(f, f"{text}, in") from error

    def is_independent(self, value: Any, f: Any, arguments: tuple[Any, ...]) -> bool:
        return id(f) in SIZES or (self.follows_values and (isinstance(value, bool) or id(f) in COUNTS))

    def attribute(self, arguments: tuple[Any, ...]) -> Any:
        is_real = isinstance(plain(arguments[0]), numbers.Real)
        return metadata(arguments[0], self) if is_real and plain(arguments[1]) == "real" else NO_METADATA

    def compared(self, f: Any) -> None:
        """A leaf is about to compare values, or to hash them."""
        if not self.follows_values:
            raise self.refused(f, self.without_rule)

    def tested(self, f: Any, value: Any) -> Any:
        """A leaf is about to test the truth of a number, or its sign."""
        rule = self.decisions.get(operator.truth)
        if rule is not None and isinstance(plain(value), numbers.Number):
            return self.guarded(f, lambda: rule(bool(plain(value)), metadata(value, self)))
        self.compared(f)
        return plain(value)


for _function, _overload in EVERY_ALGEBRA.items():
    Algebra.overdub.register(_function)(_overload)


# ---- the function `evaluate`: runs an unmodified function on numbers that have a meaning


class Number(NamedTuple):
    """A number with its meaning in a number system.

    Attributes
    ----------
    value:
        The number with which the program computes.
    meaning:
        What the rules of the system compute with.

    Example
    -------
    >>> Number(9.81, "m/s²").meaning
    'm/s²'
    """

    value: Any
    meaning: Any


def evaluate(algebra: Algebra, f: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
    """Run an unmodified function in a number system.

    Parameters
    ----------
    algebra:
        The number system.
    f:
        A function of numbers. Its own module and installed packages are overdubbed.
    args, keywords:
        The arguments: `Number` objects, or anything else; lists, tuples and dicts may hold numbers, too.

    Returns
    -------
    The result of `f`, with a `Number` for each number that has a meaning.

    Raises
    ------
    Meaningless
        If a function without a rule computes a number from one with a meaning, or if a rule refuses its operands. It is
        raised again if the program catches it.

    Example
    -------
    >>> import operator
    >>> class Counted(Algebra):
    ...     "The number of additions that a number took."
    ...     rules = {operator.add: lambda x, y: x + y + 1}
    ...     def lift(self, value):
    ...         return 0
    >>> evaluate(Counted(), sum, [Number(1.0, 0), 2.0, 3.0])
    Number(value=6.0, meaning=2)
    """
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    with algebra.checked():
        given = [_given(algebra, argument) for argument in args]
        named = {name: _given(algebra, argument) for name, argument in keywords.items()}
        result = overdub(algebra, f, *given, **named)
    return algebra.read(result, Number)


def _given(ctx: Algebra, value: Any) -> Any:
    """An argument, with a tagged number for each `Number`."""
    if type(value) is Number:
        return tag(unshared(value.value), ctx, value.meaning)
    if is_array(value) and value.dtype.kind == "O":
        raise NotOverdubbable("numbers in arrays have no meaning: give lists of numbers")
    return with_items_tagged(ctx, value, functools.partial(_given, ctx))
