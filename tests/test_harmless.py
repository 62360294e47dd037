"""Which hooks are known to reach no overdubbed code: those are not suspended while they run."""

import pytest

from cassette_import import Context, Events, overdub
from cassette_import.harmless import only_keeps, touches_only_itself


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
    assert touches_only_itself(getattr(Hooks, name), Hooks)
    assert only_keeps(getattr(Hooks, name), Hooks)


@pytest.mark.parametrize("name", KEEPING)
def test_a_hook_that_keeps_what_it_is_given_reaches_nothing(name):
    assert not touches_only_itself(getattr(Hooks, name), Hooks)
    assert only_keeps(getattr(Hooks, name), Hooks)


@pytest.mark.parametrize("name", REACHING)
def test_a_hook_that_does_anything_else_may_reach_the_program(name):
    assert not only_keeps(getattr(Hooks, name), Hooks)


def test_nothing_is_known_of_a_context_that_is_told_of_its_attributes():
    class Told(Hooks):
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)

    assert not only_keeps(Hooks.adds, Told)


def test_a_closure_is_not_looked_into():
    held = []

    def keeps(self, f, *args):
        self.last = held

    assert not only_keeps(keeps, Hooks)


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
