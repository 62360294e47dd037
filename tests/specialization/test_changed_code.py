"""Functions whose code is not what their source compiles to keep it: before a context, in it and after it."""

import importlib
import os
import subprocess
import sys
import time

import pytest

from cassette_import import Context, install, overdub
from cassette_import.contexts import Noop
from cassette_import.rewriting.trees.code_matching import essence, is_same

CHANGES = '''
import ast, inspect, textwrap, types

def recompiled(function):
    """As typeguard's `typechecked`: the same file, lines and names, and one more statement."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    node = tree.body[0]
    node.decorator_list = []
    node.body.insert(0, ast.parse("mark = CHANGED.append(1)").body[0])
    ast.fix_missing_locations(tree)
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    space = {}
    exec(compile(tree, function.__code__.co_filename, "exec"), function.__globals__, space)
    return space[function.__name__].__code__

def _consts(function, old, new):
    consts = [new if repr(const) == repr(old) else const for const in function.__code__.co_consts]
    return function.__code__.replace(co_consts=tuple(consts))

def other_number(function):
    return _consts(function, 1000, 2000)

def number_of_other_type(function):
    return _consts(function, 1000, 1000.0)

def other_sign_of_zero(function):
    return _consts(function, 0.0, -0.0)

def object_as_constant(function):
    return _consts(function, 1000, CONSTANT)

def other_name(function):
    code = function.__code__
    return code.replace(co_names=tuple("other" if name == "helper" else name for name in code.co_names))

def other_function_inside(function):
    code = function.__code__
    consts = [
        const.replace(co_consts=tuple(9000 if item == 7000 else item for item in const.co_consts))
        if isinstance(const, types.CodeType) else const for const in code.co_consts
    ]
    return code.replace(co_consts=tuple(consts))

def other_name_of_the_function(function):
    return function.__code__.replace(co_name="renamed", co_qualname="renamed")

def other_file(function):
    return function.__code__.replace(co_filename="elsewhere.py")

def other_lines(function):
    return function.__code__.replace(co_firstlineno=function.__code__.co_firstlineno + 1)

def of_another_function(function):
    kinds = inspect.CO_GENERATOR | inspect.CO_COROUTINE  # others cannot be exchanged
    is_ordinary = not function.__code__.co_freevars and not function.__code__.co_flags & kinds
    return stranger.__code__ if is_ordinary else function.__code__

CHANGED, CONSTANT = [], type("Odd", (), {"__repr__": lambda self: 1 / 0, "__add__": lambda self, other: "odd"})()
def helper(x): return len(x)
def other(x): return -1
def stranger(x, y=1):
    return "stranger", x

def apply(change, function):
    function.__code__ = change(function)
    return function

def where():
    import sys
    frame = sys._getframe(1)
    return frame.f_code.co_name, frame.f_code.co_filename == __file__, frame.f_lineno - frame.f_code.co_firstlineno
'''
ITEMS = "x * 1000, str(x * 0.0), helper('abc'), inner(), where()"
BODY = f"""
    inner = lambda: 7000
    return {ITEMS}, list(CHANGED)
"""
METHOD = BODY.replace("\n    ", "\n        ")
CLOSURE = METHOD.replace("7000", "7000 + free")
PLACES = {
    "function": f"def work(x, y=1):{BODY}\nrun = lambda: work(1)",
    "method": f"class Thing:\n    def work(x, y=1):{METHOD}\nwork = Thing.work\nrun = lambda: work(1)",
    "closure": f"def make(free):\n    def work(x, y=1):{CLOSURE}    return work\nwork = make(1)\nrun = lambda: work(1)",
    "generator": f"def work(x, y=1):\n    inner = lambda: 7000\n    yield {ITEMS}\nrun = lambda: list(work(1))",
    "coroutine": f"import asyncio\nasync def work(x, y=1):{BODY}\nrun = lambda: asyncio.run(work(1))",
    "lambda": f"work = lambda x, y=1: ({ITEMS.replace('inner', '(lambda: 7000)')})\nrun = lambda: work(1)",
}
NAMES = [line.split("(")[0][4:] for line in CHANGES.splitlines() if line.startswith("def ")]
DECORATORS = [name for name in NAMES if name not in ("_consts", "helper", "other", "stranger", "apply", "where")]


class Intercepting(Context):
    def prehook(self, f, *args, **kwargs):
        """Intercept all calls."""


def _result(run):
    try:
        return run()
    except Exception as error:
        return type(error), str(error)


CASES = [
    (change, place)
    for change in DECORATORS
    for place in PLACES
    if change != "recompiled" or place not in ("closure", "lambda", "method")  # it compiles what a module defines
]


@pytest.mark.parametrize(("change", "place"), CASES)
def test_a_function_keeps_the_code_that_it_was_given(change, place, make_package):
    name = make_package(f"{CHANGES}\n{PLACES[place]}\nwork.__code__ = {change}(work)\n")
    module = importlib.import_module(name)
    code = module.work.__code__
    expected = _result(module.run)
    module.CHANGED.clear()
    for context in (Noop, Intercepting):
        with install([name]) as installation:
            with context():
                inside = _result(module.run)
            module.CHANGED.clear()
            assert inside == expected
            assert overdub(context(), _result, module.run) == expected
            module.CHANGED.clear()
            (report,) = installation.report()
        assert _result(module.run) == expected
        module.CHANGED.clear()
        assert module.work.__code__ is code
        if context is Intercepting and change not in ("other_file", "of_another_function"):
            assert any(name.endswith(("work", "renamed", "<lambda>")) for name in report.left_alone)


def test_the_report_names_the_function_and_why_it_is_left_alone(make_package):
    change = "f.__code__ = f.__code__.replace(co_consts=tuple(6000 if c == 5000 else c for c in f.__code__.co_consts))"
    name = make_package(f"def f(x):\n    return x + 5000\n\n{change}\n")
    with install([name]) as installation:
        module = importlib.import_module(name)
        with Intercepting():
            module.f(1)
        assert installation.report()[0].left_alone == {"f": "its code is not what its source says"}


def test_a_function_that_another_one_decorates_while_a_context_is_active_keeps_its_code(make_program):
    program = make_program(
        CHANGES + "\ndef make():\n    def work(x):\n        return x * 1000\n    return apply(other_number, work)\n"
        "def run():\n    return [make()(1) for _ in range(3)]\n"
    )
    assert program.run() == [2000] * 3
    for _ in range(2):
        with Intercepting():
            assert program.run() == [2000] * 3
    assert program.run() == [2000] * 3


def test_code_that_is_the_same_on_other_globals_is_overdubbed(make_program, Recorder):
    program = make_program(
        CHANGES
        + "\nimport types\ndef work(x):\n    return helper(x)\n"
        + "work = types.FunctionType(work.__code__, {'helper': other})\nrun = lambda: work('a')\n"
    )
    with Recorder() as recorder:
        assert program.run() == -1
    assert program.other in recorder.functions


def test_a_body_of_the_disk_cache_is_used_for_the_code_alone_that_it_was_compiled_from(tmp_path):
    (tmp_path / "changing.py").write_text(
        "import os\ndef work(x):\n    return x * 1000\n\n"
        "if 'CHANGED' in os.environ:\n    code = work.__code__\n"
        "    work.__code__ = code.replace(co_consts=tuple(2000 if c == 1000 else c for c in code.co_consts))\n"
    )
    old = time.time() - 100
    os.utime(tmp_path / "changing.py", (old, old))
    program = (
        "import changing, cassette_import\nfrom cassette_import.contexts import CallGraph\n"
        "cassette_import.install('changing')\nwith CallGraph(): print(changing.work(1))\n"
    )
    (tmp_path / "program.py").write_text(program)
    for variables, expected in [({}, "1000"), ({"CHANGED": "1"}, "2000"), ({}, "1000"), ({"CHANGED": "1"}, "2000")]:
        done = subprocess.run(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == expected, done.stderr


CONSTANTS = [0, 0.0, -0.0, False, 1, 1.0, True, 1j, complex(-0.0, 1), "1", b"1", None, ..., (1,), (1.0,), (True,)]


@pytest.mark.parametrize("const", CONSTANTS, ids=repr)
def test_code_with_an_equal_constant_of_another_type_or_sign_is_not_the_same(const):
    code = (lambda: 12345).__code__
    consts = [code.replace(co_consts=tuple(c if c != 12345 else value for c in code.co_consts)) for value in CONSTANTS]
    mine = code.replace(co_consts=tuple(c if c != 12345 else const for c in code.co_consts))
    assert [is_same(mine, other) for other in consts].count(True) == 1
    assert len({repr(essence(other)) for other in consts}) == len(CONSTANTS)


PATCHED_WHILE_IMPORTED = """
    def patched(function):
        code = function.__code__
        consts = tuple(20 if type(const) is int and const == 1000 else const for const in code.co_consts)
        function.__code__ = code.replace(co_consts=consts)
        return function

    @patched
    def top(x=1):
        return 1000 + x

    class Owner:
        @staticmethod
        @patched
        def static():
            return 1000

        @patched
        def method(self, *rest, key=None):
            return 1000, rest, key

    HELD = [patched(lambda: 1000)]
    del patched
"""


@pytest.mark.parametrize("tagging", [False, True])
def test_constants_that_a_decorator_changes_count_in_modules_that_are_imported_in_a_context(make_package, tagging):
    name = make_package(PATCHED_WHILE_IMPORTED)
    install(name)

    class Ctx(Context, tagging=tagging):
        pass

    def values(module):
        return module.top(), module.Owner.static(), module.Owner().method(1, key=2), module.HELD[0]()

    with Ctx():
        module = importlib.import_module(name)
        assert values(module) == values(module) == (21, 20, (20, (1,), 2), 20)
    assert values(module) == (21, 20, (20, (1,), 2), 20)


def test_the_time_of_a_comparison_grows_with_the_depth_of_functions_within_functions():
    """CPython's own comparison takes twice as long for each level."""

    def seconds(depth):
        text = "(lambda y: " * depth + "y + x" + ")(x)" * depth
        code, other = (compile(text, "text", "eval") for _ in range(2))
        start = time.process_time()
        assert is_same(code, other)
        return time.process_time() - start

    shallow, deep = (min(seconds(depth) for _ in range(3)) for depth in (10, 20))
    assert deep < 20 * shallow
