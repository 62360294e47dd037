"""SPEC, "Hooks": when they run, which arguments they get, and which of them match."""

import contextlib
import functools
import math
import operator
import sys
import time
import types
from typing import Any

import pytest

from cassette_import import Context, Events, overdub, recurse


class Calls(Context, events=Events.CALLS):
    """Records the calls, without operators, as the prehook gets them."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def prehook(self, f, *args, **kwargs):
        self.calls.append((f, args, kwargs))

    def of(self, f):
        """The arguments of the calls of `f`."""
        return [(args, kwargs) if kwargs else args for g, args, kwargs in self.calls if g is f]


def calls_of(f, program, *args):
    """The arguments that `f` is called with while `program(*args)` runs."""
    ctx = Calls()
    overdub(ctx, program, *args)
    return ctx.of(f)


def identity(x):
    return x


# Order


@pytest.fixture
def Log():
    """A context type that records which hooks of a call run, in order."""

    class Log(Context, events=Events.CALLS):
        log = []

        def prehook(self, f, *args, **kwargs):
            self.log.append(("pre", f.__name__))

        def posthook(self, result, f, *args, **kwargs):
            self.log.append(("post", f.__name__))

        def errorhook(self, exception, f, *args, **kwargs):
            self.log.append(("error", f.__name__))

    return Log


def test_arguments_come_before_prehook_and_posthook_before_use(Log):
    log = Log.log

    def f(x):
        log.append("body")

    def root():
        f(log.append("argument"))
        log.append("used")

    overdub(Log(), root)
    assert log == [
        ("pre", "append"),
        "argument",
        ("post", "append"),
        ("pre", "f"),
        ("pre", "append"),
        "body",
        ("post", "append"),
        ("post", "f"),
        ("pre", "append"),
        "used",
        ("post", "append"),
    ]


def test_overload_runs_between_prehook_and_posthook(Log):
    def f():
        raise AssertionError("replaced")

    Log.overdub.register(f)(lambda ctx, f: ctx.log.append("overload"))
    overdub(Log(), lambda: f())
    assert Log.log == [("pre", "f"), "overload", ("post", "f")]


def test_posthook_of_an_inner_call_comes_before_that_of_the_outer_one(Log):
    def inner():
        pass

    def outer():
        inner()

    overdub(Log(), lambda: outer())
    assert Log.log == [("pre", "outer"), ("pre", "inner"), ("post", "inner"), ("post", "outer")]


def test_arguments_are_evaluated_once_and_from_left_to_right():
    order = []

    def note(x):
        order.append(x)
        return x

    def f(*args, **kwargs):
        return args, kwargs

    def root():
        return note(f)(note(1), *note([2, 3]), note(4), a=note(5), **note({"b": 6}), c=note(7))

    assert overdub(Calls(), root) == ((1, 2, 3, 4), {"a": 5, "b": 6, "c": 7})
    assert order == [f, 1, [2, 3], 4, 5, {"b": 6}, 7]


def test_value_of_the_overload_is_the_value_of_the_call():
    class Own(Context):
        pass

    Own.overdub.register(math.sin)(lambda ctx, f, x: ("replaced", x))
    assert overdub(Own(), lambda: [math.sin(1), math.cos(0)]) == [("replaced", 1), 1.0]


def test_posthook_gets_the_value_of_the_overload():
    seen = []

    class Own(Context):
        def posthook(self, result, f, *args):
            seen.append((result, f, args))

    Own.overdub.register(math.sin)(lambda ctx, f, x: "replaced")
    overdub(Own(), lambda: math.sin(1))
    assert seen == [("replaced", math.sin, (1,))]


@pytest.mark.parametrize("hook", ["prehook", "posthook"])
def test_what_a_hook_returns_is_ignored(hook):
    Own = type("Own", (Context,), {hook: lambda self, *args: "ignored"})
    assert overdub(Own(), lambda: abs(-1)) == 1


def test_overload_as_a_method_sees_every_event():
    seen = []

    class Own(Context):
        def overdub(self, f, *args):
            seen.append((f, args))
            return f(*args)

    assert recurse(Own(), lambda x: abs(x) + 1, -2) == 3
    assert seen == [(abs, (-2,)), (operator.add, (2, 1))]


# Payloads: what `f`, `args` and `kwargs` are, for each form that a call can have


def test_call_of_a_function_gives_function_and_arguments():
    assert calls_of(identity, lambda: identity(3)) == [(3,)]


def test_call_of_a_builtin_gives_the_builtin():
    assert calls_of(len, lambda: len([1, 2])) == [([1, 2],)]


def test_call_of_a_function_of_a_module_has_no_receiver():
    assert calls_of(math.sqrt, lambda: math.sqrt(4)) == [(4,)]


class Animal:
    sound = "?"

    def __init__(self, name="animal"):
        self.name = name

    def speak(self, times=1):
        return self.sound * times

    def twice(self):
        return self.speak(2)

    @classmethod
    def make(cls, name):
        return cls(name)

    @staticmethod
    def count(animals):
        return len(animals)

    def __call__(self, x):
        return (self, x)

    @property
    def loud(self):
        return self.sound.upper()


class Dog(Animal):
    sound = "wau"

    def speak(self, times=1):
        return "!" + super().speak(times)


def test_call_of_a_bound_method_gives_function_and_receiver():
    animal = Animal()
    assert calls_of(Animal.speak, lambda: animal.speak(2)) == [(animal, 2)]


def test_call_of_an_inherited_method_gives_the_function_of_the_base():
    class Cat(Animal):
        pass

    cat = Cat()
    assert calls_of(Animal.speak, lambda: cat.speak()) == [(cat,)]


def test_call_of_a_bound_method_kept_in_a_variable_gives_function_and_receiver():
    animal = Animal()
    speak = animal.speak
    assert calls_of(Animal.speak, lambda: speak(3)) == [(animal, 3)]


def test_call_of_a_function_of_a_class_gives_its_arguments():
    animal = Animal()
    assert calls_of(Animal.speak, lambda: Animal.speak(animal, 2)) == [(animal, 2)]


def test_call_of_a_class_method_gives_function_and_class():
    assert calls_of(Animal.make.__func__, lambda: Dog.make("rex")) == [(Dog, "rex")]


def test_call_of_a_static_method_gives_the_function():
    assert calls_of(Animal.count, lambda: Animal().count([1])) == [([1],)]


def test_call_inside_a_property_is_seen():
    animal = Dog()
    assert calls_of(str.upper, lambda: animal.loud) == [("wau",)]


@pytest.mark.parametrize(
    ("f", "program", "args"),
    [
        pytest.param(list.append, lambda: [].append(1), ([1], 1), id="list.append"),
        pytest.param(str.join, lambda: "-".join(["a", "b"]), ("-", ["a", "b"]), id="str.join"),
        pytest.param(dict.get, lambda: {"a": 1}.get("a", 2), ({"a": 1}, "a", 2), id="dict.get"),
        pytest.param(set.add, lambda: {1}.add(2), ({1, 2}, 2), id="set.add"),
        pytest.param(int.bit_length, lambda: (5).bit_length(), (5,), id="int.bit_length"),
        pytest.param(int.__add__, lambda: (5).__add__(6), (5, 6), id="int.__add__"),
        pytest.param(list.__len__, lambda: [1].__len__(), ([1],), id="list.__len__"),
    ],
)
def test_call_of_a_builtin_method_gives_descriptor_and_receiver(f, program, args):
    # Identity where it can be: the descriptor that the class itself gives.
    ctx = Calls()
    overdub(ctx, program)
    assert ctx.calls == [(f, args, {})]


def test_call_of_a_builtin_method_gives_the_receiver_itself():
    xs = []
    ((receiver, _),) = calls_of(list.append, lambda: xs.append(1))
    assert receiver is xs


def test_call_of_a_class_gives_the_class():
    assert calls_of(Animal, lambda: Animal("x").name) == [("x",)]


def test_call_of_a_builtin_class_gives_the_class():
    assert calls_of(int, lambda: int("3")) == [("3",)]


def test_calls_inside_the_initialiser_are_seen():
    class Box:
        def __init__(self, x):
            self.x = abs(x)

    assert calls_of(abs, lambda: Box(-1)) == [(-1,)]


def test_construction_of_an_exception_is_a_call():
    def root():
        try:
            raise KeyError("k")
        except KeyError:
            pass

    assert calls_of(KeyError, root) == [("k",)]


def test_keywords_are_given_as_keywords():
    assert calls_of(sorted, lambda: sorted([2, 1], reverse=True)) == [(([2, 1],), {"reverse": True})]


def test_splats_are_given_as_final_arguments():
    def f(*args, **kwargs):
        pass

    def root():
        more = {"b": 5}
        f(0, *(1, 2), *[3], a=4, **more)

    assert calls_of(f, root) == [((0, 1, 2, 3), {"a": 4, "b": 5})]


def test_splat_of_a_one_shot_iterator_is_consumed_once():
    def f(*args):
        return args

    def root():
        return f(*iter([1, 2]))

    assert overdub(Calls(), root) == (1, 2)
    assert calls_of(f, root) == [(1, 2)]


def test_call_of_an_object_gives_the_object():
    animal = Animal()
    assert calls_of(animal, lambda: animal(1)) == [(1,)]


def test_calls_inside_of_dunder_call_are_seen():
    class Absolute:
        def __call__(self, x):
            return abs(x)

    absolute = Absolute()
    assert calls_of(abs, lambda: absolute(-2)) == [(-2,)]


def test_call_of_a_closure_gives_the_closure():
    def make(n):
        def closure(x):
            return x + n

        return closure

    closure = make(1)
    assert calls_of(closure, lambda: closure(2)) == [(2,)]


def test_calls_inside_of_a_closure_made_before_the_context_are_seen():
    def make(n):
        return lambda x: max(x, n)

    closure = make(1)
    assert calls_of(max, lambda: closure(2)) == [(2, 1)]


def test_calls_inside_of_a_closure_made_inside_the_context_are_seen():
    def root():
        def closure(x):
            return abs(x)

        return closure(-1)

    assert calls_of(abs, root) == [(-1,)]


def test_call_of_a_lambda_is_seen_with_its_arguments():
    ctx = Calls()
    assert overdub(ctx, lambda: (lambda x: x)(5)) == 5
    assert [args for _, args, _ in ctx.calls] == [(5,)]


def test_calls_in_default_values_are_seen_when_the_function_is_made():
    def root():
        def f(x=abs(-3), *, y=abs(-4)):  # noqa: B008 - these calls are under test
            return x + y

        return f()

    assert calls_of(abs, root) == [(-3,), (-4,)]


def test_decorator_is_a_call_with_the_function():
    def root():
        @identity
        def decorated():
            pass

        return decorated

    ctx = Calls()
    decorated = overdub(ctx, root)
    assert ctx.of(identity) == [(decorated,)]


def test_decorators_are_called_from_the_bottom_up():
    order = []

    def outer(f):
        order.append("outer")
        return f

    def inner(f):
        order.append("inner")
        return f

    def root():
        @outer
        @inner
        def decorated():
            pass

    ctx = Calls()
    overdub(ctx, root)
    assert order == ["inner", "outer"]
    assert [f for f, _, _ in ctx.calls if f in (outer, inner)] == [inner, outer]


def test_decorator_with_arguments_is_two_calls():
    def parametrised(n):
        return identity

    def root():
        @parametrised(3)
        def decorated():
            pass

    ctx = Calls()
    overdub(ctx, root)
    assert ctx.of(parametrised) == [(3,)]
    assert len(ctx.of(identity)) == 1


def test_decorator_of_a_class_is_a_call_with_the_class():
    def root():
        @identity
        class Decorated:
            pass

        return Decorated

    ctx = Calls()
    decorated = overdub(ctx, root)
    assert ctx.of(identity) == [(decorated,)]


def test_decorated_functions_are_entered_through_their_wrapper():
    def twice(f):
        @functools.wraps(f)
        def wrapper(x):
            return f(f(x))

        return wrapper

    @twice
    def absolute(x):
        return abs(x)

    assert calls_of(abs, lambda: absolute(-1)) == [(-1,), (1,)]


def test_calls_in_a_list_comprehension_are_seen():
    assert calls_of(abs, lambda: [abs(x) for x in (-1, 2)]) == [(-1,), (2,)]


def test_calls_in_a_set_comprehension_are_seen():
    assert calls_of(abs, lambda: {abs(x) for x in (-1, 2)}) == [(-1,), (2,)]


def test_calls_in_a_dict_comprehension_are_seen():
    assert calls_of(abs, lambda: {abs(x): x for x in (-1, 2)}) == [(-1,), (2,)]


def test_calls_in_a_generator_expression_are_seen_when_it_runs():
    def root():
        made = (abs(x) for x in (-1, 2))
        return list(made)

    assert calls_of(abs, root) == [(-1,), (2,)]


def test_calls_in_the_condition_and_the_source_of_a_comprehension_are_seen():
    assert calls_of(abs, lambda: [x for x in range(abs(-3)) if abs(x)]) == [(-3,), (0,), (1,), (2,)]


def test_calls_in_a_generator_are_seen_as_it_is_advanced():
    def numbers():
        yield abs(-1)
        yield abs(-2)

    assert calls_of(abs, lambda: next(numbers())) == [(-1,)]


def test_calls_in_a_class_body_are_seen():
    def root():
        class Made:
            x = abs(-5)

        return Made

    assert calls_of(abs, root) == [(-5,)]


def test_calls_in_the_bases_and_keywords_of_a_class_are_seen():
    def root():
        class Made(identity(Animal), metaclass=identity(type)):
            pass

    assert calls_of(identity, root) == [(Animal,), (type,)]


def test_call_through_super_gives_the_method_of_the_base():
    dog = Dog()
    assert calls_of(Animal.speak, lambda: dog.speak(2)) == [(dog, 2)]


def test_call_through_super_with_arguments_gives_the_method_of_the_base():
    class Cat(Animal):
        def speak(self, times=1):
            return super(Cat, self).speak(times)

    cat = Cat()
    assert calls_of(Animal.speak, lambda: cat.speak(2)) == [(cat, 2)]


def test_call_of_a_partial_gives_the_function_with_all_arguments():
    partial = functools.partial(identity, 1)
    assert calls_of(identity, lambda: partial()) == [(1,)]


def test_call_of_a_partial_with_keywords_gives_the_function_with_all_keywords():
    def f(*args, **kwargs):
        pass

    partial = functools.partial(f, 1, a=2, b=3)
    assert calls_of(f, lambda: partial(4, b=5)) == [((1, 4), {"a": 2, "b": 5})]


def test_each_level_of_a_recursion_is_a_call():
    def countdown(n):
        return n if n == 0 else countdown(n - 1)

    assert calls_of(countdown, lambda: countdown(3)) == [(3,), (2,), (1,), (0,)]


def test_calls_in_with_statements_are_seen():
    def root():
        with contextlib.nullcontext(abs(-1)) as x:
            abs(x)

    assert calls_of(abs, root) == [(-1,), (1,)]


def test_calls_in_f_strings_are_seen():
    assert calls_of(abs, lambda: f"{abs(-1):{abs(-10)}}") == [(-1,), (-10,)]


def test_calls_in_match_statements_are_seen():
    def root():
        match abs(-1):
            case 1 if abs(-2) == 2:
                return abs(-3)

    assert calls_of(abs, root) == [(-1,), (-2,), (-3,)]


def test_calls_in_assertions_are_seen():
    def root():
        if not __debug__:
            raise RuntimeError
        raise AssertionError(abs(-1))

    ctx = Calls()
    with pytest.raises(AssertionError):
        overdub(ctx, root)
    assert ctx.of(abs) == [(-1,)]


def test_calls_in_targets_of_assignments_are_seen():
    def root():
        xs = [0, 0]
        identity(xs)[abs(-1)] = 5
        return xs

    assert overdub(Calls(), root) == [0, 5]
    assert calls_of(identity, root) == [([0, 5],)]
    assert calls_of(abs, root) == [(-1,)]


def test_calls_in_default_handlers_and_finally_blocks_are_seen():
    def root():
        try:
            int("x")
        except identity(ValueError):
            abs(-1)
        finally:
            abs(-2)

    assert calls_of(abs, root) == [(-1,), (-2,)]
    assert calls_of(identity, root) == [(ValueError,)]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(lambda: dict.fromkeys("ab", 1), id="class method of a builtin class"),
        pytest.param(lambda: int.from_bytes(b"\x01", "big"), id="class method of int"),
        pytest.param(lambda: str.maketrans("a", "b"), id="static method of str"),
        pytest.param(lambda: "x".__class__("y"), id="class by attribute"),
        pytest.param(lambda: (1).__add__(2), id="method wrapper"),
        pytest.param(lambda: "a,b".split(","), id="builtin method"),
        pytest.param(lambda: operator.itemgetter(1)([1, 2]), id="callable of C"),
        pytest.param(lambda: Dog("x").twice(), id="method"),
        pytest.param(lambda: Dog.make("x").name, id="class method"),
        pytest.param(lambda: functools.partial(pow, exp=2)(base=3), id="partial with keywords"),
        pytest.param(lambda: functools.partial("x".join, "ab")(), id="partial of a bound method"),
        pytest.param(lambda: [*map(Dog.count, [[1]])], id="static method in a map"),
    ],
)
def test_f_of_args_repeats_the_call(program):
    repeated = []

    class Repeat(Context):
        def posthook(self, result, f, *args, **kwargs):
            again = f(*args, **kwargs)
            plain = vars(result) if isinstance(result, Animal) else result
            repeated.append((vars(again) if isinstance(again, Animal) else again, plain))

    overdub(Repeat(), program)
    assert repeated
    # Objects that do not compare by value, such as iterators, at least are of one type.
    assert all(again == first or type(again) is type(first) for again, first in repeated)


# From C: code that C calls stays in the context


def inner_calls(root):
    """The arguments of `abs` in the functions that C calls while `root()` runs."""
    return calls_of(abs, root)


def test_key_of_sorted_stays_in_the_context():
    def key(x):
        return abs(x)

    assert inner_calls(lambda: sorted([-2, 1], key=key)) == [(-2,), (1,)]


def test_key_of_list_sort_stays_in_the_context():
    assert inner_calls(lambda: [-2, 1].sort(key=lambda x: abs(x))) == [(-2,), (1,)]


def test_function_of_map_stays_in_the_context():
    def f(x):
        return abs(x)

    assert inner_calls(lambda: list(map(f, [-2, 1]))) == [(-2,), (1,)]


def test_function_of_filter_stays_in_the_context():
    assert inner_calls(lambda: list(filter(lambda x: abs(x), [-2, 1]))) == [(-2,), (1,)]


def test_function_of_reduce_stays_in_the_context():
    def f(x, y):
        return abs(x) + y

    assert inner_calls(lambda: functools.reduce(f, [-1, -2, -3])) == [(-1,), (-1,)]


def test_generator_expression_in_sum_stays_in_the_context():
    assert inner_calls(lambda: sum(abs(x) for x in [-2, 1])) == [(-2,), (1,)]


class Weird:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return abs(self.x) == abs(other.x)

    def __hash__(self):
        return abs(self.x)

    def __len__(self):
        return abs(self.x)

    def __iter__(self):
        return iter([abs(self.x)])

    def __lt__(self, other):
        return abs(self.x) < abs(other.x)

    def __str__(self):
        return str(abs(self.x))


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        pytest.param(lambda: Weird(-1) == Weird(1), [(-1,), (1,)], id="__eq__ by operator"),
        pytest.param(lambda: [Weird(-1)] == [Weird(1)], [(-1,), (1,)], id="__eq__ by list"),
        pytest.param(lambda: [Weird(1)].index(Weird(-1)), [(1,), (-1,)], id="__eq__ by list.index"),
        pytest.param(lambda: hash(Weird(-1)), [(-1,)], id="__hash__"),
        pytest.param(lambda: {Weird(-1): 1}, [(-1,)], id="__hash__ by dict display"),
        pytest.param(lambda: len(Weird(-1)), [(-1,)], id="__len__"),
        pytest.param(lambda: bool(Weird(-1)), [(-1,)], id="__len__ by bool"),
        pytest.param(lambda: list(Weird(-1).__iter__()), [(-1,)], id="__iter__"),
        pytest.param(lambda: max([Weird(-1), Weird(-2)]).x, [(-1,), (-2,)], id="__lt__ reflected by max"),
        pytest.param(lambda: f"{Weird(-1)!s}", [(-1,)], id="__str__ by f-string"),
    ],
)
def test_special_methods_stay_in_the_context(program, calls):
    assert inner_calls(program) == calls


def test_loop_over_an_object_stays_in_the_context():
    def root():
        for _ in Weird(-1):
            pass

    assert inner_calls(root) == [(-1,)]


def test_finaliser_stays_in_the_context():
    class Final:
        def __del__(self):
            abs(-1)

    def root():
        final = Final()
        del final

    assert inner_calls(root) == [(-1,)]


def test_descriptor_stays_in_the_context():
    class Descriptor:
        def __get__(self, instance, owner):
            return abs(-1)

    class Owner:
        x = Descriptor()

    assert inner_calls(lambda: Owner().x) == [(-1,)]


def test_context_manager_methods_stay_in_the_context():
    class Manager:
        def __enter__(self):
            return abs(-1)

        def __exit__(self, *exc_info):
            abs(-2)

    def root():
        with Manager():
            pass

    assert inner_calls(root) == [(-1,), (-2,)]


def test_callback_of_a_python_function_that_is_a_leaf_stays_in_the_context():
    # `heapq.nsmallest` is Python code of a module that is not installed.
    import heapq

    assert sorted(inner_calls(lambda: heapq.nsmallest(2, [-3, 2, -1], key=lambda x: abs(x)))) == [
        (-3,),
        (-1,),
        (2,),
    ]


# Exceptions


class Stop(Exception):
    pass


def raise_stop():
    raise Stop("stop")


def test_errorhook_gets_exception_function_and_arguments(Recorder):
    ctx = Recorder()
    with pytest.raises(ValueError, match="invalid literal") as info:
        overdub(ctx, lambda: int("x"))
    assert ctx.errors == [(info.value, int, ("x",))]


def test_posthook_is_not_called_for_a_call_that_raises(Recorder):
    ctx = Recorder()
    with pytest.raises(ValueError, match="invalid literal"):
        overdub(ctx, lambda: int("x"))
    assert ctx.results == []


def test_errorhook_is_called_for_every_call_that_the_exception_leaves(Recorder):
    def middle():
        raise_stop()

    ctx = Recorder()
    with pytest.raises(Stop):
        overdub(ctx, lambda: middle())
    assert [f for _, f, _ in ctx.errors] == [raise_stop, middle]


def test_exception_propagates_whatever_the_errorhook_returns():
    class Own(Context):
        def errorhook(self, exception, f, *args):
            return True

    with pytest.raises(Stop):
        overdub(Own(), lambda: raise_stop())


def test_exception_is_the_same_object_with_and_without_errorhook(Recorder):
    exception = Stop()

    def fail():
        raise exception

    with pytest.raises(Stop) as info:
        overdub(Recorder(), lambda: fail())
    assert info.value is exception
    assert exception.__context__ is None
    assert exception.__cause__ is None


def test_program_can_catch_the_exception(Recorder):
    def root():
        try:
            raise_stop()
        except Stop:
            return "caught"

    ctx = Recorder()
    assert overdub(ctx, root) == "caught"
    assert [f for _, f, _ in ctx.errors] == [raise_stop]


def test_operator_that_raises_gets_its_errorhook(Recorder):
    ctx = Recorder()
    with pytest.raises(ZeroDivisionError):
        overdub(ctx, lambda x: 1 / x, 0)
    assert [(f, args) for _, f, args in ctx.errors] == [(operator.truediv, (1, 0))]


def test_stop_iteration_gets_its_errorhook(Recorder):
    def root():
        try:
            next(iter([]))
        except StopIteration:
            return "end"

    ctx = Recorder()
    assert overdub(ctx, root) == "end"
    assert [(type(exception), f) for exception, f, _ in ctx.errors] == [(StopIteration, next)]


@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_exceptions_that_are_no_errors_get_their_errorhook(exception, Recorder):
    def fail():
        raise exception

    ctx = Recorder()
    with pytest.raises(exception):
        overdub(ctx, lambda: fail())
    assert [(type(error), f) for error, f, _ in ctx.errors] == [(exception, fail)]


def test_wrong_arguments_get_their_errorhook(Recorder):
    ctx = Recorder()
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        overdub(ctx, lambda: identity())
    assert ctx.calls == [(identity, ())]
    assert [(f, args) for _, f, args in ctx.errors] == [(identity, ())]


def test_every_prehook_is_paired():
    balance = []

    class Own(Context):
        def prehook(self, f, *args):
            balance.append(1)

        def posthook(self, result, f, *args):
            balance.append(-1)

        def errorhook(self, exception, f, *args):
            balance.append(-1)

    def sometimes(n):
        if n % 2:
            raise Stop
        return n

    def root():
        for n in range(6):
            try:
                sometimes(n)
            except Stop:
                pass
            try:
                [][n]
            except IndexError:
                pass

    overdub(Own(), root)
    assert balance
    assert sum(balance) == 0


def test_no_errorhook_for_an_exception_that_no_call_raises(Recorder):
    def root():
        raise Stop

    ctx = Recorder()
    with pytest.raises(Stop):
        overdub(ctx, root)
    assert ctx.errors == []


# Hooks that raise


class HookError(Exception):
    pass


def raise_hook_error(self, *args):
    raise HookError("hook")


def test_call_does_not_happen_when_the_prehook_raises():
    called = []
    Own = type("Own", (Context,), {"prehook": raise_hook_error})
    with pytest.raises(HookError):
        overdub(Own(), lambda: called.append(1))
    assert called == []


def test_exception_of_a_prehook_reaches_the_program():
    Own = type("Own", (Context,), {"prehook": raise_hook_error})

    def root():
        try:
            abs(-1)
        except HookError:
            return "caught"

    assert overdub(Own(), root) == "caught"


def test_exception_of_a_posthook_reaches_the_program():
    Own = type("Own", (Context,), {"posthook": raise_hook_error})

    def root():
        try:
            abs(-1)
        except HookError:
            return "caught"

    assert overdub(Own(), root) == "caught"


def test_exception_of_an_overload_reaches_the_program_and_the_errorhook(Recorder):
    @Recorder.overdub.register(abs)
    def _(ctx, f, x):
        raise HookError

    ctx = Recorder()
    with pytest.raises(HookError):
        overdub(ctx, lambda: abs(-1))
    assert [(type(exception), f, args) for exception, f, args in ctx.errors] == [(HookError, abs, (-1,))]


def test_exception_of_an_errorhook_replaces_that_of_the_program():
    Own = type("Own", (Context,), {"errorhook": raise_hook_error})
    with pytest.raises(HookError) as info:
        overdub(Own(), lambda: raise_stop())
    assert isinstance(info.value.__context__, Stop)


def test_context_stays_active_after_a_hook_has_raised():
    class Own(Context):
        def prehook(self, f, *args):
            self.metadata.append(f)
            if f is abs:
                raise HookError

    def root():
        try:
            abs(-1)
        except HookError:
            pass
        return len([1])

    ctx = Own(metadata=[])
    assert overdub(ctx, root) == 1
    assert ctx.metadata == [abs, len]


# Registered hooks: by target


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


# Registered hooks: by annotation


def typed(*hooks):
    """A context type with these overloads for every function whose arguments match."""

    class Typed(Context):
        pass

    for hook in hooks:
        Typed.overdub.register(hook)
    return Typed()


def test_hook_without_target_matches_by_the_types_of_its_arguments():
    def overload(ctx, f, x: float):
        return "float"

    assert overdub(typed(overload), lambda: [abs(-1.0), abs(-1)]) == ["float", 1]


def test_named_target_matches_only_where_the_annotations_do():
    class Own(Context):
        pass

    @Own.overdub.register(math.sin)
    def _(ctx, f, x: float):
        return "float"

    assert overdub(Own(), lambda: [math.sin(0.0), math.sin(0)]) == ["float", 0.0]


def test_one_target_may_have_an_overload_for_each_type():
    class Own(Context):
        pass

    @Own.overdub.register(abs)
    def _(ctx, f, x: float):
        return "float"

    @Own.overdub.register(abs)
    def _(ctx, f, x: int):
        return "int"

    assert overdub(Own(), lambda: [abs(-1.0), abs(-1), abs(-1j)]) == ["float", "int", 1.0]


def test_more_specific_argument_type_wins():
    def integer(ctx, f, x: int):
        return "int"

    def boolean(ctx, f, x: bool):
        return "bool"

    assert overdub(typed(integer, boolean), lambda: [abs(True), abs(1)]) == ["bool", "int"]


def test_order_of_registration_does_not_decide():
    def integer(ctx, f, x: int):
        return "int"

    def boolean(ctx, f, x: bool):
        return "bool"

    assert overdub(typed(boolean, integer), lambda: [abs(True), abs(1)]) == ["bool", "int"]


def test_named_target_wins_over_more_specific_types():
    class Own(Context):
        pass

    @Own.overdub.register
    def _(ctx, f, x: bool):
        return "type"

    @Own.overdub.register(abs)
    def _(ctx, f, x):
        return "target"

    assert overdub(Own(), lambda: [abs(True), hash(True)]) == ["target", "type"]


def test_all_positional_arguments_take_part():
    def overload(ctx, f, x: int, y: str):
        return "match"

    ctx = typed(overload)

    def f(x, y):
        return "plain"

    assert overdub(ctx, lambda: [f(1, "a"), f(1, 2), f("a", 1)]) == ["match", "plain", "plain"]


def test_annotation_of_star_args_holds_for_each_argument():
    def overload(ctx, f, *args: int):
        return "ints"

    # `recurse`, because the root has no argument that is not an `int`.
    assert recurse(typed(overload), lambda: [max(1, 2, 3), max(1, 2.5)]) == ["ints", 2.5]


def test_union_matches_each_of_its_types():
    def overload(ctx, f, x: int | str):
        return "match"

    assert overdub(typed(overload), lambda: [hash(1), len("ab"), abs(-1.5)]) == ["match", "match", 1.5]


def test_any_matches_everything():
    def overload(ctx, f, x: Any):
        return "match"

    assert overdub(typed(overload), lambda: [abs(-1), len("ab")]) == ["match", "match"]


def test_annotations_may_be_strings():
    def overload(ctx, f, x: "int | float"):
        return "match"

    assert overdub(typed(overload), lambda: [abs(-1), len("ab")]) == ["match", 2]


def test_annotation_of_f_selects_the_kind_of_callee():
    def constructor(ctx, f: type, *args):
        return f"made {f.__name__}"

    assert overdub(typed(constructor), lambda: [int("3"), abs(-1), Animal()]) == [
        "made int",
        1,
        "made Animal",
    ]


def test_annotation_of_ctx_selects_by_the_type_of_the_metadata():
    class Own(Context):
        pass

    @Own.overdub.register(abs)
    def _(ctx: Own[int], f, x):
        return "int metadata"

    @Own.overdub.register(abs)
    def _(ctx: Own[str], f, x):
        return "str metadata"

    def root():
        return abs(-1)

    results = [overdub(Own(metadata), root) for metadata in (1, "x", None)]
    assert results == ["int metadata", "str metadata", 1]


def test_hook_does_not_match_a_number_of_arguments_that_it_does_not_accept():
    # As in Cassette, where arity takes part in dispatch.
    def overload(ctx, f, x: int):
        return "one"

    assert overdub(typed(overload), lambda: [abs(-1), max(1, 2)]) == ["one", 2]


def test_of_the_registered_hooks_only_the_most_specific_one_runs():
    class Own(Context):
        pass

    @Own.prehook.register
    def _(ctx, f, x: int):
        ctx.metadata.append("int")

    @Own.prehook.register
    def _(ctx, f, x: bool):
        ctx.metadata.append("bool")

    ctx = Own(metadata=[])
    overdub(ctx, lambda: abs(True))
    assert ctx.metadata == ["bool"]


# Registered hooks: again and late


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


# Which events


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
