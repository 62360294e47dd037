"""Until a source has returned a value, calls and attributes are plain: sources and sinks are found by all routes."""

import contextlib
import functools
import gc
import importlib
import sys
import textwrap
import threading
import types

import pytest
from helpers.counted_metadata import count_anew

from cassette_import import install, overdub
from cassette_import.contexts import Taint
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.syntax import iteration

HERE = __name__


def given():
    return "abc"


def taken(value, other=None):
    return value


class Shop:
    rows = ("x' OR '1'='1",)

    @property
    def request(self):
        return "abc def"

    def given(self):
        return "abc def"

    @classmethod
    def of_class(cls):
        return "abc def"

    @staticmethod
    def static():
        return "abc def"

    def taken(self, value):
        return value

    def __call__(self, value):
        return value


class Branch(Shop):
    pass


class Meta(type):
    def __hash__(cls):
        raise TypeError("no hash")


class Unhashable(metaclass=Meta):
    def __init__(self, value):
        self.value = value


def settle():
    """Calls, attributes and operators that run while nothing is tagged."""
    shop, total = Shop(), 0
    for number in range(3):
        total += len(shop.rows) + number
        taken(number)
        shop.taken(str(total))
    return total


def an_alias_of_both():
    source, sink = given, taken
    settle()
    sink(source())


def partial_objects():
    source, sink = functools.partial(given), functools.partial(taken, other=1)
    settle()
    sink(source())


def a_partial_object_that_has_the_value():
    settle()
    functools.partial(taken, given())()


def methods():
    shop = Branch()
    settle()
    shop.taken(shop.given())


def bound_methods_in_variables():
    shop = Shop()
    source, sink = shop.given, shop.taken
    settle()
    sink(source())


def functions_of_a_class():
    settle()
    Shop.taken(Shop(), Shop.given(Branch()))


def class_methods():
    settle()
    taken(Branch.of_class())


def static_methods():
    settle()
    taken(Shop().static())


def getattr_with_a_computed_name():
    shop = Shop()
    settle()
    getattr(shop, "ta" + "ken")(getattr(shop, "gi" + "ven")())


def attributes_with_a_computed_name():
    settle()
    taken(getattr(Shop(), "re" + "quest"))


def an_attribute():
    shop = Branch()
    settle()
    taken(shop.request)


def a_callable_object():
    shop = Shop()
    settle()
    shop(given())


def a_class():
    settle()
    Unhashable(given())


def callbacks_of_map():
    settle()
    list(map(taken, [given(), "x"]))


def sources_that_map_calls():
    settle()
    for text in map(lambda _: given(), "ab"):
        taken(text)


def a_source_that_map_calls():
    settle()
    taken("".join(map(Shop.given, [Shop()])))


def a_sink_as_the_key_of_sorted():
    settle()
    sorted([given(), "x"], key=taken)


def a_sink_in_reduce():
    settle()
    functools.reduce(taken, [given(), "x"])


def splats():
    settle()
    taken(*[given()])
    taken("x", other=given())


def a_keyword():
    settle()
    taken("x", other=given())


def both_in_a_comprehension():
    settle()
    return [taken(given()) for _ in "ab"]


def both_in_a_generator_expression():
    settle()
    return list(taken(given()) for _ in "ab")


def in_a_generator():
    settle()

    def steps():
        settle()
        yield given()

    for text in steps():
        taken(text)


def a_generator_that_began_before():
    def steps():
        text = yield
        while True:
            settle()
            text = yield taken(text)

    running = steps()
    next(running)
    running.send("x")
    running.send(given())


def in_a_with_block():
    with contextlib.nullcontext(Shop()) as shop:
        settle()
        shop.taken(given())


def in_a_lambda():
    settle()
    (lambda source, sink: sink(source()))(given, taken)


def decorated():
    @functools.lru_cache
    def text():
        return given()

    settle()
    taken(text())


def as_an_argument_of_the_sink_itself():
    settle()
    taken(taken(taken(given()), given()))


def in_a_dict_of_functions():
    table = {"in": given, "out": taken}
    settle()
    table["out"](table["in"]())


def by_the_globals():
    settle()
    globals()["taken"](globals()["given"]())


def from_another_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(given()))
    thread.start()
    thread.join()
    settle()
    taken(found[0])


def in_another_thread():
    settle()
    thread = threading.Thread(target=lambda: taken(given()))
    thread.start()
    thread.join()


def while_another_thread_runs_plainly():
    tagged, done, texts = threading.Event(), threading.Event(), []

    def work():
        tagged.wait(10)
        settle()
        taken(texts[0])
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    texts.append(given())
    tagged.set()
    done.wait(10)
    thread.join()


def through_a_special_method():
    class Text:
        def __add__(self, other):
            return given() + other

    settle()
    taken(Text() + "x")


def through_a_property():
    class Row:
        @property
        def text(self):
            return given()

    settle()
    taken(Row().text)


def in_the_operands_of_one_expression():
    settle()
    taken("a" + str(settle()) + given() + "b".upper())


def deep_below_plain_calls():
    def below(depth):
        return given() if depth == 0 else below(depth - 1)

    settle()
    taken(below(5))


PROGRAMS = [
    an_alias_of_both, partial_objects, a_partial_object_that_has_the_value, methods, bound_methods_in_variables,
    functions_of_a_class, class_methods, static_methods, getattr_with_a_computed_name, attributes_with_a_computed_name,
    an_attribute, a_callable_object, a_class, callbacks_of_map, sources_that_map_calls,
    a_source_that_map_calls, a_sink_as_the_key_of_sorted, a_sink_in_reduce, splats, a_keyword, both_in_a_comprehension,
    both_in_a_generator_expression, in_a_generator, a_generator_that_began_before, in_a_with_block, in_a_lambda,
    decorated, as_an_argument_of_the_sink_itself, in_a_dict_of_functions, by_the_globals, from_another_thread,
    in_another_thread, while_another_thread_runs_plainly, through_a_special_method, through_a_property,
    in_the_operands_of_one_expression, deep_below_plain_calls,
]  # fmt: skip


def watching():
    sources = ["given", "Shop.given", "Shop.of_class", "Shop.static", "Shop.request"]
    sinks = ["taken", "Shop.taken", "Shop.__call__", "Unhashable"]
    return Taint([f"{HERE}.{name}" for name in sources], [f"{HERE}.{name}" for name in sinks])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__.replace("_", " "))
def test_the_first_untrusted_value_is_followed_by(program):
    taint = watching()
    overdub(taint, settle)
    for _ in range(2):  # the second time, what was tagged before is over
        taint.findings.clear()
        overdub(taint, program)
        assert taint.findings


def test_without_a_source_no_call_of_a_sink_is_a_finding():
    taint = watching()
    overdub(taint, settle)
    assert not taint.findings


def test_a_sink_that_got_trusted_values_only_counts_as_called():
    taint = watching()
    overdub(taint, settle)
    assert f"{HERE}.taken" not in taint.notice()
    assert f"{HERE}.Unhashable" in taint.notice()


# ---- functions and attributes of modules that are imported while the program runs

LATE = """
import os

def ask():
    return "x' OR '1'='1"

class Request:
    body = "abc def"

def query(text):
    return text

def at_import():
    name = os.path.basename("a")
    return query(ask())
"""


@pytest.fixture
def late(tmp_path, monkeypatch):
    """The name of a module that is not imported yet."""
    name = "late_shop_of_taint"
    (tmp_path / f"{name}.py").write_text(LATE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    yield name
    sys.modules.pop(name, None)


def by_attributes(name):
    module = importlib.import_module(name)
    module.query(module.ask())


def by_names(name):
    from late_shop_of_taint import ask, query

    query(ask())


def by_other_names(name):
    from late_shop_of_taint import ask as first
    from late_shop_of_taint import query as second

    settle()
    second(first())


def of_an_instance(name):
    from late_shop_of_taint import Request, query

    request = Request()
    settle()
    query(request.body)


@pytest.mark.parametrize("program", [by_attributes, by_names, by_other_names, of_an_instance])
def test_what_is_imported_by_the_running_program_is_found(program, late):
    taint = Taint([f"{late}.ask", f"{late}.Request.body"], [f"{late}.query"])
    overdub(taint, program, late)
    assert [finding.sink for finding in taint.findings] == [f"{late}.query"]


def test_a_module_that_calls_its_own_source_while_it_is_imported_is_found(late, tmp_path):
    (tmp_path / f"{late}.py").write_text(LATE + "\nat_import()\n")
    taint = Taint([f"{late}.ask"], [f"{late}.query"])
    with install([late]):
        overdub(taint, importlib.import_module, late)
    assert [finding.sink for finding in taint.findings] == [f"{late}.query"]


def test_a_module_that_no_import_has_made_is_found():
    def program():
        module = types.ModuleType("made_shop_of_taint")
        exec(textwrap.dedent(LATE), vars(module))
        sys.modules[module.__name__] = module
        try:
            taken(module.ask())
        finally:
            del sys.modules[module.__name__]

    taint = Taint(["made_shop_of_taint.ask"], [f"{HERE}.taken"])
    overdub(taint, program)
    assert [finding.source for finding in taint.findings] == ["made_shop_of_taint.ask"]


def test_a_cached_function_whose_results_are_trusted_leaves_code_plain(monkeypatch):
    count_anew(monkeypatch)

    @functools.lru_cache
    def text(number):
        return str(number)

    def program():
        assert [text(1), text(1), text(2)] == ["1", "1", "2"]
        return NAMES[METADATA_EXISTS]

    assert not overdub(watching(), program)


def test_code_is_plain_again_when_nothing_is_tagged_any_more(monkeypatch):
    count_anew(monkeypatch)
    taint = watching()
    overdub(taint, an_alias_of_both)
    taint.findings.clear()
    gc.collect()
    with taint:
        assert not NAMES[METADATA_EXISTS]


def test_hooks_of_targets_leave_the_steps_of_loops_to_the_interpreter():
    with Taint():
        steps = iteration.loop([1, 2])
        assert "_step" not in repr(steps.__reduce__() if isinstance(steps, type(iter(int, 1))) else steps)


def test_an_overload_of_next_takes_the_steps_beside_other_targets(make_program):
    program = make_program(
        "def total(numbers):\n    found = 0\n    for x in numbers:\n        found += x\n    return found"
    )

    class Doubling(Taint):
        pass

    @Doubling.overdub.register(next)
    def _(ctx, f, iterator, *default):
        return 2 * f(iterator, *default)

    assert overdub(Doubling(), program.total, [1, 2]) == 6
