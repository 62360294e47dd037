"""Errorhooks get exactly the arguments that the prehook of the event got, in every place."""

import pytest

from cassette_import import Context, Events

HELPERS = """
class Failing:
    def __getattr__(self, name):
        raise KeyError(name)

    def _fail(self, *arguments, **keywords):
        raise KeyError(arguments)

    __getitem__ = __setitem__ = __delitem__ = __add__ = __radd__ = __lt__ = __call__ = __neg__ = __iadd__ = _fail
    __contains__ = __iter__ = __bool__ = __enter__ = _fail

    def method(self, *arguments, **keywords):
        raise KeyError(arguments)

    @classmethod
    def kind(cls, *arguments):
        raise KeyError(arguments)


def fail(*arguments, **keywords):
    raise KeyError(arguments)


def same(value, *rest, **keywords):
    return value


x, key = Failing(), "key"
"""

EXPRESSIONS = [
    "fail()",
    "fail(1, 'two', None, k=3.0, l=key)",
    "fail(same(1), same(2), k=same(3))",
    "same(same(1), fail(same(2), same(4)), same(5))",
    "fail(fail)",
    "fail(*[1, 2], **{'k': 3})",
    "x.method(1, same(2), k=same(3))",
    "x.kind(same(1))",
    "Failing.method(x, 1)",
    "x(1, k=2)",
    "int(same('a'), base=10)",
    "'a'.index('b')",
    "[].pop()",
    "x.missing",
    "x[key]",
    "x[1:same(2)]",
    "x + 1",
    "1 + x",
    "same(x) + (same(1) + same(2))",
    "-x",
    "x < 1 < 2",
    "0 < 1 < x[0]",
    "1 in x",
    "not x",
    "[*x]",
    "{**x.a}",
    "[a for a in x]",
    "same(1) and fail(2)",
    "fail(1) if same(0) else fail(same(2))",
    "(lambda a: fail(a))(same(1))",
    "f'{fail(1)}'",
    "next(iter(()))",
    "same(fail)(3)",
    "__import__('functools').partial(fail, 1, k=2)(3, l=4)",
]

STATEMENTS = [
    "x[same(1)] = same(2)",
    "del x[same(1)]",
    "y = x\n    y += same(1)",
    "a, b = x",
    "for a in x: pass",
    "if x: pass",
    "try:\n        fail(1)\n    finally:\n        same(2, 3)",
    "try:\n        same(fail(1), 2)\n    except KeyError:\n        same(3)\n        fail(same(4))",
    "try:\n        same(1)\n    except KeyError:\n        pass\n    else:\n        fail(5)",
    "import nowhere_to_be_found",
]

PLACES = {
    "in_a_function": "def work():\n    {}\n",
    "in_a_generator": "def made():\n    {}\n    yield\ndef work():\n    next(made())\n",
    "in_a_closure": "def work():\n    free = 1\n    def inner():\n        free\n        {}\n    inner()\n",
    "in_a_loop": "def work():\n    for i in [1]:\n        {}\n",
}


class Watching(Context, events=Events.ALL):
    """Compares the arguments that the hooks of an event get."""

    def __init__(self):
        super().__init__()
        self.going_on, self.wrong, self.failed = [], [], 0

    def prehook(self, f, *arguments, **keywords):
        self.going_on.append((f, arguments, keywords))

    def posthook(self, result, f, *arguments, **keywords):
        self.compare(f, arguments, keywords)

    def errorhook(self, exception, f, *arguments, **keywords):
        self.failed += 1
        self.compare(f, arguments, keywords)

    def compare(self, f, arguments, keywords):
        began = self.going_on.pop()
        is_same = f is began[0] and keywords == began[2] and len(arguments) == len(began[1])
        if not is_same or not all(map(_is_same, arguments, began[1])):
            self.wrong.append((began, (f, arguments, keywords)))


def _is_same(one, other):
    return one is other or (type(one) is type(other) and type(one) in (int, str, slice, float) and one == other)


class Outer(Watching):
    """Another type that does the same."""


class Names(Context, events=Events.ALL):
    """Its hooks read the callee alone."""

    def __init__(self):
        super().__init__()
        self.going_on, self.wrong, self.failed = [], [], 0

    def prehook(self, f, *arguments, **keywords):
        self.going_on.append(f)

    def posthook(self, result, f, *arguments, **keywords):
        if self.going_on.pop() is not f:
            self.wrong.append(f)

    def errorhook(self, exception, f, *arguments, **keywords):
        self.failed += 1
        if self.going_on.pop() is not f:
            self.wrong.append(f)


@pytest.mark.parametrize("types", [(Watching,), (Outer, Watching), (Names,), (Names, Watching)])
@pytest.mark.parametrize("place", PLACES)
def test_errorhooks_get_the_arguments_that_prehooks_got(place, types, make_program):
    codes = [*EXPRESSIONS, *STATEMENTS]
    source = "".join(_function(number, code, PLACES[place]) for number, code in enumerate(codes))
    module = make_program({"__init__.py": HELPERS + source})
    for number, code in enumerate(codes):
        contexts = [made() for made in types]
        with pytest.raises((KeyError, LookupError, TypeError, ValueError, StopIteration, RuntimeError, ImportError)):
            _inside(contexts, getattr(module, f"work_{number}"))
        for context in contexts:
            assert (code, context.wrong, context.going_on) == (code, [], [])
            assert context.failed


def _inside(contexts, work):
    if contexts:
        with contexts[0]:
            return _inside(contexts[1:], work)
    return work()


def _function(number, code, place):
    """The text of a function that has the code at a place."""
    line = next(line for line in place.splitlines() if "{}" in line)
    lines = code.replace("\n    ", "\n" + line.replace("{}", ""))
    return place.format(lines).replace("def work():", f"def work_{number}():")


class Refusing(Context):
    """Raises at the calls of one function, for all arguments."""

    def prehook(self, f, *arguments, **keywords):
        if f is list.append:
            raise LookupError("refused")


class Told(Context):
    """Records the arguments of failing events."""

    def __init__(self):
        super().__init__()
        self.failed = []

    def errorhook(self, exception, f, *arguments, **keywords):
        self.failed.append((f, arguments, keywords))


class ToldAlone(Told):
    """Records the function of failing events only."""

    def errorhook(self, exception, f, *arguments, **keywords):
        self.failed.append(f)


class Asking(Refusing):
    """Its prehook reads the arguments as well."""

    def prehook(self, f, *arguments, **keywords):
        self.count = len(arguments)
        if f is list.append:
            raise LookupError("refused")


@pytest.mark.parametrize("inner", [Refusing, Asking])
@pytest.mark.parametrize(("outer", "told"), [(Told, (list.append, ([], 3), {})), (ToldAlone, list.append)])
def test_an_outer_context_gets_the_event_whose_prehook_failed(outer, told, inner, make_program):
    program = make_program({"__init__.py": "def work(items):\n    items.append(3)\n"})
    context = outer()
    with pytest.raises(LookupError):
        _inside([context, inner()], lambda: program.work([]))
    assert context.failed[0] == told


@pytest.mark.parametrize("others", [(), (Names,), (Watching,), (Names, Watching)])
@pytest.mark.parametrize("is_outer", [True, False])
@pytest.mark.parametrize(("kind", "told"), [(Told, (list.remove, ([], 3), {})), (ToldAlone, list.remove)])
def test_a_context_with_an_errorhook_alone_gets_the_receiver_of_the_method(kind, told, is_outer, others, make_program):
    program = make_program({"__init__.py": "def work(items):\n    items.remove(3)\n"})
    context, rest = kind(), [other() for other in others]
    with pytest.raises(ValueError, match="not in list"):
        _inside([context, *rest] if is_outer else [*rest, context], lambda: program.work([]))
    assert context.failed[0] == told
    assert [other.wrong for other in rest] == [[] for _ in rest]
