"""`callsite()`: where in the program the event is that a hook was called for, in every form that an event can take."""

import asyncio
import functools
import math
import operator
import os
import subprocess
import sys
import threading

import pytest
from helpers.command_line import environment
from helpers.contexts import entered_without_source

from cassette_import import CallSite, Context, Events, callsite, overdub, recurse

PROGRAM = """
    import functools
    import math

    def plain(x):
        return math.sin(x)

    def two_on_a_line(x):
        return math.sin(x) + math.cos(x)

    def chained(xs):
        return xs.count(1).bit_length()

    def over_lines(x):
        return math.hypot(
            x,
            math.sin(x),
        )

    def with_umlauts(x):
        return "äöü".upper() + math.floor(x) * "ß"

    def generator(x):
        yield math.sin(x)

    async def coroutine(x):
        return math.sin(x)

    def comprehension(xs):
        return [math.sin(x) for x in xs]

    def with_locals(x):
        y = math.sin(x)
        return locals()["y"]

    def in_a_block(manager, x):
        with manager:
            return math.sin(x)

    square = lambda x: math.sin(x)

    def splatted(args):
        return math.sin(*args)

    def partly(x):
        return functools.partial(math.sin, x)()

    class Point:
        def __init__(self, x):
            self.x = math.sin(x)

        def method(self, x):
            return math.sin(x)

    def decorated():
        @functools.cache
        def inner():
            return 1
        return inner

    def failing(x):
        y = math.sin(x)
        return math.sqrt(-y)

    def failing_in_a_try(x):
        try:
            return math.sqrt(-x)
        finally:
            math.sin(x)

    def in_a_handler(x):
        try:
            math.sqrt(-x)
        except ValueError:
            return math.sin(x)

    def subscripted(xs):
        xs[0] = xs[1]
        xs[0] += 1
        del xs[1]
        return 0 in xs

    def outer(x):
        def inner(y):
            return math.sin(y)
        return inner(x)

    def either(first, x):
        if first:
            return math.sin(x)
        return math.cos(x)
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


class Where(Context):
    """Records the function of each event and its call site, from each kind of hook."""

    def __init__(self):
        super().__init__()
        self.before, self.after, self.failed = [], [], []

    def prehook(self, f, *args, **kwargs):
        self.before.append((f, callsite()))

    def posthook(self, result, f, *args, **kwargs):
        self.after.append((f, callsite()))

    def errorhook(self, error, f, *args, **kwargs):
        self.failed.append((f, callsite()))


class BeforeOnly(Context):
    def __init__(self):
        super().__init__()
        self.before = []

    def prehook(self, f, *args, **kwargs):
        self.before.append((f, callsite()))


def sources(seen):
    return [site.source for _, site in seen]


def test_a_place_may_be_asked_for_after_a_later_one_in_its_function(program):
    where = BeforeOnly()
    for first in (False, True):
        overdub(where, program.either, first, 0.5)
    assert sources(where.before) == ["math.cos(x)", "math.sin(x)"]


def site_of(seen, function):
    (site,) = [site for f, site in seen if f is function]
    return site


@pytest.fixture(params=[Where, BeforeOnly])
def ctx(request):
    """With an errorhook and without one: events have other forms then."""
    return request.param()


def test_a_call_site_has_file_line_columns_function_module_and_text(program, ctx):
    overdub(ctx, program.plain, 0.0)
    [(f, site)] = ctx.before
    assert f is math.sin
    line = program.plain.__code__.co_firstlineno + 1
    assert site == CallSite(program.__file__, line, line, 11, 22, "plain", program.__name__)
    assert site.source == "math.sin(x)"
    assert str(site) == f"{program.__file__}:{line} in plain"


def test_two_events_of_one_line_have_different_call_sites(program, ctx):
    overdub(ctx, program.two_on_a_line, 0.0)
    assert sources(ctx.before) == ["math.sin(x)", "math.cos(x)", "math.sin(x) + math.cos(x)"]
    assert len({site for _, site in ctx.before}) == 3


def test_one_place_is_one_key(program, ctx):
    overdub(ctx, program.plain, 0.0)
    overdub(ctx, program.plain, 1.0)
    assert len({site for _, site in ctx.before}) == 1


def test_each_call_of_a_chain_ends_where_it_ends(program, ctx):
    overdub(ctx, program.chained, [1, 1])
    assert [text.splitlines()[-1] for text in sources(ctx.before)] == ["xs.count(1)", "xs.count(1).bit_length()"]


def test_an_event_over_several_lines(program, ctx):
    overdub(ctx, program.over_lines, 0.0)
    site = site_of(ctx.before, math.hypot)
    first = program.over_lines.__code__.co_firstlineno
    assert (site.lineno, site.end_lineno) == (first + 1, first + 4)
    assert site.source == "math.hypot(\n        x,\n        math.sin(x),\n    )"


def test_columns_count_characters(program, ctx):
    overdub(ctx, program.with_umlauts, 2.5)
    assert sources(ctx.before)[:2] == ['"äöü".upper()', "math.floor(x)"]


@pytest.mark.parametrize(
    ("run", "function"),
    [
        (lambda p: list(overdub_all(p.generator, 0.0)), "generator"),
        (lambda p: asyncio.run(overdub_all(p.coroutine, 0.0)), "coroutine"),
        (lambda p: overdub_all(p.with_locals, 0.0), "with_locals"),
        (lambda p: overdub_all(p.square, 0.0), "<lambda>"),
        (lambda p: overdub_all(p.Point, 0.0), "Point.__init__"),
        (lambda p: overdub_all(p.Point(0.0).method, 0.0), "Point.method"),
        (lambda p: overdub_all(p.outer, 0.0), "outer.<locals>.inner"),
        (lambda p: overdub_all(p.in_a_block, threading.Lock(), 0.0), "in_a_block"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_in_every_form_that_an_event_can_take(run, function, program, ctx, monkeypatch):
    monkeypatch.setitem(globals(), "overdub_all", functools.partial(overdub, ctx))
    run(program)
    site = site_of(ctx.before, math.sin)
    assert site.source in ("math.sin(x)", "math.sin(y)")
    assert site.function == function
    assert site.module == program.__name__


def overdub_all(*arguments):
    """Stands for `overdub` in the context of the test."""
    raise NotImplementedError


def test_in_a_comprehension(program, ctx):
    overdub(ctx, program.comprehension, [0.0])
    assert site_of(ctx.before, math.sin).source == "math.sin(x)"


def test_of_calls_with_splats_and_of_partial_objects(program, ctx):
    overdub(ctx, program.splatted, (0.0,))
    overdub(ctx, program.partly, 0.0)
    assert [site.source for f, site in ctx.before if f is math.sin] == [
        "math.sin(*args)",
        "functools.partial(math.sin, x)()",
    ]


def test_of_a_decorator(program, ctx):
    overdub(ctx, program.decorated)
    assert site_of(ctx.before, functools.cache).source == "functools.cache"


def test_of_stores_by_index(program, ctx):
    overdub(ctx, program.subscripted, [1, 2])
    lines = [(f.__name__, site.lineno - program.subscripted.__code__.co_firstlineno) for f, site in ctx.before]
    assert lines == [
        ("getitem", 1),
        ("setitem", 1),
        ("getitem", 2),
        ("iadd", 2),
        ("setitem", 2),
        ("delitem", 3),
        ("contains", 4),
    ]


def test_at_module_level(make_package, import_fresh, ctx):
    from cassette_import import install

    name = make_package("import math\n\nvalue = math.sin(0.0)\n")
    with install([name]), ctx:
        import_fresh(name)
    site = site_of(ctx.before, math.sin)
    assert (site.lineno, site.function, site.source) == (3, "<module>", "math.sin(0.0)")


# ---- in every kind of hook


def test_in_a_posthook(program):
    ctx = Where()
    overdub(ctx, program.two_on_a_line, 0.0)
    assert ctx.after == ctx.before


@pytest.mark.parametrize("f", ["failing", "failing_in_a_try"])
def test_in_an_errorhook(f, program):
    ctx = Where()
    with pytest.raises(ValueError):
        overdub(ctx, getattr(program, f), 0.5)
    assert [(f, site.source.partition("(")[0]) for f, site in ctx.failed] == [(math.sqrt, "math.sqrt")]
    assert ctx.failed == [event for event in ctx.before if event[0] is math.sqrt]


def test_in_an_errorhook_that_catches_errors_of_its_own(program):
    class Careful(Context):
        def __init__(self):
            self.site = None

        def errorhook(self, error, f, *args):
            try:
                raise LookupError
            except LookupError:
                self.site = callsite()

    ctx = Careful()
    with pytest.raises(ValueError):
        overdub(ctx, program.failing, 0.5)
    assert ctx.site.source == "math.sqrt(-y)"


def test_in_a_prehook_while_the_program_handles_an_exception(program):
    ctx = Where()
    overdub(ctx, program.in_a_handler, 0.5)
    assert site_of(ctx.before, math.sin).source == "math.sin(x)"


def test_in_an_overload(program):
    class Over(Context):
        pass

    sites = []

    @Over.overdub.register(math.sin)
    def _(ctx, f, x):
        sites.append(callsite())
        return f(x)

    overdub(Over(), program.two_on_a_line, 0.0)
    assert [site.source for site in sites] == ["math.sin(x)"]


def test_in_an_overload_of_the_root(program):
    class Over(Context):
        pass

    sites = []
    Over.overdub.register(program.plain)(lambda ctx, f, x: sites.append(callsite()) or recurse(ctx, f, x))
    overdub(Over(), program.plain, 0.0)
    assert [site.source for site in sites] == ["overdub(Over(), program.plain, 0.0)"]


def test_in_a_registered_hook(program):
    class Registered(Context):
        pass

    sites = []

    @Registered.prehook.register(math.sin)
    def _(ctx, f, x: float):
        sites.append(callsite())

    @Registered.posthook.register
    def _(ctx, result, f, *args: float):
        sites.append(callsite())

    overdub(Registered(), program.plain, 0.0)
    assert [site.source for site in sites] == ["math.sin(x)"] * 2


class Listener:
    def __init__(self):
        self.sites = []

    def listen(self, ctx, f, *args):
        self.sites.append(callsite())

    __call__ = listen


@pytest.mark.parametrize(
    "make",
    [
        lambda listener: listener.listen,
        lambda listener: listener,
        lambda listener: functools.partial(Listener.listen, listener),
    ],
    ids=["a bound method", "an object", "a partial object"],
)
def test_in_a_hook_that_is(make, program):
    class Registered(Context):
        pass

    listener = Listener()
    Registered.prehook.register(math.sin)(make(listener))
    overdub(Registered(), program.plain, 0.0)
    assert [site.source for site in listener.sites] == ["math.sin(x)"]


def test_in_a_function_that_a_hook_calls(program):
    def helper(sites):
        sites.append(sorted([1], key=lambda _: sites.append(callsite())) and callsite())

    class Helped(Context):
        def prehook(self, f, *args):
            helper(self.metadata)

    ctx = Helped([])
    overdub(ctx, program.plain, 0.0)
    assert [site.source for site in ctx.metadata] == ["math.sin(x)"] * 2


def test_in_a_hook_that_calls_the_one_of_its_base(program):
    class Derived(Where):
        def prehook(self, f, *args):
            super().prehook(f, *args)

    ctx = Derived()
    overdub(ctx, program.plain, 0.0)
    assert sources(ctx.before) == ["math.sin(x)"]


def test_in_a_hook_that_is_itself_overdubbed(program):
    """The file of a root function is overdubbed, and with it the hooks that are written there."""

    def root():
        return math.sin(0.0)

    ctx = Where()
    for _ in range(3):
        overdub(ctx, root)
    assert sources(ctx.before) == ["math.sin(0.0)"] * 3
    assert {site.function.rpartition(".")[2] for _, site in ctx.before} == {"root"}


def test_in_hooks_of_several_contexts(program):
    contexts = [Where(), BeforeOnly(), Where()]
    with entered_without_source(*contexts):
        program.plain(0.0)
    assert [sources(ctx.before) for ctx in contexts] == [["math.sin(x)"]] * 3


def test_for_the_outer_context_the_hook_of_the_inner_one_is_the_program(make_program):
    program = make_program(
        """
        import math
        from cassette_import import Context

        class Inner(Context):
            def prehook(self, f, *args):
                math.floor(1.5)

        def f(x):
            return math.sin(x)
        """
    )
    outer = Where()
    with outer, program.Inner():
        program.f(0.0)
    assert site_of(outer.before, math.floor).function == "Inner.prehook"
    assert site_of(outer.before, math.sin).function == "f"


def test_in_a_context_whose_events_are_few(program):
    class Few(Where, events=Events.OPERATORS):
        pass

    ctx = Few()
    overdub(ctx, program.two_on_a_line, 0.0)
    assert [(f, site.source) for f, site in ctx.before] == [(operator.add, "math.sin(x) + math.cos(x)")]


# ---- where the call site is unknown


def test_outside_of_hooks_it_is_an_error():
    with pytest.raises(RuntimeError, match="there is none running here"):
        callsite()


def test_in_the_program_it_is_an_error(make_program):
    program = make_program("from cassette_import import callsite\n\ndef f():\n    return callsite()\n")
    with pytest.raises(RuntimeError, match="there is none running here"):
        overdub(Where.__mro__[1](), program.f)


def test_in_another_thread_it_is_an_error(program):
    class Elsewhere(Context):
        def prehook(self, f, *args):
            def ask():
                try:
                    callsite()
                except RuntimeError as error:
                    self.metadata.append(str(error))

            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()

    ctx = Elsewhere([])
    overdub(ctx, program.plain, 0.0)
    assert len(ctx.metadata) == 1


def test_without_columns_a_call_site_has_its_line(tmp_path):
    (tmp_path / "app.py").write_text(
        "import math\nfrom cassette_import import Context, callsite, overdub\n\n"
        "class Where(Context):\n    def prehook(self, f, *args):\n"
        "        print(callsite().column, callsite().source)\n\n"
        "def f():\n    return math.sin(0.0)\n\noverdub(Where(), f)\n"
    )
    run = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", "app.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.stdout, run.stderr) == ("None return math.sin(0.0)\n", "")


def test_a_call_site_in_a_missing_file_has_no_text(program, ctx, monkeypatch):
    import linecache

    overdub(ctx, program.plain, 0.0)
    os.remove(program.__file__)
    linecache.checkcache(program.__file__)
    monkeypatch.delitem(linecache.cache, program.__file__, raising=False)
    assert ctx.before[0][1].source == ""


def test_in_an_errorhook_that_gets_many_arguments(make_program):
    arguments = ", ".join(f"x + {number}" for number in range(40))
    program = make_program(
        {"__init__.py": f"def fail(*all): raise ValueError\ndef main(x):\n    return fail({arguments})\n"}
    )

    class Looking(Context):
        def errorhook(self, error, f, *args):
            self.args, self.site = args, callsite()

    ctx = Looking()
    with pytest.raises(ValueError):
        overdub(ctx, program.main, 2)
    assert ctx.args == tuple(range(2, 42))
    assert ctx.site.source == f"fail({arguments})"
