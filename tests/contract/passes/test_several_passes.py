"""Several passes and several contexts, passes of instances, and passes beside hooks."""

import ast
import functools

import pytest
from helpers.contexts import entered_without_source
from helpers.passes import broken, expression, in_place_of, multiply

from cassette_import import Context, Events, canrecurse, install, overdub, similarcontext


def test_several_passes_run_in_order_each_on_what_the_one_before_returned(program):
    first = in_place_of("add", lambda reflection: expression("x - y"))

    def negated(reflection):
        value = reflection.tree.body[0].value
        return ast.UnaryOp(ast.USub(), value)

    assert overdub(Context(passes=[first, in_place_of("add", negated)]), program.add, 5, 3) == -2
    assert overdub(Context(passes=[in_place_of("add", lambda r: r.tree), first]), program.add, 5, 3) == 2


def test_passes_of_several_contexts_run_outermost_first(program):
    order = []

    def told(name):
        def look(context_type, reflection):
            order.append(name)
            return reflection.tree

        return look

    with entered_without_source(Context(passes=[told("outer")]), Context(passes=[told("inner")])):
        program.sine(0.0)
    assert order == ["outer", "inner"]


def test_the_pass_of_one_context_sees_what_the_outer_one_made(program):
    outer = Context(passes=[in_place_of("add", lambda reflection: expression("x - y"))])
    seen = []
    inner = Context(passes=[in_place_of("add", lambda r: seen.append(ast.unparse(r.tree.body)) or r.tree)])
    with outer, inner:
        assert program.add(5, 3) == 2
    assert seen == ["return x - y"]


def test_passes_of_instances_of_one_type_do_not_mix(program):
    class Ctx(Context):
        pass

    plus, times = Ctx(), Ctx(passes=[multiply])
    assert [overdub(ctx, program.add, 3, 4) for ctx in (plus, times, plus, times)] == [7, 12, 7, 12]


def test_passes_of_an_instance_run_before_those_of_its_type(program):
    class Ctx(Context):
        passes = [multiply]

    minus = Ctx(passes=[in_place_of("add", lambda reflection: expression("x - y"))])
    assert overdub(minus, program.add, 3, 4) == -1
    assert overdub(Ctx(), program.add, 3, 4) == 12


def test_similarcontext_replaces_passes(program):
    ctx = Context(passes=[multiply])
    assert overdub(similarcontext(ctx, passes=[]), program.add, 3, 4) == 7
    assert overdub(similarcontext(ctx, passes=[multiply]), program.add, 3, 4) == 12


def test_passes_are_inherited(program):
    class Base(Context):
        passes = [multiply]

    class Derived(Base):
        pass

    assert overdub(Derived(), program.add, 3, 4) == 12


def test_passes_that_come_late_count_from_the_next_entry_on(program):
    class Ctx(Context):
        pass

    ctx = Ctx()
    assert overdub(ctx, program.add, 3, 4) == 7
    Ctx.passes = [multiply]
    assert overdub(ctx, program.add, 3, 4) == 12


def test_a_pass_may_be_any_callable(program):
    class Pass:
        def __init__(self, text):
            self.text = text

        def __call__(self, context_type, reflection):
            return expression(self.text)

    def by_text(text, context_type, reflection):
        return expression(text)

    assert overdub(Context(passes=[Pass("x - y")]), program.add, 5, 3) == 2
    assert overdub(Context(passes=[functools.partial(by_text, "x * y")]), program.add, 5, 3) == 15
    assert overdub(Context(passes=[Pass("x // y").__call__]), program.add, 5, 3) == 1


def test_a_reloaded_function_is_passed_to_the_pass_again(make_package):
    import importlib

    name = make_package("def f(x):\n    return x + 2\n")
    install([name])
    module = importlib.import_module(name)
    ctx = Context(passes=[multiply])
    assert overdub(ctx, module.f, 5) == 10
    with open(module.__file__, "w") as file:
        file.write("def f(x):\n    return x + 7 + 0 * x  # longer\n")
    importlib.reload(module)
    assert overdub(ctx, module.f, 5) == 0
    assert module.f(5) == 12


def test_two_functions_of_one_text_and_two_modules_are_two_bodies(make_package):
    import importlib

    names = [make_package(f"value = {number}\ndef f(x):\n    return x + value\n") for number in (2, 3)]
    install(names)
    modules = [importlib.import_module(name) for name in names]
    ctx = Context(passes=[multiply])
    assert [overdub(ctx, module.f, 5) for module in modules] == [10, 15]


@pytest.mark.parametrize("events", [Events.NONE, Events.CALLS, Events.DEFAULT])
def test_a_pass_works_with_everything_else_that_the_context_intercepts(events, program):
    class Ctx(Context, events=events):
        passes = [multiply]

        def prehook(self, f, *args):
            pass

        def errorhook(self, error, f, *args):
            pass

    assert overdub(Ctx(), program.twice, 3) == 3


def test_canrecurse_is_not_changed_by_passes(program):
    assert canrecurse(Context(passes=[broken]), program.add)
