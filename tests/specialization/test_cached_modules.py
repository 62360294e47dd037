"""Cached modules: the next process executes a module as the last one left it, and behaves the same in every respect."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from helpers.command_line import environment, run

MODULE = '''
    """The module."""

    import functools
    import math


    def decorated(function):
        @functools.wraps(function)
        def wrapper(*arguments):
            return function(*arguments)
        return wrapper


    class Shape:
        """A shape."""

        sides = max(3, 4)
        names = [name.upper() for name in ("a", "b")]
        key = staticmethod(lambda pair: abs(pair))

        def __init__(self, size):
            self.size = size

        def area(self):
            """Its area."""
            return math.floor(self.size * self.size)

        @property
        def half(self):
            return sum(part / 2 for part in (self.size, self.area()))

        def never(self, *rest, last=1, **more):
            return abs(self.size - last), rest, sorted(more)


    def steps(count):
        for number in range(count):
            yield Shape(number)


    async def later(shape):
        return abs(shape.area())


    @decorated
    def total(count=3):
        return sum(map(lambda shape: abs(shape.area()), steps(count)))


    def fails(what):
        raise ValueError(str(what))


    def unused(x):
        def inner(y):
            return abs(x) + y
        return inner
'''

CONTEXTS = """
    import math
    from cassette_import import Context, Events

    class Count(Context, events=Events.CALLS):
        seen = 0
        def prehook(self, f, *arguments, **keywords):
            self.seen += 1

    class All(Context, events=Events.ALL):
        seen = 0
        def prehook(self, f, *arguments, **keywords):
            self.seen += 1
            self.last = f, arguments, keywords

    class Replacing(Context):
        seen = 0
        pass

    @Replacing.overdub.register(math.floor)
    def _floor(ctx, f, number):
        ctx.seen += 1
        return f(number)
"""

HEAD = """
    import asyncio, inspect, os, sys, traceback
    import cassette_import
    from cassette_import.specialization.body_compiler import BodyCompiler
    from kinds import *

    compiled = []

    def counted(name):
        method = getattr(BodyCompiler, name)
        def counting(self, *arguments):
            if getattr(arguments[0], "record", arguments[0]).filename.endswith("shapes.py"):
                compiled.append(arguments[0])
            return method(self, *arguments)
        setattr(BodyCompiler, name, counting)

    counted("_compile")
    counted("module_level_of")

    def used(shapes):
        shape = shapes.Shape(3)
        try:
            shapes.fails(shape.sides)
        except ValueError:
            lines = [line for line in traceback.format_exc().splitlines() if "shapes.py" in line]
        return [
            f"{shape.sides} sides",
            shapes.total(), shape.half, asyncio.run(shapes.later(shape)), shapes.Shape.key(-3), shapes.Shape.names,
            len(lines), lines[-1].rpartition(os.sep)[2], shapes.__doc__, shapes.Shape.area.__doc__,
            str(inspect.signature(shapes.Shape.never)), inspect.getsource(shapes.unused).count("inner"),
            shapes.Shape.never.__qualname__, shapes.Shape.never.__code__.co_firstlineno,
        ]

    def more(shapes):
        return shapes.Shape(4).never(1, 2, last=2, b=1, a=2), shapes.unused(-1)(2)

    cassette_import.install(["shapes"])
    context = CONTEXT
"""

PROGRAM = """
    with context:
        import shapes
        print(used(shapes))
    print(context.seen, len(compiled))
"""


class Project:
    """A folder with a module, contexts and programs."""

    def __init__(self, folder, context):
        self.folder = folder
        self.context = context
        self.module = folder / "shapes.py"
        self.write("shapes.py", MODULE)
        self.write("kinds.py", CONTEXTS)
        os.utime(self.module, (1_000_000_000, 1_000_000_000))

    def write(self, name, text):
        (self.folder / name).write_text(textwrap.dedent(text))

    def program(self, text):
        self.write("program.py", textwrap.dedent(HEAD).replace("CONTEXT", self.context) + textwrap.dedent(text))

    def run(self, text=PROGRAM, flags=(), **variables):
        """What the program prints: the lines before the last one, and the numbers of events and compiled functions."""
        self.program(text)
        done = run("program.py", folder=self.folder, flags=flags, **{"PYTHONDONTWRITEBYTECODE": "", **variables})
        assert done.status == 0, done.stderr
        assert done.stderr == ""
        *lines, last = done.stdout.splitlines()
        return lines, *map(int, last.split())

    @property
    def files(self):
        return sorted(self.folder.rglob("shapes.*cassette*"))


@pytest.fixture(params=["Count()", "All()", "Replacing()"])
def project(request, tmp_path):
    return Project(tmp_path, request.param)


@pytest.fixture
def one_project(tmp_path):
    return Project(tmp_path, "Count()")


def test_the_second_process_compiles_nothing_and_the_third_changes_no_file(project):
    lines, events, compiled = project.run()
    assert compiled > 5
    assert project.run() == (lines, events, 0)
    files = [file.read_bytes() for file in project.files]
    assert project.run() == (lines, events, 0)
    assert [file.read_bytes() for file in project.files] == files


def test_a_function_that_is_entered_later_is_compiled_then_and_cached_for_the_next_process(project):
    further = """
        with context:
            import shapes
            print(used(shapes))
            print(more(shapes))
        print(context.seen, len(compiled))
    """
    project.run()
    expected, _, compiled = project.run(further)
    assert 0 < compiled <= 2
    assert project.run(further)[::2] == (expected, 0)
    shutil.rmtree(project.folder / "__pycache__")
    assert project.run(further)[0] == expected


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 15)"])
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_a_process_that_is_killed_leaves_what_it_has_compiled(end, one_project):
    one_project.program(f"{textwrap.dedent(PROGRAM)}sys.stdout.flush()\n{end}\n")
    killed = subprocess.run(
        [sys.executable, "program.py"],
        cwd=one_project.folder,
        env=environment(PYTHONDONTWRITEBYTECODE=""),
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode in (0, -signal.SIGKILL, -signal.SIGTERM)
    *lines, last = killed.stdout.splitlines()
    events, compiled = map(int, last.split())
    assert compiled > 5
    assert one_project.run() == (lines, events, 0)
    assert one_project.run() == (lines, events, 0)


def test_a_file_that_was_cut_off_anywhere_is_no_harm(one_project):
    expected = one_project.run()[:2]
    (file,) = one_project.files
    data = file.read_bytes()
    for length in range(0, len(data), len(data) // 7):
        file.write_bytes(data[:length])
        assert one_project.run()[:2] == expected
        assert one_project.run() == (*expected, 0)


def test_an_edit_of_the_source_counts(project):
    project.run()
    project.module.write_text(project.module.read_text().replace("max(3, 4)", "max(3, 5)").replace("x) + y", "x) - y"))
    lines, _, compiled = project.run()
    assert compiled > 5
    assert "5 sides" in lines[0]
    assert project.run()[::2] == (lines, 0)


def test_a_moved_folder_names_its_new_place(project, tmp_path_factory):
    project.run()
    moved = tmp_path_factory.mktemp("moved") / "project"
    shutil.copytree(project.folder, moved)
    shutil.rmtree(project.folder)
    other = Project.__new__(Project)
    other.folder, other.context, other.module = moved, project.context, moved / "shapes.py"
    tell = """
        with context:
            import shapes
            used(shapes)
            more(shapes)
        files = {f.__code__.co_filename for f in (shapes.Shape.never, shapes.unused, shapes.Shape.area)}
        print(*files)
        print(context.seen, 0)
    """
    assert other.run(tell)[0] == [str(moved / "shapes.py")]


@pytest.mark.parametrize("change", ["Path(shapes.__file__).unlink()", "Path(shapes.__file__).write_text('x = 1')"])
def test_functions_run_although_the_source_is_gone(change, project):
    project.run()
    changed = f"""
        from pathlib import Path
        with context:
            import shapes
            {change}
            print(more(shapes))
        print(context.seen, 0)
    """
    assert project.run(changed)[0] == ["((2, (1, 2), ['a', 'b']), 3)"]


def test_processes_at_the_same_time_leave_a_file_that_serves_the_next_one(one_project):
    one_project.program(PROGRAM)
    variables = environment(PYTHONDONTWRITEBYTECODE="")
    command = [sys.executable, "program.py"]
    several = [
        subprocess.Popen(command, cwd=one_project.folder, env=variables, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    outputs = {process.communicate()[0].splitlines()[0] for process in several}
    assert len(outputs) == 1
    lines, _, compiled = one_project.run()
    assert ({*lines}, compiled) == (outputs, 0)


@pytest.mark.parametrize("flags", [("-O",), ("-OO",)])
def test_levels_of_optimisation_have_caches_of_their_own(flags, one_project):
    one_project.run()
    lines, events, compiled = one_project.run(flags=flags)
    assert compiled > 5
    assert one_project.run(flags=flags) == (lines, events, 0)


def test_a_cache_is_read_where_none_may_be_written(project):
    expected = project.run()[:2]
    files = [file.read_bytes() for file in project.files]
    assert project.run(PYTHONDONTWRITEBYTECODE="1") == (*expected, 0)
    assert [file.read_bytes() for file in project.files] == files


@pytest.mark.parametrize(
    "text",
    [
        """
            import importlib
            with context:
                import shapes
                first = used(shapes)
                old = shapes.Shape
                importlib.reload(shapes)
                print(first == used(shapes), old is shapes.Shape, old(2).area(), old(2).never())
            print(context.seen, 0)
        """,
        """
            import importlib.util
            with context:
                import shapes
                print(used(shapes))
                spec = importlib.util.find_spec("shapes")
                again = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(again)
                print(used(again), more(again), more(shapes))
            print(context.seen, 0)
        """,
        """
            with context:
                import shapes
                print(used(shapes))
            print(used(shapes), more(shapes))
            with All() as other:
                print(used(shapes), more(shapes), other.seen)
            with context, Replacing():
                print(used(shapes), more(shapes))
            print(context.seen, 0)
        """,
        """
            with context:
                import shapes
                print(used(shapes))
                cassette_import.uninstall()
                print(used(shapes), more(shapes))
            print(context.seen, [f.__code__.co_names for f in (shapes.Shape.area, shapes.Shape.never, shapes.unused)])
            print(context.seen, 0)
        """,
        """
            import threading
            with context:
                import shapes
            results = []
            def work():
                with CONTEXT:
                    results.append((used(shapes), more(shapes)))
            threads = [threading.Thread(target=work) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            print(results)
            print(context.seen, 0)
        """,
        """
            import types
            with context:
                import shapes
                marked = types.coroutine(shapes.steps)
                print(used(shapes), [shape.size for shape in marked(2)])
                shapes.Shape.area = shapes.Shape.never
                print(shapes.Shape(2).area())
            print(context.seen, 0)
        """,
    ],
    ids=["reload", "two names", "other contexts", "uninstall", "threads", "copies of code"],
)
def test_a_cached_module_behaves_as_one_that_was_just_compiled(text, project):
    text = text.replace("CONTEXT", project.context)
    first = project.run(text)
    assert project.run(text) == first
    assert project.run(text) == first


RELOADING = """
    import importlib, os
    cassette_import.install(["numbered"])
    with context:
        import numbered
        print(numbered.K, numbered.f())
        for number in map(int, os.environ["TEXTS"].split()):
            with open("numbered.py", "w") as file:
                file.write(f"K = {number}\\ndef f(): return str({number})\\n")
            os.utime("numbered.py", (900_000_000 + number,) * 2)
            importlib.reload(numbered)
            print(numbered.K, numbered.f())
    print(context.seen, 0)
"""


@pytest.mark.parametrize("texts", ["2 1", "2", "3 2 1", "1"])
def test_texts_of_a_module_that_is_reloaded_do_not_share_their_code(texts, one_project):
    for _ in range(3):
        (one_project.folder / "numbered.py").write_text("K = 1\ndef f(): return str(1)\n")
        os.utime(one_project.folder / "numbered.py", (900_000_001,) * 2)
        lines, _, _ = one_project.run(RELOADING, TEXTS=texts)
        assert lines == [f"{number} {number}" for number in ["1", *texts.split()]]


@pytest.mark.parametrize("context", ["noop:events=all", "provenance", "taint", "profile", "trace", "nonan"])
def test_the_main_module_is_cached_too(context, tmp_path):
    (tmp_path / "app.py").write_text("def f(x):\n    return abs(x)\n\nprint(f(-1), max(1, 2))\n")
    words = "-m", "cassette_import", "run", "-c", context, "app.py"
    for _ in range(3):
        done = run(*words, folder=tmp_path, PYTHONDONTWRITEBYTECODE="")
        assert done[:2] == (0, "1 2\n")
        assert "Warning" not in done.stderr
    assert [name for name in os.listdir(Path(tmp_path, "__pycache__")) if name.startswith("app.")]


KNOWN = """
    from cassette_import import Context
    from cassette_import.rewriting import symbols
    from cassette_import.runtime.names import NAMES

    class Tagging(Context, tagging=True):
        pass

    with Tagging():
        pass
    names = [value for value in vars(symbols).values() if isinstance(value, str) and value.startswith("@")]
    print(*sorted(name for name in names if name not in NAMES))
"""


def test_a_process_that_compiles_nothing_knows_the_symbols_of_stored_code(tmp_path):
    done = run("-c", textwrap.dedent(KNOWN), folder=tmp_path)
    # Beginnings of symbols, markers in trees, and what bodies call that no cache keeps: those whose pass has failed.
    assert done.stdout.split() == [
        "@",
        "@contextslot",
        "@pass_failed",
        "@py_assert",
        "@skeleton",
        "@watched.",
        "@whole.",
    ]
