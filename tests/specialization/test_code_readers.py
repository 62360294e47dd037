"""Packages that read the code of functions, to serialise or to compile it, get the plain code."""

import importlib
import textwrap

import pytest
from helpers.command_line import cassette, run
from helpers.contexts import Counting

import cassette_import
from cassette_import import Context
from cassette_import.specialization import code_consumers

WRITER = """
from types import CodeType


def names(code):
    return code.co_names


class Identity:
    @classmethod
    def of(cls, function):
        return function.__code__, function(2), function.__kwdefaults__, function.__qualname__, function.__name__


class Pickler:
    dispatch = {CodeType: lambda pickler, code: code}
"""

PROGRAM = """
import math


def make(shift):
    def moved(x, *, by=1):
        return math.floor(x) + shift + by

    return moved


moved = make(10)
"""


@pytest.fixture
def writer(make_package, monkeypatch):
    """A package like cloudpickle, dill and numba, and an installed one whose functions it reads."""
    name = make_package({"__init__.py": "", "writer.py": WRITER, "program.py": PROGRAM})
    readers = ("names", "Identity.of", "Pickler.dispatch")
    monkeypatch.setitem(code_consumers.READERS, f"{name}.writer", readers)
    cassette_import.install([f"{name}.program"])
    program = importlib.import_module(f"{name}.program")
    plain = program.moved.__code__
    return importlib.import_module(f"{name}.writer"), program, plain


@pytest.mark.parametrize("has_run", [False, True], ids=["trampoline", "compiled_body"])
def test_readers_get_the_plain_code(has_run, writer):
    module, program, plain = writer
    with Counting() as ctx:
        if has_run:
            program.moved(1.5)
        code = program.moved.__code__
        assert code is not plain
        assert module.names(code) == ("math", "floor")
        assert module.Pickler.dispatch[type(code)](None, code) is plain
        counted = ctx.calls
        assert module.Identity.of(program.moved) == (plain, 13, {"by": 1}, "make.<locals>.moved", "moved")
        assert ctx.calls == counted  # it ran as it was written
    assert module.names(program.moved.__code__) == ("math", "floor")


def test_other_arguments_of_readers_are_passed_on_unchanged(writer):
    module, program, _ = writer
    with Counting():
        program.moved(1)
        found = module.Pickler.dispatch[type(test_other_arguments_of_readers_are_passed_on_unchanged.__code__)](None, 3)
        assert found == 3
        assert module.Identity.of(lambda x: x)[1] == 2
        assert module.names(module.Identity.of.__func__.__code__) is module.Identity.of.__func__.__code__.co_names


def test_a_reader_is_changed_once(writer):
    module, program, _ = writer
    with Counting():
        program.moved(1)
        changed = module.names
    with Context():
        program.make(3)(4)
    assert module.names is changed


@pytest.mark.parametrize("context", ["noop", "profile", "trace"])
def test_cloudpickle_sends_functions_by_value(context, tmp_path):
    pytest.importorskip("cloudpickle", reason="needs cloudpickle")
    program = """
        import base64, math, subprocess, sys
        import cloudpickle

        SHIFT = 3

        def moved(x, *, by=1):
            return math.floor(x) + SHIFT + by

        def fresh(x):
            return moved(math.sqrt(x))

        moved(1.5)
        read = "import base64, pickle, sys; print(pickle.loads(base64.b64decode(sys.argv[1]))(4))"
        for function in (moved, fresh):
            sent = base64.b64encode(cloudpickle.dumps(function)).decode()
            print(subprocess.run([sys.executable, "-c", read, sent], capture_output=True, text=True).stdout)
    """
    (tmp_path / "app.py").write_text(textwrap.dedent(program))
    done = cassette("run", "-c", context, "app.py", folder=tmp_path)
    assert done.stdout.startswith(run("app.py", folder=tmp_path).stdout)
    assert done.stdout.startswith("8\n\n6\n\n")
