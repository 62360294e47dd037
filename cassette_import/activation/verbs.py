"""The verbs: `overdub`, `recurse`, `fallback`, `canrecurse`.

Knows contexts and activations; must not know how code is rewritten.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from cassette_import.activation.context import Context, activation_of, escapes
from cassette_import.activation.entering import active_here, depart, enter
from cassette_import.errors import OverdubRecursionError
from cassette_import.interpreter.callables import joined, keywords_of, python_function, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime import driven_generators
from cassette_import.runtime.state import ACTIVE, INACTIVE, Activation, prefix_of
from cassette_import.specialization.registry import registry

_ENDLESS: Final = 50
"""How many times a context is entered within itself before a RecursionError is put down to that."""


def _check(verb: str, context: Any, f: Any) -> None:
    if not isinstance(context, Context):
        raise TypeError(f"{verb}(ctx, f, ...): ctx must be an instance of a Context, not {context!r}")
    if not callable(f):
        raise TypeError(f"{verb}(ctx, f, ...): f must be callable, not {f!r}")


def conductor() -> Any:
    """The module that knows how tagged values go through calls; imported when it is wanted."""
    from cassette_import.runtime.tagging import propagation

    return propagation


@hidden
def overdub(ctx: Context, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run `f` in `ctx`: an overload registered for `f` wins; else its overdubbed body; else `fallback`.

    Parameters
    ----------
    ctx:
        The context; it is active while `f` runs, in this thread and task.
    f, args, kwargs:
        The call. No hook fires for this root call itself.

    Returns
    -------
    What the call returns; an iterator or awaitable whose body runs in `ctx`, if `f` makes a generator or coroutine.
    """
    _check("overdub", ctx, f)
    if ctx.report_escapes and (watch := escapes().new_watch(ctx)) is not None:
        with watch:
            return overdub(ctx, f, *args, **kwargs)
    root = python_function(f)
    activation = activation_of(ctx, registry.add_root(root) if root is not None else None)
    level = len(active_here().contexts)
    find = activation.variant.root_overloads[level] if activation.variant is not None else None
    if find is not None:
        function, *leading = split(f)
        arguments = joined(leading, args)
        keywords = {**keywords_of(f), **kwargs}
        handler = find(ctx, function, arguments, keywords)
        if handler is not None:
            enter(activation)
            result = None
            try:
                ACTIVE.set(prefix_of(activation, level))
                if activation.tags:
                    result = conductor().call_overload(handler, ctx, function, arguments, keywords)
                else:
                    result = handler(ctx, function, *arguments, **keywords)
                return result
            except RecursionError as error:
                if not isinstance(error, OverdubRecursionError) and _is_endless(activation):
                    raise _endless(function, ctx) from None
                raise
            finally:
                depart(activation, result)
    return _run(activation, root, f, args, kwargs)


def _is_endless(activation: Activation) -> bool:
    """Whether contexts of one type have been entered again and again while they were suspended."""
    count = 0
    outer: Activation | None = activation
    while outer is not None and count < _ENDLESS:
        count += outer.entered is not None and type(outer.entered) is type(activation.entered)
        outer = outer.outer
    return count == _ENDLESS


def _endless(function: Any, context: Context) -> OverdubRecursionError:
    return OverdubRecursionError(
        f"the overload of {function!r} in {type(context).__qualname__} enters itself through overdub without end: call "
        "recurse(ctx, f, ...) to go on inside, or fallback(ctx, f, ...) for the native function"
    )


@hidden
def recurse(ctx: Context, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run the overdubbed body of `f` in `ctx`, skipping an overload of `f` for this one call; `fallback` if it has
    none."""
    _check("recurse", ctx, f)
    if ctx.report_escapes and (watch := escapes().new_watch(ctx)) is not None:
        with watch:
            return recurse(ctx, f, *args, **kwargs)
    root = python_function(f)
    here = ACTIVE.get()
    # Inside an overload the call is still to be handed to the contexts further out.
    outer = len(here.contexts) if here.suspended is not None else 0
    return _run(activation_of(ctx, registry.add_root(root) if root is not None else None), root, f, args, kwargs, outer)


@hidden
def _run(
    activation: Activation, root: FunctionType | None, f: Any, arguments: Any, keywords: Any, outer: int = 0
) -> Any:
    """Run a root call in an activation. `root` is the Python function that will really run, unless one of the first
    `outer` contexts has an overload for the call."""
    if root is not None and activation.variant is not None:
        registry.ensure_instrumented(root, activation.variant, activation.roots)
    enter(activation)
    result = None
    try:
        if (outer or activation.tags) and activation.variant is not None:
            function, *leading = split(f)
            call = activation.variant.runners[int(Events.CALLS)].call
            result = call(activation, outer, f, function, tuple(leading), arguments, keywords)
        else:
            result = f(*arguments, **keywords)
    except RecursionError as error:
        if not isinstance(error, OverdubRecursionError) and outer == 0 and _is_endless(activation):
            raise _endless(f, activation.entered) from None
        raise
    finally:
        depart(activation, result)
    if type(result) in driven_generators.SUSPENDABLE:
        return driven_generators.drive(result, activation.contexts, activation.roots, activation.tags)
    return result


@hidden
def fallback(ctx: Context, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call `f` natively; inside an overload of one of several contexts, hand the call to the next outer one."""
    _check("fallback", ctx, f)
    here = ACTIVE.get()
    left = here.suspended
    if left is not None and left.variant is not None and (here.contexts or left.tags):
        function, *leading = split(f)
        call = left.variant.runners[int(Events.CALLS)].call
        if left.tags:
            args, kwargs = conductor().without_tags(left.tags[len(here.contexts) :], function, args, kwargs)
        return call(left, len(here.contexts), f, function, tuple(leading), args, kwargs)
    if ctx._tagging:
        args, kwargs = conductor().without_tags(None, None, args, kwargs)
    return f(*args, **kwargs)


def canrecurse(ctx: Context, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> bool:
    """Whether an overdubbed body exists for what would really run. Never calls `f`.

    Looks through bound methods, `functools.partial`, classes with a Python `__init__` and objects with a Python
    `__call__`.
    Inside a run, functions of modules that are neither installed nor the root's are leaves.

    >>> canrecurse(Context(), len)
    False
    """
    _check("canrecurse", ctx, f)
    function = python_function(f)
    if function is None or not registry.overdubbable(function):
        return False
    here = active_here()
    if here is INACTIVE:
        return True
    record = registry.records.get(function.__code__.co_filename)
    return record is not None and (record.installed or record.filename in here.roots)
