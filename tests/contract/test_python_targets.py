"""Which calls of a Python function are events for a context with a hook or overload for that function.

An event is a call of the function in overdubbed code, or a call that a higher-order leaf makes of its callback. The
function cannot decide at its own entry whether its call is an event (`docs/performance-bounds.md`, "Targets at their
own entry").
"""

import textwrap

import pytest

from cassette_import import Context, overdub

PROGRAM = """
    import collections, contextvars, functools, heapq, inspect, itertools, re, statistics, timeit, weakref

    def target(x=0, y=1):
        return x

    def match(found):
        return "x"

    def make_list():
        return []

    @functools.lru_cache
    def cached(x):
        return x

    class Text:
        def __init__(self, x=0):
            self.x = x

        def write(self, text):
            return len(text)

        def order(self, other=None):
            return 0

        def read(self):
            return self.x

        attribute = property(read)

    async def awaited(x):
        return x

    def generated(x):
        yield x

    def unpack():
        one, two = map(target, [1, 2])
        return one

    def finalised():
        class Local:
            pass

        local = Local()
        reference = weakref.ref(local, target)
        del local
        return reference()
"""

EVENTS = {
    "target(1)": [("target", (1,), {})],
    "target()": [("target", (), {})],
    "target(0, 1)": [("target", (0, 1), {})],
    "target(y=1)": [("target", (), {"y": 1})],
    "target(*[1], **{'y': 2})": [("target", (1,), {"y": 2})],
    "functools.partial(target, 1)(y=2)": [("target", (1,), {"y": 2})],
    "[target][0](1)": [("target", (1,), {})],
    "(lambda f: f(1))(target)": [("target", (1,), {})],
    "list(map(target, [1]))": [("target", (1,), {})],
    "unpack()": [("target", (1,), {}), ("target", (2,), {})],
    "[one for one in map(target, [1])]": [("target", (1,), {})],
    "statistics.mean(map(target, [1]))": [("target", (1,), {})],
    "statistics.mean(itertools.starmap(target, [(1,)]))": [("target", (1,), {})],
    "heapq.nlargest(1, [1], key=target)": [("target", (1,), {})],
    "sorted([1], key=target)": [("target", (1,), {})],
    "functools.reduce(target, [1, 2])": [("target", (1, 2), {})],
    "re.sub('a', match, 'a')": [("match", 1, {})],
    "Text().write('a')": [("Text.write", 2, {})],
    "Text.write(Text(), text='a')": [("Text.write", 1, {"text": "a"})],
    "Text.__init__(Text.__new__(Text), 1)": [("Text.__init__", 2, {})],
    "cached.__wrapped__(1)": [("cached", (1,), {})],
    "contextvars.copy_context().run(target, 1)": [("target", (1,), {})],
    "list(generated(1))": [("generated", (1,), {})],
    "awaited(1).close()": [("awaited", (1,), {})],
}
"""The events of calls: names of functions, and their arguments as they are written, or how many of them there are."""

NO_EVENTS = [
    "Text(1)",
    "type('Inherits', (Text,), {})(1)",
    "print('a', file=Text())",
    "cached(1)",
    "Text().attribute",
    "getattr(Text(), 'attribute')",
    "type.__call__(Text, 1)",
    "target.__call__(1)",
    "timeit.timeit(make_list, number=1)",
]
"""Calls that C code, or Python code that is not overdubbed, makes of a function."""

HANDED_OVER = {
    "sorted([Text(), Text()], key=functools.cmp_to_key(Text.order))": "Text.order",
    "collections.defaultdict(make_list)[1]": "make_list",
    "finalised()": "target",
}
"""Functions that an object gets in the context and calls later, see `higher_order.CALLBACK_TAKERS`."""


INSPECTIONS = [
    "str(inspect.signature(target))",
    "inspect.getfullargspec(target)",
    "inspect.getfullargspec(Text().write).args",
    "(target.__code__.co_argcount, target.__code__.co_posonlyargcount, target.__code__.co_kwonlyargcount)",
    "target.__code__.co_varnames[:2]",
    "(target.__code__.co_name, target.__code__.co_firstlineno, target.__code__.co_flags)",
    "(inspect.iscoroutinefunction(awaited), inspect.isgeneratorfunction(generated))",
]
"""What code reads of a function to find out how to call it, as django does for the filters of a template."""


@pytest.fixture
def program(make_program):
    expressions = [*EVENTS, *NO_EVENTS, *HANDED_OVER, *INSPECTIONS]
    mains = "\n".join(f"def main_{number}():\n    return {text}" for number, text in enumerate(expressions))
    made = make_program(f"{textwrap.dedent(PROGRAM)}\n{mains}\n")
    made.mains = {text: getattr(made, f"main_{number}") for number, text in enumerate(expressions)}
    return made


def _targets(program):
    functions = program.target, program.match, program.make_list, program.cached.__wrapped__
    methods = program.Text.__init__, program.Text.write, program.Text.order, program.Text.read
    return (*functions, *methods, program.generated, program.awaited)


def _by_overload(type_, *targets):
    def overload(ctx, f, *arguments, **keywords):
        ctx.metadata.append((f.__qualname__, arguments, keywords))
        return f(*arguments, **keywords)

    type_.overdub.register(*targets)(overload)


def _by_prehook(type_, *targets):
    def prehook(ctx, f, *arguments, **keywords):
        ctx.metadata.append((f.__qualname__, arguments, keywords))

    type_.prehook.register(*targets)(prehook)


def _by_overload_beside_others(type_, *targets):
    _by_overload(type_, *targets)
    type_.overdub.register(len, abs)(lambda ctx, f, *arguments: f(*arguments))
    type_.prehook.register(*targets)(lambda ctx, f, *arguments, **keywords: None)


WAYS = [_by_overload, _by_prehook, _by_overload_beside_others]


def _events(program, expression, register):
    """The events of an expression in a function of the program."""

    class Own(Context):
        pass

    register(Own, *_targets(program))
    ctx = Own([])
    overdub(ctx, program.mains[expression])
    return ctx.metadata


def _as_expected(found, expected):
    return [
        (name, arguments if isinstance(wanted, tuple) else len(arguments), keywords)
        for (name, arguments, keywords), (_, wanted, _) in zip(found, expected, strict=True)
    ]


@pytest.mark.parametrize("register", WAYS)
@pytest.mark.parametrize("expression", EVENTS)
def test_a_call_is_an_event_that_shows_the_arguments_as_written(expression, register, program):
    found = _events(program, expression, register)
    assert _as_expected(found, EVENTS[expression]) == EVENTS[expression]


@pytest.mark.parametrize("register", WAYS)
@pytest.mark.parametrize("expression", NO_EVENTS)
def test_a_call_that_other_code_makes_of_a_function_is_no_event(expression, register, program):
    assert _events(program, expression, register) == []


@pytest.mark.parametrize("register", WAYS)
@pytest.mark.parametrize("expression", HANDED_OVER)
def test_a_call_of_a_function_that_was_handed_over_in_the_context_is_an_event(expression, register, program):
    assert HANDED_OVER[expression] in [name for name, _, _ in _events(program, expression, register)]


@pytest.mark.parametrize("register", WAYS)
@pytest.mark.parametrize("expression", INSPECTIONS)
def test_a_target_shows_its_own_signature_while_the_context_is_active(expression, register, program):
    plain = program.mains[expression]()

    class Own(Context):
        pass

    register(Own, *_targets(program))
    assert overdub(Own([]), program.mains[expression]) == plain
