"""The overload of leaves that have a composition: their metadata is that of the composition."""

from __future__ import annotations

import cmath
import math
import numbers
from typing import Any, Final

from cassette_import.contexts.common.compositions import COMPOSITIONS, NoComposition
from cassette_import.contexts.common.ieee_numbers import ieee
from cassette_import.contexts.common.own_operators import runs_own_method
from cassette_import.contexts.common.plain_calls import call_without_overload
from cassette_import.contexts.common.sequences import sequence_like
from cassette_import.contexts.common.sized_containers import is_a_container
from cassette_import.errors import CassetteError
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.iterator_metadata import is_iterable, items_outside
from cassette_import.runtime.tagging.tag_scopes import active_store, tag_of
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain, wrapped

__all__ = ["compose"]

_OF_NUMBERS: Final = frozenset({divmod, math.modf, math.frexp, cmath.polar, cmath.rect})
"""Functions that take no iterables: an object of the program is a number for them, whether it has items or not."""


@hidden
def compose(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """Make a call; its result gets the metadata that the composition of the function has in all contexts."""
    if f in _OF_NUMBERS and runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    given = [_with_items(argument) for argument in arguments]
    named = {name: _with_items(argument) for name, argument in keywords.items()}
    own: Any = tag_of(ctx)
    if not _is_numeric(own, [*given, *named.values()]):
        return _call_again(f, arguments, given, keywords, named)
    try:
        value = f(*map(_plain, given), **{name: _plain(argument) for name, argument in named.items()})
    except Exception as error:
        raised = getattr(ctx, "raised", None)
        if raised is not None:
            raised(error, f, *arguments)
        raise
    if value is NotImplemented:
        return value
    here = ACTIVE.get()
    token = ACTIVE.set(here.suspended or here)
    try:
        return _with_metadata(value, _composed(f, given, named))
    except CassetteError:
        raise
    except (NoComposition, ArithmeticError, TypeError, ValueError):
        pass
    finally:
        ACTIVE.reset(token)
    return _call_again(f, arguments, given, keywords, named)


@hidden
def _call_again(f: Any, arguments: Any, given: Any, keywords: Any, named: Any) -> Any:
    """Make the call without an overload, with lists for what the program iterates over, which may do so only once."""
    positional = [_again(*pair) for pair in zip(arguments, given, strict=True)]
    return call_without_overload(f, positional, {name: _again(keywords[name], named[name]) for name in keywords})


def _composed(f: Any, given: list[Any], named: dict[str, Any]) -> Any:
    """What the composition computes, without errors that the function itself does not raise."""
    try:
        return COMPOSITIONS[f](*given, **named)
    except CassetteError:
        raise
    except (ArithmeticError, ValueError):
        return COMPOSITIONS[f](*map(_ieee, given), **{name: _ieee(argument) for name, argument in named.items()})


def _ieee(given: Any) -> Any:
    return list(map(ieee, given)) if type(given) is _Items else ieee(given)


class _Items(list[Any]):
    """The items of an iterable argument, wrapped where they have metadata."""


def _with_items(argument: Any) -> Any:
    bare = plain(argument)
    if isinstance(bare, (numbers.Number, str, bytes, type)) or not is_iterable(bare):
        return argument
    return _Items(items_outside(argument))


def _again(argument: Any, given: Any) -> Any:
    """An argument that can be iterated over once more, without code of the program."""
    if type(given) is not _Items or is_a_container(plain(argument)):
        return argument
    store, items = active_store(), list(map(plain, given))
    return items if store is None else store.bind_items(items, given)


def _plain(given: Any) -> Any:
    return list(map(plain, given)) if type(given) is _Items else plain(given)


def _is_numeric(own: Any, given: list[Any]) -> bool:
    """Whether a number among the arguments has metadata, and nothing else that has some is in the way."""
    found = False
    for argument in given:
        for item in argument if type(argument) is _Items else (argument,):
            if type(item) is Tagged and own in item._tagged_metas:
                if not isinstance(item._tagged_value, numbers.Number):
                    return False
                found = True
    return found


def _with_metadata(value: Any, composed: Any) -> Any:
    """The value of a call with the metadata of its composition, which decides where a context has to choose."""
    if isinstance(value, (tuple, list)):
        items = [_with_metadata(*pair) for pair in zip(value, composed, strict=True)]
        store = active_store()
        made = sequence_like(value, map(plain, items))
        return made if store is None else store.bind_items(made, items)
    if type(composed) is Tagged:
        return wrapped(value, metas_of(composed))
    return type(value)(composed) if isinstance(composed, int) else value
