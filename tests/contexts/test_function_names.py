"""Names of functions in reports."""

import typing

import pytest
from helpers.command_line import cassette

from cassette_import import overdub
from cassette_import.contexts import CallGraph, CallTypes, Profile, Trace
from cassette_import.kits.function_names import described, display, module_of

T = typing.TypeVar("T")


class WithoutHash(type):
    __hash__ = None


class RaisingHash(type):
    def __hash__(cls):
        raise AssertionError("the hash is not needed")

    def __eq__(cls, other):
        raise AssertionError("no comparison is needed")


class OwnAttributes(type):
    """A metaclass whose classes have other attributes than `type` gives them."""

    @property
    def __dict__(cls):
        raise AssertionError("the namespace is read without it")

    @property
    def __mro__(cls):
        raise AssertionError("the base classes are read without it")

    @property
    def __module__(cls):
        raise AssertionError("the module is read without it")


@pytest.fixture(params=[WithoutHash, RaisingHash, OwnAttributes])
def odd(request):
    class Odd(metaclass=request.param):
        def __call__(self):
            return 1

        def method(self):
            return 2

    return Odd


def test_classes_are_named_without_their_hash_and_attributes_of_their_metaclass(odd):
    for called in odd, odd(), odd().method:
        assert described(called).label
        assert display(called)
        assert isinstance(module_of(called), str)


@pytest.mark.parametrize("kind", [Profile, CallGraph, CallTypes, Trace])
def test_calls_of_odd_classes_are_reported(odd, kind):
    ctx = kind()
    assert overdub(ctx, lambda: (odd()(), odd().method())) == (1, 2)
    assert ctx.summary()


@pytest.mark.parametrize("context", ["profile", "trace", "callgraph", "call-types"])
def test_threading_itself_can_be_overdubbed(context, tmp_path):
    """Names of threads are found without a call of `threading`, which would be the next event."""
    (tmp_path / "app.py").write_text(
        "import threading\nthread = threading.Thread(target=print, args=('ran',))\nthread.start()\nthread.join()\n"
    )
    done = cassette("run", "-p", "app,threading", "-c", context, "app.py", folder=tmp_path)
    assert (done.status, done.stdout) == (0, "ran\n")
    assert "RecursionError" not in done.stderr


def test_a_class_with_parameters_has_the_name_of_the_class():
    class Rule(typing.Generic[T]):
        pass

    assert display(Rule[int]).endswith("Rule[…]")
    assert display(list[int]) == "list[…]"


def test_functions_that_other_compilers_made_have_the_names_that_their_types_give_them():
    numpy = pytest.importorskip("numpy")
    compiled_by_cython = numpy.random.mtrand.RandomState.rand
    assert type(compiled_by_cython).__module__ != "builtins"
    assert display(compiled_by_cython).endswith("RandomState.rand")
    assert "RandomState.rand" in described(compiled_by_cython).label[2]
    assert (display(numpy.sin), module_of(numpy.sin)) == ("numpy.sin", "numpy")

    graph = CallGraph(leaves=True)
    overdub(graph, lambda: (numpy.sin(1.0), numpy.random.rand(), numpy.random.randint(1)))
    names = {callee.name for _, callee in graph.graph().calls}
    assert len(names) == 3
    assert not [name for name in names if "object" in name]
