"""Hook analysis: which hooks reach no overdubbed code, and which read no arguments."""

import functools

import pytest

from cassette_import import Context, Events, callsite, overdub
from cassette_import.runtime.dispatch.hook_analysis import only_stores, reads_no_arguments, touches_only_context


class Hooks(Context):
    """Hooks of many kinds, each under a different name."""

    number = 0

    def adds(self, f, *args, **kwargs):
        self.number += 1

    def does_nothing(self, f, *args, **kwargs):
        pass

    def computes(self, f, *args, **kwargs):
        self.number = (self.number + 1) * 2 - self.number

    def keeps(self, f, *args, **kwargs):
        self.last = f, args, kwargs

    def keeps_several(self, result, f, *args):
        self.result, self.called = result, [f, args]

    def keeps_one(self, result, f, *args):
        self.result = result

    def calls(self, f, *args):
        self.number = len(args)

    def indexes(self, f, *args):
        self.first = args[0]

    def adds_an_argument(self, x, *args):
        self.number = self.number + x

    def hashes(self, f, *args):
        self.seen = {f}

    def compares(self, x, *args):
        self.same = x == 1

    def asks_for_truth(self, x, *args):
        if x:
            self.number = 1

    def reads_of_an_argument(self, f, *args):
        self.name = f.__name__

    def writes_to_an_argument(self, f, *args):
        f.seen = True

    def reads_a_property(self, f, *args):
        self.number = self.computed

    def unpacks(self, f, args):
        self.first, self.second = args

    def formats(self, f, *args):
        self.text = f"{f}"

    @property
    def computed(self):
        return 1


COUNTING = ["adds", "does_nothing", "computes"]
KEEPING = ["keeps", "keeps_several", "keeps_one"]
REACHING = [
    *("calls", "indexes", "adds_an_argument", "hashes", "compares", "asks_for_truth", "reads_of_an_argument"),
    *("writes_to_an_argument", "reads_a_property", "unpacks", "formats"),
]


@pytest.mark.parametrize("name", COUNTING)
def test_a_hook_that_counts_touches_only_its_context(name):
    assert touches_only_context(getattr(Hooks, name), Hooks)
    assert only_stores(getattr(Hooks, name), Hooks)


@pytest.mark.parametrize("name", KEEPING)
def test_a_hook_that_stores_its_arguments_reaches_no_code(name):
    assert not touches_only_context(getattr(Hooks, name), Hooks)
    assert only_stores(getattr(Hooks, name), Hooks)


@pytest.mark.parametrize("name", REACHING)
def test_a_hook_that_does_anything_else_may_reach_overdubbed_code(name):
    assert not only_stores(getattr(Hooks, name), Hooks)


def test_no_hook_is_known_of_a_context_that_customises_attributes():
    class Customised(Hooks):
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)

    assert not only_stores(Hooks.adds, Customised)


def test_a_closure_may_reach_overdubbed_code():
    held = []

    def keeps(self, f, *args):
        self.last = held

    assert not only_stores(keeps, Hooks)


def test_a_hook_that_stores_its_arguments_gets_them(make_program):
    program = make_program("def f(x):\n    return g(x) + 1\n\ndef g(x, y=2):\n    return x * y\n")

    class Keeping(Context, events=Events.CALLS):
        def prehook(self, f, *args, **kwargs):
            self.called = f, args, kwargs

        def posthook(self, result, f, *args, **kwargs):
            self.result = result

    context = Keeping()
    assert overdub(context, program.f, 3) == 7
    assert (context.called, context.result) == ((program.g, (3,), {}), 6)


class ArgumentFree(Context):
    """Hooks that read the callee, or nothing."""

    def called(self, f, *args, **kwargs):
        self.calls.append(f)

    def in_a_try(self, f, *args, **kwargs):
        for name in ("a", "b"):
            try:
                self.calls.append(f.__name__ + name)
            except AttributeError:
                pass

    def without_keywords(self, f, *args):
        print(f)


class Reading(Context):
    """Hooks that read the arguments, or take some of them by name."""

    def reads(self, f, *args, **kwargs):
        self.calls.append(args)

    def reads_keywords(self, f, *args, **kwargs):
        self.calls.append(kwargs)

    def passes_on(self, f, *args, **kwargs):
        return f(*args)

    def writes(self, f, *args, **kwargs):
        args = 1
        self.calls.append(args)

    def deletes(self, f, *args, **kwargs):
        del args

    def closes_over(self, f, *args, **kwargs):
        return lambda: args

    def comprehends(self, f, *args, **kwargs):
        return [argument for argument in args]

    def loops(self, f, *args, **kwargs):
        for argument in args:
            self.calls.append(argument)

    def calls_locals(self, f, *args, **kwargs):
        self.calls.append(locals())

    def names_one(self, f, x, *args, **kwargs):
        self.calls.append(f)

    def takes_none(self, f):
        self.calls.append(f)

    def takes_a_keyword(self, f, *args, key=None, **kwargs):
        self.calls.append(f)


@pytest.mark.parametrize("name", ["called", "in_a_try", "without_keywords"])
def test_a_hook_that_reads_no_arguments_is_argument_free(name):
    assert reads_no_arguments(getattr(ArgumentFree, name), 2)


READING = [
    *(
        "reads",
        "reads_keywords",
        "passes_on",
        "writes",
        "deletes",
        "closes_over",
        "comprehends",
        "loops",
        "calls_locals",
    ),
    *("names_one", "takes_none", "takes_a_keyword"),
]


@pytest.mark.parametrize("name", READING)
def test_a_hook_that_reads_or_names_arguments_is_not_argument_free(name):
    assert not reads_no_arguments(getattr(Reading, name), 2)


def test_argument_free_hooks_are_called_at_each_call(make_program):
    program = make_program(
        """
        import functools

        class A:
            def method(self, x):
                return x

            @classmethod
            def of_class(cls, x=1):
                return x

        def f(*args, **kwargs):
            return len(args)

        def run():
            a = A()
            part = functools.partial(f, 1)
            return [a.method(1), A.of_class(x=2), f(*[1, 2], k=3), [].append(4), part(5), max([6], key=abs)]
        """
    )

    class Noting(Context, events=Events.CALLS):
        def __init__(self):
            super().__init__()
            self.calls, self.results = [], []

        def prehook(self, f, *args, **kwargs):
            self.calls.append(f)

        def posthook(self, result, f, *args, **kwargs):
            self.results.append((f, result))

    noting = Noting()
    assert overdub(noting, program.run) == program.run()
    method, of_class, f = vars(program.A)["method"], vars(program.A)["of_class"].__func__, program.f
    expected = [program.A, functools.partial, method, of_class, f, len, list.append, f, len, max]
    assert noting.calls == expected
    assert [called for called, _ in noting.results] == [
        *(program.A, functools.partial, method, of_class, len, f, list.append, len, f, max),
    ]


def test_an_argument_free_errorhook_is_called_for_a_failed_call(make_program):
    program = make_program("def fails(x, k=1):\n    raise ValueError(x)\n\ndef run():\n    fails(1, k=2)\n")

    class Noting(Context, events=Events.CALLS):
        def prehook(self, f, *args, **kwargs):
            self.called = f

        def errorhook(self, exception, f, *args, **kwargs):
            self.failed = f, str(exception)

    noting = Noting()
    with pytest.raises(ValueError, match="1"):
        overdub(noting, program.run)
    assert noting.failed == (program.fails, "1")


def test_an_argument_free_hook_has_its_call_site(make_program):
    program = make_program("def run():\n    return len('x')\n")

    class Noting(Context, events=Events.CALLS):
        def prehook(self, f, *args, **kwargs):
            self.column = callsite().column

    noting = Noting()
    overdub(noting, program.run)
    assert noting.column == len("    return ")
