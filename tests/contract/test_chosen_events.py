"""Which events a context type sees: by default, by choice, and by what is registered for it."""

import math
import operator
import sys

import pytest
from helpers.recorded_calls import calls_of

from cassette_import import Context, Events, overdub


def test_context_sees_calls_and_operators_by_default(Recorder):
    ctx = Recorder()
    overdub(ctx, lambda x: abs(x) + 1, -2)
    assert ctx.functions == [abs, operator.add]


def test_events_can_be_given_with_the_class():
    class Own(Context, events=Events.OPERATORS):
        def prehook(self, f, *args):
            self.metadata.append(f)

    ctx = Own([])
    overdub(ctx, lambda x: abs(x) + 1, -2)
    assert ctx.metadata == [operator.add]


def test_events_can_be_a_class_attribute():
    class Own(Context):
        events = Events.CALLS

        def prehook(self, f, *args):
            self.metadata.append(f)

    ctx = Own([])
    overdub(ctx, lambda x: abs(x) + 1, -2)
    assert ctx.metadata == [abs]


def test_events_none_means_that_methods_see_nothing():
    class Own(Context, events=Events.NONE):
        def prehook(self, f, *args):
            self.metadata.append(f)

    ctx = Own([])
    assert overdub(ctx, lambda x: abs(x) + 1, -2) == 3
    assert ctx.metadata == []


def test_events_are_inherited():
    class Base(Context, events=Events.CALLS):
        def prehook(self, f, *args):
            self.metadata.append(f)

    class Derived(Base):
        pass

    ctx = Derived([])
    overdub(ctx, lambda x: abs(x) + 1, -2)
    assert ctx.metadata == [abs]


@pytest.mark.parametrize("events", [Events.NONE, Events.CALLS])
def test_overload_of_an_operator_turns_its_rewriting_on(events):
    class Own(Context, events=events):
        pass

    Own.overdub.register(operator.add)(lambda ctx, f, x, y: "replaced")
    assert overdub(Own(), lambda x: x + 1, 1) == "replaced"


def test_overload_of_a_call_turns_its_rewriting_on():
    class Own(Context, events=Events.NONE):
        pass

    Own.overdub.register(math.sin)(lambda ctx, f, x: "replaced")
    assert overdub(Own(), lambda x: math.sin(x), 1) == "replaced"


def test_explicit_call_of_an_operator_function_is_a_call():
    assert calls_of(operator.add, lambda: operator.add(1, 2)) == [(1, 2)]


def unresolvable(x: "Unknown") -> "Unknown":  # noqa: F821
    return x


def test_target_may_have_annotations_that_mean_nothing_here(make_program):
    def local(x: "Unknown"):  # noqa: F821
        return x

    program = make_program("""
        def main(function):
            return function(1)
    """)

    class Own(Context):
        pass

    Own.overdub.register(unresolvable)(lambda ctx, f, x: 2)
    Own.overdub.register(local)(lambda ctx, f, x: 3)
    assert overdub(Own(), program.main, unresolvable) == 2
    assert overdub(Own(), program.main, local) == 3


def test_registering_a_target_is_no_hook_for_every_function(make_program):
    seen = []

    class Own(Context):
        pass

    register = Own.prehook.register(unresolvable)
    program = make_program("""
        def main(function):
            return function(1), abs(-1)
    """)
    overdub(Own(), program.main, unresolvable)
    register(lambda ctx, f, *args: seen.append(f))
    overdub(Own(), program.main, unresolvable)
    assert seen == [unresolvable]


@pytest.mark.parametrize("call", ["k(1)", "k(*[1])", "[k(1) for _ in (1,)]"])
def test_contexts_outside_of_a_prehook_that_raises_get_the_event(make_program, call):
    program = make_program(f"""
        def k(x):
            return x

        def main():
            return {call}
    """)

    class Outer(Context, events=Events.CALLS):
        def prehook(self, f, *args):
            self.metadata.append(("pre", f.__name__))

        def errorhook(self, exception, f, *args):
            self.metadata.append(("error", f.__name__))

    class Inner(Context, events=Events.CALLS):
        def prehook(self, f, *args):
            raise ValueError

        def errorhook(self, exception, f, *args):
            self.metadata.append("inner")

    seen = []
    with Outer(seen), pytest.raises(ValueError):
        overdub(Inner(seen), program.main)
    assert seen == [("pre", "k"), ("error", "k")]


def test_a_hook_in_the_file_of_the_root_takes_a_keyword_that_is_called_as_its_parameter(make_program):
    program = make_program("""
        from cassette_import import Context

        class Own(Context):
            def prehook(self, f, *args, **kwargs):
                self.seen = kwargs

        def g(f):
            return f

        def main():
            return g(f=1)
    """)
    ctx = program.Own()
    assert overdub(ctx, program.main) == 1
    assert ctx.seen == {"f": 1}


def test_breakpoint_is_an_event_that_can_be_overloaded(make_program, monkeypatch):
    program = make_program("""
        import pdb

        def main():
            first = breakpoint()
            second = [breakpoint() for _ in (1,)]
            return first, second, set_trace(), pdb.set_trace()

        def set_trace():
            return 3
    """)
    called = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: called.append("hook"))
    monkeypatch.setattr(program.pdb, "set_trace", lambda: called.append("pdb"))

    class Seen(Context):
        def prehook(self, f, *args):
            called.append(f.__name__)

        def posthook(self, result, f, *args):
            called.append(result)

    assert overdub(Seen(), program.main) == (None, [None], 3, None)
    assert called == ["breakpoint", None, "hook"] * 2 + ["set_trace", 3, "<lambda>", "pdb", None]

    class Own(Context):
        pass

    Own.overdub.register(breakpoint)(lambda ctx, f: "overload")
    assert overdub(Own(), program.main)[:2] == ("overload", ["overload"])
