"""Which function and which arguments hooks get, for each form that a call can have."""

import contextlib
import functools
import math
import operator

import pytest
from helpers.recorded_calls import Calls, calls_of

from cassette_import import Context, overdub


def identity(x):
    return x


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


def test_super_without_arguments_gives_the_class_and_the_receiver():
    class Cat(Animal):
        def speak(self, times=1):
            return super().speak(times)

        @classmethod
        def kind(cls):
            return super().__thisclass__

    cat = Cat()
    assert calls_of(super, lambda: cat.speak(2)) == [(Cat, cat)]
    assert calls_of(super, Cat.kind) == [(Cat, Cat)]


def test_super_without_arguments_that_raises_gives_none():
    class Cat(Animal):
        def speak(self):
            del self
            return super().speak()

    ctx = Calls()
    with pytest.raises(RuntimeError, match="deleted"):
        overdub(ctx, Cat().speak)
    assert ctx.of(super) == [()]


def test_function_of_the_program_with_the_name_super_gets_its_own_arguments():
    class Cat(Animal):
        def speak(self):
            def super():
                return "own"

            return super()

    assert overdub(Calls(), Cat().speak) == "own"


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
