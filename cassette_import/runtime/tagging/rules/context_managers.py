"""Rules for `with` and for the context managers of `contextlib`."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from cassette_import.interpreter.callables import special
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import primitives
from cassette_import.runtime.tagging.bound_names import KEPT_BY_MANAGERS, entering
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.plain_bodies import MANAGERS_OF_GENERATORS, begin_again, note_end_of_block
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.rules.callables import enclosing_variable
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import plain

# ---- entering


@rule(primitives.enter_context, returns_method_result=True)
@hidden
def enter(call: LeafCall) -> Any:
    """`with manager as name`, in contexts whose events include it."""
    return call.forward(special(call.owner, "__enter__"))


@rule(
    contextlib.ExitStack.enter_context,
    type(contextlib.contextmanager(lambda: iter(()))()).__enter__,
    returns_method_result=True,
)
@hidden
def enter_generator(call: LeafCall) -> Any:
    """The value is what an overdubbed generator, or method, has handed on last."""
    manager = plain(call.arguments[-1])
    if id(type(manager)) in MANAGERS_OF_GENERATORS:
        begin_again(manager)
    LOCAL.returned = None
    value = call.native()
    found = LOCAL.returned
    if found is None and len(call.arguments) > 1:
        entering(call.arguments[1])
        found = LOCAL.returned
    return found if found is not None and found._tagged_value is value else value


@rule_of_code("contextlib", "_BaseExitStack.callback")
@hidden
def call_at_exit(call: LeafCall) -> Any:
    """The function gets its arguments wrapped when the stack is left."""
    if len(call.arguments) < 2:
        return call.native()
    stack, function, *given = call.arguments
    keywords = call.keywords

    @hidden
    def run() -> Any:
        return plain(call.call_back(function, *given, **keywords))

    functools.update_wrapper(run, plain(function), updated=())
    plain(stack).callback(run)
    return function


@hidden
def _kept_by(call: LeafCall) -> str:
    """The attribute whose value the manager hands to the program."""
    return KEPT_BY_MANAGERS["contextlib", call.function.__code__.co_qualname.partition(".")[0]]


@rule_of_code("contextlib", "nullcontext.__init__", "closing.__init__", "aclosing.__init__")
@hidden
def keep_value(call: LeafCall) -> Any:
    result = call.native()
    name = _kept_by(call)
    given = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get(name)
    if call.owner.__dict__.get(name) is plain(given):
        call.store.store_part(call.store.attributes, call.owner, name, given)
    return result


@rule_of_code("contextlib", "nullcontext.__enter__", "closing.__enter__")
@hidden
def load_kept_value(call: LeafCall) -> Any:
    value = call.native()
    name = _kept_by(call)
    return call.store.load_part(call.store.attributes, call.owner, name, value)


# ---- leaving


@rule_of_code(
    "contextlib",
    "_GeneratorContextManager.__exit__",
    "_AsyncGeneratorContextManager.__aexit__",
    "ExitStack.__exit__",
    "ExitStack.close",
    "AsyncExitStack.__aexit__",
    "AsyncExitStack.aclose",
)
@hidden
def leave(call: LeafCall) -> Any:
    """Generators that began as plain code are resumed."""
    note_end_of_block(call.owner, *call.arguments[1:])
    return call.native()


# ---- functions that `contextlib` makes


@rule_of_code("contextlib", "ContextDecorator.__call__.<locals>.inner")
@hidden
def call_in_context(call: LeafCall) -> Any:
    with enclosing_variable(call.function, "self")._recreate_cm():
        return call.forward(enclosing_variable(call.function, "func"), *call.arguments, **call.keywords)


@rule_of_code("contextlib", "contextmanager.<locals>.helper", "asynccontextmanager.<locals>.helper")
@hidden
def make_context_manager(call: LeafCall) -> Any:
    """The manager calls a generator function."""
    function = enclosing_variable(call.function, "func")
    made: list[Any] = []

    @hidden
    def make_generator(*_: Any, **__: Any) -> Any:
        made.append(plain(call.forward(function, *call.arguments, **call.keywords)))
        return made[0]

    make_generator.__doc__ = getattr(function, "__doc__", None)
    name = (
        "_GeneratorContextManager"
        if "async" not in call.function.__code__.co_qualname
        else "_AsyncGeneratorContextManager"
    )
    manager = call.function.__globals__[name](make_generator, tuple(map(plain, call.arguments)), call.plain_keywords)
    manager.func = function
    return manager
