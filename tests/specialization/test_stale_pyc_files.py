"""A `.pyc` of another text that Python uses for a source file: the program runs as in plain Python, and never half so.

Python tells texts apart by the size of the file and the time of its last change, in whole seconds. A source that was
edited twice in a second, or whose time was set back, runs as it was before the last edit.
"""

import os

import pytest
from helpers.command_line import cassette, run

MODULE = """
LEVEL = "old"

def function():
    return "old"

def outer():
    def inner():
        return "old"
    return inner()

class Class:
    attribute = "old"

    def method(self):
        return [text + "old" for text in "ab"]

def same():
    return len("same")
"""

PROGRAM = """
import stale
print(stale.LEVEL, stale.function(), stale.outer(), stale.Class.attribute, stale.Class().method(), stale.same())
"""

LATER = """
import stale
import cassette_import
from cassette_import.contexts import Noop, Trace
cassette_import.install("stale")
for context in (Noop(), Trace()):
    with context:
        print(stale.function(), stale.outer(), stale.Class().method(), stale.same())
    print(cassette_import.overdub(context, stale.outer))
"""

BOTH = {"PYTHONDONTWRITEBYTECODE": ""}


@pytest.fixture
def folder(tmp_path):
    """A folder with a module that was edited after its `.pyc` was written; size and time are the same."""
    module = tmp_path / "stale.py"
    module.write_text(MODULE)
    os.utime(module, (10**9, 10**9))
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "later.py").write_text(LATER)
    run("program.py", folder=tmp_path, **BOTH)
    module.write_text(MODULE.replace("old", "new"))
    os.utime(module, (10**9, 10**9))
    return tmp_path


@pytest.mark.parametrize("context", ["noop", "trace", "profile"])
def test_the_program_runs_as_in_plain_python_and_a_warning_says_so(folder, context):
    plain = run("program.py", folder=folder, **BOTH)
    assert "new" not in plain.stdout
    for _ in range(2):  # the second run has the caches of the first one
        done = cassette("run", "-p", "stale", "-c", context, "program.py", folder=folder, **BOTH)
        assert done.stdout.startswith(plain.stdout)
        assert "stale is imported plain: its .pyc file was compiled from another text" in done.stderr


@pytest.mark.parametrize("context", ["noop", "profile"])
def test_without_the_pyc_the_present_text_runs(folder, context):
    for file in (folder / "__pycache__").iterdir():
        file.unlink()
    done = cassette("run", "-p", "stale", "-c", context, "program.py", folder=folder, **BOTH)
    assert "old" not in done.stdout
    assert "imported plain" not in done.stderr


def test_functions_that_exist_when_a_context_is_entered_run_as_in_plain_python(folder):
    done = run("later.py", folder=folder, **BOTH)
    assert "new" not in done.stdout
    assert done.stdout.count("old old ['aold', 'bold'] 4\n") == 2
    assert done.status == 0
