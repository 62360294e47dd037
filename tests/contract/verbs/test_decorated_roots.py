"""Root functions whose code is not in the file of the function that a program means: decorated, or generated.

The product of what makes such roots, of a decorator's place, and of whether the package is installed.
"""

import functools
import importlib
import math

import pytest

from cassette_import import Context, install, overdub

DECORATORS = """
import functools

def wraps(f):
    @functools.wraps(f)
    def wrapper(*arguments, **keywords):
        return f(*arguments, **keywords)
    return wrapper

class Wrapping:
    def __init__(self, f):
        functools.update_wrapper(self, f)

    def __call__(self, *arguments):
        return self.__wrapped__(*arguments)
"""

PROGRAM = """
import contextlib
import dataclasses
import functools
import math
from . import decorators

def root(number=0.0):
    return math.sin(number)

@dataclasses.dataclass
class Point:
    x: float = dataclasses.field(default_factory=root)

@dataclasses.dataclass
class Checked:
    x: float = 0.0

    def __post_init__(self):
        root()

class Methods:
    wrapped = decorators.wraps(lambda self: root())
    static = staticmethod(decorators.wraps(root))
    dispatched = functools.singledispatchmethod(lambda self, number: root(number))

    @contextlib.contextmanager
    def entered(self):
        yield root()

class Entered(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

@contextlib.contextmanager
def entered():
    yield root()
"""

ROOTS = {
    "wraps": lambda program: program.decorators.wraps(program.root),
    "twice": lambda program: program.decorators.wraps(program.decorators.wraps(program.root)),
    "an object": lambda program: program.decorators.Wrapping(program.root),
    "singledispatch": lambda program: functools.singledispatch(program.root),
    "lru_cache": lambda program: functools.lru_cache(program.root),
    "ContextDecorator": lambda program: program.Entered()(program.root),
    "a method": lambda program: program.Methods().wrapped,
    "a static method": lambda program: program.Methods.static,
    "singledispatchmethod": lambda program: program.Methods().dispatched,
    "a dataclass with a factory": lambda program: program.Point,
    "a dataclass that checks": lambda program: program.Checked,
    "a context manager": lambda program: program.entered,
    "a context manager of a method": lambda program: program.Methods().entered,
}
ARGUMENTS = {"singledispatch": (0.0,), "singledispatchmethod": (0.0,)}


class Sines(Context):
    calls = 0


@Sines.overdub.register(math.sin)
def _(ctx, f, number):
    ctx.calls += 1
    return f(number)


@pytest.mark.parametrize("is_installed", [False, True], ids=["adopted", "installed"])
@pytest.mark.parametrize("name", ROOTS)
def test_a_root_runs_the_function_that_it_wraps_inside(name, is_installed, make_package):
    package = make_package({"__init__.py": "", "decorators.py": DECORATORS, "program.py": PROGRAM})
    if is_installed:
        install([package])
    program = importlib.import_module(f"{package}.program")
    context = Sines()
    made = overdub(context, ROOTS[name](program), *ARGUMENTS.get(name, ()))
    if hasattr(made, "__enter__"):
        with made:
            pass
    assert context.calls == 1


class Equal:
    def __eq__(self, other):
        return math.sin(0.0) == 0.0

    __hash__ = None


def test_a_method_in_c_calls_methods_of_the_items_of_its_receiver_inside():
    context = Sines()
    assert overdub(context, [Equal()].index, 1) == 0
    assert context.calls == 1
