"""Passes: what they get, what they may return, and how the returned code runs."""

import ast
import asyncio
import copy
import functools
import math
import operator
import sys
import traceback

import pytest
from helpers.contexts import entered_without_source

from cassette_import import (
    Context,
    Events,
    PassError,
    canrecurse,
    contextslot,
    install,
    nooverdub,
    overdub,
    reflect,
    similarcontext,
)

PROGRAM = """
    import functools
    import math

    count = 0

    def add(x, y=1):
        '''Adds.'''
        return x + y

    def twice(x):
        return add(add(x))

    def sine(x):
        return math.sin(x)

    square = lambda x: x * x

    class Point:
        def __init__(self, x):
            self.x = x

        def moved(self, by):
            return Point(self.x + by)

        @staticmethod
        def static(x):
            return x + 1

        @classmethod
        def classy(cls, x):
            return cls(x + 1)

        @property
        def double(self):
            return self.x + self.x

    def numbers(n):
        for i in range(n):
            yield i + 1

    async def later(x):
        return x + 1

    async def several(n):
        for i in range(n):
            yield i + 1

    def counter():
        total = 0
        def step(by):
            nonlocal total
            total = total + by
            return total
        return step

    def bump():
        global count
        count = count + 1
        return count

    def reads_kept():
        kept = 5
        def read():
            return kept
        return read

    def reads_math(x):
        return math.floor(x)

    def local_name(x):
        result = x + 1
        return result

    @functools.lru_cache
    def cached(x: int, y: int = 2) -> int:
        return x + y

    def many(xs):
        total = 0
        for x in xs:
            total = total + x
        return total
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


def in_place_of(f, make):
    """Return a pass that replaces one function by the result of `make` and leaves all others unchanged."""

    def changed(context_type, reflection):
        return make(reflection) if reflection.function.__name__ == f else reflection.tree

    return changed


def expression(text):
    return ast.parse(text, mode="eval").body


def statements(text):
    return ast.parse(text).body


class PlusToTimes(ast.NodeTransformer):
    def visit_Add(self, node):
        return ast.Mult()


def multiply(context_type, reflection):
    """Replaces every addition by a multiplication."""
    return PlusToTimes().visit(reflection.tree)


# ---- what a pass is given


def seen_by_a_pass(run):
    seen = []

    def look(context_type, reflection):
        seen.append((context_type, reflection))
        return reflection.tree

    class Looking(Context):
        passes = [look]

    run(Looking())
    return Looking, seen


def test_a_pass_gets_the_context_type_and_the_reflection_of_the_function(program):
    Looking, [(context_type, reflection)] = seen_by_a_pass(lambda ctx: overdub(ctx, program.add, 1))
    assert context_type is reflection.context_type is Looking
    assert reflection.function is program.add
    assert reflection.filename == program.__file__
    assert reflection.lineno == program.add.__code__.co_firstlineno
    assert reflection.source == "def add(x, y=1):\n    '''Adds.'''\n    return x + y\n"
    assert str(reflection.signature) == "(x, y=1)"


def test_a_pass_sees_decorators_defaults_and_annotations_as_they_are_written(program):
    _, [(_, reflection)] = seen_by_a_pass(lambda ctx: overdub(ctx, program.cached, 1))
    assert ast.unparse(reflection.tree) == ast.unparse(reflect(program.cached.__wrapped__).tree)
    assert [ast.unparse(one) for one in reflection.tree.decorator_list] == ["functools.lru_cache"]
    assert ast.unparse(reflection.tree.args) == "x: int, y: int=2"


def test_the_signature_of_a_wrapper_is_its_own(make_program):
    program = make_program(
        """
        import functools

        def logged(f):
            @functools.wraps(f)
            def wrapper(*args):
                return f(*args)
            return wrapper

        @logged
        def g(x):
            return x
        """
    )
    assert str(reflect(program.g).signature) == "(*args)"


def test_a_pass_runs_once_for_a_body_however_often_contexts_are_entered(program):
    seen = []

    def look(context_type, reflection):
        seen.append((context_type, reflection.function.__name__))
        return reflection.tree

    class A(Context):
        passes = (look,)

    class B(Context):
        passes = (look,)

    for context in (A(), B(), A(), A(), B()):
        assert overdub(context, program.twice, 1) == 3
    assert sorted(seen, key=str) == sorted([(t, name) for t in (A, B) for name in ("twice", "add")], key=str)


def test_a_pass_runs_with_no_context_active(program):
    events = []

    def look(context_type, reflection):
        program.add(1, 2)
        return reflection.tree

    class Watching(Context):
        passes = [look]

        def prehook(self, f, *args):
            events.append(f)

    assert overdub(Watching(), program.sine, 0.0) == 0.0
    assert events == [math.sin]


# ---- what a pass may return


def test_a_pass_may_return_the_tree_unchanged(program):
    assert overdub(Context(passes=[lambda context_type, reflection: reflection.tree]), program.twice, 1) == 3


def test_a_pass_may_change_the_tree(program):
    assert (
        overdub(
            Context(passes=[multiply]),
            program.twice,
            3,
        )
        == 3
    )
    assert overdub(Context(passes=[multiply]), program.add, 3, 4) == 12
    assert program.add(3, 4) == 7


def test_a_pass_may_return_another_function_node(program):
    made = in_place_of("add", lambda reflection: statements("def add(x, y=1): return x - y")[0])
    assert overdub(Context(passes=[made]), program.add, 3, 4) == -1


def test_an_expression_is_the_whole_body(program):
    made = in_place_of("add", lambda reflection: expression("x * 10 + y"))
    assert overdub(Context(passes=[made]), program.add, 3, 4) == 34


def test_the_result_of_parse_is_an_expression_too(program):
    made = in_place_of("add", lambda reflection: ast.parse("x * 10 + y", mode="eval"))
    assert overdub(Context(passes=[made]), program.add, 3, 4) == 34


def test_a_lambda_for_a_def_is_an_expression_like_others(program):
    made = in_place_of("add", lambda reflection: expression("lambda: x * y"))
    assert overdub(Context(passes=[made]), program.add, 3, 4)() == 12


def test_a_deep_copy_of_the_tree_will_do(program):
    made = in_place_of("add", lambda reflection: PlusToTimes().visit(copy.deepcopy(reflection.tree)))
    assert overdub(Context(passes=[made]), program.add, 3, 4) == 12


def test_a_pass_may_return_what_it_keeps(program):
    kept = expression("x * 10 + y")

    class Watching(Context):
        passes = [in_place_of("add", lambda reflection: kept)]

        def prehook(self, f, *args):
            pass

    assert overdub(Watching(), program.add, 3, 4) == 34
    assert ast.unparse(kept) == "x * 10 + y"


def test_one_node_may_stand_in_several_places(program, Recorder):
    def thrice(reflection):
        call = expression("math.sin(x)")
        return ast.List([call, call, call], ast.Load())

    Recorder.passes = (in_place_of("sine", thrice),)
    ctx = Recorder()
    assert overdub(ctx, program.sine, 0.0) == [0.0, 0.0, 0.0]
    assert ctx.functions == [math.sin] * 3


def test_a_body_without_statements_does_nothing(program):
    def emptied(reflection):
        reflection.tree.body = []
        return reflection.tree

    assert overdub(Context(passes=[in_place_of("add", emptied)]), program.add, 3) is None


# ---- in every kind of function


def test_a_pass_on_a_lambda(program):
    made = lambda context_type, reflection: expression("x + 1")
    assert overdub(Context(passes=[made]), program.square, 5) == 6
    assert program.square(5) == 25


def test_a_pass_on_lambdas_within_one_another_in_the_iterable_of_a_comprehension(make_program):
    """No assignment expression is allowed there, however deep, so the lambdas have no temporaries."""
    program = make_program(
        "def take(a):\n    return [n for n in map(lambda k: sorted([k], key=lambda k: -k + a)[0], [1, 2])]"
    )
    with install(program.__name__):
        assert overdub(Context(passes=[lambda context_type, reflection: reflection.tree]), program.take, 2) == [1, 2]


def test_a_pass_on_a_lambda_may_return_a_lambda(program):
    made = lambda context_type, reflection: expression("lambda x: x + 1")
    assert overdub(Context(passes=[made]), program.square, 5) == 6


def test_a_pass_on_methods_of_all_kinds(program):
    ctx = Context(passes=[multiply])
    with ctx:
        point = program.Point(3)
        assert point.moved(4).x == 12
        assert program.Point.static(5) == 5
        assert program.Point.classy(7).x == 7
        assert point.double == 9
    assert point.double == 6


def test_a_pass_on_a_generator(program):
    ctx = Context(passes=[multiply])
    assert list(overdub(ctx, program.numbers, 3)) == [0, 1, 2]
    assert list(program.numbers(3)) == [1, 2, 3]


def test_a_generator_with_a_pass_in_one_of_two_contexts(program):
    with Context(passes=[multiply]):
        inside = program.numbers(3)
        assert list(inside) == [0, 1, 2]
    with Context():
        assert list(program.numbers(3)) == [1, 2, 3]


def test_an_expression_for_a_generator_is_what_it_returns(program):
    ctx = Context(passes=[lambda context_type, reflection: expression("n * 2")])
    with pytest.raises(StopIteration) as info:
        next(overdub(ctx, program.numbers, 3))
    assert info.value.value == 6


def test_a_pass_on_a_coroutine(program):
    async def run():
        return await overdub(Context(passes=[multiply]), program.later, 5), await program.later(5)

    assert asyncio.run(run()) == (5, 6)


def test_a_pass_on_an_asynchronous_generator(program):
    async def run():
        return [i async for i in overdub(Context(passes=[multiply]), program.several, 3)]

    assert asyncio.run(run()) == [0, 1, 2]


def test_a_pass_on_a_closure_keeps_its_variables(program):
    step = program.counter()
    assert step(5) == 5
    assert overdub(Context(passes=[multiply]), step, 3) == 15
    assert step(1) == 16


def test_a_pass_on_a_function_with_global_names(program):
    assert overdub(Context(passes=[multiply]), program.bump) == 0
    assert program.bump() == 1


NESTED = """
    def outer(x):
        def inner(y):
            return x + y
        return inner(4) * 2
"""


def test_what_a_pass_does_to_a_function_is_not_seen_outside_of_the_context(make_program):
    program = make_program(NESTED)
    overdub(Context(passes=[multiply]), program.outer, 3)
    assert program.outer(3) == 14
    assert overdub(Context(), program.outer, 3) == 14


def test_functions_in_a_function_are_passed_to_the_pass_separately(make_program):
    program = make_program(NESTED)
    seen = []

    def look(context_type, reflection):
        seen.append(reflection)
        return multiply(context_type, reflection)

    ctx = Context(passes=[look])
    assert overdub(ctx, program.outer, 3) == 24
    assert [reflection.function.__qualname__ for reflection in seen] == ["outer", "outer.<locals>.inner"]
    assert seen[1].source == "def inner(y):\n    return x + y\n"
    assert str(seen[1].signature) == "(y)"
    assert (seen[1].filename, seen[1].lineno) == (program.__file__, program.outer.__code__.co_firstlineno + 1)
    assert program.outer(3) == 14


DEEPER = """
    def outer(x):
        class Inner:
            def method(self, y):
                return [f(x) for f in (lambda z: z + y, lambda z: z + x)]
        def numbers():
            yield x + 1
            yield from Inner().method(5)
        return list(numbers()), sorted([1, 2], key=lambda v: -v + x)
"""


def test_functions_of_all_kinds_in_a_function(make_program):
    program = make_program(DEEPER)
    plain = program.outer(3)
    assert plain == ([4, 8, 6], [2, 1])
    assert overdub(Context(passes=[multiply]), program.outer, 3) == ([3, 15, 9], [2, 1])
    assert program.outer(3) == plain
    assert overdub(Context(), program.outer, 3) == plain


@pytest.mark.parametrize("events", [Events.DEFAULT, Events.ALL], ids=["default", "all"])
def test_functions_in_a_function_resolve_the_names_around_them(events, make_program):
    class Seeing(Context, events=events):
        passes = (lambda context_type, reflection: reflection.tree,)

        def prehook(self, f, *args, **kwargs):
            len(args)

    program = make_program("""
        class A:
            def method(self):
                class B:
                    def private(self):
                        self.__name = 1
                        return sorted(vars(self))
                return B().private(), [(lambda: i)() for i in range(2)]
        """)
    assert overdub(Seeing(), program.A().method) == program.A().method() == (["_B__name"], [0, 1])


def test_functions_in_a_function_for_several_contexts_at_once(make_program):
    program = make_program(NESTED)
    times = Context(passes=[multiply])
    minus = Context(passes=[in_place_of("inner", lambda reflection: expression("x - y"))])
    for _ in range(2):
        assert overdub(times, program.outer, 3) == 24
        assert overdub(minus, program.outer, 3) == -2
        assert overdub(Context(), program.outer, 3) == 14
        assert program.outer(3) == 14
    with times, minus:
        assert program.outer(3) == -2


def test_a_closure_that_was_made_outside_is_passed_to_the_pass_too(program):
    step = program.counter()
    with Context(passes=[multiply]):
        assert step(3) == 0
    assert program.counter()(3) == 3


def test_a_failing_pass_on_a_function_in_a_function_is_reported_where_that_function_runs(make_program):
    program = make_program(NESTED)

    def picky(context_type, reflection):
        return None if reflection.function.__name__ == "inner" else reflection.tree

    error = failure([picky], program.outer, 3)
    assert "returned None" in str(error)
    assert "for outer.<locals>.inner (" in str(error)
    assert program.outer(3) == 14


def test_a_pass_may_insert_functions_of_its_own(make_program, Recorder):
    program = make_program(NESTED)
    Recorder.passes = (lambda context_type, reflection: expression("(lambda y: x - y)(1)"),)
    ctx = Recorder()
    assert overdub(ctx, program.outer, 3) == 2
    assert program.outer(3) == 14


def test_a_pass_on_a_recursive_function(make_program):
    program = make_program("def total(n):\n    return 0 if n == 0 else n + total(n - 1)\n")
    assert overdub(Context(passes=[multiply]), program.total, 4) == 0
    assert program.total(4) == 10


def test_a_pass_on_an_expression_deeper_than_the_recursion_limit(make_program):
    depth = 500  # more frames than are left of a limit of 1000; on 3.12, C code takes trees of up to about 1500
    program = make_program(f"def deep(x):\n    return {' + '.join(['x'] * depth)}\n")
    assert overdub(Context(passes=[lambda context_type, reflection: reflection.tree]), program.deep, 1) == depth


# ---- events of what a pass inserts


def test_what_a_pass_inserts_is_overdubbed(program, Recorder):
    Recorder.passes = (in_place_of("add", lambda reflection: expression("abs(x) - y")),)
    ctx = Recorder()
    assert overdub(ctx, program.add, -3, 4) == -1
    assert ctx.calls == [(abs, (-3,)), (operator.sub, (3, 4))]


def test_what_is_marked_nooverdub_is_not(program, Recorder):
    def quiet(reflection):
        return ast.BinOp(nooverdub(expression("abs(x)")), ast.Sub(), ast.Name("y", ast.Load()))

    Recorder.passes = (in_place_of("add", quiet),)
    ctx = Recorder()
    assert overdub(ctx, program.add, -3, 4) == -1
    assert ctx.calls == [(operator.sub, (3, 4))]


def test_nooverdub_takes_expressions_only():
    with pytest.raises(TypeError, match="nooverdub takes an expression"):
        nooverdub("abs(x)")


def test_the_overload_of_an_inserted_call_is_called(program):
    class Absolute(Context):
        passes = [in_place_of("add", lambda reflection: expression("abs(x)"))]

    Absolute.overdub.register(abs)(lambda ctx, f, x: "overloaded")
    assert overdub(Absolute(), program.add, 1) == "overloaded"


# ---- the context in the code


def slot_in(text):
    """A pass that makes a body of an expression in which `ctx` is the context."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node):
            return contextslot() if node.id == "ctx" else node

    return lambda context_type, reflection: Fill().visit(expression(text))


def test_contextslot_is_the_active_context(program):
    ctx = Context("its metadata", passes=[slot_in("ctx")])
    assert overdub(ctx, program.add, 1) is ctx


def test_contextslot_is_each_context_that_comes(program):
    contexts = [Context(passes=[in_place_of("add", lambda reflection: contextslot())]) for _ in range(2)]
    a, b = contexts[0], similarcontext(contexts[0])
    assert overdub(a, program.add, 1) is a
    assert overdub(b, program.add, 1) is b


def test_contextslot_in_a_stack_is_the_context_whose_pass_it_was(program):
    outer = Context("outer", passes=[in_place_of("add", lambda reflection: slot_in("ctx.metadata")(None, None))])
    inner = Context("inner", passes=[in_place_of("sine", lambda reflection: slot_in("ctx.metadata")(None, None))])
    with outer, inner:
        assert program.add(1) == "outer"
        assert program.sine(1) == "inner"


def test_contextslot_in_a_lambda(program):
    assert overdub(Context(3, passes=[slot_in("ctx.metadata + x")]), program.square, 4) == 7


def with_context_in_the_sum(context_type, reflection):
    """`i + 1` becomes `i + ctx.metadata`."""

    class Fill(ast.NodeTransformer):
        def visit_Constant(self, node):
            return ast.Attribute(contextslot(), "metadata", ast.Load()) if node.value == 1 else node

    return Fill().visit(reflection.tree)


def test_contextslot_in_a_generator_that_is_resumed_in_another_context(program):
    with Context(10, passes=[with_context_in_the_sum]):
        inside = program.numbers(3)
        assert next(inside) == 10
    assert next(inside) == 11
    with Context(20), Context(30):
        assert next(inside) == 12


def test_calls_of_the_contexts_methods_are_events_unless_marked(program, Recorder):
    Recorder.tell = lambda self, x: x
    Recorder.passes = (slot_in("ctx.tell(x)"),)
    ctx = Recorder()
    assert overdub(ctx, program.add, 5) == 5
    assert ctx.functions == [Recorder.tell]


# ---- several passes, several contexts, passes of instances


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

    from cassette_import import install

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

    from cassette_import import install

    names = [make_package(f"value = {number}\ndef f(x):\n    return x + value\n") for number in (2, 3)]
    install(names)
    modules = [importlib.import_module(name) for name in names]
    ctx = Context(passes=[multiply])
    assert [overdub(ctx, module.f, 5) for module in modules] == [10, 15]


# ---- what goes wrong


def failure(passes, f, *args):
    with pytest.raises(PassError) as info:
        overdub(Context(passes=passes), f, *args)
    return info.value


def broken(context_type, reflection):
    raise LookupError("the pass's own")


def test_a_pass_that_raises_is_an_error_that_names_pass_function_file_and_line(program):
    error = failure([broken], program.add, 1)
    line = program.add.__code__.co_firstlineno
    assert str(error) == f"pass broken failed on add ({program.__file__}:{line}): LookupError: the pass's own"
    assert isinstance(error.__cause__, LookupError)


def test_the_traceback_of_a_failure_leads_into_the_pass(program):
    error = failure([broken], program.add, 1)
    assert traceback.extract_tb(error.__cause__.__traceback__)[-1].name == "broken"


def incomplete():
    node = ast.Name("x", ast.Load())
    del node.id
    return node


RETURNED = {
    "nothing": (None, "returned None, and not the function's node or an expression,"),
    "text": ("x - y", "returned 'x - y', and not the function's node or an expression,"),
    "a statement": (statements("return x")[0], "and not the function's node or an expression,"),
    "two statements": (ast.parse("a\nb"), "and not the function's node or an expression,"),
    "other parameters": (
        statements("def add(a, b): return a")[0],
        r"returned the parameters \(a, b\) instead of \(x, y(=1)?\)",
    ),
    "a node with a missing part": (incomplete(), r"returned what does not compile \(.*\)"),
    "a part that is no node": (ast.Call("abs", [], []), r"returned what does not compile \(.*\)"),
    "await in a function": (expression("[await x for i in y]"), r"returned what does not compile \(.*\)"),
    "break outside a loop": (statements("def add(x, y=1): break")[0], r"compile \('break' outside loop\)"),
    "a generator": (expression("(yield x)"), "returned a generator, instead of an ordinary function,"),
    "a constant that is a placeholder": (
        ast.Constant((frozenset({"@flags"}),)),
        "returned a constant that stands for an object of cassette_import,",
    ),
    "a constant with a placeholder in it": (
        ast.Constant((1, (frozenset({"@flags"}),))),
        "returned a constant that stands for an object of cassette_import,",
    ),
    "a name that is no name": (ast.Constant(object()), r"returned what does not compile \(.*\)"),
}


@pytest.mark.parametrize("name", RETURNED)
def test_a_pass_that_returns_what_cannot_be_used_is_an_error(name, program):
    returned, message = RETURNED[name]
    error = failure([lambda context_type, reflection: returned], program.add, 1)
    assert error.args[0].startswith("pass test_a_pass_that_returns_what_cannot_be_used_is_an_error.<locals>.<lambda> ")
    assert error.args[0].endswith(f" for add ({program.__file__}:{program.add.__code__.co_firstlineno})")
    with pytest.raises(PassError, match=message):
        raise error


def test_a_pass_may_return_a_constant_with_a_set_in_it(program):
    value = (frozenset({"flags"}),)
    assert overdub(Context(passes=[lambda *_: ast.Constant(value)]), program.add, 1) == value


def test_of_several_passes_the_one_that_fails_is_named(program):
    def fine(context_type, reflection):
        return reflection.tree

    def bad(context_type, reflection):
        return None

    assert "bad returned None" in str(failure([fine, bad, fine], program.add, 1))


def test_statements_for_a_lambda_are_an_error(program):
    def made(context_type, reflection):
        return statements("def f(x): return x")[0]

    assert "returned statements, which a lambda cannot have, for <lambda>" in str(failure([made], program.square, 1))


def test_a_value_for_an_asynchronous_generator_is_an_error(program):
    async def run():
        with pytest.raises(PassError, match="'return' with value in async generator"):
            await anext(overdub(Context(passes=[lambda context_type, reflection: expression("1")]), program.several, 3))

    asyncio.run(run())


def assigned(text):
    """A pass that puts statements at the beginning of a body."""

    def insert(context_type, reflection):
        reflection.tree.body[:0] = statements(text)
        return reflection.tree

    return insert


def test_a_local_name_that_the_function_looks_up_in_its_module_is_an_error(program):
    error = failure([assigned("math = None")], program.reads_math, 1.5)
    assert "binds math, which the function looks up outside of itself" in str(error)
    assert program.reads_math(1.5) == 1


def test_a_local_name_that_belongs_to_an_enclosing_function_is_an_error(program):
    error = failure([assigned("kept = 0")], program.reads_kept())
    assert "binds kept, which the function looks up outside of itself" in str(error)
    assert "reads_kept.<locals>.read" in str(error)


def test_a_global_name_that_is_local_in_the_function_is_an_error(program):
    error = failure([assigned("global result")], program.local_name, 1)
    assert "declares result global or nonlocal, which the function has as a local name," in str(error)


def test_a_new_global_name_is_none(program):
    assert overdub(Context(passes=[assigned("global seen\nseen = x")]), program.local_name, 5) == 6
    assert program.seen == 5


def test_the_variable_of_a_comprehension_may_have_a_name_of_the_module(program):
    made = assigned("squares = [math for math in (1, 2)]")
    assert overdub(Context(passes=[made]), program.reads_math, 1.5) == 1


def test_a_function_works_on_after_its_pass_failed(program):
    failure([broken], program.add, 3, 4)
    assert program.add(3, 4) == 7
    assert overdub(Context(), program.add, 3, 4) == 7
    failure([broken], program.add, 3, 4)


def test_the_error_of_a_failing_pass_is_raised_when_the_function_is_shown(program):
    with pytest.raises(PassError, match="pass broken failed on add"):
        reflect(program.add).overdubbed(Context(passes=[broken]))


def test_a_failing_pass_of_one_context_is_nothing_to_another(program):
    failure([broken], program.add, 3, 4)
    with Context(passes=[multiply]):
        assert program.add(3, 4) == 12
    failure([broken, multiply], program.add, 3, 4)


@pytest.mark.parametrize("f", ["square", "numbers", "add"])
def test_a_failing_pass_is_reported_in_every_kind_of_function(f, program):
    with pytest.raises(PassError):
        list(overdub(Context(passes=[broken]), getattr(program, f), 3))


def test_a_pass_without_end_is_an_error(program):
    def endless(context_type, reflection):
        return endless(context_type, reflection)

    assert "failed on add" in str(failure([endless], program.add, 1))


def test_a_pass_that_finds_no_room_on_the_stack_has_it(program):
    """A program deep in recursion enters a function for the first time."""

    def recursive(context_type, reflection):
        def down(n):
            return reflection.tree if n == 0 else down(n - 1)

        return down(100)

    ctx = Context(passes=[recursive])
    limit = sys.getrecursionlimit()

    def deep(n):
        try:
            return deep(n + 1)
        except RecursionError:
            return program.add(1) if n < limit - 80 else _again()

    class _Again(Exception):
        pass

    def _again():
        raise RecursionError

    with ctx:
        assert deep(0) == 2


@pytest.mark.parametrize("passes", [multiply, "multiply", 3, None, [3], ["multiply"], [[]]])
def test_passes_that_are_none_are_refused(passes):
    with pytest.raises(TypeError, match="passes must be"):
        Context(passes=passes)
    with pytest.raises(TypeError, match=r"Ctx\.passes must be"):
        type("Ctx", (Context,), {"passes": passes})
    with pytest.raises(TypeError, match="passes must be"):
        similarcontext(Context(), passes=passes)


# ---- positions


def lines_of(error):
    return [entry.lineno for entry in traceback.extract_tb(error.__traceback__)]


def test_what_a_pass_inserts_belongs_to_the_line_of_the_next_statement(program):
    def checked(context_type, reflection):
        if reflection.function.__name__ == "many":
            reflection.tree.body[1:1] = statements("\n\n\n\n\n\nraise LookupError(xs)")
        return reflection.tree

    with pytest.raises(LookupError) as info:
        overdub(Context(passes=[checked]), program.many, [1])
    assert lines_of(info.value)[-1] == program.many.__code__.co_firstlineno + 2


def test_an_error_in_the_original_part_keeps_its_line(program):
    def checked(context_type, reflection):
        reflection.tree.body[:0] = statements("before = 0")
        return reflection.tree

    with pytest.raises(TypeError) as info:
        overdub(Context(passes=[checked]), program.many, [None])
    assert lines_of(info.value)[-1] == program.many.__code__.co_firstlineno + 3


def test_a_pass_needs_no_positions(program):
    def bare(reflection):
        return ast.BinOp(ast.Name("x", ast.Load()), ast.Sub(), ast.Call(ast.Name("abs", ast.Load()), [], []))

    with pytest.raises(TypeError) as info:
        overdub(Context(passes=[in_place_of("add", bare)]), program.add, 1)
    assert lines_of(info.value)[-1] == program.add.__code__.co_firstlineno + 2


# ---- with hooks of all kinds


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
