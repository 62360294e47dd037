"""Checklist, C and D: loading and caching, and the defects of other import hooks that this one must not have.

Most points have their tests in `test_finder.py` and `test_disk_cache.py`.
"""

import builtins
import importlib
import importlib.util
import marshal
import sys
import threading
from importlib.machinery import SourceFileLoader

import pytest

from cassette_import import Context, install
from cassette_import.contexts import Noop
from cassette_import.importing.finder import Loader
from cassette_import.specialization import disk_cache


@pytest.fixture
def bytecode(monkeypatch):
    """Bytecode is written, whatever the environment of the tests sets (C7)."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def test_C8_writing_a_cache_imports_nothing(make_package, bytecode, monkeypatch, tmp_path):
    def refuse(name, *args, **kwargs):
        raise SystemError(f"imported {name}")

    file = tmp_path / "mod.py"
    file.write_text("x = 1\n")
    value = compile("x = 1\n", str(file), "exec")
    digest = importlib.util.source_hash(file.read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", refuse)
        written = disk_cache.write(str(file), "tag", digest, [value]), disk_cache.append(str(file), "tag", digest, 1)
        read = disk_cache.read(str(file), "tag", lambda: digest)
    assert all(written)
    assert read == [value, 1]


@pytest.mark.filterwarnings("ignore::cassette_import.CassetteWarning")
def test_C12_a_module_whose_source_is_missing_runs_plain(make_package, tmp_path):
    name = make_package("def f(x):\n    return abs(x)\n")
    module = importlib.import_module(name)
    installation = install([name])
    (tmp_path / name / "__init__.py").unlink()
    with Noop():
        assert module.f(-1) == 1
    assert list(installation.report()[0].left_alone) in ([], ["f"])


def test_C15_compiling_accepts_the_arguments_of_every_version_of_python(make_package):
    """It is Python's own method, with the parameters of the running version."""
    assert Loader.source_to_code is SourceFileLoader.source_to_code


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_C16_code_has_the_features_of_its_own_module_only(future, make_package):
    name = make_package(f"{future}def f(x: abs(-1)):\n    def g(y: abs(-2)): return len('a')\n    return g\n")
    module = importlib.import_module(name)
    expected = module.f(1).__annotations__, module.f.__code__.co_flags
    install([name])
    with Noop():
        assert (module.f(1).__annotations__, module.f.__code__.co_flags) == expected


def test_D2_threads_that_import_meanwhile_get_the_caches_of_python(make_package, bytecode, tmp_path):
    overdubbed = make_package("def f(x):\n    return abs(x)\nfound = [f(i) for i in range(9)]\n")
    plain = make_package({f"m{i}.py": f"def f(x):\n    return abs(x) + {i}\nfound = f(-1)\n" for i in range(20)})
    install([overdubbed])

    def load():
        for i in range(20):
            importlib.import_module(f"{plain}.m{i}")

    thread = threading.Thread(target=load)
    with Noop():
        thread.start()
        importlib.import_module(overdubbed).f(-1)
        thread.join()
    folder = tmp_path / plain
    names = {path.name for path in folder.joinpath("__pycache__").iterdir()}
    assert names == {importlib.util.cache_from_source(f"m{i}.py").rpartition("/")[2] for i in range(20)} | {
        importlib.util.cache_from_source("__init__.py").rpartition("/")[2]
    }
    for i in range(20):
        source = folder / f"m{i}.py"
        with open(importlib.util.cache_from_source(str(source)), "rb") as file:
            kept = marshal.loads(file.read()[16:])
        assert kept == compile(source.read_bytes(), str(source), "exec", dont_inherit=True)


def test_D6_other_hooks_never_get_the_bodies_of_earlier_ones(make_package, bytecode):
    name = make_package("def f(x):\n    return abs(x) + len('a')\n")
    module = importlib.import_module(name)
    install([name])
    seen = []

    def context(function, hook):
        class Made(Context):
            pass

        getattr(Made, hook).register(function)(lambda ctx, *args, **kwargs: seen.append((function.__name__, hook)))
        return Made()

    for function, hook in [(abs, "prehook"), (len, "prehook"), (abs, "posthook"), (len, "prehook"), (abs, "prehook")]:
        seen.clear()
        with context(function, hook):
            assert module.f(-1) == 2
        assert seen == [(function.__name__, hook)]
