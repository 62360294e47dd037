"""The code that Python has cached of a source file is read, or nothing is."""

import importlib.util
import marshal
import os
import py_compile
import sys

import pytest

from cassette_import.interpreter.python_cache import cached_code, may_be_stale
from cassette_import.specialization.source_file import SourceFile

TEXT = """
import os.path, sys as system
from json import loads
x = y = 1
def f():
    global z
    z = 2
class C:
    a = 1
    def m(self):
        return os.path
try:
    import tomllib
except ImportError as e:
    x: int = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cached.py"
    path.write_text(TEXT)
    py_compile.compile(path)
    return path


def test_the_code_of_a_file_is_read_from_its_pyc(file):
    assert cached_code(str(file)) == compile(TEXT, str(file), "exec", dont_inherit=True)


def no_pyc(file):
    os.unlink(importlib.util.cache_from_source(file))


def edited(file):
    file.write_text(TEXT + "# a comment")


def touched(file):
    os.utime(file, (1, 1))


def cut_off(file):
    cached = importlib.util.cache_from_source(file)
    with open(cached, "rb+") as opened:
        opened.truncate(30)


def of_another_version(file):
    with open(importlib.util.cache_from_source(file), "rb+") as opened:
        opened.write(b"????")


def something_else(file):
    with open(importlib.util.cache_from_source(file), "rb+") as opened:
        opened.seek(16)
        opened.write(marshal.dumps(1))


def by_hash(file):
    py_compile.compile(file, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)


@pytest.mark.parametrize("change", [no_pyc, edited, touched, cut_off, of_another_version, something_else, by_hash])
def test_a_pyc_that_may_not_be_of_the_present_file_is_not_read(file, change):
    change(file)
    assert cached_code(str(file)) is None


@pytest.mark.parametrize("has_pyc", [True, False])
def test_the_names_of_a_module_are_the_same_with_and_without_its_pyc(file, has_pyc, monkeypatch):
    monkeypatch.syspath_prepend(str(file.parent))
    monkeypatch.delitem(sys.modules, "cached", raising=False)
    module = importlib.import_module("cached")
    if not has_pyc:
        no_pyc(file)
    source = SourceFile(str(file))
    source.refresh("cached")
    assert source.find(module.f.__code__) is not None
    assert source.names().imported == {"os", "system", "loads", "tomllib"}
    assert source.names().assigned == {"x", "y"}


def as_it_was(file):
    pass


def in_the_same_second(file):
    seconds = int(os.stat(file).st_mtime)
    write_pyc(file, seconds * 10**9)
    file.write_text(TEXT.replace("1", "5"))
    os.utime(file, ns=(seconds * 10**9 + 10**8,) * 2)


def with_its_old_time(file):
    status = os.stat(file)
    write_pyc(file, status.st_ctime_ns - 1)
    file.write_text(TEXT.replace("1", "5"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def by_hash_unchecked(file):
    py_compile.compile(file, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def by_hash_unchecked_and_edited(file):
    by_hash_unchecked(file)
    edited(file)


def write_pyc(file, nanoseconds):
    """Write the `.pyc` at a time."""
    py_compile.compile(file)
    os.utime(importlib.util.cache_from_source(file), ns=(nanoseconds, nanoseconds))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (as_it_was, False),
        (no_pyc, False),
        (edited, False),
        (touched, False),
        (cut_off, False),
        (of_another_version, False),
        (by_hash, False),
        (by_hash_unchecked, False),
        (by_hash_unchecked_and_edited, True),
        (in_the_same_second, True),
        (with_its_old_time, True),
    ],
)
def test_a_pyc_of_another_text_that_python_uses_is_noticed(file, change, expected):
    written = (int(os.stat(file).st_mtime) - 100) * 10**9
    os.utime(file, ns=(written, written))
    write_pyc(file, os.stat(file).st_ctime_ns + 10**8)
    change(file)
    assert may_be_stale(str(file)) is expected


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_the_times_of_inodes_prove_nothing_in_folders_of_installed_packages(tmp_path, folder):
    path = tmp_path / folder / "cached.py"
    path.parent.mkdir()
    path.write_text(TEXT)
    os.utime(path, (1000, 1000))
    write_pyc(path, 2000 * 10**9)  # as in a copy of a folder
    assert not may_be_stale(str(path))
    os.utime(path, ns=(1000 * 10**9 + 2, 1000 * 10**9 + 2))
    write_pyc(path, 1000 * 10**9 + 1)
    assert may_be_stale(str(path))
