"""`run --subprocesses`: child processes join the run unnoticed by the program, and report their results once."""

import json
import os
import re
import textwrap
import time

import pytest
from helpers.command_line import cassette, environment, run

BESIDE = """
    def work(x):
        return abs(x)
"""
CHILD = """
    import sys
    import beside
    def use():
        return beside.work(-4)
    print(sys.argv, sys.path[0], __name__, __file__, use())
    print("to be captured", file=sys.stderr)
"""
OWN = """
    import os
    from cassette_import import Context, Events

    class Counting(Context):
        '''Counts what it replaces.'''

        inherit = True

        def __init__(self):
            super().__init__()
            self.count = 0

        def forked(self):
            self.count = 0

        def summary(self):
            return f"counted {self.count}"

        @property
        def formats(self):
            return {".count": self.write}

        def write(self, path):
            with open(path, "w") as file:
                file.write(str(self.count))

    @Counting.overdub.register(abs)
    def _(ctx, f, x):
        ctx.count += 1
        return f(x)
"""
RUN_CHILD = "print(subprocess.run([sys.executable, {words}, 'x'], capture_output=True, text=True, check=True))"
CHILDREN = {
    "a script": RUN_CHILD.format(words="'child.py'"),
    "a module": RUN_CHILD.format(words="'-m', 'child'"),
    "a script with options of the interpreter": RUN_CHILD.format(words="'-W', 'error', '-Xdev', 'child.py'"),
    "a script with a safe path": RUN_CHILD.format(words="'-P', 'deep/child.py'"),
    "a script in a folder": RUN_CHILD.format(words="'deep/child.py'"),
    "a folder": RUN_CHILD.format(words="'folder'"),
    "code": RUN_CHILD.format(words="'-c', 'import beside; beside.work(4)'"),
    "an exec": """
if os.fork() == 0:
    os.execv(sys.executable, [sys.executable, 'child.py'])
print(os.wait()[1])
""",
    "a fork": """
if os.fork() == 0:
    beside.work(-1)
    os._exit(4)
print(os.wait()[1])
""",
    "a fork that exits": """
if os.fork() == 0:
    beside.work(-1)
    sys.exit(4)
print(os.wait()[1])
""",
    **{
        f"a process of multiprocessing, {method}": f"""
process = multiprocessing.get_context("{method}").Process(target=use, args=(-1,))
process.start()
process.join()
print(process.exitcode)
"""
        for method in ("fork", "spawn", "forkserver")
    },
    **{
        f"a pool, {method}": f"""
with multiprocessing.get_context("{method}").Pool(1) as pool:
    print(pool.map(use, [-1]))
"""
        for method in ("fork", "spawn", "forkserver")
    },
    **{
        f"an executor{ending}": f"""
context = multiprocessing.get_context("{method}")
with concurrent.futures.ProcessPoolExecutor(1, context) as executor:
    print(list(executor.map(use, [-1])))
"""
        for method, ending in (("spawn", ""), ("fork", ", fork"), ("forkserver", ", forkserver"))
    },
}


def write(folder, **modules):
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(source).lstrip("\n"))


def program(body):
    head = "import concurrent.futures, multiprocessing, os, subprocess, sys, beside\ndef use(x):\n    beside.work(x)\n"
    return head + "if __name__ == '__main__':\n" + textwrap.indent(body.strip("\n"), "    ") + "\n"


@pytest.fixture
def folder(tmp_path):
    """A program with a module, a child and a context beside it."""
    write(tmp_path, beside=BESIDE, child=CHILD, own=OWN)
    for name in ("deep", "folder"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, beside=BESIDE)
    write(tmp_path / "deep", child=CHILD)
    write(tmp_path / "folder", __main__=CHILD)
    return tmp_path


def run_with_children(*words, folder, **more):
    return cassette("run", "--subprocesses", *words, "app.py", folder=folder, **more)


@pytest.mark.parametrize("kind", CHILDREN)
def test_a_child_is_overdubbed_and_the_program_does_not_notice(kind, folder):
    write(folder, app=program(CHILDREN[kind]))
    # The safe path leaves the child without its neighbours.
    path = {"PYTHONPATH": os.pathsep.join((environment()["PYTHONPATH"], str(folder)))}
    plain = run("app.py", folder=folder, **path)
    done = run_with_children("-c", "own:Counting", folder=folder, **path)
    assert (done.status, done.stdout) == (plain.status, plain.stdout)
    assert plain.stderr in done.stderr
    told = re.findall(r"cassette_import: process \d+: .*\n(counted \d+)\n", done.stderr)
    assert told == ["counted 1"]


def test_the_children_of_children_join_too(folder):
    inner = "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], capture_output=True, check=True)"
    write(folder, inner=inner, app="import subprocess, sys\nsubprocess.run([sys.executable, 'inner.py'], check=True)")
    done = run_with_children("-c", "own:Counting", folder=folder)
    assert done.stderr.count("counted 0\n") == 2
    assert done.stderr.count("counted 1\n") == 1


def test_no_child_joins_without_the_option(folder):
    write(folder, app=program(CHILDREN["a script"]))
    assert cassette("run", "-c", "own:Counting", "app.py", folder=folder).stderr == "counted 0\n"


@pytest.mark.parametrize("how", ["file", "environment"])
def test_the_settings_can_switch_it_on(how, folder):
    write(folder, app=program(CHILDREN["a script"]))
    variables = {"CASSETTE_IMPORT_SUBPROCESSES": "1"} if how == "environment" else {}
    if how == "file":
        (folder / "pyproject.toml").write_text("[tool.cassette_import]\nsubprocesses = true\n")
    done = cassette("run", "-c", "own:Counting", "app.py", folder=folder, **variables)
    assert "counted 1\n" in done.stderr


def test_files_of_children_have_numbers(folder):
    write(folder, app=program("\n".join([CHILDREN["a script"], CHILDREN["a module"], "beside.work(1)"])))
    done = run_with_children("-c", "own:Counting", "-o", "out.count", folder=folder)
    assert {path.name: path.read_text() for path in folder.glob("out*")} == {
        "out.count": "1",
        "out.1.count": "1",
        "out.2.count": "1",
    }
    assert re.findall("written to .*/(.*)\n", done.stderr) == ["out.1.count", "out.2.count"]


def test_the_report_is_that_of_all_processes(folder):
    write(folder, app=program("\n".join([CHILDREN["a script"], CHILDREN["a process of multiprocessing, spawn"]])))
    run_with_children("-c", "own:Counting", "--report", "report.json", folder=folder)
    modules = json.loads((folder / "report.json").read_text())["modules"]
    assert modules["beside"]["specialised"] == {"work": ["Counting"]}
    assert modules[f"__main__ of {folder / 'child.py'}"]["specialised"] == {"use": ["Counting"]}
    assert modules["__main__"]["specialised"] == {"use": ["Counting"]}


def test_a_child_that_outlives_the_program_has_a_report_of_its_own(folder):
    write(folder, late="import beside, os, time\ntime.sleep(1.5)\nbeside.work(1)\n")
    app = "import subprocess, sys\nsubprocess.Popen([sys.executable, 'late.py'], stderr=subprocess.DEVNULL)"
    write(folder, app=app)
    run_with_children("-c", "own:Counting", "--report", "report.json", "-o", "out.count", folder=folder)
    deadline = time.monotonic() + 60
    while len(list(folder.glob("report.*.json"))) < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    (report,) = folder.glob("report.*.json")
    assert (folder / "report.json").exists()
    time.sleep(0.2)  # until it is whole
    assert json.loads(report.read_text())["modules"]["beside"]["specialised"] == {"work": ["Counting"]}
    (written,) = folder.glob("out.*.count")
    assert written.read_text() == "1"


def test_the_first_process_prints_the_trace_of_a_child_and_the_child_prints_nothing(folder):
    write(folder, app=program(CHILDREN["a script"]))
    plain = run("app.py", folder=folder)
    done = run_with_children("-c", "trace", folder=folder)
    assert done.stdout == plain.stdout
    told = done.stderr.partition("cassette_import: process 1: ")[2]
    assert "use()\n  beside.work(-4)\n" in told.replace("work(", "beside.work(").replace("beside.beside.", "beside.")
    assert "abs(-4) -> 4" in told


def test_a_trace_of_a_copy_has_a_file_of_its_own(folder):
    write(folder, app=program(CHILDREN["a fork"]))
    run_with_children("-c", "trace", "-o", "out.txt", folder=folder)
    assert "abs(-1)" in (folder / "out.1.txt").read_text()
    assert "abs(-1)" not in (folder / "out.txt").read_text()


def test_a_forked_process_does_not_report_the_calls_of_its_parent(folder):
    write(folder, app=program("beside.work(1)\nbeside.work(2)\n" + CHILDREN["a fork"]))
    done = run_with_children("-c", "own:Counting", folder=folder)
    assert re.findall("counted .", done.stderr) == ["counted 2", "counted 1"]
    done = run_with_children("-c", "profile", "-o", "out.txt", folder=folder)
    assert re.search(r" 2 .*builtins.abs", (folder / "out.txt").read_text())
    assert re.search(r" 1 .*builtins.abs", (folder / "out.1.txt").read_text())


FORKING = """
import csv, os, sqlite3, beside
def main(times):
    for number in range(times):
        beside.work(number)
        print("row", *next(csv.reader([f"{number},2"])))
        sqlite3.connect(":memory:").execute("SELECT " + os.getenv("TIMES"))
    if os.fork() == 0:
        beside.work(-1)
        os._exit(0)
    os.wait()
main(int(os.getenv("TIMES")))
"""
COUNTING = [
    *("profile", "callgraph", "call-types", "trace", "trace:last=5", "trace:limit=2", "taint", "provenance"),
    *("substitute:beside.work=builtins.abs", "faults:target=beside.work,delay=0,nth=100"),
    "memoize:functions=beside.work",
]


@pytest.mark.parametrize("context", COUNTING)
def test_a_forked_process_reports_the_same_however_much_its_parent_did(context, folder):
    write(folder, app=FORKING)
    told = [run_with_children("-c", context, folder=folder, TIMES=times).stderr for times in "27"]
    children = [
        re.sub(r"process \d+|[\d.]+ (m?s|seconds?)\b|\d+\.\d+", "", text.partition("process 1")[2]) for text in told
    ]
    assert children[0] == children[1]
    assert context in ("taint", "provenance") or "work" in children[0] or "trace" in context, told[0]


def test_every_context_that_counts_is_notified_of_forks():
    from cassette_import.contexts import READY_MADE
    from cassette_import.contexts.lookup import context_type_named
    from cassette_import.kits.reporting import is_reporting

    recordings_and_functions = {"record", "replay", "intervals"}
    counting = {name for name in READY_MADE if is_reporting(context_type_named(name))} - recordings_and_functions
    assert {name for name in counting if not hasattr(context_type_named(name), "forked")} == set()


def test_a_program_that_executes_another_one_is_reported_completely(folder):
    write(folder, app="import os, sys, beside\nbeside.work(1)\nos.execv(sys.executable, [sys.executable, 'child.py'])")
    done = run_with_children("-c", "own:Counting", "--report", "report.json", "-o", "out.count", folder=folder)
    assert done.status == 0
    assert (folder / "out.count").read_text() == "1"
    assert len(list(folder.glob("out.*.count"))) == 1
    modules = json.loads((folder / "report.json").read_text())["modules"]
    assert modules["beside"]["specialised"] == {"work": ["Counting"]}


def test_a_child_finds_the_sitecustomize_that_it_would_have_found(folder):
    (folder / "site").mkdir()
    write(folder / "site", sitecustomize="import builtins; builtins.customized = True")
    child = "import builtins, sys\nprint(builtins.customized, sys.modules['sitecustomize'].__file__, sys.path)"
    write(folder, child=child, app=program(CHILDREN["a script"]))
    path = {"PYTHONPATH": os.pathsep.join((environment()["PYTHONPATH"], str(folder / "site")))}
    plain = run("app.py", folder=folder, **path)
    assert "True" in plain.stdout
    assert run_with_children("-c", "own:Counting", folder=folder, **path).stdout == plain.stdout


def test_a_child_that_dies_dies_as_in_python(folder):
    child = "import beside\ndef use():\n    beside.work('x')\nuse()\n"
    body = "done = subprocess.run([sys.executable, 'child.py'], capture_output=True, text=True)\nprint(done)"
    write(folder, child=child, app=program(body))
    assert run_with_children("-c", "noop", folder=folder).stdout == run("app.py", folder=folder).stdout


@pytest.mark.parametrize("source", ["raise KeyboardInterrupt", "import sys; sys.exit('text')", "x = (", "1 / 0"])
def test_a_child_ends_as_in_python(source, folder):
    body = "done = subprocess.run([sys.executable, 'child.py'], capture_output=True, text=True)\nprint(done)"
    write(folder, child=source, app=program(body))
    assert run_with_children("-c", "noop", folder=folder).stdout == run("app.py", folder=folder).stdout


def test_a_child_may_be_switched_off_from_outside(folder):
    body = """
os.environ["CASSETTE_IMPORT_DISABLE"] = "1"
subprocess.run([sys.executable, "child.py"], capture_output=True, check=True)
del os.environ["CASSETTE_IMPORT_DISABLE"]
subprocess.run([sys.executable, "-E", "child.py"], capture_output=True, check=True)
"""
    write(folder, app=program(body))
    assert run_with_children("-c", "own:Counting", folder=folder).stderr == "counted 0\n"


def test_a_child_that_is_a_cassette_import_command_uses_its_own_arguments(folder):
    body = CHILDREN["a script"].replace("'child.py'", "'-m', 'cassette_import', 'run', '-c', 'none', 'child.py'")
    write(folder, app=program(body))
    done = run_with_children("-c", "own:Counting", folder=folder)
    assert "counted" not in done.stdout
    assert done.stderr == "counted 0\n"


def test_a_child_that_cannot_join_runs_plain_and_the_reason_is_printed(folder):
    body = "os.remove('own.py')\n" + CHILDREN["a script"]
    write(folder, app=program(body))
    done = run_with_children("-c", "own:Counting", folder=folder)
    assert done.status == 0
    assert "returncode=0" in done.stdout
    assert "was not overdubbed: UnknownContext: " in done.stderr


def test_pytest_in_a_child_does_not_enter_the_contexts_again(folder):
    write(folder, test_it="import beside, cassette_import\ndef test(): assert beside.work(-1) == 1\n")
    words = "'-m', 'pytest', '-p', 'no:cacheprovider', 'test_it.py'"
    body = f"subprocess.run([sys.executable, {words}], capture_output=True, check=True)"
    write(folder, app=program(body))
    done = run_with_children("-p", "beside", "-c", "own:Counting", folder=folder)
    assert re.findall("counted .", done.stderr) == ["counted 0", "counted 1"]


ENDED_EARLY = """
import multiprocessing
for _ in range(40):
    pool = multiprocessing.get_context("fork").Pool(3)
    pool.map_async(use, range(10))
    pool.terminate()
    pool.join()
print("all ended")
"""


def test_workers_end_although_a_signal_reaches_them_just_before_they_wait(folder):
    write(folder, app=program(ENDED_EARLY))
    done = run_with_children("-c", "profile", "-o", "out.prof", folder=folder)
    assert (done.status, done.stdout) == (0, "all ended\n")
