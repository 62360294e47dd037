"""The accelerator for tests: the one that is installed, or else one that is built for the tests."""

import contextlib
import functools
import importlib.util
import subprocess
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from cassette_import.contexts.common.accelerator import ACCELERATOR, VARIABLE
from helpers.command_line import PROJECT

_NAME = "cassette_import.contexts.common.accelerator._accelerator"


@functools.cache
def problem():
    """Why contexts cannot use the accelerator in this process; empty if they can."""
    if not ACCELERATOR.reason or ACCELERATOR.reason.startswith(VARIABLE):
        return ACCELERATOR.reason
    if not (PROJECT / "pyproject.toml").exists():
        return ACCELERATOR.reason
    folder = Path(tempfile.mkdtemp(prefix="accelerator"))
    into = [f"--build-lib={folder}", f"--build-temp={folder / 'made'}"]
    command = [sys.executable, "-c", "import setuptools; setuptools.setup()", "-q", "build_ext", *into]
    built = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    files = [*folder.rglob(f"_accelerator{EXTENSION_SUFFIXES[0]}")]
    if not files:
        return f"it could not be built: {built.stderr[-300:]}"
    spec = importlib.util.spec_from_file_location(_NAME, files[0])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return ACCELERATOR.use(module)


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
