"""Code that runs between `return` and the caller does not take the metadata of the value away."""

import asyncio
import contextlib

import pytest

from cassette_import import Context, metadata, overdub, tag
from cassette_import.runtime.tagging import handover


class Labelling(Context, tagging=True):
    """Values have labels."""


class Thing:
    """Its special methods return values that are computed."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Thing(self.value + other.value)

    def __getitem__(self, key):
        return self.value + key

    def __str__(self):
        return "thing " + str(self.value)

    def __iter__(self):
        return iter([self.value, self.value + 1])

    def __bool__(self):
        return self.value > 0

    @property
    def twice(self):
        return self.value * 2

    def close(self):
        return self.value + 1


thing = Thing(1)


def exits_by(leave):
    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, *exception):
            return leave() is None

        async def __aenter__(self):
            return self

        async def __aexit__(self, *exception):
            await asyncio.gather(sleeping(leave), sleeping(leave))
            return leave() is None

    return Manager()


async def sleeping(leave):
    await asyncio.sleep(0)
    return leave() is None


RUN_BETWEEN = {
    "operator": lambda: thing + thing,
    "subscript": lambda: thing[0],
    "attribute": lambda: thing.twice,
    "text": lambda: f"{thing}",
    "list": lambda: [item + 1 for item in thing],
    "truth": lambda: [thing] if thing else 0,
    "call": lambda: thing.close(),
    "method in C": lambda: sorted([2, 1], key=lambda item: -item),
    "manager": lambda: closed(thing),
}


def closed(value):
    with contextlib.closing(value) as entered:
        return entered.twice


def out_of_with(value, leave):
    with exits_by(leave):
        return value


def out_of_two_managers(value, leave):
    with contextlib.nullcontext() as _, exits_by(leave):
        return value


def out_of_closing(value, leave):
    made = Thing(1)
    made.close = leave
    with contextlib.closing(made):
        return value


def out_of_stack(value, leave):
    with contextlib.ExitStack() as stack:
        stack.push(lambda *exception: leave() is None)
        return value


def out_of_try(value, leave):
    try:
        return value
    finally:
        f"{leave()} {thing}"


def out_of_handler(value, leave):
    try:
        raise ValueError(value)
    except ValueError as error:
        return error.args[0]
    finally:
        [leave() for _ in thing]


def out_of_nested_blocks(value, leave):
    for _ in range(2):
        try:
            with exits_by(leave):
                try:
                    if value:
                        return value
                finally:
                    f"{thing}"
        finally:
            [leave() for _ in thing]
    return None


def out_of_loop_over_generator(value, leave):
    def items():
        try:
            yield 1
        finally:
            f"{leave()} {thing}"

    for _ in items():
        return value


def with_suspended_generator(value, leave):
    def items():
        try:
            yield 1
        finally:
            f"{leave()} {thing}"

    suspended = items()
    next(suspended)
    return value


def with_finalised_variable(value, leave):
    class Finalised:
        def __del__(self):
            str(f"{leave()} {thing}")
            return leave() is None

    finalised = Finalised()
    return value if finalised else None


def out_of_coroutine(value, leave):
    async def main():
        async with exits_by(leave):
            return value

    async def awaited():
        return await main()

    return asyncio.run(awaited())


def out_of_generator(value, leave):
    def items():
        with exits_by(leave):
            yield 1
            return value

    def delegated():
        return (yield from items())

    try:
        running = delegated()
        while True:
            next(running)
    except StopIteration as stop:
        return stop.value


def locals_out_of_with(value, leave):
    with exits_by(leave):
        return value if set(locals()) == {"value", "leave"} else locals()


def locals_out_of_try(value, leave):
    try:
        with contextlib.suppress(KeyError):
            return value if set(locals()) == {"value", "leave"} else locals()
    finally:
        f"{leave()} {thing} {sorted(locals())}"


def locals_out_of_nested_blocks(value, leave):
    for _ in range(2):
        try:
            with exits_by(leave), contextlib.nullcontext():
                try:
                    if locals():
                        return value
                finally:
                    with exits_by(leave):
                        f"{thing}"
        finally:
            [leave() for _ in thing]
    return None


def locals_out_of_failing_blocks(value, leave):
    with contextlib.suppress(KeyError):
        try:
            return 5
        finally:
            raise KeyError(*dir())
    try:
        return value
    finally:
        f"{leave()} {thing}"


def locals_out_of_generator(value, leave):
    def items():
        with exits_by(leave):
            try:
                yield vars()
                return value
            finally:
                yield f"{leave()} {thing}"

    def delegated():
        return (yield from items())

    try:
        running = delegated()
        while True:
            next(running)
    except StopIteration as stop:
        return stop.value


def locals_of_finalised_variable(value, leave):
    class Finalised:
        def __del__(self):
            str(f"{leave()} {thing} {locals()}")
            return leave() is None

    finalised = Finalised()
    return value if finalised else None


WAYS = (
    out_of_with, out_of_two_managers, out_of_closing, out_of_stack, out_of_try, out_of_handler, out_of_nested_blocks,
    out_of_loop_over_generator, with_suspended_generator, with_finalised_variable, out_of_coroutine, out_of_generator,
    locals_out_of_with, locals_out_of_try, locals_out_of_nested_blocks, locals_out_of_failing_blocks,
    locals_out_of_generator, locals_of_finalised_variable,
)  # fmt: skip


@pytest.mark.parametrize("leave", RUN_BETWEEN.values(), ids=RUN_BETWEEN)
@pytest.mark.parametrize("way", WAYS)
def test_code_that_runs_after_return_keeps_the_metadata_of_the_value(way, leave):
    def root(ctx):
        return metadata(way(tag(1000, ctx, "label"), leave), ctx, default=None)

    assert overdub(ctx := Labelling(), root, ctx) == "label"


def test_value_without_metadata_gets_none_from_code_that_runs_after_return():
    def root(ctx):
        value = 1000
        return metadata(out_of_with(value, lambda: tag(value, ctx, "label")), ctx, default=None)

    assert overdub(ctx := Labelling(), root, ctx) is None


def test_finally_clause_that_returns_gives_its_own_value():
    def replaced(value, other):
        try:
            return value
        finally:
            return other  # noqa: B012 - what is tested

    def root(ctx):
        first, second = tag(1000, ctx, "first"), tag(1000, ctx, "second")
        return [metadata(replaced(*given), ctx, default=None) for given in ((first, second), (first, 1), (1, second))]

    assert overdub(ctx := Labelling(), root, ctx) == ["second", None, "second"]


def test_functions_that_read_their_variables_keep_nothing_when_they_have_ended():
    def root(ctx):
        value = tag(1000, ctx, "label")
        for way in WAYS:
            way(value, RUN_BETWEEN["text"])

    overdub(ctx := Labelling(), root, ctx)
    assert handover._STACKS == {}
