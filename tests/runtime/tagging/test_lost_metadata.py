"""A context type says what it is when a leaf loses metadata: nothing, a line in the report, or an error."""

import math
import pickle
import statistics

import pytest

from cassette_import import Context, NotOverdubbable, escapes, fallback, overdub, tag


class Reports(Context, tagging=True):
    pass


class Ignores(Context, tagging=True):
    lost = "ignore"


class Thing:
    def __init__(self, value):
        self.value = value


class Refuses(Context, tagging=True):
    lost = "error"


@Refuses.overdub.register(math.cos)
def _(ctx, f, x):
    return fallback(ctx, f, x)


def run(context_type, program):
    ctx = context_type()
    overdub(ctx, program, tag(2.0, ctx, "two"))
    return ctx


LOSING = {
    "a C function": (lambda x: math.sin(x), "sin"),
    "an operator": (lambda x: x + 1.0, "add"),
    "a function of a package that is not installed": (lambda x: statistics.fmean((x, x)), "fmean"),
    "a container": (lambda x: math.dist([x], [1.0]), "dist"),
    "a method": (lambda x: x.hex(), "float.hex"),
}
KEEPING = {
    "a display": lambda x: [x, (x, {"a": x})],
    "len": lambda x: len([x]),
    "isinstance": lambda x: isinstance(x, float),
    "print": lambda x: print(x),
    "an f-string": lambda x: f"{x}",
    "str": lambda x: str(x),
    "a method of a list": lambda x: [x].append(x),
    "a call without the value": lambda x: math.sin(1.0),
}


@pytest.mark.parametrize("name", LOSING)
def test_a_loss_is_reported_with_leaf_and_place_by_default(name):
    program, leaf = LOSING[name]
    (loss,) = escapes(run(Reports, program))
    assert (loss.function, loss.calls, loss.reason) == (leaf, 1, "it has lost metadata")
    assert (loss.filename, loss.lineno) == (__file__, program.__code__.co_firstlineno)


@pytest.mark.parametrize("name", LOSING)
def test_a_loss_may_be_an_error_that_names_leaf_and_place(name):
    program, leaf = LOSING[name]
    with pytest.raises(NotOverdubbable, match=rf"(?s)metadata of Refuses is lost in .*{leaf}: .*{__file__}:\d+ in"):
        run(Refuses, program)


@pytest.mark.parametrize("name", LOSING)
def test_a_loss_may_be_ignored(name):
    assert escapes(run(Ignores, LOSING[name][0])) == []


@pytest.mark.parametrize("context_type", [Reports, Refuses], ids=["report", "error"])
@pytest.mark.parametrize("name", KEEPING)
def test_a_leaf_that_moves_or_consumes_values_loses_nothing(name, context_type):
    assert escapes(run(context_type, KEEPING[name])) == []


def test_an_overload_decides_itself():
    assert escapes(run(Refuses, lambda x: math.cos(x))) == []


def test_attributes_of_an_object_are_lost_too():
    with pytest.raises(NotOverdubbable, match=r"is lost in pickle.dumps"):
        run(Refuses, lambda x: pickle.dumps(Thing(x)))


def test_another_word_for_a_loss_is_an_error():
    with pytest.raises(TypeError, match=r"Other.lost must be one of ignore, report, error, not 'warn'"):

        class Other(Context, tagging=True):
            lost = "warn"


def test_losses_are_counted_and_sorted_by_their_number():
    def program(x):
        for _ in range(3):
            math.exp(x)
        math.sin(x)

    assert [(loss.function, loss.calls) for loss in escapes(run(Reports, program))] == [("exp", 3), ("sin", 1)]


def test_attributes_of_a_context_type_may_have_any_name():
    class Named(Context, tagging=True):
        def __init__(self):
            self._losses = self._escape_watch = "its own"

    ctx = Named()
    assert overdub(ctx, lambda x: math.pow(x, 2), tag(2.0, ctx, "m")) == 4.0
    assert [loss.function for loss in escapes(ctx)] == ["pow"]
    assert ctx._losses == ctx._escape_watch == "its own"
