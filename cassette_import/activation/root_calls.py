"""Root calls: the calls that a program makes itself through `overdub` and `recurse`.

Knows activations and the registry of code; must not know contexts or their hooks.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.activation.activations import held_activation
from cassette_import.activation.entering import enter, leave
from cassette_import.errors import OverdubRecursionError
from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import late
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import Activation
from cassette_import.specialization.registry import registry

if TYPE_CHECKING:
    from cassette_import.runtime import driven_generators
else:
    (driven_generators,) = late("cassette_import.runtime", "driven_generators")

_ENDLESS: Final = 50
"""How often a context type must be entered within itself before that counts as the cause of a RecursionError."""


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
    if root is not None and activation.variant is not None:
        registry.ensure_instrumented(root, activation.variant, activation.roots)
        given = (*arguments, *keywords.values()) if keywords else arguments
        for argument in (*f.args, *f.keywords.values(), *given) if type(f) is functools.partial else given:
            if type(argument) is FunctionType:
                registry.ensure_argument_instrumented(argument, activation.variant, activation.roots)
    enter(activation)
    result = follower = None
    if activation.family is not None:
        activation.family.is_met = True
    try:
        if activation.entered.follows_roots:
            activation.entered.root_begins(f)
            follower = activation.entered
        if (outer or activation.tags) and activation.variant is not None:
            function, *leading = split(f)
            call = activation.variant.runners[int(Events.CALLS)].call
            result = call(activation, outer, f, function, tuple(leading), arguments, keywords)
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
    return result if type(result) not in driven_generators.SUSPENDABLE else driven_in(activation, result)


def driven_in(activation: Activation, result: Any) -> Any:
    """A generator or coroutine whose body runs in the contexts of an activation."""
    return driven_generators.drive(result, held_activation(activation.contexts, activation.roots, activation.tags))


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
