"""A strategy of Hypothesis whose examples are the inputs that a search has kept, and variations of them.

Hypothesis is imported when a strategy is made: nothing else needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from cassette_import.contexts.fuzz.fuzzing import fuzz
from cassette_import.contexts.fuzz.inputs import Edit, applied, copied, encoded, leaves
from cassette_import.contexts.fuzz.mutation import CHARACTERS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["inputs"]

_EXECUTIONS: Final = 3000
_LONGEST: Final = 8
_MOST_WRITTEN: Final = 3


def inputs(f: Callable[[Any], Any], seeds: Iterable[Any], **options: Any) -> SearchStrategy[Any]:
    """A strategy for `@given`: the inputs that reach something new in an unmodified function, and those of findings.

    About half of the examples are such inputs as they are, the others have up to three small changes. The search runs
    when the test begins. Examples shrink to the shortest inputs, and to the fewest changes.

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
    except ImportError as error:
        raise ModuleNotFoundError("inputs() needs Hypothesis: pip install hypothesis", name="hypothesis") from error
    if "seconds" not in options and "executions" not in options:
        options["executions"] = _EXECUTIONS
    found: list[Any] = []

    def made() -> SearchStrategy[Any]:
        if not found:
            found.extend(sorted(_found(f, list(seeds), options), key=lambda value: len(encoded(value))))
        kept = strategies.sampled_from(found).map(copied)
        # Hypothesis prepares the alphabet of `text()` for seconds, once for each installation.
        numbers = strategies.integers(0, 0xD7FF) | strategies.integers(0xE000, sys.maxunicode)
        characters = strategies.sampled_from(CHARACTERS) | numbers.map(chr)
        written: dict[type, SearchStrategy[Any]] = {
            str: strategies.lists(characters, min_size=1, max_size=_MOST_WRITTEN).map("".join),
            bytes: strategies.binary(min_size=1, max_size=_MOST_WRITTEN),
        }
        return kept | strategies.composite(_varied)(kept, written)

    return strategies.deferred(made)


Draw = Callable[[Any], Any]


def _varied(draw: Draw, kept: SearchStrategy[Any], written: dict[type, SearchStrategy[Any]]) -> Any:
    """An input with up to three changes.

    Parameters
    ----------
    draw:
        Draws an example of a strategy.
    kept:
        The inputs.
    written:
        What is written into texts and into bytes.
    """
    from hypothesis import strategies

    value = draw(kept)
    for _ in range(draw(strategies.integers(1, 3))):
        parts = [(path, part) for path, part in leaves(value) if type(part) in _CHANGES]
        if parts:
            path, part = draw(strategies.sampled_from(parts))
            value = applied(value, Edit(path, *_CHANGES[type(part)](draw, part, kept, written)))
    return value


def _changed_text(draw: Draw, part: Any, kept: Any, written: Any) -> tuple[Any, ...]:
    """The part of a text that is replaced, and what is written there: a part of another input, or something new."""
    from hypothesis import strategies

    start = draw(strategies.sampled_from((len(part), 0)) | strategies.integers(0, len(part)))
    end = draw(strategies.integers(start, min(len(part), start + _LONGEST)))
    if not draw(strategies.booleans()):
        return start, end, draw(written[type(part)])
    others = [other for _, other in leaves(draw(kept)) if type(other) is type(part) and other]
    other = draw(strategies.sampled_from(others or [part]))
    begin = draw(strategies.integers(0, len(other)))
    return start, end, other[begin : begin + draw(strategies.integers(1, _LONGEST))]


def _changed_integer(draw: Draw, part: int, *_: Any) -> tuple[Any, ...]:
    from hypothesis import strategies

    return None, None, part + draw(strategies.integers())


def _changed_float(draw: Draw, part: float, *_: Any) -> tuple[Any, ...]:
    from hypothesis import strategies

    return None, None, draw(strategies.floats())


_CHANGES: Final[dict[type, Callable[..., tuple[Any, ...]]]] = {
    str: _changed_text,
    bytes: _changed_text,
    int: _changed_integer,
    float: _changed_float,
}


def _found(f: Callable[[Any], Any], seeds: list[Any], options: dict[str, Any]) -> Iterator[Any]:
    result = fuzz(f, seeds, **options)
    yield from result.corpus
    yield from (finding.input for finding in result)
