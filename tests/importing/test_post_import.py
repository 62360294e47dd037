"""Callbacks after imports: when they are called, and that modules do not notice them."""

import importlib
import importlib.machinery
import importlib.util
import sys
import threading

import pytest

from cassette_import.importing.post_import import PostImportFinder


@pytest.fixture
def finder(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[:])
    return PostImportFinder()


@pytest.fixture
def awaited(make_package, finder):
    """A module with a callback after its import; the names that the callback got, and those in the module by then."""
    name = make_package("loader = __spec__.loader, __loader__\nvalue = 1\n")
    calls = []

    def callback(name, module):
        calls.append((name, module.value))

    finder.when_imported(name, callback)
    finder.come_first()
    return name, calls, callback


def test_the_callback_is_called_after_each_execution(awaited):
    name, calls, _ = awaited
    module = importlib.import_module(name)
    assert calls == [(name, 1)]
    importlib.reload(module)
    assert calls == [(name, 1)] * 2


def test_the_module_sees_the_loader_that_python_would_use(awaited):
    name, _, _ = awaited
    module = importlib.import_module(name)
    own = importlib.machinery.SourceFileLoader
    assert [type(loader) for loader in (*module.loader, module.__loader__, module.__spec__.loader)] == [own] * 4


def test_a_program_that_finds_the_module_gets_a_loader_that_looks_like_the_original(awaited):
    name, calls, _ = awaited
    loader = importlib.util.find_spec(name).loader
    assert isinstance(loader, importlib.machinery.SourceFileLoader)
    assert "value = 1" in loader.get_source(name)
    assert calls == []


def test_a_lazy_loader_behind_is_left_to_its_laziness(awaited, finder):
    name, _, callback = awaited
    finder.forget(name, callback)
    names = []
    finder.when_imported(name, lambda name, module: names.append(name))
    finder.come_first()

    class Lazy:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            if fullname != name:
                return None
            spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
            spec.loader = importlib.util.LazyLoader(spec.loader)
            return spec

    sys.meta_path.insert(1, Lazy)
    module = importlib.import_module(name)
    assert names == [name]
    assert "value" not in object.__getattribute__(module, "__dict__")
    assert module.value == 1


def test_nothing_is_in_the_way_when_nothing_is_awaited(awaited, finder):
    name, calls, callback = awaited
    assert sys.meta_path[0] is finder
    finder.forget(name, callback)
    assert finder not in sys.meta_path
    finder.come_first()
    assert finder not in sys.meta_path
    importlib.import_module(name)
    assert calls == []


def test_other_threads_are_answered_while_one_searches(awaited, finder):
    name, _, _ = awaited
    found = []

    class Slow:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            if fullname == name and threading.current_thread() is threading.main_thread():
                other = threading.Thread(target=lambda: found.append(finder.find_spec(name)))
                other.start()
                other.join()

    sys.meta_path.insert(1, Slow)
    finder.find_spec(name)
    assert found[0] is not None
