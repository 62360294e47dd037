"""Code of the program that code in C calls stays in the context."""

import functools

import pytest
from helpers.recorded_calls import calls_of


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
