"""The command `compile`: cache files for whole packages, with which a first run compiles nothing."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from helpers.command_line import cassette, environment

from cassette_import.specialization import disk_cache

FILES = {
    "shop/__init__.py": """
        from shop.till import Till
        from . import prices

        print("imported")
    """,
    "shop/till.py": """
        import functools
        from math import floor
        from shop.prices import PRICES, price
        from shop import tools

        def rounded(function):
            @functools.wraps(function)
            def wrapper(*arguments):
                return floor(function(*arguments))
            return wrapper

        class Till:
            total: float = 0.0

            def __init__(self, names):
                self.__names = [*names]

            def prices(self):
                for name in self.__names:
                    yield price(name)

            @rounded
            def pay(self):
                add = lambda total, price: total + price
                for price in self.prices():
                    self.total = add(self.total, price)
                return tools.taxed(self.total) + len(PRICES.keys())
    """,
    "shop/prices.py": """
        PRICES = {"tea": 3.2, "salt": 1.1}

        def price(name):
            return PRICES[name]
    """,
    "shop/tools/__init__.py": """
        from .taxes import taxed
    """,
    "shop/tools/taxes.py": """
        def taxed(price):
            try:
                return price * 1.2
            finally:
                price = None
    """,
    "shop/space/unused.py": """
        def unused():
            return sum(number for number in range(3))
    """,
    "main.py": """
        from shop import Till
        print(Till(["tea", "salt", "tea"]).pay())
    """,
}


@pytest.fixture
def folder(tmp_path):
    """A package with subpackages, and a program that uses it."""
    for name, source in FILES.items():
        write(tmp_path, name, source)
    return tmp_path


def write(folder, name, source):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(textwrap.dedent(source))


def compiled(*words, folder, **variables):
    return cassette("compile", *words, folder=folder, **variables)


def specialised(*words, folder):
    """Run the program with a report; return its output, and how many functions and module levels were specialised."""
    done = cassette("run", "-p", "shop", *words, "--report", "report.json", "main.py", folder=folder)
    assert done.status == 0, done.stderr
    work = json.loads((folder / "report.json").read_text())["specialising"]
    return done.stdout, work["functions"], work["module_levels"]


def cache_files(folder):
    return {file.name.partition(".")[0] for file in disk_cache.find(folder)}


CLOSING = r"(\d+) modules? compiled, (\d+) functions?, [\d.]+ (byte|bytes|kB|MB), \d+\.\d seconds"


@pytest.mark.parametrize(
    "contexts",
    [
        ["-c", "noop"],
        ["-c", "profile"],
        ["-c", "profile:sort=calls,limit=3"],
        ["-c", "profile:sites=True"],
        ["-c", "trace:depth=3", "-c", "noop:events=calls"],
        ["-c", "substitute:shop.prices.price=builtins.len"],
        ["-c", "taint"],
        ["-c", "profile:imports=true"],
        ["-c", "callgraph"],
        [],
    ],
    ids=" ".join,
)
def test_a_first_run_after_compiling_specialises_nothing_of_the_package(contexts, folder):
    done = compiled("-p", "shop", *contexts, folder=folder)
    assert (done.status, done.stderr) == (0, "")
    fresh, *_ = specialised("-c", "none", folder=folder)
    output, functions, module_levels = specialised(*contexts, folder=folder)
    if "substitute" not in str(contexts):
        assert output == fresh
    assert (functions, module_levels <= 1) == (0, True)  # the module level of main.py is not part of the package


def test_compiling_imports_nothing_and_does_not_enter_the_context(folder):
    write(
        folder,
        "own.py",
        """
        from cassette_import import Context, Events

        class Own(Context, events=Events.CALLS):
            def __enter__(self):
                print("entered")
                return super().__enter__()

            def prehook(self, f, *arguments, **keywords):
                self.last = f
        """,
    )
    done = compiled("-p", "shop", "-c", "own:Own", folder=folder)
    assert re.fullmatch(CLOSING + "\n", done.stdout)
    assert specialised("-c", "own:Own", folder=folder)[1] == 0


def test_the_closing_line_counts_modules_and_functions(folder):
    modules, functions, *_ = re.fullmatch(CLOSING, compiled("-p", "shop", folder=folder).stdout.strip()).groups()
    assert (int(modules), int(functions)) == (6, 7)


def test_compiling_twice_is_harmless(folder):
    first, second = (compiled("-p", "shop", "-c", "noop", folder=folder) for _ in range(2))
    assert (first.status, second.status) == (0, 0)
    assert specialised("-c", "noop", folder=folder)[1] == 0


@pytest.mark.parametrize("jobs", ["0", "1", "3"])
def test_several_processes_write_all_files(jobs, folder):
    assert compiled("-p", "shop", "-c", "noop", "-j", jobs, folder=folder).status == 0
    assert cache_files(folder) == {"__init__", "till", "prices", "taxes", "unused"}


def test_packages_are_chosen_and_excluded_as_in_run(folder):
    assert compiled("-p", "shop.t*,json", "-x", "json", "-x", "shop.tools", "-c", "noop", folder=folder).status == 0
    assert cache_files(folder) == {"till"}


def test_settings_apply(folder):
    write(folder, "pyproject.toml", '[tool.cassette_import]\npackages = ["shop"]\ncontext = "noop"\n')
    assert compiled(folder=folder).status == 0
    assert specialised("-c", "noop", folder=folder)[1] == 0


def test_files_are_written_although_runs_may_write_none(folder):
    """The user asks for them; images often set the variable for all programs."""
    assert compiled("-p", "shop", "-c", "noop", folder=folder, PYTHONDONTWRITEBYTECODE="1").status == 0
    assert specialised("-c", "noop", folder=folder)[1] == 0


def test_levels_of_optimisation_have_files_of_their_own(folder):
    assert cassette("compile", "-p", "shop", "-c", "noop", folder=folder, flags=["-O"]).status == 0
    assert specialised("-c", "noop", folder=folder)[1] > 0
    options = "run", "-p", "shop", "-c", "noop", "--report", "report.json", "main.py"
    assert cassette(*options, folder=folder, flags=["-O"]).status == 0
    assert json.loads((folder / "report.json").read_text())["specialising"]["functions"] == 0


def test_modules_that_fail_are_named_with_the_reason_and_the_others_are_compiled(folder):
    write(folder, "shop/broken.py", "def f(:\n")
    (folder / "shop/null.py").write_bytes(b"\0")
    done = compiled("-p", "shop", "-c", "noop", folder=folder)
    assert done.status == 1
    first, second = done.stderr.splitlines()
    assert re.fullmatch(r"shop\.broken failed: syntax error in line 1: .*", first)
    assert second.startswith("shop.null failed: ")
    assert done.stdout.endswith(", 2 modules failed\n")
    assert cache_files(folder) == {"__init__", "till", "prices", "taxes", "unused"}


def test_a_folder_that_cannot_be_written_is_a_failure(folder):
    (folder / "shop/space/__pycache__").write_text("")
    done = compiled("-p", "shop", "-c", "noop", folder=folder)
    assert done.status == 1
    assert done.stderr == "shop.space.unused failed: its cache file cannot be written\n"


def test_several_modules_whose_files_cannot_be_written_are_one_line(folder):
    for package in ("shop", "shop/space"):
        (folder / package / "__pycache__").write_text("")
    done = compiled("-p", "shop", "-c", "noop", folder=folder)
    assert done.status == 1
    assert re.fullmatch(
        rf"\d modules failed: cache files cannot be written below {folder}/shop; PYTHONPYCACHEPREFIX names .*\n",
        done.stderr,
    )


@pytest.mark.parametrize("source", ["", "x = 1\n"])
@pytest.mark.parametrize(
    "contexts", [["-c", "profile"], ["-c", "trace", "-c", "profile"], ["-c", "noop"]], ids=" ".join
)
def test_a_module_without_functions_is_no_failure(contexts, source, folder):
    write(folder, "shop/constants.py", source)
    done = compiled("-p", "shop.constants", *contexts, folder=folder)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith("1 module compiled, 0 functions, ")


def test_the_help_shows_that_packages_are_required_and_may_be_repeated(folder):
    usage = cassette("compile", "--help", folder=folder).stdout.partition("\n\n")[0]
    assert "compile -p PACKAGE[,…] [-p …]… [-x" in " ".join(usage.split())


def test_modules_without_source_are_left_alone(folder):
    done = compiled("-p", "shop,math", "-c", "noop", folder=folder)
    assert done.status == 0
    assert done.stdout.endswith(", 1 module left alone\n")


def test_functions_that_a_run_leaves_alone_are_counted(folder):
    write(
        folder, "shop/fast.py", "import numba\n@numba.njit\ndef fast(x): return abs(x)\ndef other(x): return abs(x)\n"
    )
    done = compiled("-p", "shop.fast", "-c", "noop", folder=folder)
    assert done.status == 0
    assert re.fullmatch(CLOSING + ", 1 function left alone\n", done.stdout)[2] == "1"


OWN = """
    from cassette_import import Context

    class Empty(Context):
        pass

    class Rewriting(Context):
        passes = [lambda tree, reflection: tree]
"""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no package is named: -p PACKAGE is needed"),
        (["-p", "nonesuch"], "no finder knows 'nonesuch'; is it spelled as the program imports it, and installed[?]"),
        (["-p", "*.till"], r"'\*\.till' does not begin with the name of a package"),
        (["-p", "shop", "-c", "none"], "without a context nothing is compiled: -c CONTEXT is needed"),
        (["-p", "shop", "-c", "nonesuch"], "no context is called 'nonesuch'; .*"),
        (["-p", "shop", "-c", "profile:colour=red"], "context 'profile:colour=red': .*"),
        (["-p", "shop", "-c", "own:Rewriting"], "Rewriting has passes: what they make is not cached"),
        (["-p", "shop", "-c", "own:Empty"], "Empty intercepts nothing: there is nothing to compile"),
        (["-p", "shop", "-j", "-1"], "-j must not be less than 0, and is -1"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(words, message, folder):
    write(folder, "own.py", OWN)
    done = compiled(*words, folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import compile: {message}\n", done.stderr)
    assert cache_files(folder) == set()


@pytest.mark.parametrize("rich", [True, False], ids=["with rich", "without rich"])
def test_on_a_terminal_there_is_a_bar_or_a_line(rich, folder):
    if rich:
        pytest.importorskip("rich")
    else:
        write(folder, "rich.py", "raise ImportError")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cassette_import", "compile", "-p", "shop", "-c", "noop"]
    options = {"env": environment(TERM="xterm"), "stderr": theirs, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, **options) as process:
        os.close(theirs)
        written = b""
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
            while part := os.read(ours, 1000):
                written += part
        output = process.stdout.read()
    os.close(ours)
    shown = written.decode()
    assert re.fullmatch(CLOSING + "\n", output.decode())
    if rich:
        assert "compiling" in shown
        assert shown.rstrip().endswith("\x1b[2K")  # rich has erased the bar
    else:
        assert shown == "compiling …\r\n"


def test_without_a_terminal_a_line_says_now_and_then_how_far_it_is(monkeypatch, capsys):
    from cassette_import.frontends.compiling import compiled_modules

    monkeypatch.setattr(compiled_modules, "perf_counter", iter([0, 4, 11, 11, 15, 25]).__next__)
    assert list(compiled_modules.with_bar("abcd", 4, "compiling")) == list("abcd")
    assert capsys.readouterr().err == "compiling: 2 of 4 modules\n"


OWN_KIND = """
from cassette_import import Context, Events

class Own(Context, events=Events.CALLS):
    def prehook(self, f, *arguments, **keywords):
        self.last = f
"""


def test_more_modules_than_a_process_compiles_are_compiled_by_further_processes(folder, monkeypatch):
    from cassette_import.frontends.compiling import compiled_modules
    from cassette_import.frontends.compiling.compiled_modules import selected_modules

    monkeypatch.setattr(compiled_modules, "_MODULES_PER_PROCESS", 1)
    monkeypatch.syspath_prepend(folder)
    sources = selected_modules(["shop"]).sources
    results = list(compiled_modules.compile_modules(sources, ["noop"], [], jobs=2))
    assert sorted(result.name for result in results) == sorted(source.name for source in sources)
    assert not any(result.problem for result in results)


def test_a_process_that_dies_is_a_failure_of_its_modules(folder):
    dying = "import os, sys\nif 'multiprocessing.spawn' in str(sys.orig_argv): os._exit(3)\n"
    (folder / "own.py").write_text(dying + OWN_KIND)
    done = compiled("-p", "shop", "-c", "own:Own", folder=folder)
    assert done.status == 1
    assert "shop.till failed: a process that compiles modules has died\n" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_an_interrupt_is_one_line_and_what_was_compiled_is_cached(folder):
    write(folder, "slow.py", "import sys, time\nif 'spawn' in str(sys.orig_argv): open('begun', 'w'); time.sleep(3)\n")
    write(folder, "own.py", "import slow\n" + OWN_KIND)
    command = [sys.executable, "-m", "cassette_import", "compile", "-p", "shop", "-c", "own:Own"]
    options = {"env": environment(), "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command, cwd=folder, **options) as process:
        while not (folder / "begun").exists():
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        errors = process.stderr.read()
    assert errors == "interrupted: the modules that were compiled before are cached\n"
    assert process.returncode == 130
