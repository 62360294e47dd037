"""The escape report: what ran as a leaf although it is Python, how often, and why."""

import asyncio
import subprocess
import sys
import threading

import pytest
from helpers.command_line import cassette

from cassette_import import Context, disablehooks, escapes, install, overdub, recurse, similarcontext
from cassette_import.runtime.state import ACTIVE, IN_USE, INACTIVE

PROGRAM = """
    import json
    import textwrap
    from collections import namedtuple

    Pair = namedtuple("Pair", "x y")
    made = eval("lambda: 1")

    def inside(n):
        return n

    def run(n):
        for i in range(n):
            textwrap.dedent("  x")
            inside(i)
        return json.dumps([n])

    def without_source():
        return Pair(1, 2), made()

    class Decoder(json.JSONDecoder):
        pass

    def classes():
        return Decoder()

    def jit(f):
        return f

    @jit
    def left_alone():
        return 1

    def calls_left_alone():
        return left_alone()

    def generate():
        for i in range(2):
            yield textwrap.dedent("  x")

    def fails():
        json.loads("[")

    async def later():
        return textwrap.dedent("  x")
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


def reported(ctx):
    return {f"{one.module}.{one.function}": (one.calls, one.reason) for one in escapes(ctx)}


def test_what_is_not_installed_is_reported_with_counts_and_reasons(program):
    ctx = Context(report_escapes=True)
    assert overdub(ctx, program.run, 3) == "[3]"
    assert reported(ctx) == {
        "textwrap.dedent": (3, "textwrap is not installed"),
        "json.dumps": (1, "json is not installed"),
    }


def test_a_report_names_the_place_of_the_function_in_a_readable_sentence(program):
    import textwrap

    ctx = Context(report_escapes=True)
    overdub(ctx, program.run, 3)
    first = escapes(ctx)[0]
    assert (first.filename, first.lineno) == (textwrap.__file__, textwrap.dedent.__code__.co_firstlineno)
    assert str(first) == "textwrap.dedent: 3 calls; textwrap is not installed"


def test_code_without_source_is_reported_as_such(program):
    ctx = Context(report_escapes=True)
    overdub(ctx, program.without_source)
    assert {reason for _, reason in reported(ctx).values()} == {"there is no source"}
    assert sum(calls for calls, _ in reported(ctx).values()) == 2


def test_code_without_source_is_reported_also_when_other_such_code_has_been_a_root(program):
    overdub(Context(), eval("lambda: 1"))
    ctx = Context(report_escapes=True)
    overdub(ctx, program.without_source)
    assert sum(calls for calls, _ in reported(ctx).values()) == 2


def test_a_class_is_reported_by_its_init(program):
    ctx = Context(report_escapes=True)
    overdub(ctx, program.classes)
    assert reported(ctx) == {"json.decoder.JSONDecoder.__init__": (1, "json.decoder is not installed")}


def test_what_is_left_alone_is_reported_with_the_reason(program):
    ctx = Context(report_escapes=True)
    overdub(ctx, program.calls_left_alone)
    assert reported(ctx) == {
        f"{program.__name__}.left_alone": (1, "it is left alone: its bytecode or source is read by @jit")
    }


def test_what_is_excluded_is_reported_as_excluded(make_package, import_fresh):
    name = make_package({"a.py": "from . import b\ndef f():\n    return b.g()\n", "b.py": "def g():\n    return 1\n"})
    with install([name], exclude=[f"{name}.b"]):
        module = import_fresh(f"{name}.a")
        ctx = Context(report_escapes=True)
        overdub(ctx, module.f)
    assert reported(ctx) == {f"{name}.b.g": (1, f"{name}.b is excluded")}


def test_builtins_and_what_is_overdubbed_are_no_escapes(program):
    ctx = Context(report_escapes=True)
    overdub(ctx, program.inside, 1)
    overdub(ctx, lambda: len(str(program.inside(1))))
    assert escapes(ctx) == []


def test_an_overload_runs_in_the_place_of_the_function_which_does_not_escape(program):
    class Ctx(Context):
        report_escapes = True

    Ctx.overdub.register(program.json.dumps)(lambda ctx, f, value: "overloaded")
    ctx = Ctx()
    assert overdub(ctx, program.run, 1) == "overloaded"
    assert list(reported(ctx)) == ["textwrap.dedent"]


def test_what_hooks_and_overloads_do_is_not_the_program(program):
    class Ctx(Context):
        report_escapes = True

        def prehook(self, f, *args):
            program.run(1)

    ctx = Ctx()
    overdub(ctx, program.run, 2)
    assert reported(ctx)["textwrap.dedent"] == (2, "textwrap is not installed")


def test_the_report_covers_calls_inside_of_an_overload(program):
    class Ctx(Context):
        report_escapes = True

    Ctx.overdub.register(program.run)(lambda ctx, f, n: recurse(ctx, f, n))
    ctx = Ctx()
    overdub(ctx, lambda: program.run(2))
    assert reported(ctx)["textwrap.dedent"][0] == 2


def test_the_class_attribute_and_the_argument_do_the_same(program):
    class Ctx(Context):
        report_escapes = True

        def __init__(self):
            pass

    ctx = Ctx()
    with ctx:
        program.run(1)
    assert len(escapes(ctx)) == 2
    assert Context(report_escapes=False).report_escapes is False


def test_a_context_without_the_option_reports_nothing(program):
    ctx = Context()
    overdub(ctx, program.run, 1)
    with pytest.raises(ValueError, match="report_escapes=True"):
        escapes(ctx)


def test_changed_copies_of_a_context_share_its_report(program):
    ctx = Context(report_escapes=True)
    overdub(ctx, program.run, 1)
    overdub(similarcontext(ctx, metadata=3), program.run, 1)
    overdub(disablehooks(ctx), program.run, 1)
    assert reported(ctx)["json.dumps"][0] == reported(similarcontext(ctx))["json.dumps"][0] == 3


def test_entering_twice_counts_once(program):
    ctx = Context(report_escapes=True)
    with ctx, ctx:
        overdub(ctx, program.run, 1)
        overdub(similarcontext(ctx), program.run, 1)
    assert reported(ctx)["json.dumps"][0] == 2


def test_nothing_stays_active(program):
    ctx = Context(report_escapes=True)
    with ctx, ctx:
        pass
    overdub(ctx, program.run, 1)
    with pytest.raises(ValueError):
        overdub(ctx, program.fails)
    assert list(overdub(ctx, program.generate)) == ["x", "x"]
    assert ACTIVE.get() is INACTIVE
    assert not IN_USE.entered
    assert reported(ctx)["textwrap.dedent"][0] == 3


def test_a_coroutine_is_watched_while_it_runs(program):
    ctx = Context(report_escapes=True)

    async def main():
        return await overdub(ctx, program.later)

    assert asyncio.run(main()) == "x"
    assert reported(ctx) == {"textwrap.dedent": (1, "textwrap is not installed")}


def test_the_hooks_of_the_context_see_what_they_always_saw(program, Recorder):
    plain, watched = Recorder(), Recorder(report_escapes=True)
    assert overdub(plain, program.run, 2) == overdub(watched, program.run, 2)
    assert plain.calls == watched.calls
    assert plain.results == watched.results


def test_threads_lose_no_count(program):
    ctx = Context(report_escapes=True)
    threads = [threading.Thread(target=overdub, args=(ctx, program.run, 200)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert reported(ctx)["textwrap.dedent"][0] == 800


# ---- on the command line


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text("import json\nprint(json.dumps([1]), json.dumps([2]))\n")
    return tmp_path


@pytest.mark.parametrize("context", ["noop", "none"])
def test_run_reports_what_escaped(context, folder):
    done = cassette("run", "-c", context, "--escapes", "app.py", folder=folder)
    assert (done.status, done.stdout) == (0, "[1] [2]\n")
    assert done.stderr.splitlines() == [
        "escapes: 2 calls of 1 Python function",
        "",
        "       2  json.dumps  json is not installed",
    ]


def test_run_reports_no_escapes_without_the_option(folder):
    assert cassette("run", "-c", "noop", "app.py", folder=folder).stderr == ""


def test_nothing_escapes_that_is_installed(folder):
    done = cassette("run", "-p", "app,json", "-c", "noop", "--escapes", "app.py", folder=folder)
    assert "json.dumps" not in done.stderr


def test_functions_of_the_script_are_overdubbed_and_no_escapes(folder):
    (folder / "script.py").write_text(
        "def inner():\n    return len('x')\n\n\ndef main():\n    return inner()\n\n\nmain()\n"
    )
    done = cassette("run", "-c", "noop", "--escapes", "script.py", folder=folder)
    assert done.stderr.splitlines() == ["escapes: 0 calls of 0 Python functions"]


def test_the_report_is_imported_when_a_context_needs_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, textwrap\n"
        "from cassette_import import Context, overdub\n"
        "def f():\n"
        "    return textwrap.dedent('  x')\n"
        "overdub(Context(), f)\n"
        "print('cassette_import.activation.escape_report' in sys.modules)\n"
        "ctx = Context(report_escapes=True)\n"
        "overdub(ctx, f)\n"
        "from cassette_import import escapes\n"
        "print([(escape.function, escape.calls) for escape in escapes(ctx)])\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n[('dedent', 1)]\n"


def test_a_root_function_without_source_escapes():
    namespace = {}
    exec("def f(x):\n    return abs(x)\n", namespace)
    ctx = Context(report_escapes=True)
    overdub(ctx, namespace["f"], -1)
    recurse(ctx, namespace["f"], -1)
    assert [(one.function, one.reason, one.calls) for one in escapes(ctx)] == [("f", "there is no source", 2)]
