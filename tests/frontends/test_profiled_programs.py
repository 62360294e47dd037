"""`run -c profile`: the time of a program outside of its functions has rows of its own."""

import pstats

import pytest
from helpers.command_line import cassette

PROGRAM = '''
"""A docstring."""
from __future__ import annotations
import threading
try:
    import slow_to_import, no_such_module
except ImportError:
    pass
if True:
    from slow_to_import import value

def work():
    return sum(x for x in range(10))

class Thing:
    names = [name for name in (n for n in "abc")]

spun = 0
for number in range(200_000):
    spun += number
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert work() == 45 and __doc__ == "A docstring." and "@s" not in vars()
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM.lstrip("\n"))
    (tmp_path / "slow_to_import.py").write_text("value = 1\n")
    return tmp_path


def rows(folder):
    """The statistics of the program, by name."""
    done = cassette("run", "-c", "profile", "-o", "out.prof", "app.py", folder=folder)
    assert (done.status, done.stderr) == (0, "")
    return {label[2]: (label, entry) for label, entry in pstats.Stats(str(folder / "out.prof")).stats.items()}


def test_the_module_level_of_the_program_and_its_imports_are_rows(folder):
    found = rows(folder)
    label, (_, calls, own, cumulative, _) = found["<module>"]
    assert label == (str(folder / "app.py"), 1, "<module>")
    assert calls == 1
    assert own > 0.001
    assert found["<imports>"][1][1] == 3
    assert found["<imports>"][1][4].keys() == {label}
    assert found["<MainThread>"][1][3] >= cumulative
    assert found["work"][1][1] == 2  # one of them by the thread


def test_a_function_that_cassette_import_has_diverted_is_shown_in_its_own_file(folder):
    label, _ = rows(folder)["start"]
    assert label[0].endswith("threading.py")


def test_a_program_without_calls_is_profiled(folder):
    (folder / "app.py").write_text("x = 1\n")
    done = cassette("run", "-c", "profile", "app.py", folder=folder)
    assert "app.py:1(<module>)" in done.stderr


@pytest.mark.parametrize("words", [["app.py"], ["-m", "app"]], ids=["a script", "a module"])
def test_no_summary_follows_a_syntax_error_of_the_program(words, folder):
    (folder / "app.py").write_text("x = (\n")
    done = cassette("run", "-c", "profile", *words, folder=folder)
    assert done.status == 1
    assert done.stderr.splitlines()[-1].startswith("SyntaxError: ")


def test_the_last_line_counts_the_rows_that_are_left_out(folder):
    shown = cassette("run", "-c", "profile:limit=1000", "app.py", folder=folder).stderr.splitlines()
    limited = cassette("run", "-c", "profile:limit=3", "app.py", folder=folder).stderr.splitlines()
    assert limited[-1].split() == ["…", str(len(shown) - 3 - 3), "further", "rows"]
