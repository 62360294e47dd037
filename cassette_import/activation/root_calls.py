"""Root calls: the calls that a program makes itself through `overdub` and `recurse`."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.activation.activations import held_activation
from cassette_import.activation.entering import activation_of, enter, leave
from cassette_import.activation.tagging_modules import propagation
from cassette_import.errors import OverdubRecursionError
from cassette_import.interpreter.callables import joined, keywords_of, split, wrapped_in
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import late
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.state import ACTIVE, Activation
from cassette_import.runtime.variant import Variant
from cassette_import.specialization.registry import registry

if TYPE_CHECKING:
    from cassette_import.activation import callbacks_of_roots
    from cassette_import.runtime import driven_generators
else:
    (callbacks_of_roots,) = late("cassette_import.activation", "callbacks_of_roots")
    (driven_generators,) = late("cassette_import.runtime", "driven_generators")

_ENDLESS: Final = 50
"""How often a context type must be entered within itself before that counts as the cause of a RecursionError."""


_MANAGERS: Final = frozenset({contextlib._GeneratorContextManager, contextlib._AsyncGeneratorContextManager})
"""What `contextlib.contextmanager` makes of generators."""
_CALL_NOTHING: Final = frozenset({bool, bytes, complex, float, int, str, type(None)})
"""Types of arguments that no function in C calls anything for."""
_SIMPLE: Final = (type, BuiltinFunctionType)
"""Types of roots in C that hold no function of the program."""


def _receiver(f: Any) -> tuple[Any, ...]:
    """What a bound method in C belongs to: it may call methods of what that contains."""
    receiver = getattr(f, "__self__", None) if type(f) is BuiltinFunctionType else None
    return () if type(receiver) is ModuleType else (receiver,)


def activation_of_root(
    context: Any, root: FunctionType | None, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Activation:
    """The activation that a root call makes, for the files of its function and of what it calls for the program."""
    if root is None:
        if not keywords and type(f) in _SIMPLE and _CALL_NOTHING.issuperset(map(type, (*arguments, *_receiver(f)))):
            return activation_of(context)
        return activation_of(context, None, callbacks_of_roots.files_of_root(f, arguments, keywords))
    file = registry.add_root(root)
    module = root.__globals__.get("__name__") or ""  # `functools.wraps` changes `__module__`
    if module.partition(".")[0] in sys.stdlib_module_names or id(root) in HIGHER_ORDER.by_id:
        return activation_of(context, file, callbacks_of_roots.files_of_root(f, arguments, keywords))
    if wrapped_in(f) is not None or wrapped_in(root) is not None:
        return activation_of(context, file, callbacks_of_roots.files_of_wrapped(f, root))
    return activation_of(context, file)


@hidden
def run_root(
    activation: Activation, root: FunctionType | None, f: Any, arguments: Any, keywords: Any, outer: int = 0
) -> Any:
    """Run a root call in an activation.

    Parameters
    ----------
    activation:
        The activation that the call enters and leaves.
    root:
        The Python function that will run, unless one of the first `outer` contexts has an overload for the call.
    f, arguments, keywords:
        The call.
    outer:
        How many of the outermost contexts still have to get the call.
    """
    variant = activation.variant
    if variant is not None:
        if root is not None:
            registry.ensure_instrumented(root, variant, activation.roots)
        _ensure_arguments_instrumented(variant, activation.roots, f, arguments, keywords)
    enter(activation)
    result = follower = None
    if activation.family is not None:
        activation.family.note_meeting()
    try:
        if activation.entered.follows_roots:
            activation.entered.root_begins(f)
            follower = activation.entered
        # By identity: a metaclass of the program may have no hash.
        if any(type(argument) is kind for argument in arguments for kind in driven_generators.SUSPENDABLE):
            arguments = callbacks_of_roots.begun_inside(arguments, activation)
        if (outer or root is None or activation.tags) and activation.variant is not None:
            function, *leading = split(f)
            if function is contextvars.Context.run:
                receiver, *rest = joined(leading, arguments)
                arguments, keywords = (receiver, _run_in, activation, *rest), {**keywords_of(f), **keywords}
                f, leading = function, []
            call = activation.variant.runners[int(Events.CALLS)].call
            result = call(activation, outer, f, function, tuple(leading), arguments, keywords)
            if activation.tags:
                result = propagation().without_marks(result)
        else:
            result = f(*arguments, **keywords)
    except RecursionError as error:
        if not isinstance(error, OverdubRecursionError) and outer == 0 and is_endless(activation):
            raise endless_recursion(f, activation.entered) from None
        raise
    finally:
        leave(activation, result)
        if follower is not None:
            follower.root_ended(f)
    if type(result) in driven_generators.SUSPENDABLE:
        return driven_in(activation, result)
    if type(result) in _MANAGERS:
        result.gen = driven_in(activation, result.gen)
    return result


def _ensure_arguments_instrumented(
    variant: Variant, roots: frozenset[str], f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> None:
    """Instrument the functions that a root gets as arguments."""
    given = (*arguments, *keywords.values()) if keywords else arguments
    for argument in (*f.args, *f.keywords.values(), *given) if type(f) is functools.partial else given:
        if type(argument) is FunctionType:
            registry.ensure_argument_instrumented(argument, variant, roots)


def driven_in(activation: Activation, result: Any) -> Any:
    """A generator, coroutine or iterator that runs in the contexts of an activation."""
    return driven_generators.drive(result, held_activation(activation.contexts, activation.roots, activation.tags))


def result_in_c(activation: Activation, result: Any, arguments: tuple[Any, ...]) -> Any:
    """The result of a root in C: iterators that it has made run in the contexts of the activation."""
    lazy = driven_generators.LAZY_ITERATORS
    if type(result) in lazy and not any(result is argument for argument in arguments):
        return driven_in(activation, result)
    if type(result) is tuple and result and lazy.issuperset(map(type, result)):  # of `itertools.tee`
        return tuple([driven_in(activation, item) for item in result])
    return result


@hidden
def _run_in(activation: Activation, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Call a function in an activation that other context variables do not have."""
    token = ACTIVE.set(activation)
    try:
        return function(*arguments, **keywords)
    finally:
        ACTIVE.reset(token)


def is_endless(activation: Activation) -> bool:
    """Whether contexts of the type of this one are entered within each other without end."""
    count = 0
    outer: Activation | None = activation
    while outer is not None and count < _ENDLESS:
        count += outer.entered is not None and type(outer.entered) is type(activation.entered)
        outer = outer.outer
    return count == _ENDLESS


def endless_recursion(function: Any, context: Any) -> OverdubRecursionError:
    """The error for an overload that enters itself without end."""
    return OverdubRecursionError(
        f"the overload of {function!r} in {type(context).__qualname__} enters itself through overdub without end: call "
        "recurse(ctx, f, ...) to go on inside, or fallback(ctx, f, ...) for the native function"
    )
