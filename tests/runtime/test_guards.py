"""Guards: call sites learn which callees are no targets; a guard never hides a target."""

import gc
import math
import re
import threading
import time
import types
import weakref
from unittest.mock import Mock

import pytest
from helpers.accelerator import ways_of_dispatch

from cassette_import import Context, overdub
from cassette_import.interpreter import callables, heap
from cassette_import.runtime.dispatch import event_runner
from cassette_import.runtime.names import OBJECTS

PROGRAM = """
    import math
    import time
    from math import sqrt
    from math import sin as sine
    import math as m

    def other(x=0):
        return "other"

    class A:
        held = staticmethod(other)

        def __init__(self, f=other):
            self.own = f

        def method(self, x):
            return "method"

        @classmethod
        def of_class(cls, x):
            return "of_class"

        @staticmethod
        def static(x):
            return "static"

        def by_self(self, x):
            return self.method(x)

        def by_own(self, x):
            return self.own(x)

        @classmethod
        def by_cls(cls, x):
            return cls.of_class(x)

    class B(A):
        method = math.sin
        held = math.sin
        of_class = math.sin
        static = math.sin

        def by_super(self, x):
            return super().method(x)

        def by_old_super(self, x):
            return super(B, self).method(x)

    class C(B):
        def method(self, x):
            return "C.method"

    class Items(list):
        pass

    changing = other

    def local(f, x):
        return f(x)

    def local_with_keywords(f, x):
        return f(x=x)

    def local_splat(f, x):
        return f(*x)

    def local_alias(f, x):
        g = f
        return g(*[x])

    def free(f, x):
        def inner():
            return f(x)
        return inner()

    def of_global(x):
        return changing(x)

    def of_module(module, x):
        return module.sin(x)

    def on(a, x):
        return a.method(x)

    def on_held(a, x):
        return a.held(x)

    def on_static(a, x):
        return a.static(x)

    def on_attribute_of_attribute(a, x):
        return a.inner.method(x)

    def on_class(kind, x):
        return kind.of_class(x)

    def nested(a, b, x):
        return a.method(b.method(a.method(x)))

    def in_subscript(functions, key, x):
        return functions[key](x)

    def aliased(x):
        return [sine(x), m.sin(x), math.sin(x), getattr(math, "sin")(x)]

    def appends(items, x):
        items.append(x)
        add = items.append
        add(x)
        list.append(items, x)
        return list(items)
"""


class Sines(Context):
    """Replaces one function of the standard library."""


@Sines.overdub.register(math.sin)
def _sin(ctx, f, x):
    return "sine"


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


def often(function, *arguments):
    """Call a function until every guard has learned its callee or given up."""
    for _ in range(12):
        result = function(*arguments)
    return result


def in_context(function, *arguments):
    return overdub(Sines(), function, *arguments)


@pytest.mark.parametrize("caller", ["local", "local_alias", "free"])
def test_a_target_in_a_local_name_that_held_other_functions_is_intercepted(program, caller):
    call = getattr(program, caller)

    def run():
        for function in (program.other, abs, int, program.A, [].count, program.A().method, lambda x: x):
            often(call, function, 1)
        return call(math.sin, 1), call(program.other, 1)

    assert in_context(run) == ("sine", "other")


def test_a_target_that_a_global_name_is_rebound_to_is_intercepted(program):
    def run():
        before = often(program.of_global, 1)
        program.changing = math.sin
        return before, program.of_global(1)

    assert in_context(run) == ("other", "sine")


def test_a_target_that_a_name_of_a_module_is_rebound_to_is_intercepted(program):
    class Module:
        sin = staticmethod(abs)

    def run():
        return often(program.of_module, Module, -1), program.of_module(math, 1)

    assert in_context(run) == (1, "sine")


@pytest.mark.parametrize("caller", ["on", "on_held", "on_static"])
def test_a_target_that_is_the_method_of_a_receiver_of_another_type_is_intercepted(program, caller):
    call, plain = getattr(program, caller), program.A()

    def run():
        often(call, plain, 1)
        return call(program.B(), 1)

    assert in_context(run) == "sine"


def test_a_target_in_an_attribute_of_the_instance_is_intercepted(program):
    def run():
        often(program.A.by_own, program.A(), 1)
        return program.A(math.sin).by_own(1), program.A().by_own(1)

    assert in_context(run) == ("sine", "other")


def test_a_target_that_is_a_method_of_a_subclass_is_intercepted_on_self(program):
    def run():
        return often(program.A().by_self, 1), program.B().by_self(1), program.C().by_self(1)

    assert in_context(run) == ("method", "sine", "C.method")


def test_a_target_that_is_a_method_of_a_class_is_intercepted_on_the_class(program):
    def run():
        often(program.on_class, program.A, 1)
        often(program.A.by_cls, 1)
        return program.on_class(program.B, 1), program.B.by_cls(1), program.A.by_cls(1)

    assert in_context(run) == ("sine", "sine", "of_class")


@pytest.mark.parametrize("caller", ["by_super", "by_old_super"])
def test_super_resolves_to_the_same_methods(program, caller):
    def run():
        return [often(getattr(kind(), caller), 1) for kind in (program.B, program.C)]

    assert in_context(run) == ["method", "method"]


@pytest.mark.parametrize("spelling", ["super()", "super(Lower, self)"])
def test_a_target_that_super_resolves_to_is_intercepted(make_program, spelling):
    program = make_program(
        f"""
        import math

        class Plain:
            def method(self, x):
                return "method"

        class Sine:
            method = math.sin

        class Lower(Plain):
            def by_super(self, x):
                return {spelling}.method(x)

        class Mixed(Lower, Sine):
            pass

        class Other(Plain):
            method = math.sin

        class Between(Lower, Other):
            pass
        """
    )

    def run():
        return [often(kind().by_super, 1) for kind in (program.Lower, program.Mixed, program.Between, program.Lower)]

    assert in_context(run) == ["method", "method", "sine", "method"]


def test_arguments_that_are_calls_are_evaluated_once_and_in_order(program):
    class Receiver:
        def __init__(self, name):
            self.name = name

        def method(self, x):
            calls.append((self.name, x))
            return f"{self.name}({x})"

    def run():
        often(program.nested, program.A(), program.C(), 1)
        calls.clear()
        return program.nested(Receiver("a"), Receiver("b"), 1)

    calls = []
    assert in_context(run) == "a(b(a(1)))"
    assert calls == [("a", 1), ("b", "a(1)"), ("a", "b(a(1))")]


def test_a_receiver_is_released_before_the_next_statement(make_program):
    program = make_program(
        """
        import weakref

        class Inner:
            def method(self, *x):
                return "method"

        class A:
            def make(self):
                return Inner()

        def run(a, see):
            for i in range(20):
                a.make().method()
                a.make().method(i)
                a.inner = Inner()
                reference = weakref.ref(a.inner)
                a.inner.method()
                a.inner = None
                see(reference())
        """
    )
    seen = []
    in_context(program.run, program.A(), seen.append)
    assert seen == [None] * 20


def test_a_target_in_a_container_is_intercepted(program):
    def run():
        functions = {"a": program.other, "b": math.sin}
        return often(program.in_subscript, functions, "a", 1), program.in_subscript(functions, "b", 1)

    assert in_context(run) == ("other", "sine")


def test_a_target_is_intercepted_under_each_of_its_names(program):
    assert in_context(lambda: often(program.aliased, 1)) == ["sine"] * 4


@pytest.mark.parametrize("kind", ["list", "Items"])
def test_a_method_of_a_builtin_type_is_intercepted_however_it_is_called(program, kind):
    class Doubling(Context):
        pass

    @Doubling.overdub.register(list.append)
    def append(ctx, f, items, item):
        items.extend([item, item])

    items = {"list": list, "Items": program.Items}[kind]
    assert overdub(Doubling(), lambda: often(lambda: program.appends(items(), 1))) == [1] * 6


def test_a_target_that_is_registered_late_is_intercepted_at_call_sites_that_have_learned(program):
    class Late(Context):
        pass

    Late.overdub.register(time.ctime)(lambda ctx, f: "now")
    a = program.A()

    def run():
        before = often(program.on, a, 1), often(program.local, program.other, 1), often(program.aliased, 0)[0]
        Late.overdub.register(program.A.method)(lambda ctx, f, self, x: "replaced")
        Late.overdub.register(program.other)(lambda ctx, f, x: "replaced")
        Late.overdub.register(math.sin)(lambda ctx, f, x: "replaced")
        return before, (program.on(a, 1), program.local(program.other, 1), program.aliased(0)[0])

    assert overdub(Late(), run) == (("method", "other", 0.0), ("replaced", "replaced", "replaced"))


def test_a_method_that_is_a_target_is_intercepted_for_every_receiver(program):
    class Methods(Context):
        pass

    @Methods.overdub.register(program.A.method)
    def method(ctx, f, self, x):
        return f"replaced for {type(self).__name__}"

    def run():
        a, c = program.A(), program.C()
        bound = a.method
        return program.on(a, 1), program.on(c, 1), c.by_super(1), a.by_self(1), program.local(bound, 1)

    assert overdub(Methods(), run) == (
        *("replaced for A", "C.method", "replaced for C", "replaced for A", "replaced for A"),
    )


def test_guards_keep_nothing_alive(program):
    def run():
        class Local:
            def method(self, x):
                return x

        def function(x):
            return x

        often(program.on, Local(), 1)
        often(program.local, function, 1)
        return weakref.ref(Local), weakref.ref(function)

    references = in_context(run)
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_shortcuts_for_methods_keep_nothing_alive(make_program):
    class Appends(Context):
        """Replaces a method that subclasses have as well."""

    Appends.overdub.register(list.append)(lambda ctx, f, items, item: "appended")
    program = make_program(
        """
        def append(items):
            return items.append(1)
        """
    )

    def run():
        class Local(list):
            pass

        assert often(program.append, Local()) == "appended"
        return weakref.ref(Local)

    reference = overdub(Appends(), run)
    gc.collect()
    assert reference() is None


def test_an_error_of_a_call_with_splats_names_the_function(program):
    def message():
        with pytest.raises(TypeError) as raised:
            program.local_splat(math.sin, 1)
        return str(raised.value)

    assert in_context(message) == message()


class Others(Context):
    """Replaces a function that the first context does not intercept."""


def generator_program(make_program):
    return make_program(
        """
        def other(x=0):
            return "other"

        class A:
            def method(self, x):
                return "method"

        def results(a, f):
            while True:
                yield other(1), a.method(1), f(1)

        def calls_between(a, f, between):
            with between():
                for _ in range(12):
                    found = other(1), a.method(1), f(1)
            return found
        """
    )


def test_targets_of_another_context_are_intercepted_in_a_generator_that_has_learned(make_program):
    program = generator_program(make_program)
    Others.overdub.register(program.other)(lambda ctx, f, x: "replaced")
    Others.overdub.register(program.A.method)(lambda ctx, f, self, x: "replaced")
    with Sines():
        generator = program.results(program.A(), program.other)
        assert [next(generator) for _ in range(12)][-1] == ("other", "method", "other")
    with Others():
        assert next(generator) == ("replaced", "replaced", "replaced")
    assert next(generator) == ("other", "method", "other")
    with Sines():
        assert next(generator) == ("other", "method", "other")
    with Others():
        assert next(generator) == ("replaced", "replaced", "replaced")


def test_targets_of_another_context_are_intercepted_in_its_block(make_program):
    program = generator_program(make_program)
    Others.overdub.register(program.other)(lambda ctx, f, x: "replaced")
    Others.overdub.register(program.A.method)(lambda ctx, f, self, x: "replaced")
    a = program.A()
    plain, replaced = ("other", "method", "other"), ("replaced", "replaced", "replaced")
    for between, expected in ((Sines, plain), (Others, replaced), (Sines, plain)):
        assert overdub(Sines(), program.calls_between, a, program.other, between) == expected


def test_nothing_is_intercepted_in_a_thread_outside_the_context(program):
    found = []

    def in_a_thread():
        thread = threading.Thread(target=lambda: found.append(program.aliased(0)))
        thread.start()
        thread.join()

    with Sines():
        assert often(program.aliased, 0) == ["sine"] * 4
        in_a_thread()
    assert found == [[0.0] * 4]


def test_calls_of_an_overload_are_not_intercepted(program):
    class Deep(Context):
        pass

    @Deep.overdub.register(program.other)
    def other(ctx, f, x):
        return program.local(program.other, x), program.of_global(x)

    assert overdub(Deep(), lambda: often(program.of_global, 1)) == ("other", "other")


def test_a_function_of_the_same_file_called_outside_the_context_causes_few_searches_of_the_heap(monkeypatch):
    def function(x):
        return abs(x)

    def beside(x):
        return abs(x)

    looked = Mock(wraps=heap.functions_of)
    monkeypatch.setattr(heap, "functions_of", looked)
    context = Sines()
    for _ in range(50):
        assert overdub(context, function, -1) == beside(-1) == 1
    assert looked.call_count < 15


ASKED = """
    log = []


    class Kind(type):
        def __getattribute__(cls, name):
            log.append(name)
            return super().__getattribute__(name)


    class Made(metaclass=Kind):
        def __init__(self):
            pass

        def method(self):
            return 1


    class Proxy:
        def __getattribute__(self, name):
            log.append(name)
            return object.__getattribute__(self, name)

        def __call__(self):
            return 2


    class Holder:
        pass


    def main():
        holder, proxy = Holder(), Proxy()
        holder.proxy = proxy
        made = Made()
        for _ in range(20):
            proxy(), holder.proxy(), made.method(), Made()
        return log
"""


def test_guards_learn_without_reading_attributes_of_callees_and_classes(make_program):
    class Own(Context):
        pass

    Own.overdub.register(math.sin)(lambda ctx, f, x: x)
    program = make_program(ASKED)
    with Own():
        assert program.main() == []


LEARNED = """
    import functools
    import json.decoder
    import re
    from json.scanner import NUMBER_RE

    table = {1: "one"}
    annotated: dict = {1: "one"}
    pattern = re.compile("a")

    @functools.lru_cache
    def kept(x):
        return x

    class A:
        def method(self, *arguments):
            return arguments

        @classmethod
        def of_class(cls, x):
            return x

        @staticmethod
        def static(x):
            return x

        def call_method(self, x):
            return self.method(x)

        def call_of_class(self, x):
            return self.of_class(x)

        def call_static(self, x):
            return self.static(x)

    a = A()

    def makes_object(x):
        return object.__new__(A)

    def of_table(x):
        return table.get(x)

    def of_annotated(x):
        return annotated.get(x)

    def of_imported(x):
        return NUMBER_RE.match(str(x))

    def of_local_pattern(x, found=pattern):
        return found.match("a")

    def of_kept(x):
        return kept(x)

    def of_class_in_module(x):
        return json.decoder.JSONDecoder.raw_decode(json._default_decoder, "1")

    def with_long_arguments(x, found=a):
        return found.method([y for y in (x, x)], lambda: x)

    def with_long_arguments_of_a_part(x, holder=[a]):
        return holder[0].method([y for y in (x, x)], lambda: x)

    def smallest(x):
        return min(x, 2), max(x, 2), sorted([x, 2])

    def sorting(x):
        numbers = [x, 2]
        numbers.sort()
        return numbers

    def in_a_generator_expression(x):
        return list(len(y) for y in [[x]])

    def in_a_function_that_has_a_parameter_vars(x, vars={}):
        return [y for y in (x, *vars)], len([x]), dict(**vars)

    class Above:
        def above(self, x):
            return x

    class Below(Above):
        def by_super(self, x):
            return super().above(x)

        def by_old_super(self, x):
            return super(Below, self).above(x)

    by_super, by_old_super = Below().by_super, Below().by_old_super
    method, class_method, static_method = a.call_method, a.call_of_class, a.call_static
"""


def note_lookups(monkeypatch):
    """The callees that call sites look up from now on."""
    found = []

    def noting(look_up):
        def note(callee, *more):
            found.append(callee)
            return look_up(callee, *more)

        return note

    for cell in [value for symbol, value in OBJECTS.items() if symbol.endswith(".")]:
        for name in vars(cell).keys() & {"learn", "pick.1", "pickk.1"}:
            monkeypatch.setitem(vars(cell), name, noting(vars(cell)[name]))
    return found


@pytest.mark.parametrize(
    "name",
    [
        *(
            "makes_object",
            "of_table",
            "of_annotated",
            "of_imported",
            "of_local_pattern",
            "of_kept",
            "of_class_in_module",
            "smallest",
            "sorting",
        ),
        *("with_long_arguments", "with_long_arguments_of_a_part", "in_a_generator_expression"),
        *("in_a_function_that_has_a_parameter_vars", "method", "class_method", "static_method"),
        *("by_super", "by_old_super"),
    ],
)
def test_a_call_site_looks_nothing_up_once_its_guard_holds(make_program, monkeypatch, name):
    function = getattr(make_program(LEARNED), name)
    with Sines():
        often(function, 1)
        found = note_lookups(monkeypatch)
        function(1)
    assert found == []


def test_a_callback_by_keyword_is_intercepted_where_the_same_function_was_learned_without_one(make_program):
    program = make_program(
        """
        import functools, math

        def plainly(x, y):
            return max(x, y)

        def with_key(x, y, key):
            return max(x, y, key=key)

        def partially(x, y, key):
            chosen = functools.partial(max, key=key)
            return chosen(x, y)
        """
    )

    class Does(Context):
        pass

    @Does.overdub.register(math.sin)
    def _(ctx, f, x):
        return -x

    with Does():
        assert often(program.plainly, 1, 2) == 2
        for function in program.with_key, program.partially:
            assert often(function, 1, 2, abs) == 2
            assert often(function, 1, 2, math.sin) == 1


@pytest.mark.parametrize("way", ["in C", "in Python"])
def test_a_function_of_a_module_in_a_generator_expression_may_become_a_target_or_another_function(make_program, way):
    with ways_of_dispatch(way):
        program = make_program(
            """
            import math

            def roots(numbers):
                return list(math.sqrt(number) for number in numbers)
            """
        )

        class Does(Context):
            pass

        with Does():
            Does.overdub.register(math.sin)(lambda ctx, f, x: "sine")
            assert often(program.roots, [4, 9]) == [2.0, 3.0]
            program.math = types.SimpleNamespace(sqrt=math.sin)
            assert program.roots([4, 9]) == ["sine", "sine"]
            program.math = math
            assert often(program.roots, [4, 9]) == [2.0, 3.0]
            Does.overdub.register(math.sqrt)(lambda ctx, f, x: "root")
            assert often(program.roots, [4, 9]) == ["root", "root"]


def test_a_target_that_is_a_class_method_is_intercepted_on_instances(make_program):
    program = make_program(
        """
        import math

        class A:
            @classmethod
            def of_class(cls, x):
                return cls.__name__

            @staticmethod
            def static(x):
                return "static"

        class B(A):
            of_class = math.sin
            static = math.sin

        def main():
            found = []
            for receiver in [A()] * 12 + [B(), A()]:
                found.append((receiver.of_class(1), receiver.static(1)))
            return found[0], found[-2], found[-1]
        """
    )
    assert in_context(program.main) == (("A", "static"), ("sine", "sine"), ("A", "static"))


def test_a_builtin_method_that_gets_its_defining_class_is_a_target(make_program):
    class Subs(Context):
        """Replaces a method that gets its defining class as an argument (PEP 573)."""

    Subs.overdub.register(re.Pattern.sub)(lambda ctx, f, pattern, *arguments: (pattern.pattern, *arguments))
    program = make_program(
        """
        import re

        pattern = re.compile("a")

        def main(other):
            found = []
            for holder in [other] * 12 + [pattern]:
                found.append(holder.sub("b", "aaa"))
            return found[0], found[-1]
        """
    )

    class Other:
        def sub(self, *arguments):
            return arguments

    with Subs():
        assert program.main(Other()) == (("b", "aaa"), ("a", "b", "aaa"))


LOCAL_METHODS = """
    import re

    def matches(count):
        found = []
        for letter in "ab" * count:
            match = re.compile(letter).match
            found.append(match("a") is not None)
        return found[-2:]
"""


def test_a_local_name_that_holds_many_builtin_methods_is_not_taken_apart_at_each_call(make_program, monkeypatch):
    """Methods that get their defining class have a type of their own (PEP 573)."""
    program = make_program(LOCAL_METHODS)
    with Sines():
        often(program.matches, 6)
        calls = []
        monkeypatch.setattr(callables, "lookup", lambda *arguments: calls.append(arguments))
        monkeypatch.setattr(event_runner, "split", lambda callee: calls.append(callee) or (callee,))
        assert program.matches(6) == [True, False]
    assert calls == []


def test_a_target_is_intercepted_in_a_local_name_that_holds_many_builtin_methods(make_program):
    class Matches(Context):
        """Replaces a method that gets its defining class as an argument (PEP 573)."""

    Matches.overdub.register(re.Pattern.match)(lambda ctx, f, pattern, text: pattern.pattern)
    program = make_program(LOCAL_METHODS)
    with Matches():
        assert often(program.matches, 6) == [True, True]
        assert program.matches(1) == [True, True]


def test_a_callable_whose_metaclass_cannot_be_hashed_is_called(make_program):
    program = make_program(
        """
        class Meta(type):
            __hash__ = None

            def __eq__(cls, other):
                raise AssertionError(other)

        class Made(metaclass=Meta):
            def __call__(self):
                return "called"

            def method(self):
                return "method"

        def main():
            made = Made()
            return [made() for _ in range(12)] + [made.method() for _ in range(12)]
        """
    )
    assert in_context(program.main) == ["called"] * 12 + ["method"] * 12


def test_the_callback_of_a_partial_object_of_a_higher_order_function_is_intercepted(make_program):
    program = make_program(
        """
        import functools
        import math

        sines = functools.partial(map, math.sin)

        def main():
            return list(sines([1])), list(map(math.sin, [1])), list(map(str, [1]))
        """
    )
    assert in_context(program.main) == (["sine"], ["sine"], ["1"])


def test_a_target_that_super_resolves_to_in_classes_on_one_line_is_intercepted(make_program):
    program = make_program(
        """
        class Base:
            def m(self):
                return ["Base"]

        class Mid(Base):
            def m(self):
                return ["Mid"]

        class Leaf(Mid):
            def all(self):
                return [super(cls, self).m() for cls in (Leaf, Mid)]

        def make(base):
            class C(base):
                def m(self):
                    return ["C", *super().m()]
            return C

        class D(make(make(Base))):
            pass
        """
    )

    class Bases(Context):
        pass

    Bases.overdub.register(program.Base.m)(lambda ctx, f, self: ["hit"])
    with Bases():
        assert often(program.Leaf().all) == [["Mid"], ["hit"]]
        assert often(program.D().m) == ["C", "C", "hit"]


def test_the_callback_that_a_partial_object_carries_by_keyword_is_intercepted(make_program):
    program = make_program(
        """
        import functools
        import math

        by_sine = functools.partial(sorted, key=math.sin)

        def main(f=by_sine):
            return by_sine([0.1, 0.2]), f([0.1, 0.2]), f([0.1, 0.2], reverse=True)
        """
    )

    class Reversed(Context):
        pass

    Reversed.overdub.register(math.sin)(lambda ctx, f, x: -x)
    with Reversed():
        assert often(program.main) == ([0.2, 0.1], [0.2, 0.1], [0.1, 0.2])


def test_a_static_method_that_is_called_as_an_object_is_a_target(make_program):
    program = make_program(
        """
        import math

        held = staticmethod(math.sin)

        def main():
            return held(1)
        """
    )
    assert in_context(program.main) == "sine"


def test_a_parameter_called_locals_shows_no_temporaries(make_program, Recorder):
    program = make_program(
        """
        def main(x, locals=locals):
            abs(x)
            look = locals
            return sorted(look())
        """
    )
    with Recorder():
        assert program.main(1) == ["locals", "look", "x"]


def test_a_function_that_asks_dir_of_an_object_shows_no_temporaries_to_locals(make_program, Recorder):
    program = make_program(
        """
        def main(x, dir=None):
            abs(x)
            names = [name for name in vars(type(x))]
            return "real" in names, sorted(locals())

        def other(x):
            abs(x)
            return "real" in dir(x), sorted(dir())
        """
    )
    with Recorder():
        assert program.main(1) == (True, ["dir", "names", "x"])
        assert program.other(1) == (True, ["x"])


def test_a_function_that_only_asks_dir_and_vars_of_objects_keeps_the_inlined_form(make_program, Recorder):
    program = make_program(
        """
        def main(dir):
            abs(1)
            return len(vars(dir))
        """
    )
    with Recorder():
        assert program.main(type) > 3
        assert any(name.startswith("@") for name in program.main.__code__.co_varnames)
