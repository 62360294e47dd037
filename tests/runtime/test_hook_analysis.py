"""Which hooks are known to reach no overdubbed code: those are not suspended while they run."""

import functools

import pytest

from cassette_import import Context, Events, callsite, overdub
from cassette_import.runtime.dispatch.hook_analysis import only_stores, reads_no_arguments, touches_only_context


class Hooks(Context):
    """Hooks of all sorts, under names of their own."""

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

    def adds_what_it_is_given(self, x, *args):
        self.number = self.number + x

    def hashes(self, f, *args):
        self.seen = {f}

    def compares(self, x, *args):
        self.same = x == 1

    def asks_for_truth(self, x, *args):
        if x:
            self.number = 1

    def reads_of_what_it_is_given(self, f, *args):
        self.name = f.__name__

    def writes_to_what_it_is_given(self, f, *args):
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
    *("calls", "indexes", "adds_what_it_is_given", "hashes", "compares", "asks_for_truth", "reads_of_what_it_is_given"),
    *("writes_to_what_it_is_given", "reads_a_property", "unpacks", "formats"),
]


@pytest.mark.parametrize("name", COUNTING)
def test_a_hook_that_counts_looks_at_nothing_else(name):
    assert touches_only_context(getattr(Hooks, name), Hooks)
    assert only_stores(getattr(Hooks, name), Hooks)


@pytest.mark.parametrize("name", KEEPING)
def test_a_hook_that_keeps_what_it_is_given_reaches_nothing(name):
    assert not touches_only_context(getattr(Hooks, name), Hooks)
    assert only_stores(getattr(Hooks, name), Hooks)


@pytest.mark.parametrize("name", REACHING)
def test_a_hook_that_does_anything_else_may_reach_the_program(name):
    assert not only_stores(getattr(Hooks, name), Hooks)


def test_nothing_is_known_of_a_context_that_is_told_of_its_attributes():
    class Told(Hooks):
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)

    assert not only_stores(Hooks.adds, Told)


def test_a_closure_is_not_looked_into():
    held = []

    def keeps(self, f, *args):
        self.last = held

    assert not only_stores(keeps, Hooks)


def test_a_hook_that_keeps_is_called_as_any_other(make_program):
    program = make_program("def f(x):\n    return g(x) + 1\n\ndef g(x, y=2):\n    return x * y\n")

    class Keeping(Context, events=Events.CALLS):
        def prehook(self, f, *args, **kwargs):
            self.called = f, args, kwargs

        def posthook(self, result, f, *args, **kwargs):
            self.result = result

    context = Keeping()
    assert overdub(context, program.f, 3) == 7
    assert (context.called, context.result) == ((program.g, (3,), {}), 6)


class Blind(Context):
    """Hooks that look at what is called, or at nothing."""

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


class Seeing(Context):
    """Hooks that look at the arguments."""

    def reads(self, f, *args, **kwargs):
        self.calls.append(args)

    def reads_keywords(self, f, *args, **kwargs):
        self.calls.append(kwargs)

    def hands_on(self, f, *args, **kwargs):
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

    def asks_locals(self, f, *args, **kwargs):
        self.calls.append(locals())

    def names_one(self, f, x, *args, **kwargs):
        self.calls.append(f)

    def takes_none(self, f):
        self.calls.append(f)

    def takes_a_keyword(self, f, *args, key=None, **kwargs):
        self.calls.append(f)


@pytest.mark.parametrize("name", ["called", "in_a_try", "without_keywords"])
def test_a_hook_that_does_not_look_at_arguments_needs_none(name):
    assert reads_no_arguments(getattr(Blind, name), 2)


SEEING = [
    *("reads", "reads_keywords", "hands_on", "writes", "deletes", "closes_over", "comprehends", "loops", "asks_locals"),
    *("names_one", "takes_none", "takes_a_keyword"),
]


@pytest.mark.parametrize("name", SEEING)
def test_a_hook_that_looks_at_arguments_or_wants_some_is_given_them(name):
    assert not reads_no_arguments(getattr(Seeing, name), 2)


def test_hooks_that_need_no_arguments_are_told_of_each_call(make_program):
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

    class Told(Context, events=Events.CALLS):
        def __init__(self):
            super().__init__()
            self.calls, self.results = [], []

        def prehook(self, f, *args, **kwargs):
            self.calls.append(f)

        def posthook(self, result, f, *args, **kwargs):
            self.results.append((f, result))

    told = Told()
    assert overdub(told, program.run) == program.run()
    method, of_class, f = vars(program.A)["method"], vars(program.A)["of_class"].__func__, program.f
    expected = [program.A, functools.partial, method, of_class, f, len, list.append, f, len, max]
    assert told.calls == expected
    assert [called for called, _ in told.results] == [
        *(program.A, functools.partial, method, of_class, len, f, list.append, len, f, max),
    ]


def test_an_errorhook_that_needs_no_arguments_is_told_of_what_failed(make_program):
    program = make_program("def fails(x, k=1):\n    raise ValueError(x)\n\ndef run():\n    fails(1, k=2)\n")

    class Told(Context, events=Events.CALLS):
        def prehook(self, f, *args, **kwargs):
            self.called = f

        def errorhook(self, exception, f, *args, **kwargs):
            self.failed = f, str(exception)

    told = Told()
    with pytest.raises(ValueError, match="1"):
        overdub(told, program.run)
    assert told.failed == (program.fails, "1")


def test_the_call_site_of_a_hook_that_needs_no_arguments_is_known(make_program):
    program = make_program("def run():\n    return len('x')\n")

    class Told(Context, events=Events.CALLS):
        def prehook(self, f, *args, **kwargs):
            self.column = callsite().column

    told = Told()
    overdub(told, program.run)
    assert told.column == len("    return ")
