"""The start of a run: modules that a run does not need are not imported."""

import textwrap

import pytest
from helpers.command_line import cassette, run

from cassette_import.frontends.command_line import main, run_arguments

IMPORTED = """
    import sys
    import beside

    print(beside.one(), *sorted(sys.modules))
"""
BESIDE = """
    def one():
        return 1
"""


@pytest.fixture
def folder(tmp_path, write):
    write("app.py", IMPORTED)
    write("beside.py", BESIDE)
    return tmp_path


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(textwrap.dedent(text))

    return write


def imported(outcome):
    """The names of the modules that the program has printed."""
    assert outcome.stderr == ""
    result, *names = outcome.stdout.split()
    assert result == "1"
    return set(names)


def own(names):
    return {name.removeprefix("cassette_import.") for name in names if name.startswith("cassette_import.")}


def test_a_run_without_contexts_imports_nothing_that_runs_or_rewrites_code(folder):
    names = own(imported(cassette("run", "-p", "beside", "-c", "none", "app.py", folder=folder)))
    assert {name for name in names if name.startswith(("rewriting", "activation", "contexts"))} == set()
    assert {name for name in names if name.startswith("runtime.")} == {"runtime.module_imports"}
    assert {name for name in names if name.startswith("specialization.")} == {
        "specialization.progress",
        "specialization.registry_port",
    }


def test_a_run_without_contexts_imports_no_large_modules_of_the_standard_library(folder):
    plain = imported(run("app.py", folder=folder))
    names = imported(cassette("run", "-p", "beside", "-c", "none", "app.py", folder=folder))
    large = {"argparse", "ast", "dataclasses", "dis", "hashlib", "inspect", "json", "pathlib", "shutil", "tempfile"}
    assert names & large == plain & large


def test_modules_imported_before_there_was_a_context_are_overdubbed_in_the_first_one(folder, write):
    write(
        "app.py",
        """
        import sys
        import beside

        assert "cassette_import.activation.context" not in sys.modules
        from cassette_import import Context

        class Printing(Context):
            def posthook(self, result, f, *args):
                print(f.__name__, result)

        with Printing():
            beside.two()
        """,
    )
    write("beside.py", BESIDE + "\n    def two():\n        return one() + one()\n")
    outcome = cassette("run", "-p", "beside", "-c", "none", "app.py", folder=folder)
    assert (outcome.stdout, outcome.stderr) == ("one 1\none 1\nadd 2\n", "")


def test_a_module_that_has_changed_before_the_first_context_is_left_alone(folder, write):
    write(
        "app.py",
        """
        import beside

        with open("beside.py", "a") as file:
            file.write("# another line")
        from cassette_import import Context

        class Printing(Context):
            def prehook(self, f, *args):
                print(f.__name__)

        with Printing():
            print(beside.two())
        """,
    )
    write("beside.py", BESIDE + "\n    def two():\n        return one() + one()\n")
    outcome = cassette("run", "-p", "beside", "-c", "none", "app.py", folder=folder)
    assert (outcome.stdout, outcome.stderr) == ("2\n", "")


@pytest.mark.parametrize(
    "words",
    [
        ["-p", "a,b", "-p", "c", "app.py", "-c", "x"],
        ["-c", "noop", "--context", "trace:depth=3", "-o", "out.txt", "-m", "app"],
        ["-mapp", "--report", "x"],
        ["--report", "r.json", "--escapes", "--subprocesses", "--", "app.py", "--escapes"],
        ["-x", "", "--output", "a b", "-"],
        [],
    ],
)
def test_well_formed_arguments_are_parsed_as_argparse_parses_them(words):
    assert vars(run_arguments.parsed(words)) == vars(main.build_parser().parse_args(["run", *words]))


@pytest.mark.parametrize("words", [["-h"], ["-c"], ["-c", "-p", "a"], ["--context=noop", "x.py"], ["-pa"], ["--wrong"]])
def test_other_arguments_are_left_to_argparse(words):
    assert run_arguments.parsed(words) is None


# ---- runs in contexts

CONTEXT = """
    import time
    from cassette_import import Context

    class Clock(Context):
        def summary(self):
            return ""

    @Clock.overdub.register(time.ctime)
    def _(ctx, f, *arguments):
        return "noon"
"""


def test_a_second_run_in_a_context_imports_nothing_that_rewrites_code(folder, write):
    write("clock.py", CONTEXT)
    words = ["run", "-p", "beside", "-c", "clock:Clock", "app.py"]
    environment = {"folder": folder, "PYTHONDONTWRITEBYTECODE": ""}
    assert "rewriting.rewriter" in own(imported(cassette(*words, **environment)))
    names = own(imported(cassette(*words, **environment)))
    assert {name for name in names if name.startswith(("rewriting.forms", "rewriting.syntax"))} == set()
    assert not names & {
        "rewriting.rewriter",
        "rewriting.trees.module_tree",
        "rewriting.trees.places",
        "rewriting.trees.scopes",
        "specialization.passes",
    }


def test_a_second_run_in_a_context_executes_no_late_module(folder, write):
    write("clock.py", CONTEXT)
    write("app.py", LATE_MODULES)
    words = ["run", "-p", "beside", "-c", "clock:Clock", "app.py"]
    first, second = (cassette(*words, folder=folder, PYTHONDONTWRITEBYTECODE="") for _ in range(2))
    assert "cassette_import.rewriting.rewriter" in first.stdout.split()
    assert (second.stdout, second.stderr) == ("1\n", "")


LATE_MODULES = """
    import sys
    import beside
    from cassette_import.interpreter import late_modules

    names = {module.__name__ for module in late_modules._late}
    print(beside.one(), *sorted(names & set(sys.modules)))
"""


def test_a_second_run_in_a_context_reads_no_source_of_cassette_import(folder, write):
    write("clock.py", NOTING_FILES + CONTEXT)
    write("app.py", FILES_READ)
    words = ["run", "-p", "beside", "-c", "clock:Clock", "app.py"]
    environment = {"folder": folder, "PYTHONPYCACHEPREFIX": str(folder / "caches"), "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(3):  # the fingerprint is cached in a folder that Python has made for its own files
        outcome = cassette(*words, **environment)
    assert (outcome.stdout, outcome.stderr) == ("1 0\n", "")


NOTING_FILES = """
    import sys

    opened = []
    sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None)
"""
FILES_READ = """
    import beside
    from clock import opened

    print(beside.one(), len([name for name in opened if "cassette_import" in str(name) and str(name).endswith(".py")]))
"""


@pytest.mark.parametrize("name", ["ast", "dis", "tokenize", "inspect"])
def test_code_is_rewritten_if_the_program_hides_modules_that_this_needs(folder, write, name):
    write("clock.py", CONTEXT)
    write(f"{name}.py", "raise RuntimeError('not for cassette_import')")
    write("beside.py", "import time\n\ndef one():\n    return time.ctime()\n")
    write("signal.py", "")
    write("app.py", "import beside\nprint(beside.one())\n")
    outcome = cassette("run", "-p", "beside", "-c", "clock:Clock", "app.py", folder=folder)
    assert (outcome.stdout, outcome.stderr) == ("noon\n", "")
