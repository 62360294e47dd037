"""A call or an operator is the same event wherever in a program it stands."""

import importlib
import textwrap

import pytest
from helpers.event_places import (
    OF_THE_PLACE,
    PLACES,
    SETUP,
    UNPACK,
    SeenCalls,
    SeenOperators,
)

from cassette_import import Context, install

OPERATORS = {
    "a + b": ["add (1, 2)"],
    "-a": ["neg (1,)"],
    "not a": ["not_ (1,)"],
    "a is not b": ["is_not (1, 2)"],
    "a in xs": ["contains ([1, 2, 3], 1)"],
    "a < b < 3": ["lt (1, 2)", "lt (2, 3)"],
    "b < a < 3": ["lt (2, 1)"],
    "a == 1 in xs": ["eq (1, 1)", "contains ([1, 2, 3], 1)"],
    "(a < b) and (b > a)": ["lt (1, 2)", "gt (2, 1)"],
    "xs[a]": ["getitem ([1, 2, 3], 1)"],
    "xs[a:b]": ["getitem ([1, 2, 3], slice(1, 2, None))"],
    "xs[0] = 9": ["setitem ([1, 2, 3], 0, 9)"],
    "xs[a:] = [9]": ["setitem ([1, 2, 3], slice(1, None, None), [9])"],
    "xs[0] = c = 9": ["setitem ([1, 2, 3], 0, 9)"],
    "xs[0], c = 8, 9": ["setitem ([1, 2, 3], 0, 8)"],
    "[xs[0], *xs[1:]] = 8, 9": [
        "setitem ([1, 2, 3], 0, 8)",
        "setitem ([8, 2, 3], slice(1, None, None), [9])",
    ],
    "xs[0]: int = 9": ["setitem ([1, 2, 3], 0, 9)"],
    "for xs[0] in (9,): pass": ["setitem ([1, 2, 3], 0, 9)"],
    "[0 for y in [xs] for y[0] in (9,)]": ["setitem ([1, 2, 3], 0, 9)"],
    "with contextlib.nullcontext(9) as xs[0]: pass": ["setitem ([1, 2, 3], 0, 9)"],
    "del xs[0]": ["delitem ([1, 2, 3], 0)"],
    "del xs[0], d['k']": ["delitem ([1, 2, 3], 0)", "delitem ({'k': 1}, 'k')"],
    "a += b": ["iadd (1, 2)"],
    "xs += [4]": ["iadd ([1, 2, 3], [4])"],
    "xs[0] += 5": ["getitem ([1, 2, 3], 0)", "iadd (1, 5)", "setitem ([1, 2, 3], 0, 6)"],
    "o.x += 5": ["iadd (0, 5)"],
    "xs[a + 1] -= b * 2": [
        "add (1, 1)",
        "getitem ([1, 2, 3], 2)",
        "mul (2, 2)",
        "isub (3, 4)",
        "setitem ([1, 2, 3], 2, -1)",
    ],
    "a = b = a + b": ["add (1, 2)"],
    "c = (e := a + b) * 2": ["add (1, 2)", "mul (3, 2)"],
    "[x + 1 for x in xs]": ["add (1, 1)", "add (2, 1)", "add (3, 1)"],
    "[x for x in xs if x > 2]": ["gt (1, 2)", "gt (2, 2)", "gt (3, 2)"],
    "[x for x in xs[1:]]": ["getitem ([1, 2, 3], slice(1, None, None))"],
    "[x for x in (y * 2 for y in [1])]": ["mul (1, 2)"],
    "[0 < x < 3 for x in [1]]": ["lt (0, 1)", "lt (1, 3)"],
    "{x: x + 1 for x in [1]}": ["add (1, 1)"],
    "list(x + 1 for x in [1])": ["add (1, 1)"],
    "(lambda x: x + 1)(1)": ["add (1, 1)"],
    "f'{a + b}'": ["add (1, 2)"],
    "assert a + b": ["add (1, 2)"],
    "c = a + b if a < b else a - b": ["lt (1, 2)", "add (1, 2)"],
}

CALLS = {
    "f(1)": ["f (1,)"],
    "f(x=1)": ["f () {'x': 1}"],
    "f(*[1])": ["f (1,)"],
    "f(**{'x': 1})": ["f () {'x': 1}"],
    "f(f(1))": ["f (1,)", "f (1,)"],
    "give(f)(1)": ["give (f,)", "f (1,)"],
    "give(give)(f)(1)": ["give (give,)", "give (f,)", "f (1,)"],
    "o.m(1)": ["m (o, 1)"],
    "o.itself().m(1)": ["itself (o,)", "m (o, 1)"],
    "o.itself().itself().m(1)": ["itself (o,)", "itself (o,)", "m (o, 1)"],
    "give(o).m(1)": ["give (o,)", "m (o, 1)"],
    "give([f])[0](1)": ["give ([f],)", "f (1,)"],
    "O(1).m(2)": ["O (1,)", "m (o, 2)"],
    "xs.append(4)": ["append ([1, 2, 3], 4)"],
    "' a '.strip().upper()": ["strip (' a ',)", "upper ('a',)"],
    "part()": ["f (5,)"],
    "part(y=1)": ["f (5,) {'y': 1}"],
    "[f(x) for x in [1, 2]]": ["f (1,)", "f (2,)"],
    "[x for x in give([f(1)])]": ["f (1,)", "give ([1],)"],
    "[give(f)(x) for x in [1]]": ["give (f,)", "f (1,)"],
    "[x for x in map(lambda y: f(y), [1])]": ["map (<lambda>, [1])", "f (1,)"],
    "[(lambda y: f(y))(x) for x in [1]]": ["<lambda> (1,)", "f (1,)"],
    "sorted([2], key=lambda y: f(y))": ["sorted ([2],) {'key': <lambda>}", "f (2,)"],
    "(lambda: f(1))()": ["<lambda> ()", "f (1,)"],
    "f'{f(1)}'": ["f (1,)"],
    "assert f(1)": ["f (1,)"],
    "c = f(1) or f(2)": ["f (1,)"],
    "c = f(1) if f(2) else f(3)": ["f (2,)", "f (1,)"],
    "c = {f('k'): f('v')}": ["f ('k',)", "f ('v',)"],
    "f(xs)[f(0)] = f(9)": ["f (9,)", "f ([1, 2, 3],)", "f (0,)"],
    "f(o).x = f(9)": ["f (9,)", "f (o,)"],
    "f(o).x += f(9)": ["f (o,)", "f (9,)"],
    "del f(xs)[f(0)]": ["f ([1, 2, 3],)", "f (0,)"],
    "(c := f(1))": ["f (1,)"],
    "for c in f([1]): f(2)": ["f ([1],)", "f (2,)"],
    "while f(0): pass": ["f (0,)"],
}


@pytest.mark.parametrize("statement", OPERATORS)
def test_operators_are_the_same_events_in_every_place(statement, run_in_every_place):
    contexts = run_in_every_place(statement, lambda program: SeenOperators())
    assert {place: ctx.seen for place, ctx in contexts.items()} == dict.fromkeys(PLACES, OPERATORS[statement])


@pytest.mark.parametrize("statement", CALLS)
def test_calls_are_the_same_events_in_every_place(statement, run_in_every_place):
    contexts = run_in_every_place(statement, lambda program: SeenCalls())
    seen = {
        place: [event for event in ctx.seen if event.split()[0] not in OF_THE_PLACE.get(place, ())]
        for place, ctx in contexts.items()
    }
    assert seen == dict.fromkeys(PLACES, CALLS[statement])


@pytest.mark.parametrize("statement", [text for text in CALLS if any("f (" in event for event in CALLS[text])])
def test_overload_is_called_in_every_place(statement, run_in_every_place):
    class Own(Context):
        pass

    def make_context(program):
        # Again for each place, which replaces the overload by itself.
        Own.overdub.register(program.f)(overload)
        return Own(metadata=[])

    def overload(ctx, f, x=0, **kwargs):
        ctx.metadata.append(x)
        return x

    contexts = run_in_every_place(statement, make_context)
    count = len([event for event in CALLS[statement] if event.startswith("f (")])
    assert {place: len(ctx.metadata) for place, ctx in contexts.items()} == dict.fromkeys(PLACES, count)


@pytest.fixture
def import_in(make_package):
    """Import a module with a statement at its top level in a context, and return the context."""

    def run(statement, ctx):
        name = make_package(textwrap.dedent(SETUP) + f"\n\nmade = make()\n{UNPACK}\n{statement}\n")
        install([name])
        with ctx:
            importlib.import_module(name)
        return ctx

    return run


@pytest.mark.parametrize("statement", OPERATORS)
def test_operators_at_module_level_are_events_when_it_is_imported_in_the_context(statement, import_in):
    assert import_in(statement, SeenOperators()).seen == OPERATORS[statement]


@pytest.mark.parametrize("statement", CALLS)
def test_calls_at_module_level_are_events_when_it_is_imported_in_the_context(statement, import_in):
    seen = import_in(statement, SeenCalls()).seen
    assert seen[seen.index("partial (f, 5)") + 1 :] == CALLS[statement]
