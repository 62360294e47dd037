"""Functions that run when the interpreter ends behave and print as in a plain run."""

import functools
import inspect
import textwrap

import pytest
from helpers import contexts
from helpers.command_line import cassette, run

CONTEXTS = inspect.getsource(contexts)
"""Stands in the main module, whose names are deleted when the interpreter ends."""

INSIDE = {
    "noop": "cassette_import.contexts.Noop().__enter__()",
    "reading": "ReadsEverything().__enter__()",
    "left": "with ReadsEverything(): ending.start()",
    "inactive": "pass",
}
MAIN = """
    import cassette_import, cassette_import.contexts
    cassette_import.install(["ending"])
    import ending
    {inside}
    ending.start()
"""
PROGRAMS = {
    "finalizers": """
        import atexit, gc, sys, weakref

        gc.disable()  # the cycle is found in the end, and not before

        class A:
            def __init__(self, name):
                self.name = name

            def __del__(self):
                print("del", self.name, abs(-1), [x for x in (1, 2) if x > 1], flush=True)

        def goodbye():
            print("goodbye", sorted([2, 1], key=lambda x: abs(x)), flush=True)

        def start():
            global kept, cycle, itself
            import ending as itself  # the module is emptied, and does not die
            kept, cycle = A("kept"), A("cycle")
            cycle.itself = cycle
            sys.kept = A("of sys")
            atexit.register(goodbye)
            weakref.finalize(kept, print, "finalized", flush=True)
    """,
    "finalizers_that_are_entered_for_the_first_time": """
        class A:
            def __del__(self, function=lambda: print("del", sum(x for x in (1, 2)), flush=True)):
                function()

        def start():
            global kept, itself
            import ending as itself
            kept = A()
    """,
    "callbacks_of_weak_references": """
        import sys, weakref

        class A:
            pass

        def notified(reference, write=print):
            write("notified", reference() is None, flush=True)

        def start():
            global kept, reference, itself
            import ending as itself
            kept = A()
            reference = weakref.ref(kept, notified)
            sys.reference = reference
    """,
    "generators_that_are_suspended": """
        import sys

        def numbers(name, write=print):
            with Manager(name, write):
                try:
                    for number in [1, 2, 3]:
                        yield number
                finally:
                    first, *rest = [*(4, 5), 6]
                    write("closed", name, first, rest, 1 < first < 5, first and rest or 7, flush=True)

        class Manager:
            def __init__(self, name, write):
                self.name, self.write = name, write

            def __enter__(self):
                return self

            def __exit__(self, *exception):
                self.write("left", self.name, exception[0], flush=True)

        async def waiting(write=print):
            try:
                await Forever()
            finally:
                write("cancelled", flush=True)

        class Forever:
            def __await__(self):
                yield

        def start():
            global kept, coroutine, itself
            import ending as itself
            kept, sys.kept, coroutine = numbers("of the module"), numbers("of sys"), waiting()
            next(kept), next(sys.kept)
            coroutine.send(None)
    """,
    "threads_that_go_on": """
        import threading, time

        class A:
            def __del__(self):
                print("del", len("abc"), flush=True)

        def endless():
            numbers = []
            while True:
                numbers = [*numbers[-9:], sum([1, 2])]
                time.sleep(0)

        def slow():
            time.sleep(0.1)
            print("slow", max(1, 2), flush=True)

        def start():
            global kept, itself
            import ending as itself
            kept = A()
            threading.Thread(target=endless, daemon=True).start()
            threading.Thread(target=slow).start()
    """,
    "exit_in_a_thread_and_in_the_program": """
        import atexit, sys, threading

        def leave(status):
            print("leaving", abs(-status), flush=True)
            sys.exit(status)

        def start():
            atexit.register(leave, 4)
            thread = threading.Thread(target=leave, args=(3,))
            thread.start()
            thread.join()
            leave(5)
    """,
    "functions_registered_with_atexit_in_turn": """
        import atexit

        def first():
            print("first", flush=True)
            atexit.register(second)

        def second():
            print("second", max([1, 2]), flush=True)

        def start():
            atexit.register(first)
    """,
    "exceptions_in_finalizers": """
        class A:
            def __del__(self):
                raise ValueError(str(len("abc")))

        def start():
            global kept, itself
            import ending as itself
            kept = A()
    """,
    "os_exit": """
        import os

        class A:
            def __del__(self):
                print("never")

        def start():
            global kept
            kept = A()
            os._exit(len("abc"))
    """,
}


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """Return a function that writes a program once and returns its folder."""

    @functools.cache
    def write(program):
        folder = tmp_path_factory.mktemp("ending")
        (folder / "ending.py").write_text(textwrap.dedent(PROGRAMS[program]))
        return folder

    return write


@functools.cache
def run_plain(folder, starts):
    """Run the plain program once for all tests that compare with it; it starts this many times."""
    (folder / "plain.py").write_text("import ending\n" + "ending.start()\n" * starts)
    return run("plain.py", folder=folder)


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_ends_as_it_does_plain(program, inside, folder_of):
    """V14."""
    folder = folder_of(program)
    (folder / "main.py").write_text(CONTEXTS + textwrap.dedent(MAIN).format(inside=INSIDE[inside]))
    assert run("main.py", folder=folder) == run_plain(folder, starts=2 if inside == "left" else 1)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_that_finds_its_code_in_the_cache_ends_as_it_does_plain(program, folder_of, tmp_path):
    folder = folder_of(program)
    (folder / "once.py").write_text("import ending\nending.start()\n")
    plain = run("once.py", folder=folder)
    caches = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    words = "run", "-p", "ending", "-c", "noop", "once.py"
    assert [cassette(*words, folder=folder, **caches) for _ in range(2)] == [plain, plain]


def test_functions_of_atexit_are_in_the_context_that_is_active(tmp_path):
    (tmp_path / "ending.py").write_text("import atexit\ndef goodbye():\n abs(-1)\natexit.register(goodbye)\n")
    (tmp_path / "main.py").write_text(
        "import atexit\n"
        "@atexit.register\n"
        "def tell(): print(names)\n"
        "names = []\n"
        "import cassette_import\n"
        "class Names(cassette_import.Context):\n"
        " def prehook(self, f, *args): names.append(f.__name__)\n"
        "cassette_import.install(['ending'])\n"
        "import ending\n"
        "Names().__enter__()\n"
    )
    assert run("main.py", folder=tmp_path) == (0, "['abs', 'print']\n", "")


def test_modules_of_cassette_import_can_be_imported_in_functions_of_atexit(tmp_path):
    (tmp_path / "main.py").write_text(
        "import atexit\n"
        "@atexit.register\n"
        "def late():\n"
        " from cassette_import.runtime import state\n"
        " from cassette_import import Context, contexts\n"
        " print(state.ACTIVE is ACTIVE, issubclass(contexts.Noop, Context), contexts.Noop is Noop)\n"
        "from cassette_import.runtime.state import ACTIVE\n"
        "from cassette_import.contexts import Noop\n"
    )
    assert run("main.py", folder=tmp_path) == (0, "True True True\n", "")
