"""`run` executes a program exactly as `python` does: each program runs both ways here, with the same results."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile

import pytest
from helpers.command_line import CHECKOUT, cassette, environment, run

PROGRAMS = {
    "prints its surroundings": """
        import sys
        print(sys.argv, sys.path[0], list(globals()))
        shown = {name: value if value is None or isinstance(value, str) else type(value).__name__
                 for name, value in globals().copy().items() if name != "sys"}
        print(shown)
        """,
    "leaves with status 3": "import sys; sys.exit(3)",
    "leaves with a text": "import sys; sys.exit('not today')",
    "leaves with nothing": "import sys; sys.exit()",
    "leaves with an object": "raise SystemExit((1, 2))",
    "raises in a function": """
        def inner(x):
            return 1 / x
        def outer():
            try:
                inner(0)
            except ZeroDivisionError as error:
                raise ValueError("bad") from error
        outer()
        """,
    "raises while handling an error": """
        try:
            [][1]
        except IndexError:
            undefined
        """,
    "raises a group": "raise ExceptionGroup('several', [ValueError(1), TypeError(2)])",
    "raises what is no Exception": """
        class Stop(BaseException):
            pass
        raise Stop("here")
        """,
    "raises in a generator": """
        def numbers():
            yield 1
            raise ValueError
        for number in numbers():
            pass
        """,
    "raises in a coroutine": """
        import asyncio
        async def work():
            await asyncio.sleep(0)
            raise ValueError("late")
        asyncio.run(work())
        """,
    "raises in a thread": """
        import threading
        def work():
            1 / 0
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()
        """,
    "is interrupted by an exception": "raise KeyboardInterrupt",
    "is interrupted by a signal": """
        import os, signal, time
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
        """,
    "is terminated": """
        import os, signal, time
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
        """,
    "leaves at once": "import os; print('gone', flush=True); os._exit(5)",
    "has an excepthook": """
        import sys, traceback
        def hook(kind, error, trace):
            print(kind, error, [entry.name for entry in traceback.extract_tb(trace)], sys.exc_info())
            print(sys.last_value is error, sys.last_traceback is trace, error.__traceback__ is trace)
        sys.excepthook = hook
        1 / 0
        """,
    "has an excepthook that raises": """
        import sys
        def hook(kind, error, trace):
            [][1]
        sys.excepthook = hook
        1 / 0
        """,
    "has an excepthook that leaves": """
        import sys
        def hook(kind, error, trace):
            sys.exit(7)
        sys.excepthook = hook
        1 / 0
        """,
    "runs in threads and at exit": """
        import atexit, sys, threading, time
        def at_exit():
            print("exit", sys.excepthook is sys.__excepthook__, sys.last_traceback.tb_frame.f_code.co_name)
            print("__file__" in globals())
        def work():
            time.sleep(0.1)
            print("thread")
        atexit.register(at_exit)
        threading.Thread(target=work).start()
        1 / 0
        """,
    "has a syntax error": "x = 1\ndef f(:\n",
    "warns": """
        import warnings
        pattern = "\\d"
        warnings.warn("here")
        def warn():
            warnings.warn("at the caller", stacklevel=2)
        warn()
        """,
    "recurses too deeply": """
        def f():
            return f()
        try:
            f()
        except RecursionError as error:
            print(error)
        """,
    "pickles its own classes": """
        import pickle, sys
        import __main__
        class Point:
            def __eq__(self, other):
                return True
        print(pickle.loads(pickle.dumps(Point())) == Point(), Point.__module__)
        print(sys.modules["__main__"].Point is Point, __main__.__file__)
        """,
    "reads its own source": """
        import inspect
        def f(a, *, b=1):
            "documented"
            return a
        print(inspect.getsource(f), inspect.signature(f), f.__doc__, f.__module__)
        print(f.__code__.co_filename == __file__)
        """,
    "declares classes of all kinds": """
        from dataclasses import dataclass
        from enum import Enum
        from typing import NamedTuple
        @dataclass
        class Data:
            x: int = 1
        class Colour(Enum):
            RED = 1
        class Named(NamedTuple):
            y: str = "s"
        z: int = 3
        print(Data(), Colour.RED, Named(), z)
        """,
    "handles signals": """
        import os, signal, time
        def handle(number, frame):
            print(signal.Signals(number).name, frame.f_code.co_name)
        def work():
            for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
                signal.signal(number, handle)
                os.kill(os.getpid(), number)
            signal.signal(signal.SIGALRM, handle)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            signal.pause()
        work()
        print(signal.getsignal(signal.SIGTERM) is handle, signal.getsignal(signal.SIGHUP))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(9)
        """,
    "runs tasks, threads and executors": """
        import asyncio, concurrent.futures, contextvars, threading
        number = contextvars.ContextVar("number", default=0)
        async def work(x):
            number.set(x)
            await asyncio.sleep(0.01 * x)
            return number.get(), await asyncio.to_thread(number.get)
        async def main():
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(work(x)) for x in (2, 1)]
            print([task.result() for task in tasks], number.get())
            try:
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(5)
            except TimeoutError:
                print("late")
            async def numbers():
                for x in range(3):
                    yield x
            print([x async for x in numbers()])
        asyncio.run(main())
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            print(sorted(executor.map(abs, [-3, 1])), threading.active_count() >= 1)
        """,
    "forks and waits": """
        import atexit, os, sys
        atexit.register(print, "exit", flush=True)
        print("before", flush=True)
        child = os.fork()
        if child == 0:
            print("child", flush=True)
            sys.exit(3)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        child = os.fork()
        if child == 0:
            os._exit(4)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
    "replaces itself by another program": """
        import os, sys
        print("one", flush=True)
        os.execl(sys.executable, sys.executable, "-c", "import sys; print('two', sys.argv); sys.exit(6)", "x")
        """,
    "starts Python": """
        import subprocess, sys
        code = "import sys; print(sys.argv, sys.path[0], list(sys.modules).count('cassette_import')); 1 / 0"
        print(subprocess.run([sys.executable, "-c", code, "x"], capture_output=True, text=True))
        """,
    "reads standard input": "import sys; print(sys.stdin.read())",
    "has worker processes": """
        import multiprocessing
        def square(x):
            return x * x
        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(pool.map(square, [1, 2, 3]))
        """,
}


def write(folder, files=(), **modules):
    """Write files, given by path, and modules, given by name."""
    for name, source in {**dict(files), **{f"{name}.py": source for name, source in modules.items()}}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source).lstrip("\n"), encoding="utf-8")


def assert_no_difference(*words, folder, context, flags=(), **more):
    ours = cassette("run", "-c", context, *words, folder=folder, flags=flags, **more)
    assert ours == run(*words, folder=folder, flags=flags, **more)


@pytest.fixture(params=["none", "noop"])
def context(request):
    """Installed and inactive, and with everything intercepted."""
    return request.param


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_script_runs_as_python_runs_it(program, context, tmp_path):
    """M1, and M5 for the one that has worker processes."""
    write(tmp_path, script=PROGRAMS[program])
    assert_no_difference("script.py", "-x", "--", "--y=1", "-c", folder=tmp_path, context=context, stdin="input")


@pytest.mark.parametrize("program", [program for program in PROGRAMS if program != "starts Python"])
def test_a_script_whose_children_join_runs_as_python_runs_it(program, tmp_path):
    write(tmp_path, script=PROGRAMS[program])
    words = "--subprocesses", "script.py", "-x"
    ours = cassette("run", "-c", "noop", *words, folder=tmp_path, stdin="input")
    assert ours == run(*words[1:], folder=tmp_path, stdin="input")


@pytest.mark.parametrize(
    "program",
    [
        "leaves with status 3",
        "raises in a function",
        "is interrupted by a signal",
        "has an excepthook",
        "has a syntax error",
        "runs in threads and at exit",
    ],
)
def test_a_module_runs_as_python_runs_it(program, context, tmp_path):
    write(tmp_path, script=PROGRAMS[program])
    assert_no_difference("-m", "script", "-m", "-c", "none", folder=tmp_path, context=context)


@pytest.mark.parametrize(
    "name", ["package", "package.module", "package.broken", "package.nope", "empty", "nope", "nope.x"]
)
def test_a_module_in_a_package_runs_as_python_runs_it(name, context, tmp_path):
    """M3."""
    write(
        tmp_path,
        {
            "package/__init__.py": "print('package')",
            "package/__main__.py": "import sys; print(sys.argv, __spec__.name); from . import module",
            "package/module.py": "print(__name__); 1 / 0",
            "package/broken.py": "x = (",
            "empty/__init__.py": "",
        },
    )
    assert_no_difference("-m", name, "argument", folder=tmp_path, context=context)


def test_a_module_has_the_environment_of_a_plain_run(context, tmp_path):
    # The type of the loader is for the tests of the importer to say.
    write(tmp_path, script="import sys; print(sys.argv, sys.path[0], list(globals()), __spec__.name, __file__)")
    assert_no_difference("-m", "script", folder=tmp_path, context=context)


def test_a_package_that_fails_when_it_is_imported_fails_as_in_python(context, tmp_path):
    write(tmp_path, {"package/__init__.py": "1 / 0", "package/__main__.py": ""})
    assert_no_difference("-m", "package", folder=tmp_path, context=context)


@pytest.mark.parametrize("path", ["program", "./program", "program/", "program.zip", "empty"])
def test_a_folder_or_zip_file_with_a_main_module_runs_as_python_runs_it(path, context, tmp_path):
    write(
        tmp_path,
        {
            "program/__main__.py": """
                import sys, beside
                print(sys.argv, sys.path[0], __package__, __file__, beside)
                1 / 0
                """,
            "program/beside.py": "",
        },
    )
    (tmp_path / "empty").mkdir()
    with zipfile.ZipFile(tmp_path / "program.zip", "w") as archive:
        for name in ("__main__.py", "beside.py"):
            archive.write(tmp_path / "program" / name, name)
    assert_no_difference(path, "argument", folder=tmp_path, context=context)


@pytest.mark.parametrize("path", ["./script.py", "folder/../script.py", "absolute", "linked.py"])
def test_a_script_finds_itself_and_its_neighbours_however_it_is_named(path, context, tmp_path):
    write(tmp_path, script="import sys, beside; print(sys.argv, sys.path[0], __file__)", beside="")
    (tmp_path / "folder").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "linked.py").symlink_to(tmp_path / "script.py")
    words = {"absolute": tmp_path / "script.py", "linked.py": "elsewhere/linked.py"}
    assert_no_difference(words.get(path, path), folder=tmp_path, context=context)


@pytest.mark.parametrize("path", ["missing.py", "missing/", "script.py/below"])
def test_a_script_that_is_missing_is_missed_in_pythons_words(path, context, tmp_path):
    write(tmp_path, script="")
    assert_no_difference(path, folder=tmp_path, context=context)
    assert cassette("run", path, folder=tmp_path).status == 2


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b'x = "\xe9"\n', id="not UTF-8"),
        pytest.param(b"# -*- coding: nonsense -*-\n", id="unknown encoding"),
        pytest.param(b'x = "\0"\n', id="null byte"),
        pytest.param(b'# -*- coding: latin-1 -*-\nprint(ascii("\xe9"))\n', id="latin-1"),
        pytest.param(b'\xef\xbb\xbfprint("mark")\n', id="byte order mark"),
        pytest.param(b"x = 1\rprint(x)\r\nraise ValueError\r\n", id="line ends"),
    ],
)
def test_a_script_in_any_encoding_runs_as_python_runs_it(source, context, tmp_path):
    (tmp_path / "script.py").write_bytes(source)
    assert_no_difference("script.py", folder=tmp_path, context=context)


def test_a_compiled_script_runs_as_python_runs_it(context, tmp_path):
    write(tmp_path, script="import sys; print(sys.argv, __file__, type(__loader__).__name__)\n1 / 0")
    compile_it = "import py_compile; py_compile.compile('script.py', 'script.pyc')"
    assert run("-c", compile_it, folder=tmp_path).status == 0
    assert_no_difference("script.pyc", folder=tmp_path, context=context)
    (tmp_path / "script.pyc").write_bytes(b"no code")
    assert_no_difference("script.pyc", folder=tmp_path, context=context)


@pytest.mark.parametrize("flags", [["-P"], ["-O"], ["-W", "error"], ["-X", "dev"]], ids=" ".join)
def test_the_interpreters_own_options_are_obeyed(flags, context, tmp_path):
    write(
        tmp_path,
        script="""
        import sys, warnings
        print(sys.path[0], __debug__)
        warnings.warn("here")
        assert not __debug__
        """,
    )
    if flags == ["-P"]:  # the first entry is the environment's
        write(tmp_path, script="import beside", beside="")
    assert_no_difference("script.py", folder=tmp_path, context=context, flags=flags)


def test_a_program_gets_its_own_modules_although_cassette_import_imported_others_of_that_name(context, tmp_path):
    write(
        tmp_path,
        {
            "program/script.py": "import ast, dis, json; print(ast.__file__, dis.__file__, json)",
            "program/json.py": "",
            "program/ast.py": "",
            "program/dis/__init__.py": "",
        },
    )
    assert_no_difference("program/script.py", folder=tmp_path, context=context)


@pytest.mark.parametrize("module", [False, True], ids=["script", "module"])
def test_the_frames_between_python_and_the_program_are_in_no_traceback(module, tmp_path):
    write(
        tmp_path,
        script="""
        import traceback
        try:
            1 / 0
        except ZeroDivisionError:
            traceback.print_exc()
        1 / 0
        """,
    )
    done = cassette("run", "-c", "noop", *(["-m", "script"] if module else ["script.py"]), folder=tmp_path)
    assert "cassette_import" not in done.stderr


def test_a_program_that_catches_an_interrupt_continues(context, tmp_path):
    write(
        tmp_path,
        script="""
        import time
        print("ready", flush=True)
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            print("caught")
        """,
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "cassette_import", "run", "-c", context, "script.py"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        # A job in the background of a shell has SIGINT ignored, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "caught\n"
    assert process.returncode == 0


def test_a_program_that_is_interrupted_dies_of_the_signal(context, tmp_path):
    write(tmp_path, script="raise KeyboardInterrupt")
    assert cassette("run", "-c", context, "script.py", folder=tmp_path).status == -signal.SIGINT


def test_what_python_imports_at_its_start_is_what_the_program_gets(tmp_path):
    """`.pth` files import modules before the script's folder is on the path: the run keeps these modules."""
    site, folder = tmp_path / "site", tmp_path / "program"
    for path, text in {
        site / "sitecustomize.py": "import helper, fractions",
        site / "helper.py": "where = 'at the start'",
        folder / "helper.py": "where = 'beside the script'",
        folder / "fractions.py": "where = 'beside the script'",
        folder / "random.py": "where = 'beside the script'",
        folder / "main.py": "import helper, fractions, random\nprint(helper.where, fractions.__file__, random.where)",
    }.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    variables = {"PYTHONPATH": os.pathsep.join([str(site), CHECKOUT])}
    expected = run("main.py", folder=folder, **variables)
    assert "at the start" in expected.stdout
    assert cassette("run", "-c", "none", "main.py", folder=folder, **variables) == expected


def test_the_program_sees_every_module_that_plain_python_has_for_it(tmp_path):
    (tmp_path / "main.py").write_text("import sys\nprint(*sys.modules, sep='\\n')")
    plain = run("main.py", folder=tmp_path).stdout.split()
    ours = cassette("run", "-c", "none", "main.py", folder=tmp_path).stdout.split()
    assert {*plain} <= {*ours}
    assert [name for name in ours if name in plain] == plain


@pytest.mark.parametrize("words", [["main.py"], ["-m", "main"], ["-c", "own:Own", "main.py"]])
def test_cassette_import_does_not_import_modules_from_the_current_folder(words, tmp_path):
    for name in ("random", "tempfile", "json", "threading", "own"):
        (tmp_path / f"{name}.py").write_text("import cassette_import\nclass Own(cassette_import.Context): pass\n")
    (tmp_path / "main.py").write_text("import random, tempfile\nprint(random.Own.__module__, tempfile.Own.__module__)")
    assert cassette("run", *words, folder=tmp_path).stdout == "random tempfile\n"


@pytest.mark.parametrize(
    "description",
    [
        "taint:sources=os.getcwd",
        "substitute:os.getcwd=os.getpid",
        "faults:target=os.getcwd,delay=0",
        "memoize:functions=os.getcwd",
        "memoize:functions=os.getcwd,folder=kept",
    ],
)
def test_finalizers_run_where_they_run_in_the_plain_program(description, tmp_path):
    """The first finalizer of a process registers the end of all with `atexit`: it must be the program's."""
    text = """
        import atexit, weakref
        class Thing:
            pass
        thing = Thing()
        atexit.register(print, "registered before the finalizer")
        weakref.finalize(thing, print, "finalizer")
        atexit.register(print, "registered after the finalizer")
        """
    write(tmp_path, script=text)
    ours = cassette("run", "-c", description, "script.py", folder=tmp_path)
    assert ours.stdout == run("script.py", folder=tmp_path).stdout
