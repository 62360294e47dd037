"""Targets that no call has matched are reported at the end: by every context, in every frontend."""

import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.command_line import cassette
from helpers.pytest_runs import run_pytest

from cassette_import import Context, overdub
from cassette_import.kits.targets import meeting_functions

FILES = {
    "shop.py": """
        def used(x):
            return x
        def never(x):
            return x
        class Order:
            def __init__(self):
                self.number = 1
    """,
    "fakes.py": "def fake(*values):\n    return 0\n",
    "app.py": """
        import functools
        import shop
        RATE = 2
        small = functools.partial(round, ndigits=1)
        class Own:
            size = property(lambda self: 1)
        print(shop.used(1), shop.Order().number, Own().size, small(1.25))
    """,
}
CONTEXTS = {
    "substitute": ("substitute:shop.used=fakes.fake,shop.never=fakes.fake", "shop.never: never called"),
    "faults": ("faults:target=shop.used+shop.never,delay=0", "shop.never: never called"),
    "memoize": ("memoize:functions=shop.used+shop.never", "shop.never: never called"),
    "taint, a source": ("taint:sources=shop.used+shop.never", "shop.never: never called"),
    "taint, a sink": ("taint:sinks=shop.used+shop.never", "shop.never: never called"),
    "taint, a sanitizer": ("taint:sanitizers=shop.used+shop.never", "shop.never: never called"),
    "taint, a misspelled name": ("taint:sources=shop.used+shop.nevre", "shop.nevre: there is no such function"),
    "substitute, a missing name": (
        "substitute:app.nope=fakes.fake",
        "__main__.nope: there is no such function",
    ),
    "faults, a missing name": (
        "faults:target=app.nope,delay=0",
        "__main__.nope: there is no such function",
    ),
    "substitute, a missing method": (
        "substitute:app.Own.nope=fakes.fake",
        "__main__.Own.nope: there is no such function",
    ),
    "substitute, a property": (
        "substitute:app.Own.size=fakes.fake",
        "__main__.Own.size: this is a property, which is not called",
    ),
    "faults, a number": ("faults:target=app.RATE,delay=0", "__main__.RATE: this is an int, which is not called"),
    "substitute, a partial object": (
        "substitute:app.small=fakes.fake",
        "__main__.small: this is a partial object; give the function that it calls",
    ),
    "memoize, a partial object": (
        "memoize:functions=app.small",
        "__main__.small: this is a partial object; give the function that it calls",
    ),
    "taint, a missing name of the program": ("taint:sources=app.nope", "__main__.nope: there is no such function"),
    "taint, a missing module": ("taint:sources=shoop.used", "shoop.used: the program has not imported its module"),
    "memoize, a missing name": (
        "memoize:functions=app.nope",
        "__main__.nope: there is no such function",
    ),
    "trace": ("trace:start=shop.used,stop=shop.never", "stop=shop.never: never called"),
    "record": ("record:boundary=shop.used+shop.never", "boundary=shop.never: never called"),
    "record, a misspelled name": ("record:boundary=shop.nevre", "the program has not imported such a function"),
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    return tmp_path


@pytest.mark.parametrize("name", CONTEXTS)
def test_run_reports_a_target_that_was_never_called(name, folder):
    description, message = CONTEXTS[name]
    options = ["-o", "out.cassette"] if description.startswith("record") else []
    done = cassette("run", "-c", description, *options, "app.py", folder=folder)
    assert done.status == 0, done.stderr
    assert message in done.stderr
    assert "shop.used: never" not in done.stderr


@pytest.mark.parametrize("name", [name for name in CONTEXTS if "record" not in name])
def test_run_reports_it_where_the_results_go_to_a_file(name, folder):
    description, message = CONTEXTS[name]
    suffix = "json" if "trace" in description else "txt"
    done = cassette("run", "-c", description, "-o", f"out.{suffix}", "app.py", folder=folder)
    assert message in done.stderr, done.stderr


def test_a_constructor_as_a_target_names_the_class(folder):
    done = cassette("run", "-c", "substitute:shop.Order.__init__=fakes.fake", "app.py", folder=folder)
    assert done.stderr == "substitute: shop.Order.__init__: never called; to match Order(…), give shop.Order\n"


SCRIPT = """
    import shop
    from cassette_import import install, overdub
    from cassette_import.contexts import Faults, Memoize, Substitute, Taint, Trace
    def main():
        return shop.used(1)
    install("shop")
    {}
"""
IN_PYTHON = {
    "Substitute": "overdub(Substitute({shop.used: abs, shop.never: abs}), main)",
    "Faults": "overdub(Faults(shop.used, shop.never, delay=0), main)",
    "Memoize": "overdub(Memoize(shop.used, shop.never), main)",
    "Taint": "overdub(Taint(sources=['shop.used', 'shop.never']), main)",
    "Trace": "overdub(Trace(start='shop.never'), main)",
}


def run_script(text, folder, *options):
    (folder / "script.py").write_text(textwrap.dedent(SCRIPT).format(text))
    command = [sys.executable, *options, "script.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stderr


@pytest.mark.parametrize("name", IN_PYTHON)
def test_in_python_a_warning_names_the_line_that_made_the_context(name, folder):
    stderr = run_script(IN_PYTHON[name], folder)
    assert re.match(rf".*script.py:8: CassetteWarning: {name} was active, but: .*shop.never.* never called\n", stderr)


@pytest.mark.parametrize(
    "text",
    [
        "overdub(Substitute({shop.used: abs}), main)",
        "Substitute({shop.never: abs})",
        "for _ in range(3): overdub(Substitute({shop.used: abs} if _ else {shop.never: abs, shop.used: abs}), main)",
        "s = Substitute({shop.never: abs}); overdub(s, main); overdub(s, lambda: shop.never(1))",
    ],
    ids=["matched", "never entered", "matched by another context of the line", "matched later"],
)
def test_in_python_there_is_no_warning_for(text, folder):
    assert run_script(text, folder) == ""


def test_a_warning_that_is_an_error_is_printed(folder):
    stderr = run_script(IN_PYTHON["Faults"], folder, "-W", "error")
    assert stderr.endswith("script.py:8: CassetteWarning: Faults was active, but: shop.never: never called\n")


TEST = """
    import pytest
    import shop
    from cassette_import import overdub
    from cassette_import.contexts import Substitute

    @pytest.mark.cassette("faults:target=shop.never,delay=0", packages=["shop"])
    def test_with_a_marker():
        assert shop.used(1) == 1

    def test_with_a_context():
        with Substitute({shop.never: abs}):
            assert shop.used(1) == 1
            (lambda: shop.used(1))()
"""


def test_pytest_reports_targets_of_options_markers_and_of_contexts_that_tests_make(folder):
    (folder / "test_shop.py").write_text(textwrap.dedent(TEST))
    options = ["--cassette-packages=shop", "--cassette-context=memoize:functions=shop.never"]
    done = run_pytest("-q", *options, folder=folder)
    assert "memoize: shop.never: never called" in done.stdout, done.stdout
    assert "faults: shop.never: never called" in done.stdout
    assert re.search(r"test_shop.py:12: Substitute was active, but: shop.never: never called\n", done.stdout)
    assert "CassetteWarning" not in done.stderr


OWN = """
    import math
    import shop
    from cassette_import import Context, install, overdub
    def main():
        return shop.used(1), math.sin(1.0)
    class Own(Context):
        pass
    def replaced(ctx, f, x):
        return 0
    install("shop")
    {}
    overdub(Own(), main)
"""
UNREACHED = {
    "an overload": "Own.overdub.register(shop.never)(replaced)",
    "a prehook": "Own.prehook.register(shop.never)(replaced)",
    "one of several": "Own.overdub.register(shop.used, shop.used)(replaced)\n"
    "    Own.overdub.register(shop.never)(lambda ctx, f, x: 0)",
}
REACHED = {
    "those that are called": "Own.overdub.register(shop.used)(replaced)",
    "functions in C": "Own.overdub.register(math.cos)(replaced)",
    "a context type that is not entered": "class Other(Context): pass\n"
    "    Other.overdub.register(shop.never)(replaced)",
    "overloads for other types": "Own.overdub.register(shop.used)(replaced)\n"
    "    @Own.overdub.register(shop.used)\n    def _(ctx, f, x: str): return 0",
}


def own_stderr(text, folder):
    (folder / "script.py").write_text(textwrap.dedent(OWN).format(textwrap.dedent(text.replace("\n    ", "\n"))))
    return subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=True).stderr


@pytest.mark.parametrize("name", UNREACHED)
def test_targets_of_the_hooks_of_a_context_of_the_program_that_were_never_called_are_named(name, folder):
    stderr = own_stderr(UNREACHED[name], folder)
    assert re.match(
        r".*script.py:\d+: CassetteWarning: Own was active, but: shop.never: no call of it was an event\n", stderr
    ), stderr


@pytest.mark.parametrize("name", REACHED)
def test_no_warning_names(name, folder):
    assert own_stderr(REACHED[name], folder) == ""


def test_run_names_the_targets_of_a_context_of_the_program(folder):
    (folder / "own.py").write_text(
        "import shop\nfrom cassette_import import Context\nclass Own(Context):\n    pass\n"
        "@Own.overdub.register(shop.never)\ndef _(ctx, f, x):\n    return 0\n"
    )
    done = cassette("run", "-c", "own:Own", "app.py", folder=folder)
    assert "own.py:5: CassetteWarning: Own was active, but: shop.never: no call of it was an event" in done.stderr


class Asked(Context):
    """A context of which two threads ask whether it meets functions."""


def test_what_one_thread_asks_about_met_functions_changes_no_answer_to_another_thread():
    overdub(Asked(), str, 1)
    has_met = meeting_functions(Asked)
    answers = [has_met()]
    overdub(Asked(), str, 1)
    with ThreadPoolExecutor(1) as executor:
        has_met_in_thread = executor.submit(meeting_functions, Asked).result()
        answers += [has_met(), executor.submit(has_met_in_thread).result()]
        overdub(Asked(), str, 1)
        answers.append(executor.submit(has_met_in_thread).result())
    assert answers == [False, True, False, True]
