"""Every source that compiles also compiles when it is rewritten, for contexts of every kind, at the same positions.

The sources are programs that once failed, rarely used syntax, the odd programs, programs that pysource-codegen
generates (`CASSETTE_TEST_EXAMPLES` says how many, `CASSETTE_TEST_SEED` with which number they start),
and the standard library (a few modules of it; all with `CASSETTE_TEST_STDLIB=1`, CPython's own tests too with
`CASSETTE_TEST_STDLIB=tests`; or else all files below the folders in `CASSETTE_TEST_SOURCES`).
"""

import os
import pathlib
import sys
import textwrap

import pytest
from helpers.whole_modules import SHAPES, SINGLE, Rewritten

PLACES = {
    "a function": "def place(a, b, c, d, e):\n{}",
    "a generator": "def place(a, b, c, d, e):\n    yield\n{}",
    "a function that reads its locals": "def place(a, b, c, d, e):\n    locals()\n{}",
    "a class": "class Place:\n{}",
    "a module": "if a:\n{}",
}
RARELY_USED = """
    kept = (a and b or c) and (d or e and (a or b)) or d
    if (a if b else c) and not (d < e < a) or a == b == c != d:
        pass
    while a < b < c and (d if e else (a and b)):
        pass
    x = y.z = y[0] = a
    x = y = [p, q] = a, b
    y[0]: int = 9
    y.z: int = 9
    later: int = c
    with a as b.c, c as d[0], e as (x, y.z):
        pass
    try:
        raise a from b
    except (a, b):
        raise
    except c as error:
        raise d(error) from None
    del (a, [b.c, (d[0],)])
    match a:
        case [1, *rest] if b or c:
            pass
        case {"k": x, **more} if x:
            pass
        case d.e | None:
            pass
    import a.b.c as f, a.d
    from a.b import c as g, d as h
    a.b.__private += 1
    a[b:c] -= -1
    a.__private.c @= {**a, 1: -2, **b}, {*a, 1}, [1, 2], (1, -2), ()
    __private_too = __private_too
    assert __debug__ and a, b
    a(b, *c, d=e, **a)(*b)(**c)
    [x.y for x.y in a if b or c for z[0] in x if z < a < b]
    {x: y for x, (y, *z) in a}
    @a
    @b.c(d)
    class Inner(b, metaclass=c):
        __mangled = a.__mangled
"""
"""Rarely used syntax, for each place in which statements may stand."""

RARE = {name: place.format(RARELY_USED) for name, place in PLACES.items()}

ONCE_FAILED = {
    "functions in lambdas and comprehensions": """
        class Namespace:
            functions = [lambda: x for x in range(3)]
            nested = lambda self: lambda y: (self, y)
        """,
    **RARE,
    "a function of an imported module that is called over several lines": """
        import textwrap
        def main(text):
            return (
                textwrap
                .indent(text, prefix=" ")
            )
        """,
    "a number in the target of a comprehension": """
        def main(places):
            return [places[0] for places[0] in range(2)]
        """,
}
"""Reduced sources for which rewriting once failed."""

if sys.version_info >= (3, 12):
    ONCE_FAILED |= {
        "a type parameter named like its function": """
            def T[T: int](x: T) -> T:
                return x + 1
            """,
    }

ODD_PROGRAMS = sorted((pathlib.Path(__file__).parents[1] / "programs" / "odd").glob("*.py"))
LIBRARY = pathlib.Path(os.__file__).parent
SAMPLE = [
    *("asyncio/taskgroups.py", "bisect.py", "contextlib.py", "graphlib.py", "heapq.py", "http/cookies.py"),
    *("json/decoder.py", "operator.py", "reprlib.py", "shlex.py", "types.py"),
    "string.py" if sys.version_info < (3, 14) else "string/__init__.py",
]
LIBRARY_SHAPES = ["calls", "all, argument-free", "all, with errorhook", "chosen functions", "tagging all"]
WHOLE_LIBRARY = bool(os.environ.get("CASSETTE_TEST_STDLIB"))
TESTS_TOO = os.environ.get("CASSETTE_TEST_STDLIB") == "tests"
FOLDERS = [folder for folder in os.environ.get("CASSETTE_TEST_SOURCES", "").split(os.pathsep) if folder]
ROOTS = ["FunctionDef", "ClassDef", "AsyncFunctionDef", "Module"]
EXAMPLES = int(os.environ.get("CASSETTE_TEST_EXAMPLES", "8"))
SEED = int(os.environ.get("CASSETTE_TEST_SEED", "0"))


def is_wanted(path):
    return not {"site-packages", "dist-packages"} & set(path.parts) and (TESTS_TOO or path.parts[0] != "test")


def files():
    """Return the files of the standard library to rewrite, or those of the named folders."""
    if FOLDERS:
        return sorted(str(path) for folder in FOLDERS for path in pathlib.Path(folder).resolve().rglob("*.py"))
    if not WHOLE_LIBRARY:
        return SAMPLE
    found = [path.relative_to(LIBRARY) for path in LIBRARY.rglob("*.py") if path.is_file()]
    return sorted(str(path) for path in found if is_wanted(path))


@pytest.mark.parametrize("shape", [*SHAPES, *SINGLE])
@pytest.mark.parametrize("name", ONCE_FAILED)
def test_a_source_that_once_failed_is_rewritten(name, shape):
    source = textwrap.dedent(ONCE_FAILED[name]).encode()
    assert Rewritten(source).problems((SHAPES | SINGLE)[shape]) == []


@pytest.mark.parametrize("shape", LIBRARY_SHAPES)
@pytest.mark.parametrize("program", ODD_PROGRAMS, ids=lambda path: path.stem)
def test_an_odd_program_is_rewritten(program, shape):
    assert Rewritten(program.read_bytes()).problems(SHAPES[shape]) == []


@pytest.mark.parametrize("file", files())
def test_a_module_of_the_standard_library_is_rewritten(file):
    source = LIBRARY.joinpath(file).read_bytes()
    try:
        rewritten = Rewritten(source, file)
    except (SyntaxError, ValueError):
        pytest.skip("it does not compile, on purpose")
    problems = {shape: rewritten.problems(SHAPES[shape]) for shape in LIBRARY_SHAPES}
    assert not any(problems.values()), problems


@pytest.mark.parametrize("seed", range(SEED, SEED + EXAMPLES))
def test_a_generated_program_is_rewritten(seed):
    generate = pytest.importorskip("pysource_codegen").generate
    root = ROOTS[seed % len(ROOTS)]
    source = generate(seed, node_limit=200, depth_limit=7, root_node=root).encode()
    rewritten = Rewritten(source)
    problems = {shape: rewritten.problems(variants) for shape, variants in (SHAPES | SINGLE).items()}
    assert not any(problems.values()), problems
