"""A strategy of Hypothesis whose examples are the inputs that a search has kept.

Knows Hypothesis's strategies, and the results of a search; must not know how inputs are found. Hypothesis is imported
when a strategy is made: nothing else needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from cassette_import.contexts.fuzz.fuzzing import fuzz
from cassette_import.contexts.fuzz.inputs import copied, encoded

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["inputs"]

_EXECUTIONS: Final = 3000


def inputs(f: Callable[[Any], Any], seeds: Iterable[Any], **options: Any) -> SearchStrategy[Any]:
    """A strategy for `@given`: the inputs that reach something new in an unmodified function, and those of findings.

    The search runs when the first example is drawn. Examples shrink to the shortest inputs.

    Parameters
    ----------
    f, seeds:
        As for `fuzz`: the function may be the one under test, or the body of the test.
    options:
        The options of `fuzz`. Without `seconds` and `executions`, the search has 3000 executions, so that each run of
        the tests has the same examples.

    Returns
    -------
    A strategy of Hypothesis.

    Raises
    ------
    ModuleNotFoundError
        If Hypothesis is not installed.

    Example
    -------
    >>> from hypothesis import given, settings
    >>> def price(text):
    ...     if text[:4] == "EUR ":
    ...         return int(text[4:])
    >>> drawn = []
    >>> @settings(database=None)
    ... @given(inputs(price, [""], executions=1000))
    ... def test_price(text):
    ...     drawn.append(text)
    >>> test_price()
    >>> any(text.startswith("EUR ") for text in drawn)
    True
    """
    try:
        from hypothesis import strategies
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("inputs() needs Hypothesis: pip install hypothesis", name="hypothesis") from error
    if "seconds" not in options and "executions" not in options:
        options["executions"] = _EXECUTIONS
    found: list[Any] = []

    def made() -> SearchStrategy[Any]:
        if not found:
            found.extend(sorted(_found(f, list(seeds), options), key=lambda value: len(encoded(value))))
        return strategies.sampled_from(found).map(copied)

    return strategies.deferred(made)


def _found(f: Callable[[Any], Any], seeds: list[Any], options: dict[str, Any]) -> Iterator[Any]:
    result = fuzz(f, seeds, **options)
    yield from result.corpus
    yield from (finding.input for finding in result)
