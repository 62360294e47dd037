"""Tools that start, drive or measure whole processes report the same of an installed package as of a plain one.

The same program runs in separate processes: plain, installed with no context active, in `Noop`, and in a
context whose hooks read their arguments. `tests/programs/test_tools.py` does this for tools that a
program uses on itself.
"""

import functools
import json
import re
import shutil
import sys
import textwrap
from typing import NamedTuple

import pytest
from helpers import contexts
from helpers.command_line import Outcome, run

# Its lines must not depend on the way: a debugger shows its lines, and faulthandler its frames.
DRIVER = """
    import contextlib, os, sys
    way = os.environ["WAY"]
    context = contextlib.nullcontext()
    if way != "plain":
        import cassette_import, cassette_import.contexts, contexts
        cassette_import.install(["program"])
        ways = {"noop": cassette_import.contexts.Noop, "reading": contexts.ReadsArguments}
        context = ways.get(way, contextlib.nullcontext)()
    import program
    if __name__ == "__main__":
        if "SKIP" in os.environ:
            import pdb
            pdb.Pdb(nosigint=True, readrc=False, skip=os.environ["SKIP"].split()).set_trace()
        with context:
            program.main()
"""
WAYS = ["inactive", "noop", "reading"]

parametrize_ways = pytest.mark.parametrize("way", WAYS)


class Project:
    """A folder with a program in it. Plain runs are done once, for all ways that are compared with them."""

    def __init__(self, folder):
        self.folder = folder
        self._plain_outcomes = {}

    def __call__(self, way, *words, **more):
        """Run Python with these arguments; the driver enters the context of this way."""
        if way != "plain":
            return run(*words, folder=self.folder, WAY=way, **more)
        key = words, *sorted(more.items())
        if key not in self._plain_outcomes:
            self._plain_outcomes[key] = run(*words, folder=self.folder, WAY=way, **more)
        return self._plain_outcomes[key]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Write the program, once for each source; return a function that runs Python on it in some way."""

    @functools.cache
    def make(program):
        folder = tmp_path_factory.mktemp("project")
        shutil.copy(contexts.__file__, folder)
        for name, source in {"driver": DRIVER, "program": program}.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(source).lstrip("\n"), encoding="utf-8")
        return Project(folder)

    return make


# ---- pdb


DEBUGGED = """
    class Shape:
        def __init__(self, side):
            self.side = abs(side)

        def area(self):
            result = self.side * self.side
            return result


    def numbers(count):
        for number in range(count):
            yield abs(number)


    def total(shapes, *more):
        found = 0
        for shape in [*shapes, *more]:
            area = shape.area()
            found += area
        return found + sum(numbers(2)) + len([x for x in shapes])


    def fail(text):
        return int(text) + 1


    def main():
        print("total", total([Shape(1), Shape(-2)], Shape(3)))
        try:
            fail("x")
        except ValueError as error:
            print("failed", error)
        print("end")
"""

SCRIPTS = {
    "breaks_at_lines": "b program:6; c; w; p self.side; c; p self.side; cl 2; c",
    "breaks_at_functions": "b program.total; c; w; a; c",
    "breaks_on_a_condition": "b program:19, found > 0; c; p found, area; w; c; cl 2; c",
    "breaks_in_a_generator": "b program:12; c; w; p number; c; p number; w; cl 2; c",
    "goes_over_calls": "b program:16; c; n; n; n; n; n; n; n; n; n; n; c",
    "goes_up_and_down": "b program:6; c; u; p len(shapes), found; l; u; p __name__; d; d; p self.side; c; cl 2; c",
    "runs_until_the_function_returns": "b program:6; c; r; p result; u; p found; cl 2; c",
    "runs_until_a_line": "b program:16; c; until 20; p found; w; c",
    "shows_source": "b program:6; c; ll; source Shape.area; cl 2; c",
    "shows_arguments_and_values": "b program:18; c; a; p shape.side; pp shape.area(); whatis shape; cl 2; c",
    "changes_variables": "b program:20; c; !found = 100; p found; cl 2; c",
    "jumps": "b program:18; c; j 17; n; cl 2; c",
    "breaks_temporarily_and_ignores": "tbreak program:6; b program:19; ignore 3 1; c; c; p found; cl 3; c",
}
STEPS = {
    "steps_through_lines": "b program:6; c; s; s; s; s; w; s; p found; cl 1; c",
    "steps_into_functions": "b program:18; c; s; w; s; s; s; s; p area; cl 1; c",
    "steps_into_constructors_and_out": "b program:28; c; s; w; s; s; r; w; c",
    "steps_into_generators": "b program:20; c; s; w; s; s; s; s; w; cl 1; c",
    "steps_through_an_exception": "b program:24; c; w; s; s; s; p error; s; s; c",
}


def debugged(done):
    """Return the output of a debugging session, without the lines of the driver and of the frames below it."""
    assert "Traceback" not in done.stderr
    session = done.stdout[done.stdout.index("(Pdb) ") :].partition("The program finished")[0]
    return re.sub(r"(?m)^.*driver\.py.*\n|^  .*(runpy|bdb|pdb).*\n", "", session)


@pytest.mark.parametrize("script", SCRIPTS)
@parametrize_ways
def test_pdb_shows_the_same_as_of_the_plain_program(way, script, project):
    """V4."""
    python = project(DEBUGGED)
    # The session begins before the program is imported.
    stdin = "\n".join(["tbreak driver.py:14", "c", *SCRIPTS[script].split("; "), "q", ""])
    expected = debugged(python("plain", "-m", "pdb", "driver.py", stdin=stdin))
    assert "program.py(" in expected
    assert expected.endswith("end\n")
    assert debugged(python(way, "-m", "pdb", "driver.py", stdin=stdin)) == expected


@pytest.mark.parametrize("script", STEPS)
@parametrize_ways
def test_pdb_steps_through_the_program_when_it_skips_cassette_import_and_the_hooks(way, script, project):
    """V4."""
    python = project(DEBUGGED)
    skipped = "cassette_import cassette_import.* contexts"
    stdin = "\n".join([*STEPS[script].split("; "), ""])
    expected = debugged(python("plain", "driver.py", stdin=stdin, SKIP=skipped))
    assert "program.py(" in expected
    assert expected.endswith("end\n")
    assert debugged(python(way, "driver.py", stdin=stdin, SKIP=skipped)) == expected


@parametrize_ways
@pytest.mark.parametrize("call", ["breakpoint()", "import pdb; pdb.set_trace()", "y = breakpoint()"])
def test_breakpoint_in_the_program_starts_pdb_there(call, way, project):
    source = f"def f(x):\n    {call}\n    x = 2\n    return abs(x)\n\ndef main():\n    print(f(-1))\n"
    python = project(source)
    stdin = "w\np x\nn\nn\nu\nc\n"
    expected = python("plain", "driver.py", stdin=stdin)
    assert "program.py(3)f()" in expected.stdout or "program.py(2)f()" in expected.stdout
    assert debugged(python(way, "driver.py", stdin=stdin)) == debugged(expected)


@parametrize_ways
def test_post_mortem_debugging_shows_the_frames_of_the_program(way, project):
    source = """
        import pdb, sys

        def deep(x):
            return int(x) + 1

        def fail(x):
            return deep(*[x])

        def main():
            try:
                fail("x")
            except ValueError:
                pdb.post_mortem(sys.exc_info()[2])
    """
    python = project(source)
    stdin = "w\na\nu\na\nu\np __name__\nq\n"
    expected = python("plain", "driver.py", stdin=stdin)
    assert "program.py(4)deep()" in expected.stdout
    assert debugged(python(way, "driver.py", stdin=stdin)) == debugged(expected)


# ---- coverage


COVERED = """
    import contextlib


    class A:
        kind = "a"

        def __init__(self, x):
            self.x = abs(x)

        def sign(self):
            if self.x > 1 and self.x < 10:
                return "some"
            elif self.x == 1:
                return "one"
            return "none"

        def never(self):
            return len("never")


    def loops(n):
        total = 0
        for i in range(n):
            if i == 2:
                continue
            if i > 3:
                break
            total += i
        else:
            total = -1
        while total > 3:
            total -= max(
                1,
                2,
            )
        return total


    def handles(text):
        try:
            return int(text)
        except ValueError:
            found = len(text)
        finally:
            text = text.upper()
        with contextlib.suppress(KeyError):
            {}[text]
            found = 0
        return found if found else -1


    def matches(x):
        match x:
            case [1, *rest]:
                return len(rest)
            case {"k": v}:
                return v
            case _:
                pass


    def generates(n):
        for i in range(n):
            yield abs(i)
        if n > 5:
            yield from (abs(i) for i in range(n))


    async def waits(n):
        async with contextlib.AsyncExitStack():
            return [abs(x) for x in range(n) if x % 2]


    def main():
        import asyncio

        print([A(x).sign() for x in (0, 1)], loops(3), loops(9), handles("1"), handles("x"))
        print(matches([1, 2]), matches(3), list(generates(2)), asyncio.run(waits(3)), (lambda x: x if x else 0)(1))
"""
CORES = ["ctrace", "pytrace", *(["sysmon"] if sys.version_info >= (3, 12) else [])]


class Coverage(NamedTuple):
    """What a run prints, and what coverage reports of the program."""

    outcome: Outcome
    report: dict


_PLAIN_COVERAGE = {}


def measured(python, way, words, core):
    """Measure the coverage of one run; a plain run is measured once."""
    key = python, *words, core
    if way == "plain" and key in _PLAIN_COVERAGE:
        return _PLAIN_COVERAGE[key]
    outcome = python(way, "-m", "coverage", *words, COVERAGE_CORE=core)
    import coverage

    data = coverage.Coverage(data_file=python.folder / ".coverage", config_file=False)
    data.load()
    data.json_report(outfile=str(python.folder / "coverage.json"))
    [report] = json.loads((python.folder / "coverage.json").read_text())["files"].values()
    found = Coverage(outcome, report)
    if way == "plain":
        _PLAIN_COVERAGE[key] = found
    return found


@pytest.mark.parametrize("branch", [False, True], ids=["lines", "branches"])
@pytest.mark.parametrize("core", CORES)
@parametrize_ways
def test_coverage_is_that_of_the_plain_run(way, core, branch, project):
    """V3."""
    pytest.importorskip("coverage")
    if core == "sysmon" and branch and sys.version_info < (3, 14):
        pytest.skip("before Python 3.14, this core of coverage knows no branches")
    python = project(COVERED)

    words = ["run", "--include=program.py", *(["--branch"] if branch else []), "driver.py"]
    plain = measured(python, "plain", words, core)
    assert (plain.outcome.status, plain.outcome.stderr) == (0, "")
    assert measured(python, way, words, core) == plain


# ---- processes


WORKERS = """
    import concurrent.futures, multiprocessing, pickle, sys

    class Shape:
        def __init__(self, side):
            self.side = abs(side)

        def area(self):
            return self.side * self.side

    def area(shape):
        return shape.area()

    def fail(x):
        raise ValueError(f"not {abs(x)}")

    def put(queue, x):
        queue.put(abs(x))

    def main():
        for method in ("fork", "spawn"):
            here = multiprocessing.get_context(method)
            with here.Pool(1) as pool:
                print(method, pool.map(area, [Shape(1), Shape(-2)]), pool.apply(Shape(-3).area), flush=True)
                try:
                    pool.apply(fail, [-1])
                except ValueError as error:
                    print(error, error.__cause__ is not None, flush=True)
            queue = here.SimpleQueue()
            process = here.Process(target=put, args=(queue, -4))
            process.start()
            print(queue.get(), process.join(), process.exitcode, flush=True)
            with concurrent.futures.ProcessPoolExecutor(1, mp_context=here) as pool:
                print(list(pool.map(area, [Shape(4)])), pool.submit(fail, 2).exception(), flush=True)
"""


@parametrize_ways
def test_processes_are_forked_and_spawned_from_the_program(way, project):
    """M5, V9."""
    python = project(WORKERS)
    expected = python("plain", "-W", "ignore", "driver.py")
    assert expected.status == 0, expected.stderr
    assert python(way, "-W", "ignore", "driver.py") == expected


# ---- messages of the interpreter when it stops


@parametrize_ways
def test_faulthandler_dumps_the_frames_of_the_program(way, project):
    source = """
        import faulthandler, sys

        class A:
            def m(self, x):
                return dump(x)

        def dump(x):
            faulthandler.dump_traceback(file=sys.stdout, all_threads=False)
            return abs(x)

        def main():
            print(A().m(-1), flush=True)
            [A().m(x) for x in (1,)]
            print(max(*[1, dump(2)]), flush=True)
    """
    python = project(source)
    expected = python("plain", "driver.py")
    assert '", line 8 in dump' in expected.stdout
    assert python(way, "driver.py") == expected


@parametrize_ways
def test_traceback_at_the_end_of_the_program_is_that_of_python(way, project):
    source = """
        def deep(x):
            return [int(part) for part in x.split(",")] + [
                1
            ]

        def main():
            try:
                deep(*["1,a"])
            except ValueError as error:
                raise RuntimeError("in vain") from error
    """
    python = project(source)
    expected = python("plain", "driver.py")
    assert "RuntimeError: in vain" in expected.stderr
    assert python(way, "driver.py") == expected


@parametrize_ways
def test_interrupt_from_outside_ends_a_loop(way, project):
    source = """
        import os, signal, threading

        def loop():
            total = 0
            while True:
                total = abs(total) + 1
                if total == 1000:
                    threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()

        def main():
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                loop()
            except KeyboardInterrupt as error:
                traceback = error.__traceback__
                while traceback.tb_next and traceback.tb_next.tb_frame.f_code.co_filename == __file__:
                    traceback = traceback.tb_next
                print("interrupted in", traceback.tb_frame.f_code.co_name)
    """
    python = project(source)
    expected = python("plain", "driver.py")
    assert expected.stdout == "interrupted in loop\n"
    assert python(way, "driver.py") == expected


@parametrize_ways
def test_doctest_reports_the_same_as_of_the_plain_program(way, project):
    source = '''
        def f(x):
            """
            >>> f(-1)
            1
            >>> f(-2)
            3
            """
            return abs(x)

        def main():
            import doctest, program
            print(doctest.testmod(program))
    '''
    python = project(source)
    expected = python("plain", "driver.py")
    assert "Expected:\n    3\nGot:\n    2" in expected.stdout
    assert python(way, "driver.py") == expected
