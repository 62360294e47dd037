"""Closures over tagged values that run where their context is not active: they get the plain values."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from cassette_import import Context, Tagged, overdub, tag


class Ctx(Context, tagging=True):
    pass


class Inherits(Context, tagging=True, inherit=True):
    pass


def closure(make):
    """A function that is made in a context around a tagged value; the value reaches C code when it is called."""
    return make


TEXT, NUMBER = "a1", 2.5

CLOSURES = {
    "json.dumps": (NUMBER, lambda x: lambda: json.dumps([x, {"a": x}])),
    "join": (TEXT, lambda x: lambda: "-".join([x, x])),
    "re": (TEXT, lambda x: lambda: re.search("[0-9]", x)[0]),
    "Decimal": (NUMBER, lambda x: lambda: Decimal(x)),
    "type": (NUMBER, lambda x: lambda: type(x)),
    "identity of the type": (NUMBER, lambda x: lambda: [type(x) is float, type(x * 2), type([x][0])]),
    "comprehension": (NUMBER, lambda x: lambda: [type(x) for _ in range(2)]),
    "generator expression": (NUMBER, lambda x: lambda: list(type(x) for _ in range(2))),
    "nested closure": (NUMBER, lambda x: lambda: (lambda: type(x))()),
    "returned": (NUMBER, lambda x: lambda: x),
    "attribute": (TEXT, lambda x: lambda: x.upper().__class__),
    "f-string": (NUMBER, lambda x: lambda: f"{x!r} {type(x)}"),
}


def defined(x):
    """A closure that changes its variable, and has a default and a nested function."""

    def inner(times=2):
        nonlocal x
        found = [type(x)]
        x = x * times
        found.append(type(x))

        def innermost():
            return type(x)

        return [*found, innermost(), json.dumps(x)]

    return inner


def generating(x):
    def inner():
        yield type(x)
        yield json.dumps(x)

    return lambda: list(inner())


CLOSURES["nonlocal"] = NUMBER, defined
CLOSURES["generator"] = NUMBER, generating


def plain_result(name):
    value, make = CLOSURES[name]
    return make(value)()


def check(found, expected):
    assert found == expected
    assert type(found) is type(expected) is not Tagged
    assert repr(found) == repr(expected)


@pytest.mark.parametrize("name", CLOSURES)
def test_a_closure_that_is_called_after_the_end_gets_plain_values(name):
    value, make = CLOSURES[name]
    ctx = Ctx()
    made = overdub(ctx, make, tag(value, ctx, "found"))
    check(made(), plain_result(name))


@pytest.mark.parametrize("name", CLOSURES)
def test_a_closure_that_runs_in_another_thread_gets_plain_values(name):
    value, make = CLOSURES[name]
    found = []

    def program(x):
        made = make(x)
        thread = threading.Thread(target=lambda: found.append(made()))
        thread.start()
        thread.join()
        return made

    ctx = Ctx()
    overdub(ctx, program, tag(value, ctx, "found"))
    check(found[0], plain_result(name))


@pytest.mark.parametrize("name", CLOSURES)
def test_a_closure_that_runs_as_a_job_gets_plain_values(name):
    value, make = CLOSURES[name]

    def program(x):
        with ThreadPoolExecutor(1) as executor:
            return [executor.submit(make(x)).result()]

    ctx = Ctx()
    check(overdub(ctx, program, tag(value, ctx, "found"))[0], plain_result(name))


def test_a_closure_keeps_the_metadata_where_its_context_is_active():
    seen = []

    def program(x):
        def inner():
            return x

        thread = threading.Thread(target=lambda: seen.append(type(inner())))
        thread.start()
        thread.join()
        return inner()

    from cassette_import import metadata

    ctx = Ctx()
    assert metadata(overdub(ctx, program, tag(2.5, ctx, "found")), ctx) == "found"
    assert seen == [float]
