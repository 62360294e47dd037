"""`CallTypes`: the types of arguments and results at each call site, and the stubs that follow from them."""

import ast
import json
import re
import signal
import textwrap
import threading

import pytest
from helpers.accelerator import ways
from helpers.command_line import cassette

from cassette_import import overdub
from cassette_import.contexts import CallTypes
from cassette_import.contexts.lookup import context_named

PROGRAM = """
    import asyncio
    import collections
    import fractions
    import functools

    def take(value):
        return value

    def parse(text, strict=False):
        return int(text)

    def parse_all(texts):
        found = []
        for text in texts:
            try:
                found.append(parse(text))
            except ValueError:
                pass
        return found

    def optional(a, b=None, *rest, flag=True, **named):
        return None

    def many_ways():
        optional(1)
        optional(1, 2, "three", flag=False, four=4.0)

    def fail():
        raise LookupError

    def survive():
        try:
            fail()
        except LookupError:
            pass

    def count(n):
        yield from range(n)

    async def later(n):
        return n

    def lazily():
        later(1).close()
        return list(count(2))

    class Base:
        pass

    class Shape(Base):
        sides = 0

        def __init__(self, name):
            self.name = name

        @property
        def title(self):
            return self.name

        def scaled(self, factor):
            return type(self)(self.name * factor)

        @classmethod
        def named(cls, name):
            return cls(name)

        @staticmethod
        def area(width, height):
            return width * height

        class Corner:
            def __init__(self, x):
                self.x = x

        def __call__(self, x):
            return x

    def shapes():
        shape = Shape("a")
        shape.scaled(2)
        Shape.named("b")
        Shape.area(1, 2.5)
        Shape.Corner(1)
        shape(b"")

    def strange():
        class Local(fractions.Fraction):
            pass
        take(Local(1, 2))

    def ticks():
        for _ in range(100):
            take(1)
            take("x")

    @functools.lru_cache
    def cached(n):
        return n

    def ask():
        return cached(1)

    def each(values):
        for value in values:
            take(value)
"""


@pytest.fixture(params=["in C", "in Python"], autouse=True)
def hooks(request, monkeypatch):
    """The tests run both ways: with the posthook in C, and with that in Python."""
    with ways(request.param, monkeypatch):
        yield request.param


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text(
        "from beside import double\n\ndef main():\n    print(double(2), double('a'))\n\nmain()\n"
    )
    (tmp_path / "beside.py").write_text("def double(x):\n    return x + x\n")
    return tmp_path


def stub(program, function, *arguments, named=None):
    types = CallTypes(module=program.__name__)
    overdub(types, function, *arguments)
    text = types.stubs()[program.__name__]
    ast.parse(text)
    return text


def taken(program, *values):
    """The annotation of the parameter of `take`."""
    found = re.search(r"def take\(value: (.*)\) -> (.*): \.\.\.", stub(program, program.each, values))
    assert found[2] in (found[1], "typing.Any")  # what is several types would not be accepted where it is used
    return found[1]


# ---- call sites


def test_a_call_site_is_the_position_of_the_call_and_has_all_outcomes(program):
    types = CallTypes()
    overdub(types, program.parse_all, ["1", "x", 2, "3"])
    line = 1 + textwrap.dedent(PROGRAM).lstrip("\n").splitlines().index("            found.append(parse(text))")
    first, place, *calls = [line for line in types.summary().splitlines() if line]
    assert first == "call-types: 4 calls at 1 call site of 1 function"
    assert re.fullmatch(rf".*__init__\.py:{line}:26 in parse_all", place)
    assert calls == [
        "       2 × parse(str) -> int",
        "       1 × parse(int) -> int",
        "       1 × parse(str) raises ValueError",
    ]


def test_the_option_leaves_lists_functions_that_are_not_python(program):
    types = CallTypes(leaves=True)
    overdub(types, program.parse_all, ["1"])
    assert "       1 × int(str) -> int" in types.summary().splitlines()
    assert "       1 × list.append(list[int], int) -> None" in types.summary().splitlines()


def test_the_option_limit_limits_the_call_sites(program):
    types = CallTypes(limit=1)
    overdub(types, program.shapes)
    assert types.summary().splitlines()[-1] == "… 7 further call sites"


def test_calls_are_counted_over_all_threads(program):
    types = CallTypes()

    def work():
        with types:
            program.ticks()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert types.summary().count(" 800 × take(") == 2


def test_too_many_different_types_at_one_call_site_are_counted_together(program):
    kinds = [type(f"Kind{number}", (), {})() for number in range(150)]
    types = CallTypes()
    overdub(types, program.each, kinds)
    assert types.summary().startswith("call-types: 150 calls at 1 call site")
    assert "      50 × take(…)" in types.summary().splitlines()


def test_types_are_found_without_running_code_of_the_values(program):
    class Touchy(list):
        def __iter__(self):
            raise AssertionError

        __len__ = __hash__ = __eq__ = __class_getitem__ = __iter__

    types = CallTypes()
    overdub(types, program.each, [Touchy(), [Touchy()]])
    assert "take(Touchy) -> Touchy" in types.summary()
    assert "take(list[Touchy])" in types.summary()


# ---- types


@pytest.mark.parametrize(
    ("values", "annotation"),
    [
        ([1], "int"),
        ([1, "a", None], "typing.Any"),
        ([1, None], "int | None"),
        ([True, 1.5], "bool | float"),
        ([[1], ["a"], []], "list[typing.Any]"),
        ([[]], "list[typing.Any]"),
        ([{"a": [1]}, {"b": [None]}], "dict[str, list[typing.Any]]"),
        ([{1, 2}, frozenset("a")], "typing.Any"),
        ([(1, "a")], "tuple[int, str]"),
        ([()], "tuple[()]"),
        ([(1,) * 100], "tuple[typing.Any, ...]"),
        ([(1,), (1, 2)], "tuple[typing.Any, ...]"),
        ([[[[[[1]]]]]], "list[list[list[list[typing.Any]]]]"),
        ([int], "type[int]"),
        ([len, lambda: 1, "".join], "collections.abc.Callable[..., typing.Any]"),
        ([ast.Name], "type[ast.Name]"),
        ([re.compile("")], "re.Pattern"),
        ([{}.keys()], "collections.abc.KeysView[typing.Any]"),
        ([1, "", b"", 1.5, 1j, None, []], "typing.Any"),
        ([object()], "object"),
    ],
)
def test_values_are_annotated_with_their_types(program, values, annotation):
    assert taken(program, *values) == annotation


def test_a_class_that_cannot_be_imported_is_its_nearest_base(program):
    assert "def take(value: fractions.Fraction) -> fractions.Fraction: ..." in stub(program, program.strange)


# ---- stubs


def test_parameters_that_were_not_given_have_the_type_of_their_default(program):
    assert "def parse(text: typing.Any, strict: bool = ...) -> int: ..." in stub(program, program.parse_all, ["1", 2])


def test_all_kinds_of_parameters_are_annotated(program):
    assert (
        "def optional(a: int, b: int | None = ..., *rest: str, flag: bool = ..., **named: float) -> None: ..."
    ) in stub(program, program.many_ways)


def test_a_function_that_only_raised_does_not_return(program):
    assert "def fail() -> typing.NoReturn: ..." in stub(program, program.survive)


def test_generators_and_coroutines_are_annotated_as_such(program):
    text = stub(program, program.lazily)
    assert "def count(n: int) -> collections.abc.Generator[typing.Any, typing.Any, typing.Any]: ..." in text
    assert "async def later(n: int) -> typing.Any: ..." in text
    assert text.startswith("import collections.abc\nimport typing\n\n")


def test_methods_stand_in_their_classes(program):
    assert textwrap.dedent(
        """\
        class Shape(Base):
            name: typing.Any
            sides = 0
            def __init__(self, name: str) -> None: ...
            @property
            def title(self): ...
            def scaled(self, factor: int) -> Shape: ...
            @classmethod
            def named(cls, name: str) -> Shape: ...
            @staticmethod
            def area(width: int, height: float) -> float: ...

            class Corner:
                x: typing.Any
                def __init__(self, x: int) -> None: ...

            def __call__(self, x: bytes) -> bytes: ...
        """
    ) in stub(program, program.shapes)


def test_the_function_behind_a_cache_is_in_the_stub(program):
    assert "@functools.lru_cache\ndef cached(n: int) -> int: ...\n" in stub(program, program.ask)


def test_without_a_module_there_is_a_stub_for_each_that_is_overdubbed(make_program):
    other = make_program("def half(x):\n    return x / 2\n")
    program = make_program(
        f"import {other.__name__} as other, json\n"
        "def main():\n    return json.dumps(other.half(twice(3)))\n"
        "def twice(x):\n    return x * 2\n"
    )
    types = CallTypes()
    overdub(types, program.main)
    assert types.stubs() == {
        other.__name__: "def half(x: int) -> float: ...",
        program.__name__: (
            f"import {other.__name__} as _imported_other, json as json\nother = _imported_other\n"
            "def main(): ...\ndef twice(x: int) -> int: ..."
        ),
    }


# ---- on the command line


def test_a_program_runs_with_call_types(folder):
    done = cassette("run", "-c", "call-types", "app.py", folder=folder)
    assert (done.status, done.stdout) == (0, "4 aa\n")
    assert done.stderr.splitlines() == [
        "call-types: 3 calls at 3 call sites of 2 functions",
        "",
        "app.py:4:11 in main",
        "       1 × double(int) -> int",
        "",
        "app.py:4:22 in main",
        "       1 × double(str) -> str",
        "",
        "app.py:6:1 in <module>",
        "       1 × main() -> None",
    ]


def test_stubs_are_written(folder):
    assert cassette("run", "-c", "call-types", "-o", "out.pyi", "app.py", folder=folder).stderr == ""
    assert (folder / "out.pyi").read_text() == (
        "# ---- __main__\n\nfrom beside import double as double\ndef main() -> None: ...\n\n# ---- beside\n\n"
        "import typing\n\ndef double(x: int | str) -> typing.Any: ...\n"
    )
    assert cassette("run", "-c", "call-types:module=beside", "-o", "beside.pyi", "app.py", folder=folder).status == 0
    assert (folder / "beside.pyi").read_text() == "import typing\n\ndef double(x: int | str) -> typing.Any: ...\n"


@pytest.mark.parametrize("ending", ["1 / 0", "import os, signal; os.kill(os.getpid(), signal.SIGINT); main()"])
def test_the_call_sites_are_there_when_the_program_raises_or_is_interrupted(ending, folder):
    with open(folder / "app.py", "a") as file:
        file.write(ending + "\n")
    done = cassette("run", "-c", "call-types", "-o", "out.json", "app.py", folder=folder)
    assert done.status in (1, -signal.SIGINT, 130)
    entries = json.loads((folder / "out.json").read_text())
    assert [(entry["function"], entry["line"], entry["column"]) for entry in entries] == [
        ("double", 4, 11),
        ("double", 4, 22),
        ("main", 6, 1),
    ]
    assert entries[0]["calls"] == [{"types": "double(int) -> int", "count": 1}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-c", "call-types:limit=-1"], "context .*: limit must not be less than 0, and is -1"),
        (["-c", "call-types:limit=few"], "context .*: limit must be a whole number, not 'few'"),
        (
            ["-c", "call-types:depth=3"],
            "context .*unexpected keyword argument 'depth'; it takes limit, leaves, module, imports",
        ),
        (["-c", "call-types", "-o", "out.py"], "out.py: unknown format; known are .json, .pyi, .txt"),
        (["-c", "call_types"], "no context is called 'call_types'; there are .*call-types, .*"),
    ],
)
def test_bad_input_is_one_line_and_status_2(options, message, folder):
    done = cassette("run", *options, "app.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: {message}\n", done.stderr)


LIFETIMES = """
    import functools, gc, weakref

    class Base:
        pass

    class Called:
        def __call__(self):
            return 1

    def classes():
        for number in range(3):
            made = type(f"Made{number}", (Base,), {})
            len(made.__name__), isinstance(made, made)
        del made
        gc.collect()
        return len(Base.__subclasses__())

    def instances():
        called = Called()
        reference = weakref.ref(called)
        called()
        del called
        gc.collect()
        return reference()

    def closures():
        def named():
            return held
        held = Base()
        @functools.wraps(Base)
        def wrapper():
            return held
        references = weakref.ref(held), weakref.ref(wrapper)
        named(), wrapper()
        del held, named, wrapper
        gc.collect()
        return [reference() for reference in references]
"""


@pytest.mark.parametrize(
    ("context", "program", "expected"),
    [
        *((context, "instances", None) for context in ("call-types", "callgraph", "profile")),
        *((context, "closures", [None, None]) for context in ("call-types", "callgraph", "profile")),
        *((context, "classes", 0) for context in ("callgraph", "profile")),  # call-types reports types
    ],
)
def test_what_is_called_lives_no_longer_than_without_the_context(context, program, expected, make_program):
    assert overdub(context_named(context), getattr(make_program(LIFETIMES), program)) == expected


def test_stubs_of_a_module_that_was_not_called_leave_an_earlier_file(tmp_path):
    (tmp_path / "shop.py").write_text("def price(x):\n    return x\n")
    (tmp_path / "app.py").write_text("import shop\nshop.price(1)\n")
    (tmp_path / "shop.pyi").write_text("earlier")
    done = cassette("run", "-p", "shop", "-c", "call-types:module=shpo", "-o", "shop.pyi", "app.py", folder=tmp_path)
    assert "no function of a module 'shpo' was called; did you mean shop?" in done.stderr
    assert (tmp_path / "shop.pyi").read_text() == "earlier"
