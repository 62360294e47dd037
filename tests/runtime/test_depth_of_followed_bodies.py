"""How deep programs may recurse by `yield from` and `await` in a context that follows bodies."""

import sys

import pytest

from cassette_import import overdub
from cassette_import.contexts import Profile


def by_delegation():
    depth = 0

    def nested(n):
        nonlocal depth
        depth = n
        yield from nested(n + 1)

    with pytest.raises(RecursionError):
        next(nested(0))
    return depth


def by_awaiting():
    depth = 0

    async def nested(n):
        nonlocal depth
        depth = n
        await nested(n + 1)

    with pytest.raises(RecursionError):
        nested(0).send(None)
    return depth


@pytest.mark.parametrize("program", [by_delegation, by_awaiting])
def test_a_profile_leaves_most_of_the_recursion_limit(program):
    expected = program()
    limit_of_c = sys.version_info[:2] == (3, 12)  # which counts the steps of generators that C code makes
    assert overdub(Profile(), program) > expected * (0.7 if limit_of_c else 0.95)


def values(sent):
    def inner():
        got = yield 1
        try:
            yield got
        except KeyError as error:
            yield error.args[0]
        return "returned"

    def outer():
        return (yield from inner())

    generator = outer()
    found = [next(generator), generator.send(sent), generator.throw(KeyError("thrown"))]
    try:
        next(generator)
    except StopIteration as stop:
        found.append(stop.value)
    return found


def closed():
    found = []

    def inner():
        try:
            yield 1
        finally:
            found.append("closed")

    def outer():
        yield from inner()

    generator = outer()
    next(generator)
    generator.close()
    return found


@pytest.mark.parametrize("program", [lambda: values("sent"), lambda: values(None), closed])
def test_what_is_sent_thrown_and_returned_passes_through(program):
    assert overdub(Profile(), program) == program()
