"""Hooks and overloads that are registered for functions: which calls they match."""

import functools
import math
import time

import pytest

from cassette_import import Context, overdub


class Animal:
    sound = "?"

    def __init__(self, name="animal"):
        self.name = name

    def speak(self, times=1):
        return self.sound * times


class Dog(Animal):
    sound = "wau"

    def speak(self, times=1):
        return "!" + super().speak(times)


def test_registered_prehook_sees_calls_of_its_target_only():
    class Own(Context):
        pass

    @Own.prehook.register(abs)
    def _(ctx, f, *args):
        ctx.metadata.append((f, args))

    ctx = Own(metadata=[])
    overdub(ctx, lambda: [abs(-1), len([2])])
    assert ctx.metadata == [(abs, (-1,))]


def test_registered_posthook_gets_the_result_first():
    class Own(Context):
        pass

    @Own.posthook.register(abs)
    def _(ctx, result, f, x):
        ctx.metadata.append((result, f, x))

    ctx = Own(metadata=[])
    overdub(ctx, lambda: [abs(-1), len([2])])
    assert ctx.metadata == [(1, abs, -1)]


def test_registered_errorhook_gets_the_exception_first():
    class Own(Context):
        pass

    @Own.errorhook.register(int)
    def _(ctx, exception, f, x):
        ctx.metadata.append((type(exception), f, x))

    ctx = Own(metadata=[])
    with pytest.raises(ValueError, match="invalid literal"):
        overdub(ctx, lambda: int("x"))
    assert ctx.metadata == [(ValueError, int, "x")]


def test_register_returns_the_function():
    # As `functools.singledispatch` does.
    class Own(Context):
        pass

    def hook(ctx, f, x):
        return x

    assert Own.overdub.register(abs)(hook) is hook


def test_function_registered_without_target_can_still_be_called():
    # `register(function)` is both the bare decorator and the first half of `register(target)(hook)`.
    class Own(Context):
        pass

    @Own.overdub.register
    def hook(ctx, f, x):
        return x

    assert hook(None, abs, 1) == 1
    assert hook.__name__ == "hook"


def test_one_registration_may_name_several_targets():
    class Own(Context):
        pass

    Own.overdub.register(math.sin, math.cos)(lambda ctx, f, x: f.__name__)
    assert overdub(Own(), lambda: [math.sin(1), math.cos(1), math.tan(0)]) == ["sin", "cos", 0.0]


def test_registered_and_method_hooks_both_run():
    class Own(Context):
        def prehook(self, f, *args):
            self.metadata.append(("method", f))

    Own.prehook.register(abs)(lambda ctx, f, x: ctx.metadata.append(("registered", f)))
    ctx = Own(metadata=[])
    overdub(ctx, lambda: [abs(-1), len([2])])
    assert sorted(ctx.metadata, key=str) == sorted([("method", abs), ("method", len), ("registered", abs)], key=str)


def test_target_matches_every_receiver_of_a_method():
    class Own(Context):
        pass

    Own.overdub.register(Animal.speak)(lambda ctx, f, self, times=1: f"replaced {self.name}")
    a, b = Animal("a"), Animal("b")
    assert overdub(Own(), lambda: [a.speak(), b.speak(2), Animal.speak(a)]) == [
        "replaced a",
        "replaced b",
        "replaced a",
    ]


def test_target_matches_receivers_of_subclasses_that_inherit_it():
    class Own(Context):
        pass

    class Cat(Animal):
        pass

    Own.overdub.register(Animal.speak)(lambda ctx, f, self, times=1: "replaced")
    assert overdub(Own(), lambda: Cat().speak()) == "replaced"


def test_target_does_not_match_a_method_that_overrides_it():
    class Own(Context):
        pass

    Own.overdub.register(Dog.speak)(lambda ctx, f, self, times=1: "replaced")
    assert overdub(Own(), lambda: [Animal().speak(), Dog().speak()]) == ["?", "replaced"]


def test_target_matches_a_call_through_super():
    class Own(Context):
        pass

    Own.overdub.register(Animal.speak)(lambda ctx, f, self, times=1: "replaced")
    assert overdub(Own(), lambda: Dog().speak()) == "!replaced"


def test_target_matches_builtin_methods_of_every_receiver():
    class Own(Context):
        pass

    Own.overdub.register(list.append)(lambda ctx, f, xs, x: xs.extend([x, x]))

    def root():
        xs = []
        xs.append(1)
        return xs

    assert overdub(Own(), root) == [1, 1]


def test_target_may_be_a_class():
    class Own(Context):
        pass

    Own.overdub.register(Animal)(lambda ctx, f, name: f"made {name}")
    assert overdub(Own(), lambda: [Animal("x"), Dog("y").name]) == ["made x", "y"]


def test_target_matches_aliases():
    class Own(Context):
        pass

    class Timer:
        def __init__(self):
            self.clock = time.time

        def read(self):
            return self.clock()

    Own.overdub.register(time.time)(lambda ctx, f: 0.0)
    clock = time.time
    assert overdub(Own(), lambda: [Timer().read(), clock()]) == [0.0, 0.0]


def test_target_matches_through_a_partial():
    class Own(Context):
        pass

    Own.overdub.register(math.pow)(lambda ctx, f, x, y: ("pow", x, y))
    square_of = functools.partial(math.pow, 3)
    assert overdub(Own(), lambda: square_of(2)) == ("pow", 3, 2)


def test_overload_gets_keywords():
    class Own(Context):
        pass

    Own.overdub.register(sorted)(lambda ctx, f, *args, **kwargs: (args, kwargs))
    assert overdub(Own(), lambda: sorted([1], reverse=True)) == (([1],), {"reverse": True})


def test_overload_of_a_function_that_is_called_by_splat():
    class Own(Context):
        pass

    Own.overdub.register(max)(lambda ctx, f, *args: args)
    assert overdub(Own(), lambda xs: max(*xs), [1, 2]) == (1, 2)


def test_overload_does_not_reach_what_is_outside_of_the_context():
    class Own(Context):
        pass

    Own.overdub.register(math.sin)(lambda ctx, f, x: "replaced")

    def root():
        return math.sin(0.0)

    assert overdub(Own(), root) == "replaced"
    assert root() == 0.0
    assert math.sin(0.0) == 0.0


def test_overload_does_not_reach_other_context_types():
    class Own(Context):
        pass

    class Other(Context):
        pass

    def root():
        return math.sin(0.0)

    Own.overdub.register(math.sin)(lambda ctx, f, x: "replaced")
    assert overdub(Other(), root) == 0.0
    assert overdub(Own(), root) == "replaced"
    assert overdub(Other(), root) == 0.0


def test_overload_of_a_base_counts_for_derived_contexts():
    class Base(Context):
        pass

    class Derived(Base):
        pass

    Base.overdub.register(math.sin)(lambda ctx, f, x: "replaced")
    assert overdub(Derived(), lambda: math.sin(0.0)) == "replaced"


def test_overload_of_a_derived_context_does_not_count_for_its_base():
    class Base(Context):
        pass

    class Derived(Base):
        pass

    Derived.overdub.register(math.sin)(lambda ctx, f, x: "replaced")
    assert overdub(Base(), lambda: math.sin(0.0)) == 0.0


def test_overload_of_the_derived_context_wins_over_that_of_its_base():
    class Base(Context):
        pass

    class Derived(Base):
        pass

    Derived.overdub.register(math.sin)(lambda ctx, f, x: "derived")
    Base.overdub.register(math.sin)(lambda ctx, f, x: "base")
    assert overdub(Derived(), lambda: math.sin(0.0)) == "derived"
    assert overdub(Base(), lambda: math.sin(0.0)) == "base"


def test_callees_that_cannot_be_hashed_are_called_as_without_a_context():
    class Unhashable:
        __hash__ = None

        def __call__(self, x):
            return x

    class Own(Context):
        pass

    Own.overdub.register(math.sin)(lambda ctx, f, x: "replaced")
    f = Unhashable()
    assert overdub(Own(), lambda: [f(1), math.sin(1)]) == [1, "replaced"]


def test_callees_that_equal_everything_do_not_match():
    class EqualsEverything:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return hash(math.sin)

        def __call__(self, x):
            return x

    class Own(Context):
        pass

    Own.overdub.register(math.sin)(lambda ctx, f, x: "replaced")
    f = EqualsEverything()
    assert overdub(Own(), lambda: [f(1), math.sin(1)]) == [1, "replaced"]


def test_something_that_cannot_be_called_is_refused_as_a_target():
    class Own(Context):
        pass

    with pytest.raises(TypeError):
        Own.overdub.register("math.sin")(lambda ctx, f, x: x)
