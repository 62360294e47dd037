"""`nonlocal`, `global` and `del` in class bodies: names that a class declares are not names of the class."""

import pytest

from cassette_import import Context, Events, overdub, tag
from cassette_import.contexts.autodiff import derivative


class Tagging(Context, tagging=True):
    lost = "ignore"


class AllEvents(Context, events=Events.ALL):
    def prehook(self, f, *args, **kwargs):
        pass


class TaggingAllEvents(Context, tagging=True, events=Events.ALL):
    lost = "ignore"

    def prehook(self, f, *args, **kwargs):
        pass


def assigned(x):
    y = 0

    class Body:
        nonlocal y
        y = x
        z = y

    return y, Body.z, "y" in vars(Body)


def read_before(x):
    y = x

    class Body:
        nonlocal y
        z = y
        y = 5

    return y, Body.z


def augmented(x):
    y = x

    class Body:
        nonlocal y
        y += x
        z = y * 2

    return y, Body.z


def in_a_loop(x):
    y = 0

    class Body:
        nonlocal y
        for y in [x, x + 1]:
            last = y

    return y, Body.last


def unpacked(x):
    y = z = 0

    class Body:
        nonlocal y, z
        y, (w, *z) = x, (x, x)
        v = [y, z]

    return y, z, Body.w, Body.v


def by_with(x):
    import contextlib

    y = 0

    class Body:
        nonlocal y
        with contextlib.nullcontext(x) as y:
            z = y

    return y, Body.z


def by_handler(x):
    y = 0

    class Body:
        nonlocal y
        try:
            raise ValueError(x)
        except ValueError as y:
            z = y.args[0]

    try:
        return y
    except NameError:
        return Body.z


def defined(x):
    y = z = None

    class Body:
        nonlocal y, z

        def y(self):
            return x

        class z:
            w = x

        kept = y

    return y(None), z.w, Body().kept(), Body.__dict__.keys() & {"y", "z"}


def imported(x):
    math = None

    class Body:
        nonlocal math
        import math

        z = math.floor(x)

    return math.__name__, Body.z


def deleted(x):
    y = x

    class Body:
        nonlocal y
        z = y
        del y

    try:
        return y
    except NameError:
        return Body.z


def walrus(x):
    y = 0

    class Body:
        nonlocal y
        z = (y := x) + y

    return y, Body.z


def with_comprehension(x):
    y = x

    class Body:
        nonlocal y
        y = x + 1
        z = [y * i for i in range(3)]
        w = {i: y for i in range(2)}
        v = list(i for i in range(3) if i < y)

    return y, Body.z, Body.w, Body.v


def in_inner_function(x):
    y = 0

    def inner():
        class Body:
            nonlocal y
            y = x

            def method(self):
                nonlocal y
                y += 1
                return y

        return Body().method()

    return inner(), y


def in_inner_class(x):
    y = 0

    class Outer:
        y = "of the outer class"

        class Inner:
            nonlocal y
            y = x
            z = y

        w = y

    return y, Outer.w, Outer.Inner.z


def matched(x):
    y = 0

    class Body:
        nonlocal y
        match [x]:
            case [y]:
                z = y

    return y, Body.z


def as_global(x):
    class Body:
        global G
        G = x
        z = G
        w = [G for _ in range(2)]

    return G, Body.z, Body.w, "G" in vars(Body)


def global_deleted(x):
    class Body:
        global G
        G = x
        z = G
        del G

    return Body.z, "G" in globals()


def global_under_a_local(x):
    H = "local"

    class Body:
        global H
        H = x
        z = H
        w = [H for _ in range(2)]

    return H, Body.z, Body.w, globals()["H"]


def own_name_deleted(x):
    y = x

    class Body:
        y = 1
        del y
        z = [1 for _ in range(2)]

    return y, Body.z, "y" in vars(Body)


PROGRAMS = (
    assigned, read_before, augmented, in_a_loop, unpacked, by_with, by_handler, defined, imported, deleted, walrus,
    with_comprehension, in_inner_function, in_inner_class, matched, as_global, global_deleted, global_under_a_local,
    own_name_deleted,
)  # fmt: skip


@pytest.mark.parametrize("context", [Tagging, AllEvents, TaggingAllEvents], ids=lambda context: context.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_class_body_that_declares_names_does_what_it_does_in_plain_python(program, context):
    expected = program(1.5)
    assert overdub(context(), program, 1.5) == expected
    if context is not AllEvents:
        ctx = context()
        assert overdub(ctx, program, tag(1.5, ctx, "metadata")) == expected


def captured_by_the_class(x):
    class Body:
        match {"a": [x, x]}:
            case {"a": [y, *z], **w} if y is not None:
                v = y

    return Body.v, Body.z


def captured_beside_a_local_name(x):
    y = "of the function"

    class Body:
        match [x]:
            case [y]:
                z = y

    return Body.z, [Body.y], y


@pytest.mark.parametrize("program", [captured_by_the_class, captured_beside_a_local_name])
def test_what_a_class_body_captures_is_an_attribute_with_metadata(program):
    assert overdub(TaggingAllEvents(), program, 1.5) == program(1.5)
    first, [second], *_ = derivative(program, 1.5)
    assert (first, second) == (1.0, 1.0)


@pytest.mark.parametrize(
    "program",
    [assigned, in_a_loop, by_with, walrus, matched, unpacked, augmented],
    ids=lambda program: program.__name__,
)
def test_a_nonlocal_name_of_a_class_body_keeps_metadata(program):
    assert derivative(lambda x: program(x)[0], 1.5) == {"augmented": 2.0}.get(program.__name__, 1.0)
