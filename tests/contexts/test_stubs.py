"""A stub is accepted for the program that it came from: it has all that the module has, with types that fit."""

import argparse
import ast
import csv
import dataclasses
import decimal
import enum
import fractions
import inspect
import statistics
import subprocess
import sys
import textwrap
import typing

import pytest

from cassette_import.contexts.call_types.stubs import CalledModule, stub

MODULE = """
from __future__ import annotations
import dataclasses, enum, functools, math, sys, typing
from collections import OrderedDict, namedtuple
from typing import ClassVar, Final, Generic, NamedTuple, Protocol, TypedDict, TypeVar, overload

__all__ = ["Color", "Flags", "Point", "Options", "Shape", "Stack", "Base", "Child", "pick", "ident", "wait", "numbers"]
T = TypeVar("T")
LIMIT = 10
NAMES = ["a", "b"]
TABLE = {"a": 1, "b": 2}
EMPTY = {}
NOTHING = None
PAIR, OTHER = (1, 2)
MAX: Final = 5
Number = int | float
Pixel = namedtuple("Pixel", "x y")
try:
    import json
except ImportError:
    json = None  # type: ignore[assignment]
if sys.version_info >= (3, 1):
    x = 1
else:
    x = "no"
for number in range(3):
    last = number


class Color(enum.Enum):
    RED = 1
    BLUE = enum.auto()

    def label(self):
        return self.name.lower()


class Flags(enum.IntFlag):
    A = 1
    B = 2


BOTH = Flags.A | Flags.B


class Point(NamedTuple):
    x: int
    y: int = 0

    def norm(self):
        return abs(self.x) + abs(self.y)


class Options(TypedDict, total=False):
    name: str


@dataclasses.dataclass(order=True)
class Shape:
    at: Point
    color: Color = Color.RED
    tags: list[str] = dataclasses.field(default_factory=list)
    kind: ClassVar[str] = "shape"

    @property
    def name(self):
        return self.color.label()

    @functools.cached_property
    def slow(self):
        return 3


class Stack(Generic[T]):
    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> None:
        self.items.append(item)


class Base:
    def __init__(self, n, *rest, scale=1.0, mode=Color.RED, shape=(), **named):
        self.n = n
        self.type = None
        self._x = None

    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, value):
        self._x = value

    def area(self, k):
        return k * self.n

    def of(self, kinds: list[type]):
        return kinds

    def __add__(self, other):
        return Base(self.n + other.n)

    __radd__ = __add__

    def __eq__(self, other):
        return self.n == other.n


class Child(Base):
    def area(self, k):
        return str(k)


@overload
def pick(x: int) -> int: ...
@overload
def pick(x: str) -> str: ...
def pick(x):
    return x


def ident(x: T) -> T:
    return x


async def wait():
    return 1


def numbers(n):
    yield from range(n)


def either(n):
    return n if n else None


def _hidden(a, b=None):
    return math.sqrt(a)
"""

USE = """
import shapes
from shapes import NAMES, PAIR, Base, Child, Color, Flags, Number, Options, Pixel, Point, Shape, Stack, ident, pick

shape = Shape(Point(1, 2), Color.RED)
print(shape.name, shape.color.label(), shape.slow + 1, shape < Shape(Point(3)), shape.tags + ["a"], Shape.kind)
print(Color["RED"], Color(1).value, [one.name for one in Color], Flags.A | shapes.BOTH, Color.BLUE.label().upper())
stack: Stack[int] = Stack()
stack.push(3)
base = Base(2, 3, "x", scale=2, other=1)
base.x = 3
print(base.x, base.area(2) + 1, (base + base).n, base == base, Child(1).area(2).upper(), base._x, base.of([int]))
print(shapes.LIMIT + PAIR + shapes.MAX + shapes.TABLE["a"], NAMES[0].upper(), Pixel(1, 2).x, shapes.last, shapes.x + 1)
print(pick(1) + 1, pick("a").upper(), ident([1])[0], shapes.math.pi, shapes.json.dumps(1), shapes.OrderedDict())
print(shapes.either(3) + 1, shapes.either(0), list(shapes.numbers(2)), shapes.EMPTY.get("a"), shapes.NOTHING)
options: Options = {"name": "x"}
number: Number = shapes._hidden(4)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shapes.py").write_text(MODULE)
    (tmp_path / "use.py").write_text(USE)
    return tmp_path


def write_stub(folder):
    command = "-m cassette_import run -c call-types:module=shapes -o shapes.pyi use.py".split()
    subprocess.run([sys.executable, *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return (folder / "shapes.pyi").read_text()


def names_of(nodes):
    """The names of functions, classes and variables that statements define."""
    found = set()
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            parts = [one for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)]
            found |= {one.id for one in parts if isinstance(one.ctx, ast.Store)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def test_type_checkers_accept_the_program_with_its_stub(folder):
    pytest.importorskip("mypy", reason="it judges the stub")
    mypy = [sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir", folder / "cache", "use.py"]
    # The module has a variable without a type, which the stub declares.
    before = subprocess.run(mypy, cwd=folder, capture_output=True, text=True).stdout
    assert [line.partition(": error: ")[0] for line in before.splitlines() if ": error: " in line] == ["shapes.py:12"]
    write_stub(folder)
    after = subprocess.run(mypy, cwd=folder, capture_output=True, text=True)
    assert (after.returncode, after.stdout) == (0, "Success: no issues found in 1 source file\n")


def test_the_stub_has_all_names_of_the_module(folder):
    made = ast.parse(write_stub(folder))
    bodies = [node.body for node in ast.walk(ast.parse(MODULE)) if isinstance(node, (ast.Module, ast.ClassDef))]
    assert {name for body in bodies for name in names_of(body)} - names_of(ast.walk(made)) <= {"__slots__"}


MODULES = [argparse, ast, csv, dataclasses, decimal, enum, fractions, statistics, textwrap, typing]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_stub_of_a_module_of_the_standard_library_has_its_names(module):
    source = inspect.getsource(module)
    made = ast.parse(stub(module.__name__, CalledModule(source)))
    assert names_of(ast.parse(source).body) - names_of(ast.walk(made)) <= {"__slots__"}


CONTENTS = {
    "recorded types of a method that a base class has": ("def area(self, k): ...", True),
    "what an annotation of the source says": ("def of(self, kinds: list[builtins.type]): ...", True),
    "an attribute that methods set": ("    _x: typing.Any", True),
    "an attribute with an annotation": ("    items: list[T]", True),
    "a result of several types": ("def either(n: int) -> typing.Any: ...", True),
    "an implementation of overloads": ("def pick(x): ...", False),
    "the other side of a version": ('"no"', False),
    "an import again": ("import json as json", True),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_stub_is_not_narrower_than_the_module(folder, name):
    text, is_there = CONTENTS[name]
    assert (text in write_stub(folder)) is is_there


STRICT = """
from __future__ import annotations
from typing import Generic, TypeVar

T = TypeVar("T")

class Shape:
    def size(self) -> int:
        return 3

class Stack(Generic[T]):
    def __init__(self, first: T, name: str = "x") -> None:
        self.items = [first]
        self.name = name
        self.shape = Shape()
        self.ratio = 0.5 if name else 1.0
        self.size = len(name)
        self.is_short = len(name) < 3
"""
STRICT_USE = """
from shapes import Stack

def all_of(stack: Stack[int]) -> int:
    return stack.items[0] + stack.size + stack.shape.size()

def ratio_of(stack: Stack[int]) -> float:
    return stack.ratio if stack.is_short else 1.0

print(all_of(Stack(1)), ratio_of(Stack(2)), Stack(3).name.upper())
"""


def test_a_program_without_any_untyped_part_has_a_stub_without_one(tmp_path):
    pytest.importorskip("mypy", reason="it judges the stub")
    (tmp_path / "shapes.py").write_text(STRICT)
    (tmp_path / "use.py").write_text(STRICT_USE)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", tmp_path / "cache", "use.py"]
    subprocess.run(mypy, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert "Any" not in write_stub(tmp_path)
    assert subprocess.run(mypy, cwd=tmp_path, capture_output=True, text=True).returncode == 0


EVERYDAY = {
    "a loop over values of several types": (
        "def show(value): return str(value)",
        "def main() -> None:\n    for value in ['a', 1, 2.5]: print(show(value))",
    ),
    "a loop over objects of several classes": (
        "class Shape:\n    def area(self): return 1\nclass Round(Shape): pass\nclass Square(Shape): pass\n"
        "def area_of(shape): return shape.area()",
        "def main() -> None:\n    for shape in [Round(), Square()]: print(area_of(shape))",
    ),
    "a list of several types in a variable": (
        "def count(values): return len(values)",
        "def main() -> None:\n    values = [1, 'a']\n    print(count(values), count([2.5]))",
    ),
    "a nested display": (
        "def keys(data): return sorted(data)",
        "def main() -> None:\n    data = {'a': [{'n': 1, 'v': 'x'}], 'b': {'c': None}}\n    print(keys(data))",
    ),
    "tuples of several lengths": (
        "def add(pair): return len(pair)",
        "def main() -> None:\n    for pair in [(1, 2), (1, 2, 3)]: print(add(pair))",
    ),
    "a result that was always None": (
        "def find(names, name):\n    for one in names:\n        if one == name: return one\n    return None",
        "def main() -> None:\n    found = find(['a'], 'b')\n    print(found)",
    ),
    "an import with the name of a class in it": (
        "from datetime import datetime\ndef later(when): return when.isoformat()",
        "def main() -> None:\n    print(later(datetime(2024, 2, 29)))",
    ),
    "an attribute with the name of a module": (
        "import datetime as clock\nclass Log:\n    def datetime(self): return 'now'\n"
        "    def add(self, when): return when.isoformat()",
        "def main() -> None:\n    print(Log().add(clock.datetime(2024, 2, 29)))",
    ),
    "a class that is abstract by its bases": (
        "import abc\nclass Base(abc.ABC):\n    @abc.abstractmethod\n    def area(self) -> int: ...\n"
        "class Middle(Base):\n    def double(self) -> int: return 2 * self.area()\n"
        "class Round(Middle):\n    def area(self) -> int: return 3\ndef made(): return Round()",
        "def main() -> None:\n    print(made().double())",
    ),
    "a setter behind other methods": (
        "class Box:\n    def __init__(self): self._n = 1\n    @property\n    def n(self): return self._n\n"
        "    def other(self): return 2\n    @n.setter  # type: ignore\n"
        "    def n(self, n): self._n = n\n    @n.deleter  # type: ignore\n    def n(self): self._n = 0",
        "def main() -> None:\n    box = Box()\n    print(box.n, box.other())",
    ),
    "a class variable again, with a long value": (
        "from typing import ClassVar\nclass Base:\n    TABLE: ClassVar[dict[str, str]] = {}\n"
        f"class Child(Base):\n    TABLE = {dict.fromkeys('abcdefghijklmnopqrstuvwxyz', 'value')}\n"
        "    def get(self): return 1",
        "def main() -> None:\n    print(Child().get(), Child.TABLE['a'].upper())",
    ),
    "slots that are read": (
        "class Point:\n    __slots__ = ('_x', '_y')\n"
        "    NAMES: tuple[str, ...] = tuple([one[1:] for one in __slots__])\n    def names(self): return self.NAMES",
        "def main() -> None:\n    print(Point().names())",
    ),
    "any number of arguments in an attribute": (
        "class Every:\n    def __init__(self, *parts: str, **named: int) -> None:\n        self.parts = parts\n"
        "        self.named = named\n    def get(self): return 1",
        "def main() -> None:\n    every = Every('a', b=1)\n    print(every.parts[0].upper(), every.get())",
    ),
    "a function in an attribute": (
        "from collections.abc import Callable\n"
        "class Base:\n    def __init__(self, wait: Callable[[int], None]) -> None:\n"
        "        self.wait = wait\n    def get(self): return 1",
        "class Child(Base):\n    wait: Callable[..., int]  # type: ignore[assignment,unused-ignore]\n"
        "def main() -> None:\n    print(Child(lambda n: None).get())",
    ),
    "asynchronous generators": (
        "from collections.abc import AsyncIterator\nasync def counted(n: int) -> AsyncIterator[int]: yield n\n"
        "class Pages:\n    async def each(self, n):\n        for page in range(n): yield page\n"
        "    async def count(self):\n        def inner(): yield 1\n        return sum(inner())",
        "import asyncio\nasync def run() -> None:\n    print([n + 1 async for n in counted(1)], "
        "[n async for n in Pages().each(2)], await Pages().count())\ndef main() -> None:\n    asyncio.run(run())",
    ),
    "functions with the names of builtin classes": (
        "def list(prefix): return [prefix]\ndef str(value=''): return 'text'\ndef sizes(): return {'a': (1, 2)}\n"
        "class TimeoutError(Exception): pass\ndef failed(): return TimeoutError()\n"
        "def joined(texts): return ''.join(texts)",
        "def main() -> None:\n    print(list('a')[0].upper(), str('b').upper(), sizes()['a'][0], failed().args)\n"
        "    print(joined(['a']).upper())",
    ),
    "a type variable of a method in an attribute": (
        "from typing import TypeVar\nT = TypeVar('T')\nclass Holder:\n    def __init__(self, one: T) -> None:\n"
        "        self.one = one\n    def get(self): return 1",
        "def main() -> None:\n    print(Holder(1).get(), Holder('a').one)",
    ),
    "objects of classes for which the standard library declares others": (
        "def size(path): return len(path.parts)\ndef send(text, out): out.write(text)\n"
        "def level(log): return log.level\ndef read(source): return source.read(0)\n"
        "def alive(thread): return thread.is_alive()\ndef closed(loop): return loop.is_closed()",
        "import asyncio, logging, pathlib, sys, threading\nasync def run() -> None:\n"
        "    print(closed(asyncio.get_running_loop()))\ndef main() -> None:\n"
        "    print(size(pathlib.Path('a')), level(logging.getLogger()), alive(threading.current_thread()))\n"
        "    send('', sys.stdout)\n    with open(__file__, 'rb') as file: print(read(file), sys.stdin.buffer)\n"
        "    asyncio.run(run())",
    ),
}


def test_type_checkers_accept_everyday_programs_with_their_stubs(tmp_path):
    pytest.importorskip("mypy", reason="it judges the stubs")
    for number, (module, use) in enumerate(EVERYDAY.values()):
        (tmp_path / f"module_{number}.py").write_text(module + "\n")
        (tmp_path / f"use_{number}.py").write_text(f"from module_{number} import *\n{use}\n")
    uses = [f"use_{number}" for number in range(len(EVERYDAY))]
    (tmp_path / "main.py").write_text("".join(f"import {use}\n{use}.main()\n" for use in uses))
    mypy = [sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir", tmp_path / "cache"]
    checked = [*mypy, *(f"{use}.py" for use in uses)]
    assert subprocess.run(checked, cwd=tmp_path, capture_output=True, text=True).stdout.startswith("Success")
    command = "-m cassette_import run -c call-types -o all.pyi main.py".split()
    subprocess.run([sys.executable, *command], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    for section in (tmp_path / "all.pyi").read_text().split("# ---- ")[1:]:
        name, _, text = section.partition("\n")
        if name.startswith("module_"):
            (tmp_path / f"{name}.pyi").write_text(text)
    assert len([*tmp_path.glob("module_*.pyi")]) == len(EVERYDAY)
    found = subprocess.run(checked, cwd=tmp_path, capture_output=True, text=True).stdout
    assert found == f"Success: no issues found in {len(EVERYDAY)} source files\n"


PROGRAM = """
import dataclasses
import enum

LIMIT = 3
class Kind(enum.Enum):
    A = "a"
@dataclasses.dataclass
class Base:
    size: int = 1
    @property
    def twice(self): return self.size * 2
    @staticmethod
    def make(size): return Base(size)
class Child(Base):
    def grown(self, by): return self.size + by
def total(items): return sum(one.size for one in items)
def never_called(x): return x
def main(): print(total([Base.make(1), Child(2)]), Child(3).grown(LIMIT), Kind.A, Base().twice)
if __name__ == "__main__":
    main()
"""


def test_the_stub_of_a_script_is_that_of_the_same_module_when_it_is_imported(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "user.py").write_text("import program\nprogram.main()\n")
    stubs = []
    for script, module in (("program", "__main__"), ("user", "program")):
        command = f"-m cassette_import run -c call-types:module={module} -o {script}.pyi {script}.py".split()
        subprocess.run([sys.executable, *command], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
        stubs.append((tmp_path / f"{script}.pyi").read_text())
    assert stubs[0] == stubs[1]
    assert "class Child(Base):\n" in stubs[0]
    assert "def main() -> None: ...\n" in stubs[0]


STARTERS = {
    "timer": "timer = threading.Timer(0, work, [1]); timer.start(); timer.join()",
    "thread": "thread = threading.Thread(target=work, args=[1]); thread.start(); thread.join()",
    "pool": "with concurrent.futures.ThreadPoolExecutor() as pool: pool.submit(work, 1).result()",
}


@pytest.mark.parametrize("name", STARTERS)
def test_there_is_no_stub_of_a_module_that_only_starts_functions_of_the_program(name, tmp_path):
    lines = [
        "import concurrent.futures, threading",
        "def work(x): return x",
        "def main():",
        f"    {STARTERS[name]}",
        "main()",
    ]
    (tmp_path / "app.py").write_text("\n".join(lines))
    command = [sys.executable, *"-m cassette_import run -c call-types -o app.pyi app.py".split()]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    text = (tmp_path / "app.pyi").read_text()
    assert "def work(x: int) -> int: ..." in text
    assert "# ---- " not in text  # which begins the stub of each module, if there are several
