"""Methods that are generated for classes have rows and edges of their own, with the name of the class."""

import textwrap

import pytest
from helpers.accelerator import ways
from helpers.command_line import cassette

PROGRAM = """
    import collections, dataclasses, typing
    import beside

    @dataclasses.dataclass(order=True)
    class Point:
        x: int

    @dataclasses.dataclass
    class Shape:
        x: int

    class Pair(typing.NamedTuple):
        x: int

    Triple = collections.namedtuple("Triple", "x y z")

    def local(number):
        @dataclasses.dataclass
        class Point:
            x: int
        return Point(number)

    def main():
        for number in range(2):
            Point(number), local(number)
        for number in range(3):
            Shape(number), Pair(number)
        for number in range(4):
            Triple(number, 1, 2), beside.Point(number)
        for number in range(5):
            beside.Pair(number)
        list(map(Shape, range(6)))
        repr(Point(1)), repr(Shape(1)), Point(1) < Point(2)

    main()
"""
BESIDE = """
    import dataclasses, typing

    @dataclasses.dataclass
    class Point:
        x: int

    class Pair(typing.NamedTuple):
        x: int
"""


@pytest.fixture(params=["in C", "in Python"], autouse=True)
def hooks(request, monkeypatch):
    """Whether the hooks are those of the accelerator."""
    with ways(request.param, monkeypatch):
        yield


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "beside.py").write_text(textwrap.dedent(BESIDE))
    return tmp_path


def written(context, folder):
    process = cassette("run", "-c", context, "-o", "out.txt", "program.py", folder=folder)
    assert process.status == 0, process.stderr
    return (folder / "out.txt").read_text().splitlines()


def test_a_profile_has_a_row_for_the_methods_of_each_class(folder):
    rows = [line.split() for line in written("profile", folder) if "<string>:" in line]
    assert {row[-1].partition("(")[2].rstrip(")"): int(row[0]) for row in rows} == {
        "Point.__init__": 5, "Shape.__init__": 10, "local.<locals>.Point.__init__": 2, "beside.Point.__init__": 4,
        "Pair.__new__": 3, "Triple.__new__": 4, "beside.Pair.__new__": 5,
        "Point.__repr__": 1, "Shape.__repr__": 1, "Point.__lt__": 1,
    }  # fmt: skip


def test_a_call_graph_names_generated_methods_by_the_class_and_module_of_the_program(folder):
    found = {" ".join(line.split()[1:]): int(line.split()[0]) for line in written("callgraph", folder)[3:]}
    assert {edge: count for edge, count in found.items() if edge.endswith(("__init__", "__new__"))} == {
        "main -> Point.__init__": 5, "main -> Shape.__init__": 4, "local -> local.Point.__init__": 2,
        "main -> beside.Point.__init__": 4, "main -> Pair.__new__": 3, "main -> Triple.__new__": 4,
        "main -> beside.Pair.__new__": 5,
    }  # fmt: skip


def test_no_function_that_generates_methods_is_specialised(folder):
    cassette("run", "-c", "noop", "--report", "report.json", "program.py", folder=folder)
    assert "__create_fn__" not in (folder / "report.json").read_text()
