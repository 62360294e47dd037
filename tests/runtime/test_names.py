"""The names of rewritten code: no namespace has them, whatever contexts are active."""

import builtins
import codecs
import copy
import gc
import pickle
import sys
import threading
from types import CodeType, FunctionType

import pytest
from helpers.contexts import ArgumentFree, Counting, ReadsArguments, ReadsEverything, Replacing, Tagging

from cassette_import import Context, Events, overdub, similarcontext
from cassette_import.runtime.names import OBJECTS

PROGRAM = """
    import builtins, dataclasses, inspect, math

    by_object = {id(value): name for name, value in vars(builtins).items()}

    def names_of_objects():
        return {id(value): name for name, value in vars(builtins).items()}

    def names():
        return dir(builtins), sorted(vars(builtins))

    def fields():
        names = [name for name in dir(builtins) if not name.startswith("__") and name not in ("None", "True", "False")]
        made = dataclasses.make_dataclass("Made", [(name, object) for name in names])
        return [field.name for field in dataclasses.fields(made)]

    def area(radius):
        return math.pi * abs(radius) + len([radius])

    def numbers(count):
        yield from (area(number) for number in range(count))

    def in_class_body():
        class Strict(dict):
            def __missing__(self, name):
                raise KeyError(name)
            def __getitem__(self, name):
                assert name.isidentifier(), name
                return super().__getitem__(name)
        class Meta(type):
            def __prepare__(name, bases):
                return Strict(vars(builtins))
        class Made(metaclass=Meta):
            size = len([abs(-1)]) + 1
            squares = [area(number) for number in range(2)]
        return Made.size, sorted(name for name in vars(Made) if not name.isidentifier())

    def closure_variables():
        found = inspect.getclosurevars(area)
        return sorted(found.builtins), sorted(found.globals)

    def everything():
        return names(), fields(), list(numbers(3)), in_class_body(), closure_variables()
"""


class Target(Context):
    """An overload of one function."""


@Target.overdub.register(abs)
def _(ctx, f, x):
    return f(x)


def unchanged(context_type, reflection):
    return reflection.tree


class Together:
    """Several contexts, each of which is entered in the one before."""

    def __init__(self, *contexts):
        self.contexts = contexts

    def run(self, function):
        if not self.contexts:
            return function()
        first, *rest = self.contexts
        with first:
            return Together(*rest).run(function)


CONTEXTS = {
    "argument_free": lambda: [ArgumentFree()],
    "counting": lambda: [Counting()],
    "reading": lambda: [ReadsArguments()],
    "reading_with_errorhook": lambda: [ReadsEverything()],
    "replacing": lambda: [Replacing()],
    "target": lambda: [Target()],
    "tagging": lambda: [Tagging()],
    "pass": lambda: [similarcontext(Counting(), passes=[unchanged])],
    "inherited": lambda: [type("Inherited", (ReadsArguments,), {}, inherit=True)()],
    "all_events": lambda: [type("All", (ArgumentFree,), {}, events=Events.ALL)()],
    "several": lambda: [Counting(), Target(), Tagging()],
}


@pytest.fixture(params=CONTEXTS)
def contexts(request):
    return CONTEXTS[request.param]()


def test_builtins_are_the_same_in_contexts_of_all_kinds(contexts, make_program):
    module = make_program(PROGRAM)
    before = dict(vars(builtins))
    suspended = module.numbers(3)
    next(suspended)
    found = Together(*contexts).run(lambda: [module.everything(), next(suspended), dict(vars(builtins))][2])
    assert list(suspended) == [module.area(2)]
    assert found == before == dict(vars(builtins))


def test_a_program_finds_the_names_of_builtins_that_it_finds_without_a_context(contexts, make_program):
    module = make_program(PROGRAM)
    plain = module.names_of_objects(), module.names(), module.fields(), module.in_class_body()

    def run():
        return module.names_of_objects(), module.names(), module.fields(), module.in_class_body()

    assert module.by_object == plain[0]
    assert Together(*contexts).run(run) == plain


def test_closure_variables_that_are_builtins_are_those_of_the_plain_function(contexts, make_program):
    module = make_program(PROGRAM)
    plain = module.closure_variables()
    assert Together(*contexts).run(lambda: [module.area(1), module.closure_variables()][1]) == plain


def test_contexts_are_entered_while_a_thread_iterates_over_builtins(make_program):
    module = make_program(PROGRAM)
    is_over = threading.Event()
    errors, rounds = [], []

    def iterate():
        while not is_over.is_set():
            try:
                rounds.append(sum(1 for _ in vars(builtins)))
            except RuntimeError as error:
                errors.append(error)

    thread = threading.Thread(target=iterate)
    thread.start()
    try:
        for make in CONTEXTS.values():
            Together(*make()).run(module.everything)
    finally:
        is_over.set()
        thread.join()
    assert errors == []
    assert set(rounds) == {len(vars(builtins))}


def _codes(function):
    work = [function.__code__]
    while work:
        code = work.pop()
        yield code
        work += [const for const in code.co_consts if isinstance(const, CodeType)]


def test_rewritten_code_can_be_hashed_compared_and_runs_without_builtins(contexts, make_program):
    module = make_program(PROGRAM)
    functions = [module.area, module.names, module.in_class_body]
    trampolines = [function.__code__ for function in functions]
    Together(*contexts).run(module.everything)
    for code in [*trampolines, *(code for function in functions for code in _codes(function))]:
        assert isinstance(hash(code), int)
        assert code == code.replace()
    bare = FunctionType(module.area.__code__, {"math": module.math, "__builtins__": {"abs": abs, "len": len}})
    assert bare(-2) == module.area(-2)


def test_a_cell_is_copied_and_pickled_as_a_reference(make_program):
    overdub(Counting(), make_program(PROGRAM).area, 1)
    cells = [value for symbol, value in OBJECTS.items() if symbol.endswith(".")]
    assert cells
    for cell in cells:
        assert copy.deepcopy(cell) is cell
        assert pickle.loads(pickle.dumps(cell)) is cell


def test_no_cell_is_a_module_that_an_import_finds():
    assert not {id(value) for value in OBJECTS.values()} & {id(module) for module in list(sys.modules.values())}


def test_trampolines_work_where_a_program_clears_the_registry_of_codecs(make_program):
    module = make_program(PROGRAM)

    def search(name):
        return None

    with Counting() as context:
        codecs.register(search)
        codecs.unregister(search)  # CPython clears its cache with this
        assert module.area(1) == overdub(Counting(), module.area, 1)
    assert context.calls


def test_variants_that_are_not_used_any_more_leave_no_names_in_builtins(make_program):
    module = make_program(PROGRAM)
    before = set(vars(builtins))
    for _ in range(5):
        overdub(type("Local", (ReadsArguments,), {})(), module.area, 1)
    gc.collect()
    assert set(vars(builtins)) == before
