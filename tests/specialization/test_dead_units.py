"""Functions that are gone are forgotten with their compiled bodies and trees; what any code may still run is kept."""

from __future__ import annotations

import gc
import importlib.util
import sys
import weakref

import pytest

from cassette_import import Context, overdub
from cassette_import.passes.if_conversion import ConvertedCode, if_conversion
from cassette_import.rewriting.events import Events
from cassette_import.specialization.instrumentation import Sweeper
from cassette_import.specialization.passes import pass_runner
from cassette_import.specialization.registry import registry

TEXT = """
def called(x):
    def inner(y):
        return x + y
    return inner

def counted(x):
    for number in range(x):
        yield number * x

def doubled(x):
    if x > 2:
        return x
    return 2 * x
"""


class Counting(Context):
    def __init__(self):
        self.calls = 0

    def prehook(self, f, *args, **kwargs):
        self.calls += 1


class Converted(Context, ConvertedCode, events=Events.NONE):
    passes = [if_conversion]

    def __init__(self):
        self.choices = 0

    def choice(self, test, *saved):
        self.choices += 1
        return super().choice(test, *saved)


@pytest.fixture
def load(tmp_path):
    """Makes a module with the functions."""

    def loaded(name):
        path = tmp_path / f"{name}.py"
        path.write_text(TEXT)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    yield loaded
    for name in [name for name in sys.modules if name.startswith("module_that_goes")]:
        del sys.modules[name]


def sweep():
    gc.collect()
    sweeper = Sweeper(registry.index)
    sweeper._next = 0
    with registry.lock:
        sweeper.step()


def sweep_everything(monkeypatch):
    """Search also if few units seem to be dead."""
    monkeypatch.setattr("cassette_import.specialization.instrumentation._count_without_functions", len)
    sweep()


def test_the_functions_of_a_module_that_is_gone_are_forgotten(load, monkeypatch):
    module = load("module_that_goes_1")
    assert overdub(Counting(), module.called, 1)(2) == 3
    assert overdub(Converted(), module.doubled, 1) == 2
    filename = module.__file__
    codes = [weakref.ref(module.called.__code__), weakref.ref(module.doubled.__code__), weakref.ref(module.called)]
    del sys.modules["module_that_goes_1"], module
    sweep_everything(monkeypatch)
    assert [code() for code in codes] == [None, None, None]
    assert filename not in registry.records


def test_the_trees_that_passes_made_go_with_the_function(load, monkeypatch):
    sweep_everything(monkeypatch)
    before = len(pass_runner._results)
    for number in range(5):
        module = load(f"module_that_goes_{number}")
        assert overdub(Converted(), module.doubled, 1) == 2
        del sys.modules[module.__name__], module
    assert len(pass_runner._results) >= before + 5
    sweep_everything(monkeypatch)
    assert len(pass_runner._results) <= before


def test_a_function_that_lives_without_its_module_keeps_its_body(load, monkeypatch):
    module = load("module_that_goes_2")
    doubled = module.doubled
    assert overdub(Converted(), doubled, 1) == 2
    unit = registry.index.unit_of(doubled.__code__)
    body = unit.code
    del sys.modules["module_that_goes_2"], module
    sweep_everything(monkeypatch)
    assert registry.index.unit_of(doubled.__code__) is unit
    context = Converted()
    assert overdub(context, doubled, 5) == 5
    assert (doubled.__code__, context.choices) == (body, 1)


def test_a_closure_that_lives_is_overdubbed_in_another_context(load, monkeypatch):
    module = load("module_that_goes_3")
    inner = overdub(Converted(), module.called, 1)
    del sys.modules["module_that_goes_3"], module
    sweep_everything(monkeypatch)
    context = Counting()
    assert overdub(context, inner, 2) == 3
    assert context.calls == 1


def test_a_generator_that_is_suspended_keeps_its_function(load, monkeypatch):
    module = load("module_that_goes_4")
    context = Counting()
    with context:
        numbers = overdub(context, module.counted, 3)
        assert next(numbers) == 0
        del sys.modules["module_that_goes_4"], module
        sweep_everything(monkeypatch)
        calls = context.calls
        assert list(numbers) == [3, 6]
    assert context.calls > calls


def test_code_that_the_program_has_kept_is_still_known(load, monkeypatch):
    module = load("module_that_goes_5")
    assert overdub(Converted(), module.doubled, 1) == 2
    plain = registry.index.plain_code_of(module.doubled.__code__)
    del sys.modules["module_that_goes_5"], module
    sweep_everything(monkeypatch)
    assert registry.index.find_unit(plain) is not None
    assert registry.index.find_unit(plain).plain is plain


def test_a_generator_that_is_marked_as_a_coroutine_is_met_later(make_program, monkeypatch):
    program = make_program(
        """
        import types

        @types.coroutine
        def marked(x):
            return (yield abs(x))
        """
    )
    sweep_everything(monkeypatch)
    context = Counting()
    with context:
        assert next(program.marked(-1)) == 1
    assert context.calls == 1


def test_a_process_that_runs_thousands_of_modules_keeps_few(load, monkeypatch):
    kept = []
    for number in range(200):
        module = load(f"module_that_goes_{number}")
        assert overdub(Converted(), module.doubled, 1) == 2
        kept.append(weakref.ref(module.doubled.__code__))
        del sys.modules[module.__name__], module
        gc.collect(0)
    sweep_everything(monkeypatch)  # other tests may have left many functions
    gc.collect()
    sweep()
    assert sum(code() is not None for code in kept) < 50


def test_a_function_that_the_collector_has_cleared_is_left_alone(load):
    """It may be found while the collector clears the functions of a cycle, and has no variables any more."""
    ctypes = pytest.importorskip("ctypes", reason="this Python has no ctypes")
    module = load("module_that_goes_cleared")
    made = module.called(2)
    place_of_clear = id(type(made)) + 24 * ctypes.sizeof(ctypes.c_void_p)
    clear = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(ctypes.c_void_p.from_address(place_of_clear).value)
    clear(made)
    assert made.__closure__ is None
    assert made.__code__.co_freevars == ("x",)
    assert overdub(Counting(), module.called, 1)(2) == 3
