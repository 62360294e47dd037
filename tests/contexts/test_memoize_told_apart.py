"""`Memoize`: what a program could tell from its copy, or has changed unseen by pickle, is not cached."""

import textwrap

import pytest

from cassette_import import overdub
from cassette_import.contexts import Memoize

PROGRAMS = {
    "an object that is hashed by its value is held by a dict": """
        class Account:
            def __init__(self, name):
                self.name, self.balance = name, 0
            def __eq__(self, other):
                return isinstance(other, Account) and other.name == self.name
            def __hash__(self):
                return hash(self.name)
        ACCOUNTS = {"a": Account("a")}
        def f(name):
            return ACCOUNTS[name]
        def main():
            f("a").balance += 10
            f("a").balance += 10
            return f("a").balance
    """,
    "an object with slots that is hashed by its value is held by a dict": """
        class Account:
            __slots__ = "name", "balance"
            def __init__(self, name):
                self.name, self.balance = name, 0
            def __eq__(self, other):
                return isinstance(other, Account) and other.name == self.name
            def __hash__(self):
                return hash(self.name)
        ACCOUNTS = {"a": Account("a")}
        def f(name):
            return [ACCOUNTS[name]]
        def main():
            f("a")[0].balance += 10
            f("a")[0].balance += 10
            return f("a")[0].balance
    """,
    "a dataclass that is hashed by its value is a part of a result": """
        import dataclasses
        @dataclasses.dataclass(unsafe_hash=True)
        class Account:
            balance: int = 0
        ACCOUNTS = {"a": Account()}
        def f(name):
            return {name: ACCOUNTS[name]}
        def main():
            f("a")["a"].balance += 10
            f("a")["a"].balance += 10
            return f("a")["a"].balance
    """,
    "a result is held by a weak reference alone": """
        import weakref
        class Node:
            pass
        NODES = weakref.WeakValueDictionary()
        def f(name):
            return NODES.setdefault(name, Node())
        def main():
            one, other = f("a"), f("a")
            return [one is other, f("a") is other]
    """,
    "a part of a result is held by a weak reference alone": """
        import weakref
        class Node:
            pass
        NODES = weakref.WeakValueDictionary()
        def f(name):
            return [NODES.setdefault(name, Node())]
        def main():
            one, other = f("a"), f("a")
            return [one[0] is other[0], f("a")[0] is other[0]]
    """,
    "a result has a callback for its end": """
        import weakref
        class Open:
            pass
        ENDED = []
        def f(name):
            made = Open()
            made.name = name
            weakref.finalize(made, ENDED.append, name)
            return made
        def main():
            f("a"), f("a"), f("b")
            return ENDED
    """,
    "an object of a result has a finalizer": """
        ENDED = []
        class Open:
            def __init__(self, name):
                self.name = name
            def __del__(self):
                ENDED.append(self.name)
        def f(name):
            return [Open(name)]
        def main():
            kept = [f("a"), f("a")]
            return len(kept), list(ENDED)
    """,
    "an exception of a result has a cause": """
        def f(x):
            error = ValueError(x)
            error.__cause__ = KeyError(x)
            return error
        def main():
            return [repr(f(1).__cause__) for _ in range(3)]
    """,
    "an exception of a result was raised": """
        def f(x):
            try:
                raise ValueError(x)
            except ValueError as error:
                return {"failed": error}
        def main():
            return [f(1)["failed"].__traceback__ is None for _ in range(3)]
    """,
    "an argument is an exception with a cause": """
        def f(error):
            return repr(error.__cause__)
        def main():
            one, other = ValueError(1), ValueError(1)
            other.__cause__ = KeyError(1)
            return [f(one), f(other)]
    """,
    "a call changes the variables of a closure": """
        def f(function):
            return function()
        def main():
            count = 0
            def counter():
                nonlocal count
                count += 1
                return count
            return [f(counter), f(counter)]
    """,
    "the variables of a closure have changed between two calls": """
        def f(function):
            return function()
        def main():
            rate = 1
            def get():
                return rate
            before = f(get)
            rate = 2
            return [before, f(get)]
    """,
    "a closure calls itself": """
        def f(function):
            return function(3)
        def main():
            start = 0
            def down(n):
                return start if n == 0 else down(n - 1)
            before = f(down)
            start = 5
            return [before, f(down)]
    """,
    "a closure has a variable without a value": """
        def f(function):
            return function.__name__
        def main():
            def get():
                return later
            before = f(get)
            later = 1
            return [before, f(get), get()]
    """,
    "a call changes the defaults of a function that it is given": """
        def f(function):
            return function(1)
        def kept(x, *, seen=[]):
            seen.append(x)
            return len(seen)
        def main():
            return [f(kept), f(kept)]
    """,
    "an attribute of a function has changed": """
        def f(function):
            return function.level
        def g():
            pass
        def main():
            g.level = 1
            before = f(g)
            g.level = 2
            return [before, f(g)]
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_the_same_if(make_program, name):
    text = textwrap.dedent(PROGRAMS[name])
    plain, cached = make_program(text), make_program(text)
    assert overdub(Memoize(cached.f), cached.main) == plain.main()


VALUES = {
    "a fraction": "import fractions\nVALUE = fractions.Fraction(1, 3)",
    "a path": "import pathlib\nVALUE = pathlib.PurePosixPath('a')",
    "a frozen dataclass": "import dataclasses as d\n@d.dataclass(frozen=True)\nclass D:\n    x: int = 1\nVALUE = D()",
    "a named tuple": "import collections\nD = collections.namedtuple('D', 'x')\nVALUE = D(1)",
    "a member of an enum": "import enum\nclass D(enum.Enum):\n    X = 1\nVALUE = D.X",
    "a date": "import datetime\nVALUE = datetime.date(2000, 1, 1)",
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_cannot_be_changed_is_cached_although_it_is_held_elsewhere(make_program, name):
    program = make_program(f"{VALUES[name]}\ndef f(x):\n    return [x, VALUE]\n")
    memoize = Memoize(program.f)
    overdub(memoize, lambda: (program.f(1), program.f(1)))
    assert "1 hit, 1 miss" in memoize.summary()


@pytest.mark.parametrize("name", ["an exception", "a closure"])
def test_calls_that_change_nothing_are_cached_for(make_program, name):
    program = make_program(
        """
        def f(x):
            return [str(x)]
        def closure(n):
            def get():
                return n
            return get
        ARGUMENTS = {"an exception": ValueError(1), "a closure": closure([1])}
        """
    )
    memoize = Memoize(program.f)
    argument = program.ARGUMENTS[name]
    overdub(memoize, lambda: (program.f(argument), program.f(argument)))
    assert "1 hit, 1 miss" in memoize.summary()


HELD = {
    "a default": "def f(x, seen=[]):\n    return x, len(seen)\nseen, = f.__defaults__",
    "a default of a keyword": "def f(x, *, seen=[]):\n    return x, len(seen)\nseen = f.__kwdefaults__['seen']",
    "an attribute": "def f(x):\n    return x, len(f.seen)\nf.seen = seen = []",
    "a closure": """
def closure():
    seen = []
    def f(x):
        return x, len(seen)
    return f, seen
f, seen = closure()
""",
    "a decorated function": """
import functools
def decorated(function):
    @functools.wraps(function)
    def call(x):
        return function(x)
    return call
def seen_by(seen):
    @decorated
    def f(x):
        return x, len(seen)
    return f
seen = []
f = seen_by(seen)
""",
    "a constructor": """
class f(list):
    def __init__(self, x, seen=[]):
        super().__init__([x, len(seen)])
seen, = f.__init__.__defaults__
""",
}
CHANGE_BETWEEN_CALLS = "def main():\n    found = [f(1), f(1)]\n    seen.append(1)\n    return [*found, f(1), f(1)]"
STORES = {"memory": dict, "a store": lambda: {"store": {}}}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("held", HELD)
def test_what_a_function_holds_counts_like_an_argument(make_program, held, store):
    text = f"{HELD[held]}\n{CHANGE_BETWEEN_CALLS}"
    plain, cached = make_program(text), make_program(text)
    memoize = Memoize(cached.f, **STORES[store]())
    assert list(map(list, overdub(memoize, cached.main))) == list(map(list, plain.main()))
    assert "4 calls, 2 hits, 2 misses" in memoize.summary()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("kind", ["positional", "keyword", "closure", "attribute"])
def test_a_call_that_changes_what_its_function_holds_is_made_each_time(make_program, kind, store):
    heads = {
        "positional": "def f(x, seen=[]):",
        "keyword": "def f(x, *, seen=[]):",
        "closure": "seen = []\n    def f(x):",
        "attribute": "def f(x):\n        seen = f.seen",
    }
    text = f"""
def made():
    {heads[kind]}
        seen.append(x)
        return len(seen)
    f.seen = []
    return f
f = made()
def main():
    return f(1), f(1), f(1)
"""
    program = make_program(text)
    memoize = Memoize(program.f, **STORES[store]())
    assert overdub(memoize, program.main) == (1, 2, 3)
    assert "3 × it changes its arguments" in memoize.summary()


def test_a_default_that_was_replaced_is_another_argument(make_program):
    program = make_program(
        """
        def f(x, rate=2):
            return x * rate
        def main():
            found = [f(1), f(1)]
            f.__defaults__ = (3,)
            return [*found, f(1)]
        """
    )
    assert overdub(Memoize(program.f), program.main) == [2, 2, 3]


SHARED = {
    "a dtype": "import numpy\nSHARED = numpy.dtype('f4')",
    "a ufunc": "import numpy\nSHARED = numpy.sin",
    "a masked value": "import numpy\nSHARED = numpy.ma.masked",
    "a class": "class SHARED:\n    pass",
    "a function": "def SHARED():\n    pass",
    "a builtin": "SHARED = len",
    "a member of an enum": "import enum\nclass D(enum.Enum):\n    X = 1\nSHARED = D.X",
    "a flag": "import re\nSHARED = re.IGNORECASE",
    "a logger": "import logging\nSHARED = logging.getLogger('memoize.shared')",
    "a pattern": "import re\nSHARED = re.compile('a')",
    "a generic alias": "import typing\nSHARED = typing.List[int]",
    "a singleton": """
        class Missing:
            def __reduce__(self):
                return "SHARED"
        SHARED = Missing()
        SHARED.__module__ = __name__
    """,
    "a singleton of its class": """
        class Missing:
            known = None
            def __new__(cls):
                cls.known = cls.known or object.__new__(cls)
                return cls.known
            def __reduce__(self):
                return Missing, ()
        SHARED = Missing()
    """,
}


@pytest.mark.parametrize("name", SHARED)
def test_an_object_that_nothing_tells_from_its_copy_may_be_in_arguments_and_result(make_program, name):
    if "numpy" in SHARED[name]:
        pytest.importorskip("numpy")
    program = make_program(f"{textwrap.dedent(SHARED[name])}\ndef f(x):\n    return [x, [x]]\n")
    memoize = Memoize(program.f)
    results = overdub(memoize, lambda: [program.f(program.SHARED), program.f(program.SHARED)])
    assert results == [[program.SHARED, [program.SHARED]]] * 2
    assert "1 hit, 1 miss" in memoize.summary(), memoize.summary()


def test_a_value_of_a_class_of_the_program_that_a_call_returns_is_the_argument_itself(make_program):
    program = make_program(
        """
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class Term:
            name: str
        def simplified(term):
            return term
        def main():
            term = Term("x")
            return [simplified(term) is term, simplified(term) is term]
        """
    )
    assert overdub(Memoize(program.simplified), program.main) == [True, True]


def test_calls_of_numpy_are_cached_whose_results_have_the_dtype_of_an_argument(make_program):
    numpy = pytest.importorskip("numpy")
    program = make_program("def double(x):\n    return x * 2\ndef mean(x):\n    return x.mean()\n")
    memoize = Memoize(program.double, program.mean)
    overdub(memoize, lambda: [f(numpy.arange(3.0)) for f in (program.double, program.mean) * 2])
    assert [figures["hits"] for figures in memoize.statistics().values()] == [1, 1]
