"""Hooks and overloads that are registered again, or while the program runs."""

import math
import types

import pytest

from cassette_import import Context, Events, overdub


class Animal:
    sound = "?"

    def speak(self, times=1):
        return self.sound * times


def test_registration_with_the_same_signature_replaces():
    class Own(Context):
        pass

    Own.overdub.register(math.sin)(lambda ctx, f, x: "first")
    Own.overdub.register(math.sin)(lambda ctx, f, x: "second")
    assert overdub(Own(), lambda: math.sin(0.0)) == "second"


def test_registration_with_another_signature_adds():
    class Own(Context):
        pass

    @Own.overdub.register(abs)
    def _(ctx, f, x: int):
        return "int"

    @Own.overdub.register(abs)
    def _(ctx, f, x: str):
        return "str"

    assert overdub(Own(), lambda: abs(-1)) == "int"


def test_late_overload_counts_for_contexts_and_functions_in_use():
    class Own(Context):
        pass

    def root():
        return math.sin(0.0)

    ctx = Own()
    assert overdub(ctx, root) == 0.0
    Own.overdub.register(math.sin)(lambda ctx, f, x: "late")
    assert overdub(ctx, root) == "late"


def test_late_overload_for_a_method_counts():
    class Own(Context):
        pass

    animal = Animal()

    def root():
        return animal.speak()

    assert overdub(Own(), root) == "?"
    Own.overdub.register(Animal.speak)(lambda ctx, f, self, times=1: "late")
    assert overdub(Own(), root) == "late"


def test_late_hook_counts_for_derived_contexts():
    class Base(Context):
        pass

    class Derived(Base):
        pass

    seen = []

    def root():
        return abs(-1)

    overdub(Derived(), root)
    Base.prehook.register(abs)(lambda ctx, f, x: seen.append(x))
    overdub(Derived(), root)
    assert seen == [-1]


def test_overload_registered_while_a_function_runs_counts_from_the_next_call_on():
    class Own(Context):
        pass

    def register():
        Own.overdub.register(math.sin)(lambda ctx, f, x: "late")

    def sine():
        return math.sin(0.0)

    def root():
        before = sine()
        register()
        return before, sine()

    assert overdub(Own(), root) == (0.0, "late")


def registers_while_it_runs(Own):
    """Return the results of `math.sin` in a function of the context before and after it is overloaded there."""

    def root():
        before = math.sin(0.0)
        Own.overdub.register(math.sin)(lambda ctx, f, x: "late")
        return before, math.sin(0.0)

    return overdub(Own(), root)


def test_overload_registered_while_a_function_runs_counts_in_that_function():
    # "What is registered late counts from the next event on", so also in a body that is being executed.
    class Own(Context):
        pass

    assert registers_while_it_runs(Own) == (0.0, "late")


@pytest.mark.parametrize("kind", ["prehook", "posthook", "errorhook"])
def test_overload_registered_while_an_instrumented_function_runs_counts_in_it(kind):
    seen = []
    Own = type("Own", (Context,), {kind: lambda ctx, *given: seen.append(given)}, events=Events.CALLS)

    assert registers_while_it_runs(Own) == (0.0, "late")


def test_overload_registered_for_one_of_two_contexts_while_a_function_runs_counts_in_it(Recorder):
    class Own(Context):
        pass

    def root():
        before = math.sin(0.0)
        Own.overdub.register(math.sin)(lambda ctx, f, x: "late")
        return before, math.sin(0.0)

    with Recorder() as outer:
        assert overdub(Own(), root) == (0.0, "late")
    assert [call for call in outer.calls if call[0] is math.sin] == [(math.sin, (0.0,))] * 2


def test_overload_registered_in_a_loop_counts_in_its_next_round():
    class Own(Context):
        pass

    def root():
        found = []
        for number in range(4):
            found.append(abs(number))
            if number == 1:
                Own.overdub.register(abs)(lambda ctx, f, x: "late")
        return found

    assert overdub(Own(), root) == [0, 1, "late", "late"]


def test_overload_registered_inside_of_a_block_counts(make_program):
    program = make_program("import math\n\ndef sine():\n    return math.sin(0.0)\n")

    class Own(Context):
        pass

    with Own():
        before = program.sine()
        Own.overdub.register(math.sin)(lambda ctx, f, x: "late")
        assert (before, program.sine()) == (0.0, "late")


LATE = {
    "prehook": lambda seen: lambda ctx, f, *arguments: seen.append(("pre", f, *arguments)),
    "posthook": lambda seen: lambda ctx, result, f, *arguments: seen.append(("post", result, f, *arguments)),
    "errorhook": lambda seen: lambda ctx, error, f, *arguments: seen.append(("error", type(error), f, *arguments)),
}
OF_LATE_CALL = {
    "prehook": [("pre", math.sqrt, 4.0), ("pre", math.sqrt, -1.0)],
    "posthook": [("post", 2.0, math.sqrt, 4.0)],
    "errorhook": [("error", ValueError, math.sqrt, -1.0)],
}


PLACES_OF_LATE_HOOKS = ["nothing", "chosen functions", *LATE]


@pytest.mark.parametrize(
    ("first", "late"), [(first, late) for first in PLACES_OF_LATE_HOOKS for late in LATE if first != late]
)
def test_hook_registered_while_a_function_runs_counts_in_it(first, late):
    early, seen = [], []
    Own = type("Own", (Context,), {first: LATE[first](early)} if first in LATE else {})
    if first == "chosen functions":
        Own.overdub.register(math.sin)(lambda ctx, f, x: "never")

    def root():
        math.sqrt(9.0)
        getattr(Own, late).register(LATE[late](seen))
        math.sqrt(4.0)
        try:
            math.sqrt(-1.0)
        except ValueError:
            return "done"

    assert overdub(Own(), root) == "done"
    assert [call for call in seen if math.sqrt in call] == OF_LATE_CALL[late]
    if first in LATE:
        before = [("pre", math.sqrt, 9.0)] if first == "prehook" else [("post", 3.0, math.sqrt, 9.0)]
        before = [] if first == "errorhook" else before
        assert [call for call in early if math.sqrt in call] == before + OF_LATE_CALL[first]


def test_hooks_registered_one_after_the_other_while_a_function_runs_all_count():
    class Own(Context):
        def prehook(self, f, *arguments):
            seen.append(("first", f, *arguments))

    seen = []

    def root():
        Own.posthook.register(LATE["posthook"](seen))
        Own.errorhook.register(LATE["errorhook"](seen))
        Own.prehook.register(LATE["prehook"](seen))
        try:
            return math.sqrt(-1.0)
        except ValueError:
            return math.sqrt(4.0)

    assert overdub(Own(), root) == 2.0
    assert [call for call in seen if math.sqrt in call] == [
        ("first", math.sqrt, -1.0),
        ("pre", math.sqrt, -1.0),
        ("error", ValueError, math.sqrt, -1.0),
        ("first", math.sqrt, 4.0),
        ("pre", math.sqrt, 4.0),
        ("post", 2.0, math.sqrt, 4.0),
    ]


def test_a_function_that_was_called_before_a_hook_was_registered_and_runs_after_it_is_in_the_context():
    # A thread may be between a call and the first instruction of the function, whose code was made for what was there.
    class Own(Context):
        def prehook(self, f, *arguments):
            seen.append(f)

    seen = []

    def called():
        return math.sqrt(4.0)

    def root():
        called()
        code = called.__code__
        Own.posthook.register(lambda ctx, result, f, *arguments: seen.append(result))
        seen.clear()
        return types.FunctionType(code, globals(), "called")()

    assert overdub(Own(), root) == 2.0
    assert [item for item in seen if item in (math.sqrt, 2.0)] == [math.sqrt, 2.0, 2.0]
