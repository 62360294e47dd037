"""Type variables and `type[X]` in the annotations of hooks."""

import operator
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Generic, List, TypeVar, Union

import pytest

from cassette_import import AmbiguousOverload, Context, overdub

T = TypeVar("T")
Number = TypeVar("Number", bound=float)
Text = TypeVar("Text", str, bytes)


class Base: ...


class Derived(Base): ...


class Other: ...


def register(**hooks):
    """A context type with overloads for `operator.eq`, each of which returns its name; annotations by parameter."""

    class Ctx(Context): ...

    for name, annotations in hooks.items():
        x, y = annotations

        def hook(ctx, f, left, right, /, name=name):
            return name

        hook.__annotations__ = {"left": x, "right": y}
        Ctx.overdub.register(operator.eq)(hook)
    return Ctx


def matched(ctx, x, y):
    return overdub(ctx, lambda: x == y)


SAME = [(1, 2), (Base(), Base()), ("a", "b"), (Base, Other), (None, None)]
DIFFERENT = [(1, 2.0), (Base(), Derived()), (1, True), (Base, 1), (None, 0)]


@pytest.mark.parametrize(("x", "y"), SAME)
def test_parameters_with_one_type_variable_match_arguments_of_one_type(x, y):
    assert matched(register(same=(T, T))(), x, y) == "same"


@pytest.mark.parametrize(("x", "y"), DIFFERENT)
def test_parameters_with_one_type_variable_match_no_arguments_of_different_types(x, y):
    assert matched(register(same=(T, T))(), x, y) is (x == y)


def test_a_type_variable_that_one_parameter_has_matches_what_its_bound_does():
    ctx = register(bound=(Number, Any))()
    assert matched(ctx, 1.0, "a") == "bound"
    assert matched(ctx, "a", 1.0) is False


def test_a_bound_holds_for_all_parameters():
    ctx = register(bound=(Number, Number))()
    assert matched(ctx, 1.0, 2.0) == "bound"
    assert matched(ctx, 1, 2) is False


def test_the_arguments_for_a_variable_with_constraints_are_of_one_of_these_types():
    class Name(str): ...

    ctx = register(text=(Text, Text))()
    assert matched(ctx, "a", Name("b")) == matched(ctx, b"a", b"b") == "text"
    assert matched(ctx, "a", b"b") is False
    assert matched(ctx, 1, 2) is False


def test_different_variables_are_independent():
    other = TypeVar("other")
    assert matched(register(two=(T, other))(), 1, "a") == "two"


def test_a_variable_of_the_rest_holds_for_each_argument_there():
    class Ctx(Context): ...

    @Ctx.overdub.register(max)
    def _(ctx, f, *args: T):
        return "same"

    assert overdub(Ctx(), lambda: max(1, 2, 3)) == "same"
    assert overdub(Ctx(), lambda: max(1, 2.5, 2)) == 2.5


def test_a_variable_may_join_the_result_and_an_argument():
    class Ctx(Context): ...

    seen = []

    @Ctx.posthook.register(abs)
    def _(ctx, result: T, f, x: T):
        seen.append(x)

    overdub(Ctx(), lambda: (abs(-1), abs(-1.5), abs(1j)))
    assert seen == [-1, -1.5]


def test_a_type_and_its_instance_share_a_variable():
    ctx = register(instance=(type[T], T))()
    assert matched(ctx, int, 1) == "instance"
    assert matched(ctx, int, True) is False


@pytest.mark.parametrize(
    ("annotation", "admitted", "refused"),
    [
        (type[Base], [Base, Derived], [Other, Base(), 1]),
        (type[Base | Other], [Base, Derived, Other], [int, Other()]),
        (type[Any], [Base, int], [1]),
        (type[Base] | int, [Derived, 1], [Other, "a"]),
        (Annotated[type[Base], "a base"], [Derived], [Other]),
        (type[Number], [float], [str, 1.0]),
    ],
)
def test_a_class_annotation_admits_subclasses(annotation, admitted, refused):
    ctx = register(classes=(annotation, Any))()
    for value in admitted:
        assert matched(ctx, value, object()) == "classes"
    for value in refused:
        assert matched(ctx, value, object()) is False


def test_a_constructor_is_chosen_by_its_class():
    class Ctx(Context): ...

    @Ctx.overdub.register
    def _(ctx, f: type[Base], *args):
        return "base"

    assert overdub(Ctx(), lambda: [Base(), Derived(), type(Other())]) == ["base", "base", Other]


@pytest.mark.parametrize(
    ("first", "second", "arguments"),
    [
        ((T, T), (Any, Any), (1, 2)),
        ((int, int), (T, T), (1, 2)),
        ((Number, Number), (T, T), (1.0, 2.0)),
        ((type[Derived], Any), (type[Base], Any), (Derived, 1)),
        ((type[Base], Any), (type, Any), (Derived, 1)),
        ((type, Any), (object, Any), (Derived, 1)),
    ],
)
def test_the_more_specific_annotation_wins_whatever_the_order(first, second, arguments):
    assert matched(register(first=first, second=second)(), *arguments) == "first"
    assert matched(register(second=second, first=first)(), *arguments) == "first"


@pytest.mark.parametrize(("first", "second"), [((T, T), (int, Any)), ((T, T), (Any, int))])
def test_neither_is_more_specific(first, second):
    with pytest.raises(AmbiguousOverload):
        matched(register(first=first, second=second)(), 1, 2)


def test_an_equal_annotation_replaces_the_hook():
    assert matched(register(first=(type[Base], T), second=(type[Base], T))(), Base, 1) == "second"
    assert matched(register(first=(T, T), second=(Number, Any), third=(T, T))(), 1, 2) == "third"


class Box(Generic[T]): ...


@pytest.mark.parametrize("annotation", [Union[T, None], T | int, type[T] | None])
def test_a_type_variable_in_a_union_is_refused(annotation):
    with pytest.raises(TypeError, match="type variable in a union"):
        register(union=(annotation, Any))


class OfNumbers(Generic[Number]): ...


@pytest.mark.parametrize(
    "annotation",
    [
        list[int], List[int], dict[str, int], tuple[int, ...], Box[int], Callable[[int], int], Iterable[str],
        type[list[int]], list[int] | None, Annotated[list[int], "integers"], list[list[Any]], OfNumbers[Number],
    ],
    ids=str,
)  # fmt: skip
def test_a_parametrised_generic_is_refused(annotation):
    with pytest.raises(TypeError, match="parametrised generic"):
        register(generic=(annotation, Any))


@pytest.mark.parametrize("annotation", [list, List, list[Any], dict[Any, Any], Callable[..., Any], Callable])
def test_a_generic_of_anything_is_its_class(annotation):
    register(generic=(annotation, Any))


def test_the_metadata_of_a_context_cannot_be_a_parametrised_generic():
    class Ctx(Context): ...

    with pytest.raises(TypeError, match="parametrised generic"):

        @Ctx.overdub.register(len)
        def _(ctx: Ctx[Box[int]], f, x):
            return 0


def test_a_generic_class_matches_whatever_its_argument_is():
    assert matched(register(box=(Box[T], Any))(), Box(), 1) == "box"
