"""Broken contexts: one clear error, the program ends as without them, and the results of the others are not lost."""

import json
import re
import textwrap

import pytest
from helpers.command_line import cassette
from helpers.pytest_runs import run_pytest

PROGRAM = """
    import sys
    print(abs(-3))
    sys.exit(5)
"""

OWN = """
    from cassette_import import Context, Events

    class Working(Context):
        '''Has results, prints them and writes them.'''

        def prehook(self, f, *args, **kwargs):
            pass

        def summary(self):
            return "the results"

        @property
        def formats(self):
            return {".found": self.write}

        def write(self, path):
            with open(path, "w") as file:
                file.write("the results")

    class Unmade(Working):
        def __init__(self):
            raise LookupError("there is no\\nsuch thing")

    class Dumb(Working):
        def summary(self):
            raise LookupError("no words")

        def write(self, path):
            raise LookupError("no paper")

    class Closed(Working):
        def __enter__(self):
            raise LookupError("no way in")

    class Sticky(Working):
        def __exit__(self, *exception):
            raise LookupError("no way out")

    class Formless(Working):
        @property
        def formats(self):
            raise LookupError("no form")

    class Hostile(Working):
        '''Raises in every hook.'''

        def prehook(self, f, *args, **kwargs):
            raise ValueError("in the prehook")

        def overdub(self, f, *args, **kwargs):
            raise ValueError("in the overload")

        def posthook(self, result, f, *args, **kwargs):
            raise ValueError("in the posthook")

        def errorhook(self, exception, f, *args, **kwargs):
            raise ValueError("in the errorhook")
"""


@pytest.fixture
def folder(tmp_path):
    """A program, contexts, and modules that cannot be imported."""
    sources = {
        "program": PROGRAM,
        "own": OWN,
        "ill": "1 / 0\n",
        "unfinished": "def f(:\n",
        "lacking": "import nonesuch\n",
    }
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
    return tmp_path


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ("own:Unmade", r"context 'own:Unmade': LookupError: there is no such thing \(.*own\.py:\d+\)"),
        ("ill:Context", r"context 'ill:Context': ill cannot be imported: ZeroDivisionError: .*\(.*ill\.py:1\)"),
        ("unfinished:Context", r"context 'unfinished:Context': unfinished cannot be imported: SyntaxError: .*"),
        (
            "lacking:Context",
            r"context 'lacking:Context': lacking cannot be imported: ModuleNotFoundError: .*nonesuch.*",
        ),
        ("trace:depth", r"context 'trace:depth': depth is an option, which takes a value: trace:depth=…"),
        ("callgraph:leaves", r".*: leaves is an option, which takes a value: callgraph:leaves=True"),
        ("memoize:functions", r".*: functions is an option, which takes a value: memoize:functions=…"),
        ("profile:limt", r".*: an option of profile is written profile:key=value; it takes .*; did you mean limit\?"),
        ("substitute:time.time", r".*: an option of substitute is written substitute:key=value"),
        ("callgraph:leaves+top", r".*: leaves is an option, which takes a value: callgraph:leaves=True"),
        ("profil:leaves", r".*: there is no module 'profil'; did you mean profile\?"),
        ("profile:sort=owm", r".*: sort is one of own, cumulative, calls, not 'owm'; did you mean own\?"),
        ("profile:limit=3,limit=4", r".*: limit is given twice"),
        ("noop:events=callz", r".*: no kind of events is called 'callz'; .*; did you mean calls\?"),
        ("faults:target=time.tim,delay=1", r".*: module time has no attribute 'tim'; did you mean time\?"),
        ("intervals:precision=0", r".*: precision is a number of bits from 2 to 1000000, not 0"),
        (
            "__main__:Double",
            r"context '__main__:Double': contexts are made before the program runs, .*; move the class to a module "
            r"beside the program, such as own.py, and write own:Double",
        ),
        ("call-types:stubs", r"context 'call-types:stubs': an option of call-types is written .*"),
        ("profile:limit=-1", r"context 'profile:limit=-1': limit must not be less than 0, and is -1"),
    ],
)
def test_a_context_that_cannot_be_made_is_one_line_and_status_2(described, message, folder):
    done = cassette("run", "-c", described, "program.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: (?:{message})\n", done.stderr)


def test_a_colon_without_options_is_accepted(folder):
    assert cassette("run", "-c", "own:Working:", "program.py", folder=folder).stderr == "the results\n"


@pytest.mark.parametrize("order", [("own:Dumb", "own:Working"), ("own:Working", "own:Dumb")])
def test_a_context_that_cannot_report_does_not_hide_the_results_of_others(order, folder):
    chosen = [word for name in order for word in ("-c", name)]
    done = cassette("run", *chosen, "--report", "report.json", "program.py", folder=folder)
    assert (done.status, done.stdout) == (5, "3\n")
    lines = done.stderr.splitlines()
    assert "the results" in lines
    assert any(
        re.fullmatch(r"cassette_import: Dumb could not report .*: LookupError: no words \(.*\)", line) for line in lines
    )
    contexts = json.loads((folder / "report.json").read_text())["contexts"]
    assert contexts == [name.partition(":")[2] for name in order]


def test_a_context_that_cannot_write_is_reported(folder):
    done = cassette("run", "-c", "own:Dumb", "-o", "out.found", "program.py", folder=folder)
    assert (done.status, done.stdout) == (5, "3\n")
    first, second = done.stderr.splitlines()
    assert re.fullmatch(r"cassette_import: .*out\.found was not written: LookupError: no paper \(.*\)", first)
    assert second.startswith("cassette_import: Dumb could not report")


def test_a_context_that_raises_in_every_hook_raises_in_the_program_and_nothing_is_lost(folder):
    done = cassette("run", "-c", "own:Working", "-c", "own:Hostile", "program.py", folder=folder)
    assert (done.status, done.stdout) == (1, "")
    assert "ValueError: in the prehook" in done.stderr
    assert done.stderr.endswith("the results\n")


def test_a_context_that_cannot_be_entered_is_one_line_and_status_2(folder):
    done = cassette("run", "-c", "own:Working", "-c", "own:Closed", "program.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    expected = r"python -m cassette_import run: Closed cannot be entered: LookupError: no way in \(.*own\.py:\d+\)\n"
    assert re.fullmatch(expected, done.stderr)


def test_a_context_that_raises_when_it_is_left_does_not_change_the_exit_status(folder):
    done = cassette("run", "-c", "own:Working", "-c", "own:Sticky", "program.py", folder=folder)
    assert (done.status, done.stdout) == (5, "3\n")
    first, *others = done.stderr.splitlines()
    assert re.fullmatch(
        r"cassette_import: Sticky raised when it was left: LookupError: no way out \(.*own\.py:\d+\)", first
    )
    assert others == ["the results", "the results"]


def test_a_context_whose_formats_fail_is_one_line_and_status_2(folder):
    done = cassette("run", "-c", "own:Formless", "-o", "out.found", "program.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    expected = (
        r"python -m cassette_import run: out\.found: Formless cannot say what it writes: LookupError: no form .*\n"
    )
    assert re.fullmatch(expected, done.stderr)


def test_a_context_that_cannot_be_made_is_wrong_usage_of_pytest(folder):
    (folder / "test_something.py").write_text("def test_it():\n    assert abs(-3) == 3\n")
    done = run_pytest("--cassette-context=own:Unmade", folder=folder)
    assert done.status == 4
    assert "LookupError: there is no such thing" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("how", ["own.Unmade", "'own:Unmade'"])
def test_a_context_of_a_mark_that_cannot_be_made_is_one_line(how, folder):
    (folder / "test_something.py").write_text(
        f"import own, pytest\n\n@pytest.mark.cassette({how})\ndef test_it():\n    pass\n"
    )
    done = run_pytest(folder=folder)
    assert "LookupError: there is no such thing" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_context_that_cannot_report_does_not_change_the_outcome_of_pytest(folder):
    (folder / "test_something.py").write_text("def test_it():\n    assert abs(-3) == 3\n")
    done = run_pytest("--cassette-context=own:Dumb", "--cassette-context=own:Working", folder=folder)
    assert done.status == 0
    assert "Dumb could not report its results: LookupError: no words" in done.stdout
    assert "the results" in done.stdout
