"""Methods that are generated for classes, of which there is no file, are overdubbed like any other function."""

import dataclasses
import gc
import importlib
import subprocess
import sys
import textwrap
import traceback

import pytest

from cassette_import import Context, NotOverdubbable, canrecurse, escapes, hasmetadata, install, overdub, tag, uninstall
from cassette_import.contexts import CallGraph, Noop
from cassette_import.contexts.autodiff import derivative
from cassette_import.contexts.precision import shadow

PRELUDE = """
    import collections, dataclasses, typing
    from dataclasses import InitVar, KW_ONLY, dataclass, field

    def fresh():
        return 0.0
"""
FIELDS = "    price: float\n    count: float\n"
WITH_DEFAULT = "    price: float\n    count: float = 3.0\n"
CLASSES = {
    "dataclass": f"@dataclass\nclass Line:\n{FIELDS}",
    "factory": f"@dataclass\nclass Line:\n{WITH_DEFAULT}    rest: float = field(default_factory=fresh)\n",
    "frozen": f"@dataclass(frozen=True)\nclass Line:\n{FIELDS}",
    "ordered": f"@dataclass(order=True, unsafe_hash=True)\nclass Line:\n{FIELDS}",
    "slots": f"@dataclass(slots=True)\nclass Line:\n{WITH_DEFAULT}",
    "frozen, with slots": f"@dataclass(slots=True, frozen=True)\nclass Line:\n{WITH_DEFAULT}",
    "keywords only": f"@dataclass(kw_only=True)\nclass _Line:\n{FIELDS}Line = lambda p, c: _Line(price=p, count=c)\n",
    "keyword only fields": "@dataclass\nclass _Line:\n    price: float\n    _: KW_ONLY\n    count: float = 3.0\n"
    "Line = lambda p, c: _Line(p, count=c)\n",
    "init variable": "@dataclass\nclass Line:\n    price: float\n    given: InitVar[float]\n"
    "    count: float = field(init=False)\n    def __post_init__(self, given):\n        self.count = given\n",
    "inherited": "@dataclass\nclass Base:\n    price: float\n@dataclass\nclass Line(Base):\n    count: float\n",
    "field named self": f"@dataclass\nclass Line:\n{FIELDS}    self: float = 1.0\n",
    "made by a function": "Line = dataclasses.make_dataclass('Line', ['price', 'count'])\n",
    "local": "def make():\n    @dataclass\n    class Line:\n        price: float\n        count: float\n"
    "    return Line\nLine = make()\n",
    "namedtuple": "Line = collections.namedtuple('Line', 'price count')\n",
    "typing.NamedTuple": f"class Line(typing.NamedTuple):\n{WITH_DEFAULT}",
    "attrs": f"import attr\n@attr.define\nclass Line:\n{FIELDS}    rest: float = attr.field(factory=fresh)\n",
    "frozen attrs": f"import attr\n@attr.frozen\nclass Line:\n{FIELDS}",
    "attrs without slots": "import attr\n@attr.s(order=True)\nclass Line:\n    price = attr.ib()\n"
    "    count = attr.ib(default=3.0)\n",
}
if sys.version_info < (3, 12):
    del CLASSES["made by a function"]  # Python says that it belongs to the module `types`
PROGRAM = """
    def total(price):
        line = Line(price, 3.0)
        return line.price * line.count

    def text():
        return repr(Line(1.0, 3.0)), Line(1.0, 3.0) == Line(1.0, 3.0), len({id(Line)})

    def failing():
        return Line(1.0, 3.0, 4, 5, 6, 7, 8)
"""


def _encloses(function):
    pytest.importorskip("flint")
    from cassette_import.contexts.intervals import Interval, enclosure

    return 6.6 in enclosure(function, Interval(2.0, 2.5))


def _depends(function):
    pytest.importorskip("scipy")
    from cassette_import.contexts.sparsity import jacobian

    return jacobian(function, 2.0).toarray().tolist() == [[True]]


NUMERIC = {
    "derivative": lambda f: derivative(f, 2.0) == 3.0,
    "enclosure": _encloses,
    "shadow": lambda f: float(shadow(f, 2.0).exact) == 6.0,
    "jacobian": _depends,
}


def _text(kind):
    return textwrap.dedent(PRELUDE) + CLASSES[kind] + textwrap.dedent(PROGRAM)


CASES = [
    (kind, context)
    for kind, text in CLASSES.items()
    for context in NUMERIC
    if context != "jacobian" or ("slots" not in text and "attr.define" not in text)  # it needs no text, but a fix there
]


@pytest.mark.parametrize(("kind", "context"), CASES)
def test_numbers_go_through_generated_methods_beside_plain_fields(kind, context, make_program):
    program = make_program(_text(kind))
    assert program.total(2.0) == 6.0
    assert NUMERIC[context](program.total)


@pytest.mark.parametrize("is_imported_inside", [False, True])
@pytest.mark.parametrize("kind", CLASSES)
def test_generated_methods_are_overdubbed_and_get_their_code_back(kind, is_imported_inside, make_package):
    name = make_package(_text(kind))
    context = CallGraph(leaves=True)
    with install([name]):
        if not is_imported_inside:
            importlib.import_module(name)
        with context:
            program = importlib.import_module(name)
            made = program.Line(1.0, 3.0)
            inside = program.text()
            program.total(2.0)
        method = type(made).__init__ if type(made).__init__ is not object.__init__ else type(made).__new__
        method = method if hasattr(method, "__code__") else type(made).__new__
        assert canrecurse(Noop(), method)
    assert inside == program.text()
    assert program.Line(1.0, 3.0) == made
    assert method.__code__.co_consts is not None
    assert "cassette_import.enter" not in method.__code__.co_consts
    names = {function.name for function in context.graph().functions}
    if "factory=fresh" in CLASSES[kind]:
        assert any(name.endswith("fresh") for name in names)


@pytest.mark.parametrize("kind", CLASSES)
def test_a_traceback_through_generated_methods_is_that_of_plain_python(kind, make_program):
    program = make_program(_text(kind))

    def shown(run):
        try:
            run()
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            return str(error), [(frame.filename, frame.lineno, frame.name, frame.line) for frame in frames][1:]

    plain = shown(program.failing)
    with Noop():
        assert shown(program.failing) == plain
    with CallGraph():
        assert shown(program.failing) == plain


def test_the_methods_of_two_classes_have_two_bodies(make_program, Recorder):
    program = make_program(
        PRELUDE + "    @dataclass\n    class A:\n        x: object = field(default_factory=list)\n"
        "    @dataclass\n    class B:\n        x: object = field(default_factory=dict)\n"
        "    def run():\n        return A(), B(), A(1), B(2)\n"
    )
    for _ in range(2):
        with Recorder() as recorder:
            made = program.run()
        assert [one.x for one in made] == [[], {}, 1, 2]
        assert recorder.functions.count(list) == recorder.functions.count(dict) == 1


def test_generated_methods_of_other_modules_stay_leaves(make_program, Recorder):
    text = (
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n    x: object = field(default_factory=list)\n"
    )
    other = make_program(text)
    uninstall([other.__name__])
    program = make_program(f"from {other.__name__} import A\ndef run():\n    return A()\n")
    with Recorder() as recorder:
        program.run()
    assert list not in recorder.functions


PROGRAM_WITHOUT_FILE = """
from dataclasses import dataclass, field
from cassette_import import Context, Events, overdub
class Seen(Context, events=Events.CALLS):
    def prehook(self, f, *args, **kwargs):
        print("event", f.__name__)
@dataclass
class Thing:
    x: list = field(default_factory=list)
def work(x):
    return len(x), Thing()
print(overdub(Seen(), work, "abc"))
"""


OTHER_MODULE = """
import dataclasses

@dataclasses.dataclass
class Line:
    slope: float
    count: int = 3

@dataclasses.dataclass
class Doubled:
    slope: float
    count: int = 3

    def __post_init__(self):
        self.count = round(self.slope)
        self.double = self.slope * 2
"""


def test_plain_fields_beside_numbers_are_not_computed_where_the_class_is_of_another_module(make_package):
    module = importlib.import_module(make_package(OTHER_MODULE))
    assert derivative(lambda x: module.Line(x).count * x, 2.0) == 3.0


@pytest.mark.parametrize("name", ["count", "double"])
def test_fields_that_the_code_of_another_module_computes_are_no_plain_numbers(name, make_package):
    module = importlib.import_module(make_package(OTHER_MODULE))
    with pytest.raises(NotOverdubbable, match=name):
        derivative(lambda x: getattr(module.Doubled(x), name) * x, 2.0)


@pytest.mark.parametrize("way", ["-c", "-Bc", "standard input", "run"])
def test_a_program_that_is_in_no_file_is_overdubbed(way, tmp_path):
    (tmp_path / "program").write_text(PROGRAM_WITHOUT_FILE)
    options = {"standard input": ["-"], "run": ["-m", "cassette_import", "run", "-c", "noop", "-"]}
    command = [sys.executable, *options.get(way, [way, PROGRAM_WITHOUT_FILE]), "argument"]
    with open(tmp_path / "program") as file:
        done = subprocess.run(command, stdin=file, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.split("\n") == ["event len", "event Thing", "event list", "(3, Thing(x=[]))", ""]


def test_run_shows_a_program_of_standard_input_what_python_shows_it(tmp_path):
    text = (
        "import sys\nprint(sys.argv, sys.path[0], sorted(globals()), __loader__, __file__)\ndef f():\n    1 / 0\nf()\n"
    )
    runs = [
        subprocess.run([sys.executable, *options, "-", "a"], input=text, cwd=tmp_path, capture_output=True, text=True)
        for options in ([], ["-m", "cassette_import", "run", "-c", "noop"])
    ]
    assert (runs[0].stdout, runs[0].stderr, runs[0].returncode) == (runs[1].stdout, runs[1].stderr, runs[1].returncode)


LOSING = {
    "default of a named tuple": "T = collections.namedtuple('T', 'a b', defaults=[x])\n    ",
    "default of a dataclass": "T = dataclasses.make_dataclass('T', ['a', ('b', float, x)])\n    ",
    "default of attrs": "T = attr.make_class('T', {'a': attr.ib(), 'b': attr.ib(default=x)})\n    ",
    "generated hash": "T = dataclasses.make_dataclass('T', ['a', ('b', float, 0)], frozen=True)\n    hash(T(x))\n    ",
}


@pytest.mark.parametrize("kind", LOSING)
def test_what_a_generated_method_loses_is_reported_at_the_line_of_the_program(kind, make_program):
    program = make_program(f"import attr, collections, dataclasses\ndef f(x):\n    {LOSING[kind]}return T(1).b\n")

    class Reports(Context, tagging=True):
        pass

    context = Reports()
    kept = hasmetadata(overdub(context, program.f, tag(float("1.7234"), context, "cell")), context)
    assert {loss.filename for loss in escapes(context)} == {program.__file__} or (kept and not escapes(context))


def test_what_a_program_in_no_file_loses_is_reported_at_its_own_line():
    text = (
        "from cassette_import import *\nclass Reports(Context, tagging=True): pass\n"
        "def f(x):\n    return hash((x, x))\n"
        "context = Reports()\noverdub(context, f, tag(1.5, context, 1))\n"
        "print([(loss.filename, loss.lineno) for loss in escapes(context)])\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.stdout == "[('<string>', 4)]\n"


@dataclasses.dataclass(frozen=True)
class Known:
    price: float


def test_generated_methods_are_found_where_objects_are_hidden_from_the_garbage_collector(Recorder):
    gc.freeze()
    recorder = Recorder()
    overdub(recorder, lambda: Known(1.0))
    assert object.__setattr__ in recorder.functions
