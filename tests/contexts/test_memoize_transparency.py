"""`Memoize`: a program cannot tell a cached call from one that is made, whatever it passes and returns."""

import importlib
import subprocess
import sys
import textwrap

import pytest

from cassette_import import overdub
from cassette_import.contexts import Memoize
from cassette_import.contexts.memoize.stores import digest_of

PROGRAMS = {
    "a registry inside of a result is the same object": """
        REGISTRY = {}
        def f(x):
            return {"registry": REGISTRY}
        def main():
            f(1)["registry"]["a"] = 1
            f(1)["registry"]["b"] = 2
            return f(1)["registry"]
    """,
    "an object of the module inside of a result is the same object": """
        class Slotted:
            __slots__ = "items",
            def __init__(self):
                self.items = []
        KEPT = Slotted()
        def f(x):
            return [1, (KEPT.items, x)]
        def main():
            f(1)[1][0].append("a")
            f(1)[1][0].append("b")
            return f(1), KEPT.items
    """,
    "a sentinel is the same object": """
        class Missing:
            pass
        MISSING = Missing()
        def f(x):
            return MISSING
        def main():
            return [f(1) is MISSING, f(1) is MISSING]
    """,
    "a sentinel inside of a result is the same object": """
        MISSING = object()
        def f(x):
            return [x, MISSING]
        def main():
            return [f(1)[1] is MISSING, f(1)[1] is MISSING]
    """,
    "a sentinel with a state is the same object": """
        class Named:
            def __init__(self, name):
                self.name = name
        DEFAULT = Named("default")
        def f(x):
            return DEFAULT
        def main():
            return [f(1) is DEFAULT, f(1) is DEFAULT]
    """,
    "a change of a shared result shows": """
        SETTINGS = {"a": 1}
        def f():
            return SETTINGS
        def main():
            f()["b"] = 2
            f()["c"] = 3
            return sorted(SETTINGS)
    """,
    "a member of an enum is the same object": """
        import enum
        class Colour(enum.Enum):
            RED = 1
        def f(x):
            return Colour.RED
        def main():
            return [f(1) is Colour.RED, f(1) is Colour.RED]
    """,
    "each closure is a new one": """
        def f(x):
            count = [x]
            def next_number():
                count[0] += 1
                return count[0]
            return next_number
        def main():
            one, other = f(1), f(1)
            return [one is other, one(), one(), other()]
    """,
    "each class is a new one": """
        def f(name):
            return type(name, (), {})
        def main():
            one, other = f("A"), f("A")
            one.attribute = 1
            return [one is other, hasattr(other, "attribute")]
    """,
    "each lambda with attributes is a new one": """
        def f():
            return lambda: None
        def main():
            f().attribute = 1
            return hasattr(f(), "attribute")
    """,
    "a generator is used up once": """
        def f(n):
            return (i for i in range(n))
        def main():
            return [list(f(3)), list(f(3))]
    """,
    "an iterator is used up once": """
        def f(n):
            return iter([n, n + 1])
        def main():
            return [list(f(3)), list(f(3))]
    """,
    "the order of keywords shows": """
        def f(**named):
            return list(named)
        def main():
            return [f(a=1, b=2), f(b=2, a=1), f(a=1, b=2)]
    """,
    "the order of the keys of a dict shows": """
        def f(values):
            return list(values)
        def main():
            return [f({"a": 1, "b": 2}), f({"b": 2, "a": 1})]
    """,
    "the sign of zero shows": """
        import math
        def f(x, *more, **named):
            return [math.copysign(1, v) for v in (x, *more, *named.values())]
        def main():
            return [f(0.0), f(-0.0), f(1.0, 0.0), f(1.0, -0.0), f(1.0, y=0.0), f(1.0, y=-0.0), f(0), f(False)]
    """,
    "the type of a number shows": """
        def f(x):
            return type(x).__name__
        def main():
            return [f(1), f(True), f(1.0), f(1 + 0j), f(0), f(False), f(0.0)]
    """,
    "a subclass of str shows": """
        class Safe(str):
            pass
        def f(x):
            return type(x).__name__
        def main():
            return [f("a"), f(Safe("a")), f("a")]
    """,
    "NaN is equal to nothing": """
        def f(x):
            return x == x
        def main():
            nan = float("nan")
            return [f(nan), f(nan), f(float("nan")), f(1.0)]
    """,
    "a huge argument": """
        def f(values):
            return sum(values)
        def main():
            values = list(range(100_000))
            first = f(values)
            values[50_000] = 0
            return [first, f(values)]
    """,
    "attributes of a receiver with slots show": """
        class Point:
            __slots__ = ("x",)
            def __init__(self, x):
                self.x = x
            def f(self):
                return self.x * 2
        f = Point.f
        def main():
            point = Point(1)
            first = point.f()
            point.x = 5
            return [first, point.f(), Point(1).f()]
    """,
    "a method of a subclass": """
        class Base:
            factor = 1
            def f(self, x):
                return self.factor * x
        class Sub(Base):
            factor = 2
        f = Base.f
        def main():
            return [Base().f(3), Sub().f(3), Base().f(3), Sub().f(3)]
    """,
    "a class attribute that was changed": """
        class Base:
            factor = 1
            def __init__(self):
                self.own = 1
            @classmethod
            def f(cls, x):
                return x
        f = Base.f
        def main():
            return [Base.f(1), Base().f(1), Base.f(2)]
    """,
    "defaults that the function changes": """
        def f(x, seen=[]):
            return x
        def main():
            return [f(1), f(1, []), f(1, seen=[])]
    """,
    "a result that is changed": """
        def f(x):
            return {"values": [x]}
        def main():
            f(1)["values"].append(2)
            return f(1)
    """,
    "a result with a cycle": """
        def f(x):
            found = [x]
            found.append(found)
            return found
        def main():
            one, other = f(1), f(1)
            return [one[1] is one, other[1] is other, one is other]
    """,
    "a tree whose nodes know their parents": """
        class Node:
            def __init__(self, parent=None):
                self.parent, self.children = parent, []
                if parent is not None:
                    parent.children.append(self)
        def f(n):
            root = Node()
            for _ in range(n):
                Node(root)
            return root
        def main():
            one, other = f(2), f(2)
            return [one is other, len(other.children), all(child.parent is other for child in other.children)]
    """,
    "an exception as a result": """
        def f(x):
            return ValueError(x)
        def main():
            one, other = f(1), f(1)
            return [one is other, other.args]
    """,
    "an exception that is raised": """
        def f(x):
            raise KeyError(x)
        def main():
            found = []
            for _ in range(2):
                try:
                    f(1)
                except KeyError as error:
                    found.append(error)
            return [found[0] is found[1], found[1].args]
    """,
    "an asynchronous function": """
        import asyncio
        async def f(x):
            await asyncio.sleep(0)
            return [x]
        async def twice():
            one, other = await asyncio.gather(f(1), f(1))
            return [one is other, one, other, await f(1)]
        def main():
            return asyncio.run(twice())
    """,
    "a partial object": """
        import functools
        def f(x, y):
            return [x, y]
        def main():
            half = functools.partial(f, 1)
            return [half(2), half(2), half(y=2), functools.partial(f, y=1)(2)]
    """,
    "a callable object": """
        class Adder:
            def __init__(self, n):
                self.n = n
            def __call__(self, x):
                return self.n + x
        f = Adder.__call__
        def main():
            one, other = Adder(1), Adder(10)
            return [one(1), other(1), one(1), other(1)]
    """,
    "threads": """
        import threading
        def f(x):
            return [x]
        def main():
            found = []
            threads = [threading.Thread(target=lambda: found.append(f(1))) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            return [found, len({id(value) for value in found})]
    """,
    "arrays": """
        import array
        def f(values, factor):
            return sum(values) * factor
        def main():
            numbers = array.array("d", [1, 2])
            return [f(numbers, 2.0), f(array.array("d", [1, 2]), 2.0), f(array.array("f", [1, 2]), 0.0)]
    """,
    "arrays of NumPy": """
        import numpy
        def f(values, factor):
            return values * factor
        def main():
            one, other = f(numpy.arange(3), 2.0), f(numpy.arange(3), 2.0)
            one[0] = 7
            return [other.tolist(), f(numpy.arange(3), k=2.0) if False else f(numpy.arange(3), factor=0.0).tolist()]
    """,
    "objects that are equal but not the same": """
        class Always:
            def __init__(self, x):
                self.x = x
            def __eq__(self, other):
                return True
            def __hash__(self):
                return 1
        def f(value):
            return value.x
        def main():
            return [f(Always(1)), f(Always(2))]
    """,
    "the same object twice in the arguments": """
        def f(one, other):
            return one is other
        def main():
            values = [1]
            return [f(values, values), f(values, [1]), f([1], [1])]
    """,
    "a result that holds its argument": """
        def f(values):
            return (values, 1)
        def main():
            values = [1]
            return [f(values)[0] is values, f(values)[0] is values]
    """,
    "a closure as an argument": """
        def f(function):
            return function()
        def main():
            return [f(lambda n=n: n) for n in (1, 2, 1)]
    """,
    "results of a cache of the program's own": """
        import functools
        @functools.lru_cache
        def inner(x):
            return [x]
        def f(x):
            return inner(x)
        def main():
            f(1).append(2)
            return [f(1), f(1) is inner(1)]
    """,
    "a recursive function": """
        def f(n):
            return [] if n == 0 else [n, *f(n - 1)]
        def main():
            return [f(5), f(6)]
    """,
    "a weak reference in a result": """
        import weakref
        class Thing:
            pass
        THING = Thing()
        def f():
            return weakref.ref(THING)
        def main():
            return [f()() is THING, f()() is THING]
    """,
    "a module in a result": """
        import json
        def f():
            return [json]
        def main():
            return [f()[0] is json, f()[0] is json]
    """,
    "a bound method as a result": """
        class Counter:
            def __init__(self):
                self.n = 0
            def add(self):
                self.n += 1
                return self.n
        COUNTER = Counter()
        def f():
            return COUNTER.add
        def main():
            return [f()(), f()(), COUNTER.n]
    """,
    "an object of a generator's frame": """
        def f(x):
            values = []
            def grow():
                values.append(x)
                return values
            return grow()
        def main():
            one, other = f(1), f(1)
            one.append(0)
            return other
    """,
    "a result that is kept": """
        kept = []
        def f(x):
            result = [x]
            kept.append(result)
            return result
        def main():
            f(1).append(2)
            f(1).append(3)
            return kept
    """,
    "a result that is an attribute of the receiver": """
        class Box:
            def __init__(self):
                self.values = []
            def f(self):
                return self.values
        f = Box.f
        def main():
            box = Box()
            box.f().append(1)
            box.f().append(2)
            return box.values
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_returns_what_it_returns_without_a_cache(name, make_program):
    plain, cached = make_program(PROGRAMS[name]), make_program(PROGRAMS[name])
    assert repr(overdub(Memoize(cached.f), cached.main)) == repr(plain.main())


@pytest.mark.parametrize("name", ["a result that is changed", "a tree whose nodes know their parents", "arrays"])
def test_a_result_that_nothing_else_holds_is_cached(name, make_program):
    program = make_program(PROGRAMS[name])
    memoize = Memoize(program.f)
    overdub(memoize, program.main)
    (found,) = memoize.statistics().values()
    assert (found["hits"], found["uncacheable"]) == (1, {})


# ---- functions that share a name

SHARED_NAMES = {
    "two closures of one def": """
        def made(n):
            def f(x):
                return x + n
            return f
        one, other = made(1), made(100)
    """,
    "two functions behind functools.wraps": """
        import functools
        def logged(function):
            @functools.wraps(function)
            def wrapper(*values):
                return function(*values)
            return wrapper
        @logged
        def f(x):
            return x + 1
        one = f
        @logged
        def f(x):
            return x + 100
        other = f
    """,
    "two closures over functions": """
        def made(function):
            def f(x):
                return function(x)
            return f
        one, other = made(lambda x: x + 1), made(lambda x: x + 100)
    """,
    "two closures over bound methods": """
        class Adder:
            def __init__(self, n):
                self.n = n
            def add(self, x):
                return self.n + x
        def made(function):
            def f(x):
                return function(x)
            return f
        one, other = made(Adder(1).add), made(Adder(100).add)
    """,
    "two functions with other defaults": """
        def made(n):
            def f(x, n=n):
                return x + n
            return f
        one, other = made(1), made(100)
    """,
    "two functions with other defaults of keywords": """
        def made(n):
            def f(x, *, n=n):
                return x + n
            return f
        one, other = made(1), made(100)
    """,
}


@pytest.mark.parametrize("name", SHARED_NAMES)
def test_functions_that_share_a_name_share_no_results_in_a_folder(name, make_program, tmp_path):
    pytest.importorskip("diskcache")
    program = make_program(SHARED_NAMES[name])
    for function in (program.one, program.other, program.one, program.other):
        memoize = Memoize(function, folder=str(tmp_path / "kept"))
        assert overdub(memoize, lambda function=function: function(1)) == function(1)


def test_a_closure_over_an_object_that_another_run_cannot_compare_is_not_cached_in_a_folder(make_program, tmp_path):
    pytest.importorskip("diskcache")
    program = make_program(
        """
        import threading
        def made(lock):
            def f(x):
                with lock:
                    return x
            return f
        f = made(threading.Lock())
        """
    )
    memoize = Memoize(program.f, folder=str(tmp_path / "kept"))
    assert [overdub(memoize, program.f, 1) for _ in range(2)] == [1, 1]
    (found,) = memoize.statistics().values()
    assert found["uncacheable"] == {"it uses a lock object that cannot be compared with that of another run": 2}


def test_a_function_that_leads_to_too_many_others_is_not_cached_in_a_folder(make_program, tmp_path):
    pytest.importorskip("diskcache")
    chain = "\n".join(f"def f{number}(x): return f{number + 1}(x) if x > {number} else x" for number in range(2000))
    program = make_program(f"{chain}\ndef f2000(x): return x\n")
    memoize = Memoize(program.f0, folder=str(tmp_path / "kept"))
    assert [overdub(memoize, program.f0, 3) for _ in range(2)] == [3, 3]
    (found,) = memoize.statistics().values()
    (reason,) = found["uncacheable"]
    assert "too many functions" in reason


def test_packages_count_as_installed_wherever_their_site_packages_are(make_program, tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    program = make_program("def f(x): return used(x)")
    digests = []
    for number in range(2):
        (folder / f"installed_{number}.py").write_text(f"def used(x): return x + {number}\n")
        program.used = importlib.import_module(f"installed_{number}").used
        program.used.__module__ = "installed"
        digests.append(digest_of(program.f))
    assert digests[0] == digests[1]


# ---- edited programs

EDITS = {
    "the function": ("def f(x):\n    return 1\n", "def f(x):\n    return 2\n"),
    "a function that it calls": (
        "def helper():\n    return 1\ndef f(x):\n    return helper()\n",
        "def helper():\n    return 2\ndef f(x):\n    return helper()\n",
    ),
    "a function that one of these calls": (
        "def a():\n    return 1\ndef b():\n    return a()\ndef f(x):\n    return b()\n",
        "def a():\n    return 2\ndef b():\n    return a()\ndef f(x):\n    return b()\n",
    ),
    "a decorated function": (
        "import functools\n"
        "def deco(g):\n    @functools.wraps(g)\n    def w(*a):\n        return g(*a)\n    return w\n"
        "@deco\ndef f(x):\n    return 1\n",
        "import functools\n"
        "def deco(g):\n    @functools.wraps(g)\n    def w(*a):\n        return g(*a)\n    return w\n"
        "@deco\ndef f(x):\n    return 2\n",
    ),
    "a decorator": (
        "def deco(g):\n    def w(*a):\n        return g(*a)\n    return w\n@deco\ndef f(x):\n    return 1\n",
        "def deco(g):\n    def w(*a):\n        return g(*a) + 1\n    return w\n@deco\ndef f(x):\n    return 1\n",
    ),
    "a constant": ("RATE = 1\ndef f(x):\n    return RATE\n", "RATE = 2\ndef f(x):\n    return RATE\n"),
    "a table": (
        "RATES = {'a': 1}\ndef f(x):\n    return RATES['a']\n",
        "RATES = {'a': 2}\ndef f(x):\n    return RATES['a']\n",
    ),
    "a method of a class that it uses": (
        "class A:\n    def m(self):\n        return 1\ndef f(x):\n    return A().m()\n",
        "class A:\n    def m(self):\n        return 2\ndef f(x):\n    return A().m()\n",
    ),
    "a property of a class that it uses": (
        "class A:\n    @property\n    def m(self):\n        return 1\ndef f(x):\n    return A().m\n",
        "class A:\n    @property\n    def m(self):\n        return 2\ndef f(x):\n    return A().m\n",
    ),
    "an inherited method": (
        "class A:\n    def m(self):\n        return 1\nclass B(A):\n    pass\ndef f(x):\n    return B().m()\n",
        "class A:\n    def m(self):\n        return 2\nclass B(A):\n    pass\ndef f(x):\n    return B().m()\n",
    ),
    "an attribute of a class": (
        "class A:\n    rate = 1\ndef f(x):\n    return A.rate\n",
        "class A:\n    rate = 2\ndef f(x):\n    return A.rate\n",
    ),
    "a function with a cache": (
        "import functools\n@functools.lru_cache\ndef h():\n    return 1\ndef f(x):\n    return h()\n",
        "import functools\n@functools.lru_cache\ndef h():\n    return 2\ndef f(x):\n    return h()\n",
    ),
    "a lambda": ("h = lambda: 1\ndef f(x):\n    return h()\n", "h = lambda: 2\ndef f(x):\n    return h()\n"),
    "a default": ("def f(x, n=1):\n    return n\n", "def f(x, n=2):\n    return n\n"),
    "a function in an inner function": (
        "def h():\n    return 1\ndef f(x):\n    def g():\n        return h()\n    return g()\n",
        "def h():\n    return 2\ndef f(x):\n    def g():\n        return h()\n    return g()\n",
    ),
}
RUN = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import edited
    from cassette_import import overdub
    from cassette_import.contexts import Memoize
    print(overdub(Memoize(edited.f, folder="kept"), lambda: edited.f(0)))
"""


@pytest.mark.parametrize("name", EDITS)
def test_results_in_a_folder_are_not_used_after_an_edit_of(name, tmp_path):
    pytest.importorskip("diskcache")
    (tmp_path / "run.py").write_text(textwrap.dedent(RUN))
    for text, result in zip(EDITS[name], "12", strict=True):
        (tmp_path / "edited.py").write_text(text)
        command = [sys.executable, "-B", "run.py", str(tmp_path)]
        assert subprocess.check_output(command, cwd=tmp_path, text=True) == f"{result}\n"


def test_results_in_a_folder_are_used_after_an_edit_of_something_else(make_program, tmp_path):
    pytest.importorskip("diskcache")
    (tmp_path / "run.py").write_text(textwrap.dedent(RUN))
    text = "NAMES = {'b', 'a', 'c'}\ndef h(x):\n    return x in NAMES or x in {'b', 'a', 'c'}\n"
    text += "def f(x):\n    open('log', 'a').write('f')\n    return h(x)\n"
    for more in ("", "def unrelated():\n    pass\n"):
        (tmp_path / "edited.py").write_text(text + more)
        subprocess.check_call([sys.executable, "-B", "run.py", str(tmp_path)], cwd=tmp_path)
    assert (tmp_path / "log").read_text() == "f"


class Parts:
    def __init__(self):
        self.items = {"a": [1]}
        self.slotted = Slotted()


class Slotted:
    __slots__ = ("items",)

    def __init__(self):
        self.items = [1]


class WithState:
    def __init__(self):
        self.items = [1]

    def __getstate__(self):
        return {"items": self.items}


def cycle():
    items = []
    items.append([items])
    return {"items": items}


def shared():
    items = [1]
    return {"a": items, "b": items, Slotted: [int, len]}


@pytest.mark.parametrize(
    "make", [Parts, lambda: [Parts(), Parts()], WithState, cycle, shared, lambda: {"a": [1, {"b": {1}}]}]
)
def test_a_result_whose_parts_nothing_else_holds_is_cached(make):
    def f():
        return make()

    memoize = Memoize(f)
    overdub(memoize, lambda: (f(), f()))
    assert "1 hit, 1 miss" in memoize.summary()
