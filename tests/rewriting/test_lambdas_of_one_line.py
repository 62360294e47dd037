"""Lambdas that stand side by side in one line: each keeps its own body, whether it has events or not.

Knows the public interface. Must not know how bodies are compiled.
"""

import pytest

from cassette_import import Context, Events, install

WITH_EVENTS = {
    "a call": "lambda: str(a)",
    "after a constant": "lambda: 1 and str(a)",
    "a yield": "lambda: str((yield 4))",
}
WITHOUT_EVENTS = {
    "a name": "lambda: a",
    "a constant": "lambda: 'constant'",
    "a test of a constant": "lambda: 0 and a",
    "a lambda": "lambda: (lambda: 'inner')",
    "a yield": "lambda: (yield 3)",
    "a free variable": "lambda: free",
}


class Calls(Context, events=Events.DEFAULT, inherit=True):
    def prehook(self, f, *args, **kwargs):
        pass


PROGRAM = """\
a = 5
def value(f):
    found = f()
    while callable(found):
        found = found()
    return list(found) if hasattr(found, "send") else found
def side_by_side(free=7):
    return value({0}), value({1})
def over_lines(free=7):
    return value(
        {0}), value({1}
    )
def all_values():
    return side_by_side(), over_lines()
"""


@pytest.mark.parametrize("bare", WITHOUT_EVENTS)
@pytest.mark.parametrize("evented", WITH_EVENTS)
@pytest.mark.parametrize("order", ["events last", "events first"])
def test_a_lambda_without_events_beside_one_with_events_keeps_its_body(
    make_package, import_fresh, evented, bare, order
):
    lambdas = [WITHOUT_EVENTS[bare], WITH_EVENTS[evented]]
    name = make_package(PROGRAM.format(*(lambdas if order == "events last" else reversed(lambdas))))
    expected = import_fresh(name).all_values()
    install([name])
    overdubbed = import_fresh(name)
    with Calls():
        assert overdubbed.all_values() == expected
    assert overdubbed.all_values() == expected


def test_a_call_in_a_lambda_beside_one_without_events_is_an_event(make_program):
    class Counts(Context, inherit=True):
        calls = 0

        def prehook(self, f, *args, **kwargs):
            self.calls += f is str

    program = make_program(PROGRAM.format("lambda: a", "lambda: str(a)"))
    with Counts() as counts:
        program.side_by_side()
    assert counts.calls == 1


@pytest.mark.parametrize(
    "bodies",
    [
        ("f'{str(a)}'", "f'{repr(a)}'"),
        ("f'{str(a)}'", "f'x{repr(a)}'"),
        ("1 and f'{str(a)}'", "f'{repr(a)}' if 1 else 0"),
        ("(lambda: f'{str(a)}')()", "(lambda: f'{repr(a)}')()"),
        ("str(a)", "f'{repr(a)}'"),
    ],
    ids=["f-strings", "begun by text", "after constants", "in lambdas", "one f-string"],
)
def test_lambdas_side_by_side_are_overdubbed(make_package, import_fresh, bodies):
    name = make_package(f"a = 5\nfunctions = [lambda: {bodies[0]}, lambda: {bodies[1]}]\n")
    install([name])
    functions = import_fresh(name).functions

    class Named(Context):
        def __init__(self):
            super().__init__()
            self.names = []

        def prehook(self, f, *args):
            if f in (str, repr):
                self.names.append(f.__name__)

    for function, called in zip(functions, ["str", "repr"], strict=True):
        with Named() as context:
            function()
        assert context.names == [called]
