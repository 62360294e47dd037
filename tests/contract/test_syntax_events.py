"""Attributes, iteration, truth, displays, names and control are events, wherever they stand."""

import importlib
import operator
import sys
import textwrap

import pytest
from helpers.event_places import PLACES, SETUP, UNPACK, Seen

from cassette_import import Context, Events, install, overdub, primitives

ATTRIBUTES = {
    "o.x": ["getattr (o, 'x')"],
    "o.x = 5": ["setattr (o, 'x', 5)"],
    "del o.x": ["delattr (o, 'x')"],
    "o.x += 5": ["getattr (o, 'x')", "setattr (o, 'x', 5)"],
    "o.x, c = 1, 2": ["setattr (o, 'x', 1)"],
    "c, (o.x, e) = 1, (2, 3)": ["setattr (o, 'x', 2)"],
    "[*o.x] = 1, 2": ["setattr (o, 'x', [1, 2])"],
    "c = o.x = 4": ["setattr (o, 'x', 4)"],
    "o.x: int = 4": ["setattr (o, 'x', 4)"],
    "for o.x in (7,): pass": ["setattr (o, 'x', 7)"],
    "with contextlib.nullcontext(9) as o.x: pass": ["getattr (contextlib, 'nullcontext')", "setattr (o, 'x', 9)"],
    "o.itself().x": ["getattr (o, 'itself')", "getattr (o, 'x')"],
    "[y.real for y in (1, 2)]": ["getattr (1, 'real')", "getattr (2, 'real')"],
    "(lambda: o.x)": [],
    "[0 for y in [o] for y.x in (7,)]": ["setattr (o, 'x', 7)"],
    "[0 for y in [o] for y.itself().x in (7,)]": ["getattr (o, 'itself')", "setattr (o, 'x', 7)"],
    "[0 for y in [o] for c, (y.x, *e) in [(1, [2, 3])] if e]": ["setattr (o, 'x', 2)"],
    "{**{y: 1 for y in [o] for y.x in (7, 8)}}": ["setattr (o, 'x', 7)", "setattr (o, 'x', 8)"],
    "list(0 for y in [o] for y.x in (7,))": ["setattr (o, 'x', 7)"],
    "o.itself().x += o.x": ["getattr (o, 'itself')", "getattr (o, 'x')", "getattr (o, 'x')", "setattr (o, 'x', 0)"],
}

TRUTH = {
    "if a: pass": ["truth (1,)"],
    "if 1: pass": [],
    "if not a: pass": ["truth (False,)"],
    "c = not a": [],
    "c = a and b": ["truth (1,)"],
    "c = a or b": ["truth (1,)"],
    "c = (a and b) or 3": ["truth (1,)", "truth (2,)"],
    "c = (a or b) and 3": ["truth (1,)"],
    "c = ((a and 0) or b) and 4": ["truth (1,)", "truth (2,)"],
    "if a and b: pass": ["truth (1,)", "truth (2,)"],
    "if a and (b or 1): pass": ["truth (1,)", "truth (2,)"],
    "if a < b < 3: pass": ["truth (True,)", "truth (True,)"],
    "if b < a < 3: pass": ["truth (False,)"],
    "if (a if b else 0): pass": ["truth (2,)", "truth (1,)"],
    "c = a if b else 3": ["truth (2,)"],
    "while xs.pop() > 2: pass": ["truth (True,)", "truth (False,)"],
    "assert a, b": ["truth (1,)"],
    "[x for x in xs if x > 2]": ["truth (False,)", "truth (False,)", "truth (True,)"],
    "c = [x or 5 for x in (0, 1)]": ["truth (0,)", "truth (1,)"],
}

ITERATION = {
    "for x in [1]: pass": ["iter ([1],)", "next (list_iterator,)", "next (list_iterator,)"],
    "for x in [1]: break": ["iter ([1],)", "next (list_iterator,)"],
    "c, e = xs[:2]": ["iter ([1, 2],)", *["next (list_iterator,)"] * 3],
    "c, *e = xs": ["iter ([1, 2, 3],)", *["next (list_iterator,)"] * 4],
    "c, (e, g) = [1, [2, 3]]": [
        "iter ([1, [2, 3]],)",
        *["next (list_iterator,)"] * 3,
        "iter ([2, 3],)",
        *["next (list_iterator,)"] * 3,
    ],
    "c = e, g = [2, 3]": ["iter ([2, 3],)", *["next (list_iterator,)"] * 3],
    "xs[0], c = [2, 3]": ["iter ([2, 3],)", *["next (list_iterator,)"] * 3],
    "f(*[1])": ["iter ([1],)", "next (list_iterator,)", "next (list_iterator,)"],
    "[*xs[:1]]": ["iter ([1],)", "next (list_iterator,)", "next (list_iterator,)"],
    "[x for x in [1]]": ["iter ([1],)", "next (list_iterator,)", "next (list_iterator,)"],
    "{x: y for x, y in [[1, 2]]}": [
        "iter ([[1, 2]],)",
        "next (list_iterator,)",
        "iter ([1, 2],)",
        *["next (list_iterator,)"] * 4,
    ],
    "list(x for x in [1])": ["iter ([1],)", "next (list_iterator,)", "next (list_iterator,)"],
    "[0 for y in [{}] for y[0], c in [[8, 9]]]": ["iter ([{}],)", "next (list_iterator,)", "iter ([[8, 9]],)",
        "next (list_iterator,)", "iter ([8, 9],)", *["next (list_iterator,)"] * 5],
    "for x, y in [[1, 2]]: break": ["iter ([[1, 2]],)", "next (list_iterator,)", "iter ([1, 2],)",
                                    *["next (list_iterator,)"] * 3],
}  # fmt: skip

DISPLAYS = {
    "c = [a, b]": ["build_list (1, 2)"],
    "c = []": ["build_list ()"],
    "c = (a, b)": ["build_tuple (1, 2)"],
    "c = {a, b}": ["build_set (1, 2)"],
    "c = {a: b}": ["build_dict (1, 2)"],
    "c = {}": ["build_dict ()"],
    "c = [*xs, b]": ["build_list (1, 2, 3, 2)"],
    "c = {**d, a: b}": ["build_dict ('k', 1, 1, 2)"],
    "c = f'{a}!{b!r:>3}'": ["build_string ('1', '!', '  2')"],
    "c = f'{a:{b}}'": ["build_string (' 1',)"],
    "c = 5": ["number (5,)"],
    "c = -5": ["number (-5,)"],
    "c = 5.5, 1j": ["build_tuple (5.5, 1j)"],
    "c = [5]": ["number (5,)", "build_list (5,)"],
    "xs[1:]": ["number (1,)"],
    "[c, e] = a, b": ["build_tuple (1, 2)"],
    "[0 for y in [d] for y[5] in b'!']": [
        "build_list ({'k': 1},)",
        "number (5,)",
        "number (0,)",
    ],
    "c = 'text', True, None": ["build_tuple ('text', True, None)"],
}

CONTROL = {
    "with contextlib.nullcontext(9) as c: pass": [
        "enter_context (nullcontext,)",
        "exit_context (nullcontext, None, None, None)",
    ],
    "with contextlib.nullcontext(8), contextlib.nullcontext(9) as xs[0]: pass": [
        *["enter_context (nullcontext,)"] * 2,
        *["exit_context (nullcontext, None, None, None)"] * 2,
    ],
    "import os.path": ["import_name ('os.path', globals, None, None, 0)"],
    "import os.path as c, sys": [
        "import_name ('os.path', globals, None, None, 0)",
        "import_name ('sys', globals, None, None, 0)",
    ],
    "from os import path, sep as c": ["import_name ('os', globals, None, ('path', 'sep'), 0)"],
}


def show(x):
    """Return an argument of an event as text, without addresses."""
    if isinstance(x, dict) and "__name__" in x:
        return "globals"
    if isinstance(x, (list, tuple)):
        text = ", ".join(map(show, x))
        return f"[{text}]" if isinstance(x, list) else f"({text}{',' if len(x) == 1 else ''})"
    if hasattr(type(x), "__next__") or type(x).__name__ == "nullcontext":
        return type(x).__name__
    if type(x).__name__ in ("O", "partial"):
        return type(x).__name__.lower()
    return getattr(x, "__name__", None) or repr(x)


class Shown(Seen):
    def prehook(self, f, *args, **kwargs):
        self.seen.append(f"{f.__name__} {show(args)}")


class ShownAttributes(Shown, events=Events.ATTRIBUTES):
    pass


class ShownIteration(Shown, events=Events.ITERATION):
    pass


class ShownTruth(Shown, events=Events.TRUTH):
    pass


class ShownDisplays(Shown, events=Events.DISPLAYS):
    pass


class ShownNames(Shown, events=Events.NAMES):
    pass


class ShownControl(Shown, events=Events.CONTROL):
    pass


STATEMENTS = [
    *((ShownAttributes, statement, events) for statement, events in ATTRIBUTES.items()),
    *((ShownIteration, statement, events) for statement, events in ITERATION.items()),
    *((ShownTruth, statement, events) for statement, events in TRUTH.items()),
    *((ShownDisplays, statement, events) for statement, events in DISPLAYS.items()),
    *((ShownControl, statement, events) for statement, events in CONTROL.items()),
]


def without(seen, baseline):
    """Return the recorded events except those of the place without the statement."""
    rest = list(seen)
    for event in baseline:
        rest.remove(event)
    return rest


@pytest.fixture(scope="module")
def baselines():
    """What each place shows by itself, by context type."""
    return {}


@pytest.mark.parametrize(("context_type", "statement", "events"), STATEMENTS)
def test_syntax_is_the_same_events_in_every_place(
    context_type,
    statement,
    events,
    run_in_every_place,
    baselines,
):
    if context_type not in baselines:
        contexts = run_in_every_place("pass", lambda program: context_type())
        baselines[context_type] = {place: ctx.seen for place, ctx in contexts.items()}
    contexts = run_in_every_place(statement, lambda program: context_type())
    seen = {place: without(ctx.seen, baselines[context_type][place]) for place, ctx in contexts.items()}
    assert seen == dict.fromkeys(PLACES, events)


@pytest.mark.parametrize(("context_type", "statement", "events"), STATEMENTS)
def test_syntax_at_module_level_is_events_when_it_is_imported_in_the_context(
    context_type, statement, events, make_package
):
    name = make_package(textwrap.dedent(SETUP) + f"\n\nmade = make()\n{UNPACK}\nmark = []\n{statement}\n")
    install([name])
    ctx = context_type()
    with ctx:
        module = importlib.import_module(name)
    count = len(events)
    assert module.mark == []
    assert ctx.seen[len(ctx.seen) - count :] == events


@pytest.mark.parametrize("statement", ["if 1: pass", "c = ((a and 0) or b) and 4", "c = a if 1 else b"])
def test_truth_of_a_number_is_no_event_even_if_numbers_are_events_of_another_context(
    statement,
    run_in_every_place,
):
    class Both(Shown, events=Events.TRUTH | Events.DISPLAYS):
        pass

    contexts = run_in_every_place(statement, lambda program: Both())
    asked = {place: [event for event in ctx.seen if event.startswith("truth")] for place, ctx in contexts.items()}
    assert asked == dict.fromkeys(PLACES, TRUTH.get(statement, []))


# ---- in functions only


def seen_in(make_program, context_type, source):
    program = make_program(source)
    ctx = context_type()
    overdub(ctx, program.main)
    return ctx.seen


def test_names_of_the_module_are_events(make_program):
    source = """
        G = 1

        def main():
            global H
            H = G + 1
            H += 1
            local = H
            del H
            return [len for x in (local,)]
    """
    assert seen_in(make_program, ShownNames, source) == [
        "load_global (globals, 'G')",
        "store_global (globals, 'H', 2)",
        "load_global (globals, 'H')",
        "store_global (globals, 'H', 3)",
        "load_global (globals, 'H')",
        "delete_global (globals, 'H')",
        "load_global (globals, 'len')",
    ]


def test_names_in_class_bodies_are_events_if_they_are_of_the_module(make_program):
    source = """
        G = 1

        def main():
            free = 1
            class A:
                own = G
                other = own, free
                G = G + 1
                last = G
                global H
                H = own
                def __private(self):
                    pass
                reached = __private
            class B:
                name = H
    """
    assert seen_in(make_program, ShownNames, source) == [
        "load_global (globals, 'G')",
        "load_global (globals, 'G')",
        "store_global (globals, 'H', 1)",
        "load_global (globals, 'H')",
    ]


def test_names_that_imports_and_definitions_bind_belong_to_the_class_body(make_program):
    source = """
        def main():
            math = free = Inner = method = 1
            class A:
                import math
                def method(self): pass
                class Inner: pass
                found = math, method, Inner, free
            class B:
                global G
                def G(self): pass
                found = G
    """
    assert seen_in(make_program, ShownNames, source) == ["load_global (globals, 'G')"]


def test_names_that_a_target_reads_are_those_of_the_module(make_program):
    source = """
        xs = [0]

        def main():
            [0 for xs[0] in (1,)]
    """
    assert seen_in(make_program, ShownNames, source) == ["load_global (globals, 'xs')"]


def test_names_in_class_bodies_with_comprehensions_are_what_they_are(make_program):
    source = """
        G = 1

        def main():
            class A:
                own = G
                inner = [i for i in (own,)]
                for i in inner:
                    other = i
                last = i
            assert (A.inner, A.other, A.last) == ([1], 1, 1)
    """
    # 3.12 deletes `i` from the namespace when code reads the frame's `f_locals`; so no code here reads it.
    loads = [] if sys.version_info[:2] == (3, 12) else ["load_global (globals, 'G')"]
    assert seen_in(make_program, ShownNames, source) == loads


def test_names_of_functions_around_are_no_events(make_program):
    source = """
        def main():
            free = 1
            def inner(x):
                nonlocal free
                free = x
                return [free + y for y in (x,)]
            return inner(2)
    """
    assert seen_in(make_program, ShownNames, source) == []


def test_return_and_raise_are_events(make_program):
    source = """
        def nothing():
            return

        def fail():
            try:
                raise KeyError
            except KeyError as error:
                raise ValueError from None

        def main():
            nothing()
            try:
                fail()
            except ValueError:
                pass
            return 5
    """
    assert seen_in(make_program, ShownControl, source) == [
        "return_value ()",
        "raise_exception (KeyError,)",
        "raise_exception (ValueError, None)",
        "return_value (5,)",
    ]


def test_yield_and_await_are_events(make_program):
    source = """
        class Ready:
            def __await__(self):
                return iter(())

        def numbers():
            got = yield 1
            yield

        async def coroutine():
            await Ready()
            return 2

        def main():
            list(numbers())
            try:
                coroutine().send(None)
            except StopIteration:
                pass
    """
    seen = seen_in(make_program, ShownControl, source)
    assert [event.split()[0] for event in seen] == ["yield_value", "yield_value", "await_value", "return_value",
                                                    "return_value"]  # fmt: skip


def test_yield_from_is_iteration(make_program):
    source = """
        def numbers():
            result = yield from [1]

        def main():
            list(numbers())
    """
    assert seen_in(make_program, ShownIteration, source) == [
        "iter ([1],)",
        "next (list_iterator,)",
        "next (list_iterator,)",
    ]


def test_asynchronous_loops_and_blocks_are_events(make_program):
    class Both(Shown, events=Events.ITERATION | Events.CONTROL):
        pass

    source = """
        class Manager:
            async def __aenter__(self):
                pass

            async def __aexit__(self, *exception):
                pass

        async def numbers():
            yield 1

        async def main_coroutine():
            async with Manager():
                async for number in numbers():
                    pass

        def main():
            try:
                main_coroutine().send(None)
            except StopIteration:
                pass
    """
    seen = [event.split()[0] for event in seen_in(make_program, Both, source)]
    assert seen == ["enter_async_context", "aiter", "anext", "yield_value", "anext", "exit_async_context"]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="t-strings are new in 3.14 (PEP 750)")
def test_t_strings_are_displays(make_program):
    source = """
        def main():
            a = "x"
            return t"{a}!"
    """
    (event,) = seen_in(make_program, ShownDisplays, source)
    assert event.startswith("build_template (Interpolation('x', 'a', None, ''), '!'")


# ---- overloads turn their kind of event on by themselves, and what they give is the value


@pytest.mark.parametrize(
    ("target", "value", "expression", "expected"),
    [
        (getattr, 7, "O().x", 7),
        (operator.truth, False, "1 if O() else 2", 2),
        (primitives.number, 9, "3 + 4", 18),
        (primitives.build_list, "list", "[1]", "list"),
        (primitives.build_tuple, "tuple", "(O, 1)", "tuple"),
        (primitives.build_dict, "dict", "{1: 2}", "dict"),
        (primitives.build_string, "text", "f'{1}'", "text"),
        (primitives.load_global, 4, "G", 4),
        (primitives.return_value, 8, "1", 8),
        (iter, iter([5]), "[x for x in (1, 2)]", [5]),
        (operator.contains, True, "1 in ()", True),
    ],
)
def test_an_overload_of_a_primitive_returns_the_value(target, value, expression, expected, make_program):
    program = make_program(f"""
        G = 1

        class O:
            x = 1

        def main():
            return {expression}
    """)

    class Own(Context):
        pass

    Own.overdub.register(target)(lambda ctx, f, *args: value)
    assert overdub(Own(), program.main) == expected


def test_an_overload_of_raise_raises_something_else(make_program):
    program = make_program("""
        def main():
            raise KeyError(1)
    """)

    class Own(Context):
        pass

    @Own.overdub.register(primitives.raise_exception)
    def _(ctx, f, exception):
        return ValueError(*exception.args)

    with pytest.raises(ValueError, match="1"):
        overdub(Own(), program.main)


def test_an_overload_of_next_replaces_items(make_program):
    program = make_program("""
        def main():
            return [x for x in (1, 2)], dict([(3, 4)])
    """)

    class Own(Context):
        pass

    @Own.overdub.register(next)
    def _(ctx, f, iterator):
        return next(iterator) * 10

    assert overdub(Own(), program.main) == ([10, 20], {3: 4})


def test_the_end_of_an_iteration_is_an_errorhook(make_program):
    program = make_program("""
        def main():
            for x in (1,):
                pass
    """)

    class Own(Context, events=Events.ITERATION):
        def errorhook(self, exception, f, *args):
            self.metadata.append((type(exception), f))

    ctx = Own([])
    overdub(ctx, program.main)
    assert ctx.metadata == [(StopIteration, next)]


def test_each_operand_of_and_and_or_is_tested_once(make_program):
    program = make_program("""
        class Asked:
            def __init__(self, value, log):
                self.value, self.log = value, log

            def __bool__(self):
                self.log.append(self.value)
                return bool(self.value)

        def main(a, b, c):
            log = []
            a, b, c = Asked(a, log), Asked(b, log), Asked(c, log)
            first = (a and b or c).value
            second = ((a or b) and c).value
            if (a or b) and c:
                log.append("yes")
            return first, second, log
    """)

    class Own(Context, events=Events.TRUTH):
        def prehook(self, f, *args):
            len(args)

    for values in [(a, b, c) for a in (0, 1) for b in (0, 2) for c in (0, 3)]:
        asked = [value for value in overdub(Own(), program.main, *values)[2] if value != "yes"]
        first = [values[0]] + ([values[1]] if values[0] else [])
        second = [values[0]] + ([] if values[0] else [values[1]])
        third = second + ([values[2]] if values[0] or values[1] else [])
        assert asked == first + second + third


def test_each_row_of_the_table_has_a_function_that_does_the_same():
    assert all(row.function is None or callable(row.function) for row in primitives.TABLE)
    assert {row.event for row in primitives.TABLE} == set(Events)
