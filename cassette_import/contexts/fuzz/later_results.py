"""Results of the function under test that run later: generators and coroutines, which are run to their end."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, Final, NamedTuple

__all__ = ["LaterResult", "run_to_end"]

_MOST_ITEMS: Final = 10_000
"""A generator may have no end."""


class LaterResult(NamedTuple):
    """A type of results that run later.

    Attributes
    ----------
    run:
        Runs one to its end.
    module:
        The module that a test needs for that.
    lines:
        The statements of a test that do it; `{call}` stands for the call of the function.
    """

    run: Callable[[Any], None]
    module: str
    lines: tuple[str, ...]


def _generator(result: Generator[Any, Any, Any]) -> None:
    for _ in itertools.islice(result, _MOST_ITEMS):
        pass
    result.close()


def _coroutine(result: Coroutine[Any, Any, Any]) -> None:
    asyncio.run(result)


def _asynchronous_generator(result: AsyncGenerator[Any, Any]) -> None:
    async def items() -> None:
        left = _MOST_ITEMS
        async for _ in result:
            left -= 1
            if not left:
                break
        await result.aclose()

    asyncio.run(items())


# Abstract classes: a context that follows generators and coroutines has types of its own for them.
_LATER_RESULTS: Final[dict[type, LaterResult]] = {
    Coroutine: LaterResult(_coroutine, "asyncio", ("asyncio.run({call})",)),
    AsyncGenerator: LaterResult(
        _asynchronous_generator,
        "asyncio",
        ("async def items():", "    async for _ in {call}:", "        pass", "", "asyncio.run(items())"),
    ),
    Generator: LaterResult(
        _generator, "itertools", (f"for _ in itertools.islice({{call}}, {_MOST_ITEMS}):", "    pass")
    ),
}


def run_to_end(result: Any) -> LaterResult | None:
    """Run a result to its end, if it is one that runs later; how that is done, or None.

    >>> run_to_end("text")
    >>> run_to_end(character for character in "text").module
    'itertools'
    """
    found = next((later for kind, later in _LATER_RESULTS.items() if isinstance(result, kind)), None)
    if found is not None:
        found.run(result)
    return found
