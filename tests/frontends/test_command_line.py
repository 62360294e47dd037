"""The command line: programs and contexts, where results are written, and the messages for wrong usage."""

import json
import pstats
import re
import shutil
import signal
import textwrap
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES

import pytest
from helpers.command_line import PROJECT, cassette, run

from cassette_import import contexts
from cassette_import.contexts import READY_MADE
from cassette_import.contexts.elsewhere import ELSEWHERE
from cassette_import.contexts.lookup import context_type_named
from cassette_import.frontends import settings
from cassette_import.frontends.command_line import main
from cassette_import.frontends.command_line.parser import EXAMPLES, build_parser
from cassette_import.kits.option_descriptions import described_options

APP = """
    import sys
    import beside

    def main():
        print(beside.double(21), sys.argv[1:])

    main()
"""
BESIDE = """
    def double(x):
        return x + x
"""
OWN = """
    from cassette_import import Context, Events

    class Counting(Context, events=Events.CALLS):
        '''Counts calls.'''

        def __init__(self, *, start=0):
            super().__init__()
            self.count = start

        def prehook(self, f, *args, **kwargs):
            self.count += 1

        def summary(self):
            return f"counted {self.count}"

        @property
        def formats(self):
            return {".count": self.write}

        def write(self, path):
            with open(path, "w") as file:
                file.write(str(self.count))

    class Silent(Context):
        '''Says nothing.'''

    class Brief(Context):
        '''Writes no files.'''

        def summary(self):
            return "that is all"

    class Raising(Context):
        '''Has a hook that raises.'''

        def prehook(self, f, *args, **kwargs):
            raise LookupError("the hook's own")

    ready = Counting(start=100)
    number = 3
"""


@pytest.fixture
def folder(tmp_path):
    """A program, a module beside it, and a module with contexts."""
    for name, source in {"app": APP, "beside": BESIDE, "own": OWN}.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
    return tmp_path


def write(folder, name, source):
    (folder / name).write_text(textwrap.dedent(source))


# ---- run: contexts


def test_without_a_context_the_program_is_profiled(folder):
    done = cassette("run", "app.py", "-c", "none", folder=folder)
    assert (done.status, done.stdout) == (0, "42 ['-c', 'none']\n")
    assert re.search(r"app\.py:5\(main\)", done.stderr)
    assert re.search(r"beside\.py:2\(double\)", done.stderr)


def test_with_none_the_program_runs_as_it_is(folder):
    assert cassette("run", "-c", "none", "app.py", folder=folder) == (0, "42 []\n", "")


def test_a_context_accepts_options(folder):
    done = cassette("run", "-c", "trace:depth=1", "app.py", folder=folder)
    assert done.stderr == "import beside -> None\nmain() -> None\ntrace: 2 calls, 2 deeper ones not shown\n"


def test_several_contexts_stack_the_first_one_outermost(folder):
    write(
        folder,
        "pair.py",
        """
        from cassette_import import Context, Events

        class Named(Context):
            def __init__(self, *, name):
                super().__init__()
                self.name = name
            def prehook(self, f, *args, **kwargs):
                if f is print:
                    import sys
                    sys.stderr.write(self.name)
        class Other(Named):
            pass
        """,
    )
    done = cassette("run", "-c", "pair:Named:name=a", "-c", "pair:Other:name=b", "app.py", folder=folder)
    assert done.stderr == "ab"


@pytest.mark.parametrize(
    ("described", "told"),
    [
        ("own:Counting", "counted 3\n"),
        ("own:Counting:start=10", "counted 13\n"),
        ("own:ready", "counted 103\n"),
        ("own:Silent", ""),
        ("own:Brief", "that is all\n"),
        ("noop:events=calls+operators", ""),
    ],
)
def test_a_context_may_be_named_by_where_it_is(described, told, folder):
    assert cassette("run", "-c", described, "app.py", folder=folder).stderr == told


def test_a_context_may_lie_beside_the_program(folder):
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    done = cassette("run", "-c", "own:Counting", folder / "app.py", folder=elsewhere)
    assert done.stderr == "counted 3\n"


def test_the_module_of_a_context_is_not_part_of_the_program(folder):
    cassette("run", "-c", "own:Counting", "--report", "report.json", "app.py", folder=folder)
    modules = json.loads((folder / "report.json").read_text())["modules"]
    assert modules["beside"]["action"] == "rewritten"
    assert modules["own"]["action"] == "left alone"


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ("graph", "no context is called 'graph'; graph is used in Python: see `contexts graph`"),
        ("fuzz:seconds=3", "no context is called 'fuzz'; fuzz is a command: see `fuzz --help`"),
        ("intervals", "intervals has no results of a program: call cassette_import.contexts.intervals.enclosure.*"),
        ("own.Counting", "no context is called 'own.Counting'; .*; own is a module: write own:Counting"),
        ("own:Counting,start=3", "context .*: a colon separates .*: write own:Counting:start=3"),
        (
            "parallel:functions=json:loads",
            "context .*: got an unexpected keyword argument 'functions'; it takes targets, .*",
        ),
        (
            "faults:target=json.loads,raises=ValueErr",
            "context .*: raises is .*, not 'ValueErr'; did you mean ValueError[?]",
        ),
        ("noop,trace", "context .*: several contexts are given one by one: write -c noop -c trace"),
        ("trace:depth=3,noop", "context .*: 'noop' is not of the form key=value; several contexts .*: -c noop"),
        ("xyz", "no context is called 'xyz'; there are .*, noop, .*, profile, .*, and module:Class"),
        ("profile:limit=many", "context 'profile:limit=many': limit must be a whole number, not 'many'"),
        ("profile:sites=yes", "context 'profile:sites=yes': sites must be True or False, not 'yes'"),
        ("trace:depth=deep", "context 'trace:depth=deep': depth must be a whole number or None, not 'deep'"),
        ("trace:depth=0", "context 'trace:depth=0': depth is a number of levels of calls from 1 on, not 0"),
        ("profle", "no context is called 'profle'; .*; did you mean profile[?]"),
        ("trace:dept=3", "context 'trace:dept=3': .*; it takes .*, depth, .*; did you mean depth[?]"),
        ("trace:deep=3", "context 'trace:deep=3': got an unexpected keyword argument 'deep'; it takes .*, depth, .*"),
        ("noop:events=sounds", "context .*: no kind of events is called 'sounds'; there are .*"),
        ("profile:sort=name", "context .*: sort is one of own, cumulative, calls, not 'name'"),
        ("trace:depth", "context 'trace:depth': there is no module 'trace'|context 'trace:depth': .*"),
        ("own:Nope", "context 'own:Nope': module 'own' has no attribute 'Nope'"),
        ("nowhere:Nope", "context 'nowhere:Nope': there is no module 'nowhere'"),
        ("own:number", "context 'own:number': own:number is no context type; .*"),
        ("own:ready:start=1", "context .*: own:ready is a context already and takes no options"),
        ("json:JSONDecoder", "context .*: json:JSONDecoder returned no context, but a JSONDecoder; .*"),
    ],
)
def test_a_context_that_cannot_be_had_is_one_line_and_status_2(described, message, folder):
    done = cassette("run", "-c", described, "app.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: (?:{message})\n", done.stderr)


def test_a_hook_that_raises_raises_in_the_program(folder):
    done = cassette("run", "-c", "own:Raising", "app.py", folder=folder)
    assert done.status == 1
    assert done.stderr.startswith('Traceback (most recent call last):\n  File "')
    *_, exception, explanation = done.stderr.splitlines()
    assert exception == "LookupError: the hook's own"
    assert explanation.startswith("This exception was raised by prehook of the context Raising, at app.py:")
    assert "cassette_import" not in done.stderr


# ---- run: packages


def test_what_lies_beside_the_script_is_overdubbed_and_the_rest_is_not(folder):
    (folder / "package").mkdir()
    write(folder, "package/__init__.py", "from package.inner import f")
    write(folder, "package/inner.py", "import json\ndef f(): return json.dumps(len([]))")
    (folder / "data").mkdir()
    write(folder, "app.py", "import json, package; package.f()")
    done = cassette("run", "-c", "trace", "app.py", folder=folder)
    assert done.stderr.splitlines()[:7] == [
        "import package",
        "  import package.inner -> None",
        "  -> None",
        "f()",
        "  len([]) -> 0",
        "  dumps(0) -> '0'",
        "  -> '0'",
    ]


def test_the_package_of_a_module_is_overdubbed_whole(folder):
    (folder / "package").mkdir()
    write(folder, "package/__init__.py", "from package.inner import f")
    write(folder, "package/inner.py", "def f(): return len([])")
    write(folder, "package/main.py", "from package import f; f()")
    done = cassette("run", "-c", "trace", "-m", "package.main", folder=folder)
    assert done.stderr.splitlines()[:6] == [
        *("import package", "  import package.inner -> None", "  -> None"),
        *("f()", "  len([]) -> 0", "  -> 0"),
    ]


def test_given_packages_replace_the_programs_own(folder):
    write(folder, "app.py", "import colorsys, beside; beside.double(1); colorsys.rgb_to_yiq(1, 1, 1)")
    options = "run", "-c", "trace:events=operators,depth=1", "--report", "report.json"
    done = cassette(*options, "-p", "colorsys", "app.py", folder=folder)
    assert "operator.mul(0.3, 1) -> 0.3" in done.stderr
    assert "operator.add(1, 1)" not in done.stderr
    report = json.loads((folder / "report.json").read_text())
    assert report["packages"] == ["colorsys"]
    assert report["modules"]["colorsys"]["specialised"] == {"rgb_to_yiq": ["Trace"]}


INSTALLED = """
import sys
from cassette_import.frontends.command_line.main import main
if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.mark.parametrize(
    "words",
    [("show", "beside:double"), ("doctor", "beside"), ("compile", "-p", "beside", "-j", "1"), ("cache", "beside")],
)
def test_the_installed_command_finds_modules_of_the_current_folder(words, folder):
    (folder / "bin").mkdir()
    write(folder, "bin/cassette-import", INSTALLED)
    done = run("bin/cassette-import", *words, folder=folder, PYTHONDONTWRITEBYTECODE="")
    assert (done.status, done.stderr) == (0, "")


def test_a_name_that_excludes_nothing_is_one_line(folder):
    done = cassette("run", "-x", "besides,json.decodr,jso*", "-c", "none", "app.py", folder=folder)
    assert (done.status, done.stdout) == (0, "42 []\n")
    assert done.stderr.splitlines() == [
        f"cassette_import: -x {name} excludes nothing: there is no such module" for name in ("besides", "json.decodr")
    ]


def test_a_variable_that_is_spelled_nearly_as_a_setting_is_one_line(folder):
    done = cassette("run", "app.py", folder=folder, CASSETTE_IMPORT_PACKAGS="json", CASSETTE_IMPORT_MINE="1")
    message = "CASSETTE_IMPORT_PACKAGS is no setting; did you mean CASSETTE_IMPORT_PACKAGES?"
    assert (done.status, done.stderr) == (2, f"python -m cassette_import run: {message}\n")


def test_what_is_excluded_is_left_alone(folder):
    done = cassette("run", "-c", "trace:events=operators", "-x", "beside", "app.py", folder=folder)
    assert "operator.add" not in done.stderr


@pytest.mark.parametrize("name", ["app", "__main__"])
def test_a_script_that_is_excluded_is_left_alone(name, folder):
    write(folder, "app.py", "def f():\n    return abs(1)\nf()")
    done = cassette("run", "-c", "trace", "-p", "app", "-x", name, "app.py", folder=folder)
    assert (done.status, done.stdout) == (0, "")
    assert done.stderr == "trace: 0 calls\n"


def test_the_module_level_of_the_script_is_overdubbed(folder):
    write(folder, "app.py", "x = len('abc')\nclass C:\n    y = max(1, 2)\nprint([abs(i) for i in range(2)])")
    lines = cassette("run", "-c", "trace", "app.py", folder=folder).stderr.splitlines()
    assert lines[:2] == ["len('abc') -> 3", "max(1, 2) -> 2"]
    assert "abs(1) -> 1" in lines


@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("nonesuch", "No module named 'nonesuch'; give the name that the program imports, and install .*"),
        ("./beside", "No module named './beside'; give the name that the program imports, .*, not a path"),
        ("math", "math cannot be overdubbed: .*"),
    ],
)
def test_a_package_that_cannot_be_had_is_one_line_and_status_2(package, message, folder):
    done = cassette("run", "-p", package, "app.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: {message}\n", done.stderr)


def test_a_module_that_does_not_parse_fails_as_in_python_and_nothing_is_lost(folder):
    write(folder, "beside.py", "def double(:\n")
    done = cassette("run", "-c", "none", "app.py", folder=folder)
    assert done == run("app.py", folder=folder)
    assert cassette("run", "-o", "out.txt", "app.py", folder=folder).status == 1
    assert (folder / "out.txt").exists()


# ---- run: what was found


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("", 0),
        ("1 / 0", 1),
        ("import sys; sys.exit(3)", 3),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", -signal.SIGINT),
    ],
)
def test_results_are_printed_however_the_program_ends(ending, status, folder):
    write(folder, "app.py", f"len('abc')\n{ending}\n")
    plain = run("app.py", folder=folder)
    done = cassette("run", "app.py", folder=folder)
    assert done.status == plain.status == status
    assert done.stderr.startswith(plain.stderr)
    assert "<built-in method builtins.len>" in done.stderr
    assert cassette("run", "-o", "out.prof", "app.py", folder=folder) == plain
    assert ("~", 0, "<built-in method builtins.len>") in pstats.Stats(str(folder / "out.prof")).stats


def test_calls_in_threads_and_exit_functions_are_included(folder):
    write(
        folder,
        "app.py",
        """
        import atexit, threading, time
        from own import ready
        def work():
            time.sleep(0.2)
            with ready:
                late()
        def late():
            len("abc")
        atexit.register(work)
        threading.Thread(target=work).start()
        """,
    )
    done = cassette("run", "-c", "own:ready", "app.py", folder=folder)
    # What the script's module level does, and len, twice.
    assert int(done.stderr.removeprefix("counted ")) >= 100 + 2


@pytest.mark.parametrize(
    ("name", "begins"),
    [("out.txt", b"profile: "), ("out.json", b'{"$schema": "https://www.speedscope'), ("out.speedscope.json", b"{")],
)
def test_the_format_of_a_file_is_that_of_its_suffix(name, begins, folder):
    done = cassette("run", "-o", name, "app.py", folder=folder)
    assert done.stderr == ""
    assert (folder / name).read_bytes().startswith(begins)


@pytest.mark.parametrize("name", ["out.html", "out.folded", "out.prof", "out.json"])
def test_a_profile_is_written_when_the_program_raises_or_is_interrupted(name, folder):
    for error in ("ValueError('mine')", "KeyboardInterrupt", "SystemExit(3)"):
        write(folder, "app.py", f"def fail():\n    raise {error}\nlen('abc')\nfail()\n")
        plain = run("app.py", folder=folder)
        done = cassette("run", "-o", name, "app.py", folder=folder)
        assert (done.status, done.stderr) == (plain.status, plain.stderr)
        assert b"fail" in (folder / name).read_bytes()
        (folder / name).unlink()


@pytest.mark.parametrize("name", ["out.html", "out.folded", "out.prof", "out.json"])
def test_no_module_of_python_is_imported_when_a_profile_is_written(name, folder):
    write(
        folder,
        "app.py",
        """
        import os, sys

        class Finder:
            def find_spec(name, path=None, target=None):
                if name.partition(".")[0] in sys.stdlib_module_names:
                    os.write(2, f"imports {name}\\n".encode())

        sys.meta_path.insert(0, Finder)
        """,
    )
    assert cassette("run", "-o", name, "app.py", folder=folder).stderr == ""
    assert (folder / name).exists()


def test_a_trace_for_chrome_is_complete_when_the_program_raises(folder):
    write(folder, "app.py", "def fail():\n    raise ValueError('mine')\nfail()\n")
    assert cassette("run", "-c", "trace", "-o", "out.json", "app.py", folder=folder).status == 1
    events = json.loads((folder / "out.json").read_text())
    assert [event["ph"] for event in events] == ["M", "B", "B", "E", "E"]


def test_the_output_path_does_not_depend_on_the_programs_current_folder(folder):
    write(folder, "app.py", "import os; len(''); os.chdir('/')")
    assert cassette("run", "-o", "out.txt", "--report", "report.json", "app.py", folder=folder).status == 0
    assert (folder / "out.txt").exists()
    assert (folder / "report.json").exists()


def test_a_trace_is_in_its_file_up_to_where_the_program_died(folder):
    write(folder, "app.py", "import os\nown = os.getpid()\nlen('abc')\nos.kill(own, 9)")
    assert cassette("run", "-c", "trace", "-o", "out.txt", "app.py", folder=folder).status == -9
    _, second, third = (folder / "out.txt").read_text().splitlines()
    assert (second, third[:11]) == ("len('abc') -> 3", "posix.kill(")


def test_of_several_contexts_the_one_with_the_suffix_writes_the_file(folder):
    options = "-c", "own:Counting", "-c", "profile", "-o", "out.count"
    done = cassette("run", *options, "app.py", folder=folder)
    assert int((folder / "out.count").read_text()) >= 3
    assert done.stderr.startswith("profile: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["-o", "out.xyz"],
            "out.xyz: unknown format; known are .callgraph.html, .collapsed, .folded, .html, .json, .prof, "
            ".speedscope.json, .txt",
        ),
        (["-c", "noop", "-o", "out.prof"], "out.prof: Noop writes no files"),
        (["-c", "none", "-o", "out.prof"], "out.prof: no context is active that could write it"),
        (["-o", "nowhere/out.prof"], "nowhere/out.prof: there is no directory .*/nowhere"),
        (["--report", "nowhere/report.json"], "nowhere/report.json: there is no directory .*/nowhere"),
        (["-o", "."], r"\.: is a directory"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_program_runs(options, message, folder):
    done = cassette("run", *options, "app.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: {message}\n", done.stderr)


def test_results_that_cannot_be_written_at_the_end_are_printed(folder):
    (folder / "made").mkdir()
    write(folder, "app.py", "import shutil; shutil.rmtree('made')")
    done = cassette("run", "-o", "made/out.txt", "app.py", folder=folder)
    first, second, *_ = done.stderr.splitlines()
    assert re.fullmatch("cassette_import: .*/made/out.txt was not written: No such file or directory", first)
    assert second.startswith("profile: ")


@pytest.mark.parametrize("file", ["-o=made/out.json", "--report=made/out.json"])
@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("", 1),
        ("sys.exit(0)", 1),
        ("os._exit(0)", 1),
        ("os._exit(status=0)", 1),
        ("sys.exit(3)", 3),
        ("os._exit(4)", 4),
        ("sys.exit('text')", 1),
        ("os.fork() or os._exit(0); sys.exit(3)", 3),
    ],
)
def test_a_file_that_was_not_written_is_told_from_success_by_the_status(file, ending, status, folder):
    (folder / "made").mkdir()
    write(
        folder,
        "app.py",
        f"import os, shutil, sys; shutil.rmtree('made'); print('x', end=''); sys.stdout.flush(); {ending}",
    )
    done = cassette("run", *file.split("="), "app.py", folder=folder)
    assert (done.status, done.stdout) == (status, "x")


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("os._exit(4)", 4),
        ("os.execv(sys.executable, [sys.executable, '-c', 'raise SystemExit(5)'])", 5),
        ("os.execlp('python-that-is-not-there', 'x')", 1),
    ],
)
def test_results_are_printed_when_the_program_skips_its_exit_functions(ending, status, folder):
    write(folder, "app.py", f"import os, sys\nlen('abc')\n{ending}\n")
    done = cassette("run", "--report", "report.json", "app.py", folder=folder)
    assert done.status == run("app.py", folder=folder).status == status
    assert done.stderr.count("profile: ") == 1
    assert "<built-in method builtins.len>" in done.stderr
    assert (folder / "report.json").exists()


def test_a_function_that_leaves_passes_for_the_original(folder):
    source = """
        import inspect, os, pickle, posix
        leave = os._exit
        print(leave.__name__, leave.__module__, leave.__doc__, inspect.signature(leave), leave is posix._exit)
        print(pickle.loads(pickle.dumps(leave)) is leave)
        try:
            leave()
        except TypeError as error:
            print("refused")
        """
    write(folder, "app.py", source)
    assert cassette("run", "-o", "out.prof", "app.py", folder=folder) == run("app.py", folder=folder)


def test_a_context_may_have_a_function_that_leaves_as_its_target(folder):
    write(
        folder,
        "staying.py",
        """
        import os
        from cassette_import import Context
        class Staying(Context):
            pass
        @Staying.overdub.register(os._exit)
        def _(ctx, f, status):
            print("stays", f.__name__)
        """,
    )
    write(folder, "app.py", "import os; os._exit(3); print('here')")
    done = cassette("run", "-c", "staying:Staying", "app.py", folder=folder)
    assert (done.status, done.stdout) == (0, "stays _exit\nhere\n")


def test_a_process_that_the_program_forks_prints_no_results(folder):
    write(
        folder,
        "app.py",
        """
        import os, sys
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        """,
    )
    assert cassette("run", "app.py", folder=folder).stderr.count("profile: ") == 1


def test_the_attributes_of_a_context_stay_without_a_dictionary(folder):
    """CPython is slower to read and set attributes of an object whose `__dict__` was used."""
    write(
        folder,
        "app.py",
        """
        import gc
        from cassette_import import current

        def referents(item):
            return [type(part).__name__ for part in gc.get_referents(item)]

        print(referents(current()) == referents(type(current())()))
        """,
    )
    write(
        folder,
        "counting.py",
        """
        from cassette_import import Context

        class Counting(Context):
            def __init__(self):
                super().__init__()
                self.count = 0

            def prehook(self, f, *args):
                self.count += 1

            def summary(self):
                return "counted"

            @property
            def formats(self):
                return {}
        """,
    )
    assert cassette("run", "-c", "counting:Counting", "app.py", folder=folder).stdout == "True\n"


def test_results_are_printed_on_the_real_standard_error(folder):
    write(folder, "app.py", "import io, sys; len(''); sys.stderr = io.StringIO()")
    assert cassette("run", "app.py", folder=folder).stderr.startswith("profile: ")


def test_the_report_has_the_state_of_each_module_and_function(folder):
    write(folder, "app.py", "import beside, math\ndef main():\n    return beside.double(2)\nmain()")
    assert cassette("run", "--report", "report.json", "-o", "out.prof", "app.py", folder=folder).status == 0
    report = json.loads((folder / "report.json").read_text())
    assert report["contexts"] == ["Profile"]
    assert {"app", "beside", "own"} <= set(report["packages"])
    assert report["modules"]["beside"]["action"] == "rewritten"
    assert report["modules"]["beside"]["origin"] == str(folder / "beside.py")
    assert report["modules"]["beside"]["specialised"] == {"double": ["Profile"]}
    assert report["modules"]["__main__"]["specialised"] == {"main": ["Profile"]}
    assert "math" not in report["modules"]


def test_the_report_of_a_run_from_the_cache_lists_the_same_functions(folder):
    reports = []
    for _ in range(3):
        options = "run", "-c", "noop", "--report", "report.json", "app.py"
        assert cassette(*options, folder=folder, PYTHONDONTWRITEBYTECODE="").status == 0
        reports.append(json.loads((folder / "report.json").read_text()))
    assert reports[0]["modules"] == reports[1]["modules"] == reports[2]["modules"]
    assert reports[0]["specialising"]["functions"] > reports[1]["specialising"]["functions"]


def test_the_report_and_the_profile_say_how_much_of_the_run_specialising_was(folder):
    done = cassette("run", "--report", "report.json", "app.py", folder=folder)
    work = json.loads((folder / "report.json").read_text())["specialising"]
    assert (work["functions"], work["module_levels"]) == (2, 1)
    assert 0 < work["seconds"] < work["elapsed"]
    assert 0 < work["share"] < 1
    first = re.match(
        r"profile: .* in (\S+) seconds, .*; overhead subtracted: (\S+), "
        r"in it specialising: 2 functions, (\S+) seconds, (\d+)% of (\S+) in all\n",
        done.stderr,
    )
    assert first, done.stderr
    seconds, overhead, specialising, percent, whole = map(float, first.groups())
    assert specialising <= overhead
    assert whole == pytest.approx(seconds + overhead, abs=0.002)
    assert percent == pytest.approx(100 * specialising / whole, abs=1)


# ---- wrong usage


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            [],
            "python -m cassette_import: a command is needed: "
            "run, replay, show, contexts, primitives, doctor, cache, compile or fuzz",
        ),
        (["sing"], "python -m cassette_import: argument COMMAND: invalid choice: 'sing' .*"),
        (
            ["runn", "app.py"],
            "python -m cassette_import: argument COMMAND: invalid choice: 'runn' .*; did you mean run[?]",
        ),
        (["run"], "python -m cassette_import run: a script, or -m and a module, is needed"),
        (["run", "-m"], "python -m cassette_import run: -m needs a module"),
        (["run", "--loud", "app.py"], "python -m cassette_import.*: unrecognized arguments: --loud"),
        (["run", "-p"], "python -m cassette_import run: argument -p/--packages: expected one argument"),
        (["show"], "python -m cassette_import show: the following arguments are required: MODULE:FUNCTION"),
        (
            ["show", "colorsys"],
            "python -m cassette_import show: 'colorsys' is not of the form module:function; for example colorsys:.*",
        ),
        (["show", "nope:f"], "python -m cassette_import show: nope:f: No module named 'nope'"),
        (["show", "colorsys:nope"], "python -m cassette_import show: colorsys:nope: module .* has no attribute 'nope'"),
        (
            ["show", "math:sin"],
            "python -m cassette_import show: math:sin has no Python source that could be overdubbed",
        ),
        (["show", "math:pi"], "python -m cassette_import show: math:pi is no function"),
        (
            ["doctor", "nope"],
            "python -m cassette_import doctor: no finder knows 'nope'; is it spelled as the program imports it, .*",
        ),
        (
            ["cache", "nope"],
            "python -m cassette_import cache: no finder knows 'nope'; is it spelled as the program imports it, .*",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(words, message, folder):
    done = cassette(*words, folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"{message}\n", done.stderr)


@pytest.mark.parametrize(
    ("words", "program"),
    [
        (["app.py", "-c", "none", "--", "-m"], ["app.py", "-c", "none", "--", "-m"]),
        (["-c", "noop", "app.py", "-o"], ["app.py", "-o"]),
        (["-cnoop", "--report=r", "app.py", "-p", "x"], ["app.py", "-p", "x"]),
        (["-p", "app.py", "-m", "app", "-m", "b"], ["-m", "app", "-m", "b"]),
        (["-mapp", "x"], ["-m", "app", "x"]),
        (["--", "-odd.py", "--"], ["-odd.py", "--"]),
        (["--output", "o", "a", "--help"], ["a", "--help"]),
    ],
)
def test_everything_from_the_script_or_module_on_belongs_to_the_program(words, program):
    """M4."""
    assert main.build_parser().parse_args(["run", *words]).program == program


# ---- settings


def test_the_command_line_comes_before_the_environment_and_that_before_the_file(folder):
    write(folder, "pyproject.toml", '[tool.cassette_import]\ncontext = "own:Counting:start=1000"\nreport = "file.json"')
    assert cassette("run", "app.py", folder=folder).stderr == "counted 1003\n"
    variables = {"CASSETTE_IMPORT_CONTEXT": "own:Counting:start=2000", "CASSETTE_IMPORT_REPORT": "environment.json"}
    assert cassette("run", "app.py", folder=folder, **variables).stderr == "counted 2003\n"
    options = "-c", "own:Counting:start=3000", "--report", "line.json"
    assert cassette("run", *options, "app.py", folder=folder, **variables).stderr == "counted 3003\n"
    assert all((folder / f"{name}.json").exists() for name in ("file", "environment", "line"))


def test_the_environment_may_name_packages_and_several_contexts(folder):
    done = cassette(
        *("run", "--report", "report.json", "app.py"),
        folder=folder,
        CASSETTE_IMPORT_PACKAGES="beside,colorsys",
        CASSETTE_IMPORT_EXCLUDE="colorsys",
        CASSETTE_IMPORT_CONTEXT="own:Counting;noop:events=calls",
    )
    assert done.status == 0
    report = json.loads((folder / "report.json").read_text())
    assert (report["packages"], report["exclude"]) == (["beside", "colorsys"], ["colorsys"])
    assert report["contexts"] == ["Counting", "Noop"]


def test_everything_can_be_switched_off_from_outside(folder):
    done = cassette("run", "-o", "out.prof", "app.py", "x", folder=folder, CASSETTE_IMPORT_DISABLE="1")
    assert done == run("app.py", "x", folder=folder)
    assert not (folder / "out.prof").exists()


def test_a_switch_of_the_environment_that_is_neither_on_nor_off_is_one_line(folder):
    done = cassette("run", "app.py", folder=folder, CASSETTE_IMPORT_DISABLE="maybe")
    expected = "python -m cassette_import run: CASSETTE_IMPORT_DISABLE must be 1 or 0, and is 'maybe'\n"
    assert (done.status, done.stderr) == (2, expected)


def test_settings_that_are_no_table_are_one_line(folder):
    write(folder, "pyproject.toml", "[tool]\ncassette_import = 3\n")
    done = cassette("run", "app.py", folder=folder)
    assert done.status == 2
    expected = r"python -m cassette_import run: .*pyproject\.toml: \[tool\] cassette_import must be a table: write .*\n"
    assert re.fullmatch(expected, done.stderr)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = 3", "has no setting 'colour'; there are packages, exclude, context, report, disable, subprocesses"),
        ("packages = 3", "packages must be text or a list of texts"),
        ("disable = 'yes'", "disable must be true or false"),
        ("packages = [", ".*"),
    ],
)
def test_a_setting_that_is_spelled_wrongly_is_one_line_that_names_the_file(text, message, folder):
    write(folder, "pyproject.toml", f"[tool.cassette_import]\n{text}\n")
    done = cassette("run", "app.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: .*pyproject.toml: .*{message}\n", done.stderr)


def test_settings_are_found_in_the_nearest_folder_above(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.cassette_import]\npackages = ["a", "b,c"]\ncontext = "none"\n')
    below = tmp_path / "some" / "where"
    below.mkdir(parents=True)
    found = settings.resolved(settings.Settings(exclude=("d",)), {}, str(below))
    assert found == settings.Settings(packages=("a", "b", "c"), exclude=("d",), contexts=())
    (below / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    assert settings.from_file(str(below)) == settings.Settings()


# ---- the other commands


def test_show_prints_a_function_as_it_runs_in_a_context(folder):
    done = cassette("show", "beside:double", "-c", "noop:events=operators", folder=folder)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == "def double(x):\n    return @operator.add(x, x)\n"


def test_show_prints_what_is_compiled_with_raw(folder):
    done = cassette("show", "beside:double", "-c", "noop:events=operators", "--raw", folder=folder)
    assert done.stdout.startswith("def double(x):\n")
    assert "_Noop" in done.stdout


def test_show_without_a_context_prints_the_function_itself(folder):
    assert cassette("show", "beside:double", "-c", "none", folder=folder).stdout == "def double(x):\n    return x + x\n"


def test_show_can_print_the_differences(folder):
    lines = cassette("show", "beside:double", "-c", "noop", "--diff", folder=folder).stdout.splitlines()
    legend = "@f(x) is an event of f, ?f(x) one if f is a target"
    assert lines[:2] == ["--- beside:double", f"+++ beside:double in Noop: {legend}"]
    assert "-    return x + x" in lines


def test_contexts_lists_those_that_have_a_name(folder):
    done = cassette("contexts", folder=folder)
    assert re.search(r"^noop +cassette_import\.contexts\.noop:Noop +Intercepts every event", done.stdout, re.M)
    assert {"profile", "trace"} <= {line.split()[0] for line in done.stdout.splitlines()}


def test_contexts_describes_the_options_of_a_context_with_their_defaults_and_its_formats(folder):
    told = cassette("contexts", "trace", folder=folder).stdout
    assert re.search(r"^  depth=None +How many levels of calls to show\.", told, re.M)
    assert re.search(r"^  width=60 +The most characters of one value\.$", told, re.M)
    assert "file=" not in told  # a stream, which no text describes
    assert "-o FILE writes .json, .jsonl, .ndjson, .txt" in told


def test_contexts_describes_a_format_that_any_file_may_have(folder):
    told = cassette("contexts", "record", folder=folder).stdout
    assert "-o FILE writes .cassette, .jsonl, or a file of any other name\n" in told


def test_contexts_describes_a_context_beside_the_program_too(folder):
    (folder / "seeing.py").write_text(
        "from cassette_import import Context\n\nclass Seen(Context):\n    'Sees.'\n\n"
        "    def __init__(self, *, limit: int = 3): ...\n"
    )
    assert cassette("contexts", "seeing:Seen", folder=folder).stdout.splitlines() == [
        "seeing:Seen: Sees.",
        "  -c seeing:Seen:option=value,…",
        "",
        "  limit=3",
    ]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_contexts_describes_features_that_are_used_in_python(name, folder):
    done = cassette("contexts", name, folder=folder)
    first, *_, last = done.stdout.splitlines()
    assert first.startswith(f"{name}: ")
    assert last == f"  from cassette_import.contexts.{name} import {', '.join(ELSEWHERE[name].functions)}"


@pytest.mark.parametrize("name", ELSEWHERE)
def test_features_that_are_used_in_python_have_the_functions_that_are_named(name):
    public = (PROJECT / "cassette_import" / "contexts" / name / "__init__.py").read_text().partition("__all__")[2]
    assert [one for one in ELSEWHERE[name].functions if f'"{one}"' not in public] == []


def test_contexts_refuses_an_unknown_name_with_one_line(folder):
    done = cassette("contexts", "profle", folder=folder)
    assert done.status == 2
    assert re.fullmatch(r".* contexts: no context is called 'profle'; .*; did you mean profile\?\n", done.stderr)


@pytest.mark.parametrize("name", list(READY_MADE))
def test_every_option_of_a_ready_made_context_is_described(name):
    options = described_options(context_type_named(name))
    assert [option.name for option in options if not option.description] == []


@pytest.mark.parametrize("command", sorted(EXAMPLES))
def test_examples_of_the_help_are_accepted_by_the_parser(command):
    for example in EXAMPLES[command]:
        assert build_parser().parse_args(example.split()).command == example.split()[0]


def test_the_help_of_run_names_the_options_of_all_contexts(folder):
    told = cassette("run", "--help", folder=folder).stdout
    assert "  trace: limit=10000, last=0" in told
    assert "faults: target=…, raises=None" in told


def test_ready_made_contexts_are_entry_points_like_those_of_others(folder):
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["cassette_import.contexts"] == dict(READY_MADE)
    listed = cassette("contexts", folder=folder).stdout
    assert all(re.search(rf"^{name} +{where} +[A-Z].*\.$", listed, re.M) for name, where in READY_MADE.items())
    assert {where.partition(":")[2] for where in READY_MADE.values()} < set(dir(contexts))


def test_contexts_of_other_distributions_are_found_by_their_entry_points(folder):
    distribution = folder / "own-1.0.dist-info"
    distribution.mkdir()
    write(distribution, "METADATA", "Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    write(distribution, "entry_points.txt", "[cassette_import.contexts]\ncounting = own:Counting\nlost = lost:Lost\n")
    listed = cassette("contexts", folder=folder).stdout
    assert re.search(r"^counting +own:Counting +Counts calls\.$", listed, re.M)
    assert re.search(r"^lost +lost:Lost +cannot be imported: No module named 'lost'$", listed, re.M)
    assert cassette("run", "-c", "counting:start=5", "app.py", folder=folder).stderr == "counted 8\n"


def test_primitives_lists_which_syntax_is_which_event(folder):
    done = cassette("primitives", folder=folder)
    assert re.search(r"^OPERATORS +a \+ b +operator\.add$", done.stdout, re.M)


def test_doctor_reports_the_state_of_each_module_with_the_reason_and_imports_nothing(folder):
    package = folder / "package"
    (package / "inner").mkdir(parents=True)
    write(package, "__init__.py", "print('imported')")
    write(package, "broken.py", "def f(:")
    write(package, "fine.py", "")
    write(package, "inner/__init__.py", "print('imported')")
    write(package, "inner/deep.py", "")
    (package / "fast.so").touch()
    done = cassette("doctor", "package", "-x", "package.inner", folder=folder)
    assert done.status == 0
    assert "imported\n" not in done.stdout
    told = dict(re.findall(r"^(package\S*): (.*)$", done.stdout, re.M))
    assert told == {
        "package": "rewritten",
        "package.broken": "left alone: syntax error in line 1: " + told["package.broken"].rpartition(": ")[2],
        "package.fast": "left alone: extension module, without Python source",
        "package.fine": "rewritten",
        "package.inner": "left alone: excluded",
        "package.inner.deep": "left alone: excluded",
    } | {"package.fast": told["package.fast"]}
    assert told["package.fast"].startswith("left alone: extension module")
    assert "    found by PathFinder, loader SourceFileLoader\n" in done.stdout
    assert f"    file {package / 'fine.py'}\n" in done.stdout


def checkout_before_an_installed_copy(folder):
    """A checkout without extensions that hides an installed copy with one; returns both folders of the package."""
    packages = [folder / place / "cassette_import" for place in ("checkout", "installed")]
    for package in packages:
        shutil.copytree(PROJECT / "cassette_import", package, ignore=shutil.ignore_patterns("*.so", "*.pyd", "*.pyc"))
    (packages[1] / "kits/calls/accelerator" / f"_accelerator{EXTENSION_SUFFIXES[0]}").write_bytes(b"")
    return packages


def test_doctor_names_the_installed_copy_with_the_accelerator_that_the_current_folder_hides(folder):
    checkout, copy = checkout_before_an_installed_copy(folder)
    done = cassette("doctor", folder=checkout.parent, PYTHONPATH=str(copy.parent))
    assert f"; the copy in {copy}/ has it, but {checkout}/ comes first: run " in done.stdout


def test_doctor_names_no_other_copy_where_the_accelerator_is_switched_off(folder):
    checkout, copy = checkout_before_an_installed_copy(folder)
    done = cassette("doctor", folder=checkout.parent, PYTHONPATH=str(copy.parent), CASSETTE_IMPORT_ACCELERATOR="0")
    assert done.stdout == "accelerator: not used: CASSETTE_IMPORT_ACCELERATOR=0 is set\n"


def test_doctor_names_the_folders_in_which_caches_cannot_be_written(folder):
    def caches(*words, **environment):
        environment = {"PYTHONDONTWRITEBYTECODE": "", **environment}
        lines = cassette("doctor", *words, folder=folder, **environment).stdout.splitlines()
        return [line for line in lines if line.startswith("caches: ")]

    (folder / "pack" / "below").mkdir(parents=True)
    for name in ("pack", "pack/below"):
        (folder / name / "__init__.py").write_text("")
        (folder / name / "__pycache__").write_text("a file, so that there can be no such folder, for root neither")
    hint = "; PYTHONPYCACHEPREFIX names another folder for them"
    first, second = folder / "pack" / "__pycache__", folder / "pack" / "below" / "__pycache__"
    assert caches("pack") == [f"caches: cannot be written in {first} and 1 more{hint}"]
    assert caches("pack.below") == [f"caches: cannot be written in {second}{hint}"]
    assert caches("pack", PYTHONPYCACHEPREFIX=str(folder / "elsewhere" / "caches")) == []
    assert caches("math") == []
    off = "caches: not written: PYTHONDONTWRITEBYTECODE or the option -B of Python is set"
    assert caches("pack", PYTHONDONTWRITEBYTECODE="1") == [off]


def test_doctor_reports_modules_without_source(folder):
    assert re.match(r"math: left alone: (extension|built-in) module", cassette("doctor", "math", folder=folder).stdout)
    assert cassette("doctor", "sys", folder=folder).stdout.startswith("sys: left alone: built-in module")


def test_a_context_with_a_summary_alone_writes_no_files(folder):
    done = cassette("run", "-c", "own:Brief", "-o", "out.txt", "app.py", folder=folder)
    assert (done.status, done.stderr) == (2, "python -m cassette_import run: out.txt: Brief writes no files\n")


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_file_for_results_is_given_once(option, folder):
    done = cassette("run", option, "first.txt", option, "second.txt", "app.py", folder=folder)
    assert done.status == 2
    assert done.stderr == f"python -m cassette_import run: {option} is given twice: there is one FILE for the results\n"
    assert not (folder / "first.txt").exists()
