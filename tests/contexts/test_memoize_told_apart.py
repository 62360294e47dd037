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
