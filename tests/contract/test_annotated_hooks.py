"""Hooks and overloads whose annotations take part in dispatch."""

import math
from typing import Any

from cassette_import import Context, overdub, recurse


class Animal:
    sound = "?"

    def speak(self, times=1):
        return self.sound * times


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
