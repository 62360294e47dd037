"""Generators and coroutines look up the active context after each suspension: every event goes to the right one."""

import asyncio
import contextlib

import pytest

from cassette_import import Context, Events, install, overdub


class Calls(Context, events=Events.CALLS):
    """Collects the callees and results of calls."""

    def __init__(self):
        self.names = []
        self.results = []
        self.errors = []

    def prehook(self, f, *args, **kwargs):
        self.names.append(f.__name__)

    def posthook(self, result, f, *args, **kwargs):
        self.results.append(result)


class Watched(Calls):
    def errorhook(self, error, f, *args, **kwargs):
        self.errors.append((type(error).__name__, f.__name__))


class Everything(Context, events=Events.ALL):
    def __init__(self):
        self.names = []

    def prehook(self, f, *args, **kwargs):
        self.names.append(f.__name__)


SOURCE = """
    import contextlib

    async def later(x):
        return x

    def steps(n):
        low = abs(n)
        high = max(low, 1) + min(low, 1)
        yield high
        for i in range(n):
            value = divmod(i, 2)
            if value[1]:
                continue
            yield len([abs(j) for j in value])
        return low

    def values():
        got = yield abs(1)
        while got:
            got = yield abs(got)

    def entering(context):
        yield abs(-1)
        with context:
            first = abs(-2)
            yield first
            second = abs(-3)
        yield abs(second)

    async def chained(a, b, c):
        return abs(a) < abs(b) < await later(abs(c)) and max(a, await later(b), abs(c))

    async def mixed(x):
        pairs = {"a": abs(x), "b": [await later(abs(x)), abs(x + 1)]}
        return f"{abs(x)} {await later(len(pairs))} {pairs!s}", (abs(x), *map(abs, [await later(x)]))

    async def fails(x):
        try:
            total = int("1") + int(x)
        except ValueError:
            total = await later(abs(-1))
        return total

    async def in_loops(n):
        total = 0
        async for i in numbers(n):
            total += abs(i)
            async with managed() as one:
                total += await later(abs(one))
        return total + sum([await later(i) for i in range(abs(n))])

    async def numbers(n):
        for i in range(n):
            yield abs(i)

    @contextlib.asynccontextmanager
    async def managed():
        yield abs(-1)

    async def refused(texts):
        wrong = []
        for text in texts:
            try:
                wrong.append(await later(int(text)) + len(text))
            except ValueError as error:
                wrong.append(str(error))
            if len(await later(str(int("1")))) > int(text.strip("x") or "1"):
                return wrong
        while await later(divmod(1, len(wrong))):
            wrong.clear()

    def answers():
        while True:
            try:
                yield abs(1)
            except KeyError as error:
                yield int(str(error))

    async def matched(x):
        match abs(x):
            case 1 if abs(x):
                return await later(abs(1))
            case _:
                return abs(x)
"""


@pytest.fixture
def program(make_package, import_fresh):
    name = make_package(SOURCE)
    install([name])
    return import_fresh(name)


def run_to_end(made):
    if hasattr(made, "__await__"):
        return asyncio.run(made)
    return list(made)


OF_THE_TEST = {"hasattr", "list", "suppress", "__enter__", "__exit__", "send"}
CALLS = [
    ("steps", (5,)), ("values", ()), ("chained", (1, 2, 3)), ("chained", (3, 2, 1)), ("mixed", (-3,)),
    ("fails", ("x",)), ("fails", ("2",)), ("in_loops", (3,)), ("matched", (-1,)), ("matched", (4,)),
    ("refused", (["x", "0"],)),
]  # fmt: skip


@pytest.mark.parametrize("context_type", [Calls, Watched, Everything])
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_results_are_those_of_plain_python(name, arguments, context_type, program):
    function = getattr(program, name)
    expected = run_to_end(function(*arguments))
    assert overdub(context_type(), lambda: run_to_end(function(*arguments))) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "names"),
    [
        ("steps", (2,), "abs max min range divmod abs abs len divmod"),
        ("chained", (1, 2, 3), "abs abs abs later later abs max"),
        ("mixed", (-3,), "abs abs later abs abs len later abs later map"),
        ("fails", ("x",), "int int abs later"),
        ("matched", (-1,), "abs abs abs later"),
    ],
)
@pytest.mark.parametrize("context_type", [Calls, Watched])
def test_events_come_in_the_order_of_evaluation(name, arguments, names, context_type, program):
    context = context_type()
    made = getattr(program, name)(*arguments)
    with context:
        if hasattr(made, "__await__"):  # nothing in it waits: no event loop is needed, which may have events itself
            with contextlib.suppress(StopIteration):
                made.send(None)
        else:
            list(made)
    assert [name for name in context.names if name not in OF_THE_TEST] == names.split()


def test_errorhooks_are_called_in_a_run_of_statements(program):
    context = Watched()
    with context:
        assert asyncio.run(program.fails("x")) == 1
    assert context.errors == [("ValueError", "int")]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["x", "1"], [("ValueError", "int"), ("ZeroDivisionError", "divmod")]),
        (["0"], []),
        (["3"], [("ZeroDivisionError", "divmod")]),
        (["3", "", "0"], [("ValueError", "int")]),
    ],
)
def test_errorhooks_are_called_for_what_is_awaited(texts, expected, program):
    context = Watched()
    with context, contextlib.suppress(ValueError, ZeroDivisionError):
        asyncio.run(program.refused(texts))
    assert [error for error in context.errors if error[1] != "run"] == expected


class WatchedOutside(Watched):
    """Another context type with errorhooks."""


def test_errorhooks_of_two_contexts_are_called_for_what_is_awaited(program):
    outer, inner = WatchedOutside(), Watched()
    with outer, inner, contextlib.suppress(ZeroDivisionError):
        asyncio.run(program.refused(["3"]))
    assert outer.errors == inner.errors
    assert ("ZeroDivisionError", "divmod") in inner.errors
    with outer:
        asyncio.run(program.refused(["x", "0"]))
    assert outer.errors.count(("ValueError", "int")) == 1


def test_no_errorhook_is_called_for_what_is_thrown_into_a_suspended_body(program):
    context = Watched()
    with context:
        made = program.answers()
        next(made)
        assert made.throw(KeyError(7)) == 7
        with pytest.raises(ZeroDivisionError):
            made.throw(ZeroDivisionError())
    assert {name for _, name in context.errors} <= {"throw"}


def test_an_event_in_another_context_is_not_reported_to_the_one_of_the_body(program):
    first, second = Watched(), Watched()
    made = program.answers()
    with first:
        next(made)
    with second, pytest.raises(ValueError, match="invalid literal"):
        made.throw(KeyError("x"))
    assert not first.errors
    assert [error for error in second.errors if error[1] == "int"] == [("ValueError", "int")]


@pytest.mark.parametrize("context_type", [Calls, Watched])
def test_each_event_goes_to_the_context_that_resumed_the_body(context_type, program):
    first, second = context_type(), context_type()
    made = program.values()
    with first:
        next(made)
    with second:
        made.send(2)
    made.send(3)
    with second, first:
        made.send(4)
    assert [context.names.count("abs") for context in (first, second)] == [2, 2]
    assert (first.results[0], second.results[0]) == (1, 2)


def test_a_context_that_the_body_enters_gets_the_events_in_its_block(program):
    outer, inner = Calls(), Calls()
    with outer, contextlib.closing(program.entering(inner)) as made:
        list(made)
    assert inner.results == [2, 3]
    assert outer.results[0] == 1
    assert outer.results[-1] == 3


def test_contexts_are_not_kept_in_the_variables_of_a_body_that_has_ended(program):
    made = program.values()
    with Calls():
        next(made)
    made.close()
    assert made.gi_frame is None
