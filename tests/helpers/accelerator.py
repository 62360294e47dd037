"""The accelerators for tests: those that are installed, or else some that are built for the tests."""

import contextlib
import functools
import importlib
import importlib.util
import subprocess
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from cassette_import import install
from cassette_import.interpreter.extensions import VARIABLE
from cassette_import.kits.calls.accelerator import ACCELERATOR
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from helpers.command_line import PROJECT


def problem():
    """Why contexts cannot use the accelerator in this process; empty if they can."""
    return _problem(ACCELERATOR, "cassette_import.kits.calls.accelerator", "_accelerator")


def problem_of_dispatch():
    """Why dispatch cannot use its accelerator in this process; empty if it can."""
    return _problem(DISPATCH, "cassette_import.runtime.dispatch.accelerator", "_dispatch")


@functools.cache
def _problem(accelerator, package, name):
    if not accelerator.reason or accelerator.reason.startswith(VARIABLE):
        return accelerator.reason
    if not (PROJECT / "pyproject.toml").exists():
        return accelerator.reason
    folder = Path(tempfile.mkdtemp(prefix="accelerator"))
    into = [f"--build-lib={folder}", f"--build-temp={folder / 'made'}"]
    command = [sys.executable, "-c", "import setuptools; setuptools.setup()", "-q", "build_ext", *into]
    built = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    files = [*folder.rglob(f"{name}{EXTENSION_SUFFIXES[0]}")]
    if not files:
        return f"it could not be built: {built.stderr[-300:]}"
    spec = importlib.util.spec_from_file_location(f"{package}.{name}", files[0])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return accelerator.use(module)


@contextlib.contextmanager
def ways(way, monkeypatch):
    """Have contexts use their hooks ``in C`` or ``in Python``; skip the test if the first ones cannot be built."""
    in_c = way == "in C"
    if in_c and problem():
        pytest.skip(problem())
    monkeypatch.setattr(ACCELERATOR, "is_used", in_c)
    if not in_c:
        monkeypatch.setenv(VARIABLE, "0")
    yield


@contextlib.contextmanager
def ways_of_dispatch(way):
    """Have hooks that are bound in the block run ``in C`` or ``in Python``; skip the test if C is not possible."""
    in_c, was_used = way == "in C", DISPATCH.is_used
    if in_c and problem_of_dispatch():
        pytest.skip(problem_of_dispatch())
    DISPATCH.choose(in_c)
    try:
        yield
    finally:
        DISPATCH.choose(was_used)


@contextlib.contextmanager
def installed_program(text, way, make_package):
    """A module of a program, which is installed while hooks run ``in C`` or ``in Python``."""
    with ways_of_dispatch(way):
        name = make_package(text)
        install(name)
        yield importlib.import_module(name)
