"""Checklist, V, N and M: how a running program is affected, the names that its code needs, and how it is started.

V1, V11 and V13 have their tests in `test_finder.py` and `test_installation.py`, V3 and V4 in
`test_tools_processes.py`, V15 in `test_tools.py`, M1 to M5 in `test_program_runs.py` and `test_command_line.py`.
"""

import asyncio
import builtins
import contextvars
import importlib
import marshal
import subprocess
import sys
import textwrap
import threading
import types

import pytest
from helpers.command_line import run
from helpers.contexts import ReadsArguments
from helpers.same_program import WAYS, assert_same, assert_same_when_imported_in

from cassette_import import Context, current, install, uninstall
from cassette_import.contexts import Noop

PROGRAMS = {
    "V2_no_frame_stands_between_a_module_and_who_imports_it": """
        import importlib, sys

        def names(depth):
            frame, found = sys._getframe(depth), []
            while frame is not None and frame.f_code is not main.__code__:
                found.append(frame.f_code.co_name)
                frame = frame.f_back
            return found

        level = sys._getframe(0).f_back.f_code.co_name

        def main():
            again = importlib.import_module(__name__)
            return names(1), [names(1) for _ in range(1)], level, again is sys.modules[__name__]
    """,
    "V5_modules_show_no_names_of_cassette_import": """
        import sys

        def f(x):
            return abs(x)

        def main():
            f(-1)
            namespace = {}
            exec(f"from {__name__} import *", namespace)
            module = sys.modules[__name__]
            return dir(module), sorted(vars(module)), sorted(namespace), f.__globals__ is vars(module), dir()
    """,
    "V6_code_from_text_runs_as_it_is": """
        import collections, dataclasses

        @dataclasses.dataclass
        class D:
            x: int
            y: list = dataclasses.field(default_factory=lambda: [len("a")])

            def __post_init__(self):
                self.x = abs(self.x)

        N = collections.namedtuple("N", "a b")

        def main():
            namespace = {"y": 3}
            exec("def g(x):\\n    return abs(x) + y\\nfound = g(-1)", namespace)
            code = compile("abs(-5) + len(D.__name__)", "text", "eval")
            local = len("abc")
            evaluated = eval(code), eval("local + 1"), eval("[1 for _ in 'ab']")
            return namespace["found"], evaluated, D(-1), N(1, b=abs(-2))
    """,
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_sees_what_it_saw(program, way, make_package):
    assert_same(way, PROGRAMS[program], make_package)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_that_is_imported_in_a_context_sees_what_it_saw(program, make_package):
    assert_same_when_imported_in(ReadsArguments(), PROGRAMS[program], make_package)


def test_V7_functions_whose_bytecode_another_package_reads_are_left_alone(make_package):
    source = """
        class nb:
            @staticmethod
            def njit(*args, **options):
                return args[0] if args else lambda function: function

        @nb.njit
        def compiled(x):
            return abs(x)

        @nb.njit(parallel=True)
        def with_options(x):
            def inner():
                return abs(x)
            return inner()

        def overdubbed(x):
            return compiled(x) + with_options(x)
    """
    name = make_package(source)
    module = importlib.import_module(name)
    codes = module.compiled.__code__, module.with_options.__code__
    installation = install([name])
    with ReadsArguments():
        assert module.overdubbed(-1) == 2
    assert (module.compiled.__code__, module.with_options.__code__) == codes
    report = installation.report()[0]
    assert set(report.left_alone) >= {"compiled", "with_options"}
    assert "nb.njit" in report.left_alone["compiled"]
    assert "overdubbed" in report.specialised


def test_V8_code_that_has_run_in_a_context_runs_in_a_process_without_cassette_import(make_package, tmp_path):
    """As when cloudpickle sends a function by value."""
    name = make_package("def f(x):\n    return abs(x)\n")
    module = importlib.import_module(name)
    install([name])
    with Noop():
        module.f(-1)
    program = "import marshal, sys, types; code = marshal.load(open('code', 'rb')); "
    program += "print(types.FunctionType(code, {'__builtins__': __builtins__})(-5))"
    (tmp_path / "code").write_bytes(marshal.dumps(module.f.__code__))
    done = run("-c", program, folder=tmp_path)
    assert (done.stdout, done.stderr) == ("5\n", "")


def test_V9_a_forked_process_stays_in_the_context_and_a_spawned_one_starts_plain(tmp_path):
    program = """
        import multiprocessing
        import cassette_import, colorsys

        class Count(cassette_import.Context):
            def __init__(self):
                self.count = 0

            def prehook(self, f, *args, **kwargs):
                self.count += 1

        def work(_):
            return colorsys.rgb_to_hls(0.2, 0.4, 0.4), cassette_import.installed()

        if __name__ == "__main__":
            cassette_import.install(["colorsys"])
            with Count():
                for method in ("fork", "spawn"):
                    with multiprocessing.get_context(method).Pool(1) as pool:
                        print(method, pool.map(work, [0])[0])
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    done = run("-W", "ignore", "program.py", folder=tmp_path)
    (fork, spawn) = done.stdout.splitlines()
    assert [words.split("(")[0] for words in (fork, spawn)] == ["fork ", "spawn "]
    assert fork.endswith("('colorsys',))")
    assert spawn.endswith("())")


def test_V10_a_context_belongs_to_its_thread_and_its_task(make_package):
    name = make_package("def f(x):\n    return abs(x)\n")
    module = importlib.import_module(name)
    install([name])
    seen = []

    class Seen(Context):
        def prehook(self, f, *args, **kwargs):
            seen.append(self.metadata)

    async def task(metadata):
        with Seen(metadata):
            for _ in range(3):
                module.f(-1)
                await asyncio.sleep(0)
                assert current().metadata == metadata

    async def others():
        for _ in range(9):
            assert current() is None
            module.f(-1)
            await asyncio.sleep(0)

    async def main():
        await asyncio.gather(task("a"), others(), task("b"))

    asyncio.run(main())
    assert sorted(seen) == ["a"] * 3 + ["b"] * 3
    with Seen("outer"):
        thread = threading.Thread(target=contextvars.Context().run, args=(module.f, -1))
        thread.start(), thread.join()
    assert len(seen) == 6


def test_V10_a_suspended_generator_leaks_no_context(make_package):
    name = make_package("""
        def numbers(ctx):
            with ctx:
                yield abs(-1)
            yield abs(-2)
    """)
    module = importlib.import_module(name)
    install([name])
    context = Noop()
    generator = module.numbers(context)
    try:
        assert next(generator) == 1
        assert current() in (None, context)
        assert next(generator) == 2
        assert current() is None
    finally:
        generator.close()


def test_V12_a_subinterpreter_is_not_affected(make_package, tmp_path):
    for module_name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = importlib.import_module(module_name)
            break
        except ImportError:
            continue
    else:
        pytest.skip("this Python has no subinterpreters")
    name = make_package("def f(x):\n    return abs(x)\nfound = f(-3)\n")
    install([name])
    script = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import {name}
assert {name}.found == 3 and not any('assette' in type(f).__module__ for f in sys.meta_path)
open({str(tmp_path / "done")!r}, "w").write(str({name}.f(-4)))
"""
    with Noop():
        assert importlib.import_module(name).f(-1) == 1
        interpreter = interpreters.create()
        try:
            failed = interpreters.run_string(interpreter, script)
        finally:
            interpreters.destroy(interpreter)
    assert failed is None
    assert (tmp_path / "done").read_text() == "4"


def test_N1_what_rewritten_code_needs_is_found_with_any_globals(make_package):
    """It is among the constants of the code, so no namespace has it."""
    name = make_package("def f(x):\n    return abs(x)\n")
    module = importlib.import_module(name)
    install([name])
    with Noop():
        module.f(-1)
    assert types.FunctionType(module.f.__code__, {})(-2) == 2
    assert not {key for names in (module, builtins) for key in vars(names) if not key.isidentifier()}


def test_N1_builtins_are_unchanged_before_and_in_a_context(make_package, tmp_path):
    """Programs iterate over all names of `builtins`: CPython's `test_dataclasses` makes a field of each."""
    name = make_package("def f(x):\n    return abs(x)\n")
    program = f"""
import builtins, sys
before = dir(builtins)
sys.path.insert(0, {str(tmp_path)!r})
import cassette_import
from cassette_import.contexts import Noop
cassette_import.install([{name!r}])
import {name}
{name}.f(-1)
print(set(dir(builtins)) - set(before))
with Noop():
    {name}.f(-1)
    print(set(dir(builtins)) - set(before))
print(set(dir(builtins)) - set(before))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("set()\n" * 3, "")


def test_N1_code_that_has_run_in_a_context_runs_with_builtins_of_the_program(make_package):
    name = make_package("def f(x):\n    return abs(x)\n")
    module = importlib.import_module(name)
    install([name])
    with Noop():
        module.f(-1)
    assert types.FunctionType(module.f.__code__, {"__builtins__": {"abs": abs}})(-2) == 2


def test_N2_code_that_is_running_continues_after_uninstalling(make_package):
    name = make_package("""
        def numbers():
            for i in range(4):
                yield abs(-i)

        def nested():
            return lambda x: abs(x)
    """)
    module = importlib.import_module(name)
    install([name])
    with ReadsArguments():
        generator, function = module.numbers(), module.nested()
        found = [next(generator), next(generator)]
    uninstall([name])
    assert [*found, *generator] == [0, 1, 2, 3]
    assert function(-5) == 5
    assert module.nested()(-6) == 6
