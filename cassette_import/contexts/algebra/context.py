"""The base `Algebra` of number systems: the metadata of a number is its meaning, which a table of rules computes."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, ClassVar

from cassette_import.activation.tagging import NO_METADATA, metadata
from cassette_import.contexts.algebra.overloads import EVERY_ALGEBRA, apply_rule
from cassette_import.contexts.common.lost_numbers import UNKNOWN, LosesNothing
from cassette_import.contexts.common.sizes import COUNTS, SIZES
from cassette_import.errors import NotOverdubbable
from cassette_import.runtime.dispatch.call_sites import nearest_site
from cassette_import.runtime.tagging.lost_metadata import leaf_name
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["Algebra", "Meaningless"]


class Meaningless(NotOverdubbable):
    """A number has no meaning in a number system: no rule is known for a function, or a rule refuses its operands.

    Example
    -------
    >>> str(Meaningless("metres and seconds"))
    'metres and seconds'
    """


class Algebra(LosesNothing, tagging=True):
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
            raise self.meaningless(f, "an argument was made from numbers by code without rules, in")
        return [found[number] if number in found else self.lift(value) for number, value in enumerate(values)]

    def meaningless(self, f: Any, reason: str) -> Meaningless:
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
            raise self.meaningless(f, f"{text}, in") from error

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """Refuse a number that a function without a rule computed."""
        found = self._attribute(arguments) if f is getattr else self.converted(f, arguments)
        if found is not NO_METADATA:
            return found
        if id(f) in SIZES:
            return NO_METADATA
        if self.follows_values and (isinstance(value, bool) or id(f) in COUNTS):
            return NO_METADATA
        if value is None or isinstance(value, (numbers.Number, FunctionType)):
            raise self.meaningless(f, "no rule is known for")
        if self.is_called_later(value, f, arguments, keywords):
            raise self.meaningless(f, "a function may be called later with numbers of the system, by")
        return UNKNOWN

    def _attribute(self, arguments: tuple[Any, ...]) -> Any:
        """The meaning of an attribute of a number."""
        is_real = isinstance(plain(arguments[0]), numbers.Real)
        return metadata(arguments[0], self) if is_real and plain(arguments[1]) == "real" else NO_METADATA

    def compared(self, f: Any) -> None:
        """A leaf is about to compare values, or to hash them."""
        if not self.follows_values:
            raise self.meaningless(f, "no rule is known for")

    def tested(self, f: Any, value: Any) -> Any:
        """A leaf is about to test the truth of a number, or its sign."""
        rule = self.decisions.get(operator.truth)
        if rule is not None and isinstance(plain(value), numbers.Number):
            return self.guarded(f, lambda: rule(bool(plain(value)), metadata(value, self)))
        self.compared(f)
        return plain(value)


for _function, _overload in EVERY_ALGEBRA.items():
    Algebra.overdub.register(_function)(_overload)
