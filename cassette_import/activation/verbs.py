"""The verbs: `overdub`, `recurse`, `fallback`, `canrecurse`.

`recurse` is defined beside `Context`, because it is the default overload.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from cassette_import.activation.context import Context, check_call, recurse
from cassette_import.activation.entering import active_here, enter, leave
from cassette_import.activation.escape_reporters import watch_to_enter
from cassette_import.activation.root_calls import (
    activation_of_root,
    endless_recursion,
    is_endless,
    result_in_c,
    run_root,
)
from cassette_import.activation.tagging_modules import propagation
from cassette_import.errors import OverdubRecursionError
from cassette_import.interpreter.callables import joined, keywords_of, python_function, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime.callbacks_in_c import callbacks_of
from cassette_import.runtime.state import ACTIVE, INACTIVE, hook_activation
from cassette_import.runtime.tagging.overdubbed_calls import WRAPPER_AWARE
from cassette_import.specialization.registry import registry

__all__ = ["canrecurse", "fallback", "overdub", "recurse"]


@hidden
def overdub(ctx: Context, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run `f` in `ctx`: the overload registered for `f`, or else its overdubbed body, or else `f` itself.

    The overdubbed body of a function is its body with all events rewritten, so that hooks and overloads of the active
    contexts run there.

    Parameters
    ----------
    ctx:
        The context; it is active while `f` runs, in this thread and task.
    f, args, kwargs:
        The call. No hook runs for this root call itself.

    Returns
    -------
    What the call returns. If `f` makes a generator or coroutine: an iterator or awaitable whose body runs in `ctx`.

    Raises
    ------
    TypeError
        If `ctx` is no context, or `f` is not callable.
    OverdubRecursionError
        If an overload calls `overdub` for its own function without end.

    >>> import math
    >>> class SinToCos(Context): ...
    >>> @SinToCos.overdub.register(math.sin)
    ... def _(ctx, f, x):
    ...     return math.cos(x)
    >>> def program(x):
    ...     return math.sin(x) + 1
    >>> overdub(SinToCos(), program, 0.0)
    2.0
    """
    check_call("overdub", ctx, f)
    if ctx.report_escapes and (watch := watch_to_enter(ctx)) is not None:
        with watch:
            watch.root_runs(f)
            return overdub(ctx, f, *args, **kwargs)
    root = python_function(f)
    activation = activation_of_root(ctx, root, f, args, kwargs)
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
                ACTIVE.set(hook_activation(activation, level))
                if activation.tags:
                    result = propagation().call_overload(handler, ctx, function, arguments, keywords)
                else:
                    result = handler(ctx, function, *arguments, **keywords)
                return result if root is not None else result_in_c(activation, result, args)
            except RecursionError as error:
                if not isinstance(error, OverdubRecursionError) and is_endless(activation):
                    raise endless_recursion(function, ctx) from None
                raise
            finally:
                leave(activation, result)
        arguments = ()  # `run_root` counts the references to arguments
    result = run_root(activation, root, f, args, kwargs)
    return result if root is not None else result_in_c(activation, result, args)


@hidden
def fallback(ctx: Context, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call `f` natively. Inside an overload of one of several contexts, the next outer context gets the call.

    Parameters
    ----------
    ctx:
        The context. Arguments are passed without its tags.
    f, args, kwargs:
        The call.

    Returns
    -------
    What the call returns.

    Raises
    ------
    TypeError
        If `ctx` is no context, or `f` is not callable.

    >>> fallback(Context(), abs, -1)
    1
    """
    check_call("fallback", ctx, f)
    here = ACTIVE.get()
    left = here.suspended
    if left is not None and left.variant is not None and (here.contexts or left.tags):
        function, *leading = split(f)
        call = left.variant.runners[int(Events.CALLS)].call
        if left.tags:
            args, kwargs = propagation().without_tags(left.tags[len(here.contexts) :], function, args, kwargs)
        return call(left, len(here.contexts), f, function, tuple(leading), args, kwargs)
    if ctx._tagging:
        args, kwargs = propagation().without_tags(None, None, args, kwargs)
    return f(*args, **kwargs)


def canrecurse(ctx: Context, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> bool:
    """Whether an overdubbed body exists for the function that would run. `f` is not called.

    Bound methods, `functools.partial`, classes with a Python `__init__` and objects with a Python `__call__` count as
    the function that they call. While a context is active, functions of modules that are neither installed nor the
    module of a root function are leaves.

    Parameters
    ----------
    ctx:
        The context.
    f, args, kwargs:
        The call. It does not take place; the arguments are not needed.

    Returns
    -------
    True or False.

    Raises
    ------
    TypeError
        If `ctx` is no context, or `f` is not callable.

    >>> canrecurse(Context(), len)
    False
    """
    check_call("canrecurse", ctx, f)
    function = python_function(f)
    functions = [function] if function is not None else callbacks_of(f, args, kwargs)
    return any(map(_has_overdubbed_body, functions))


def _has_overdubbed_body(function: FunctionType) -> bool:
    """Whether a function would run overdubbed if it was called here."""
    if not registry.index.overdubbable(function):
        return False
    here = active_here()
    if here is INACTIVE:
        return True
    record = registry.index.record_with(function.__code__)
    return record is not None and (record.installed or record.filename in here.roots)


WRAPPER_AWARE.update(map(id, (overdub, fallback, canrecurse)))
