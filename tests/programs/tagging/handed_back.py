"""An unmodified program whose functions hand a value to the standard library and get the same object back."""

import ast
import bisect
import collections
import concurrent.futures
import contextlib
import contextvars
import copy
import csv
import ctypes
import dataclasses
import enum
import fractions
import functools
import gc
import graphlib
import heapq
import inspect
import io
import itertools
import json
import logging
import operator
import queue
import re
import sched
import string
import sys
import textwrap
import threading
import traceback
import types
import typing
import unittest.mock
import weakref


class Slotted:
    __slots__ = ("__weakref__", "v")

    def __init__(self, v):
        self.v = v


class Reduced:
    def __init__(self, v):
        self.v = v

    def __reduce__(self):
        return Reduced, (self.v,)


class WithState:
    def __init__(self, v):
        self.v = v

    def __getstate__(self):
        return [self.v]

    def __setstate__(self, state):
        self.v = state[0]


class NewArguments:
    def __new__(cls, v):
        self = object.__new__(cls)
        self.v = v
        return self

    def __getnewargs__(self):
        return (self.v,)


@dataclasses.dataclass
class Row:
    v: object
    w: object = None


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    v: object


Pair = collections.namedtuple("Pair", "v w")


# ---- collections


def by_reversed_ordered_dict(x):
    return next(iter(reversed(collections.OrderedDict(a="1", b=x).values())))


def by_reversed_items_of_ordered_dict(x):
    return next(reversed(collections.OrderedDict(a="1", b=x).items()))[1]


def by_moved_to_end(x):
    d = collections.OrderedDict(a=x, b="1")
    d.move_to_end("a")
    return d.popitem()[1]


def by_chain_map(x):
    return collections.ChainMap({}, {"a": x})["a"]


def by_new_child(x):
    return collections.ChainMap({"a": x}).new_child().maps[1]["a"]


def by_counter(x):
    return collections.Counter({"a": x})["a"]


def by_user_dict(x):
    return collections.UserDict(a=x).get("a")


def by_user_list(x):
    return collections.UserList([x]).pop()


def by_default_factory(x):
    return collections.defaultdict(lambda: x)["a"]


def by_default_dict_copy(x):
    return collections.defaultdict(list, a=x).copy()["a"]


def by_deque_index(x):
    return collections.deque([x, "1"], 2)[0]


def by_rotated_deque(x):
    d = collections.deque([x, "1"])
    d.rotate()
    return d.pop()


def by_named_tuple_replaced(x):
    return Pair("1", "2")._replace(w=x).w


def by_named_tuple_made(x):
    return Pair._make(iter([x, "1"])).v


def by_named_tuple_as_dict(x):
    return Pair(x, "1")._asdict()["v"]


# ---- copies


def by_deep_copied_slots(x):
    return copy.deepcopy(Slotted([x])).v[0]


def by_copied_slots(x):
    return copy.copy(Slotted(x)).v


def by_deep_copied_object(x):
    return copy.deepcopy(Row(Row((x, [x])))).v.v[1][0]


def by_copied_reduce(x):
    return copy.copy(Reduced(x)).v


def by_deep_copied_reduce(x):
    return copy.deepcopy([Reduced(x)])[0].v


def by_copied_state(x):
    return copy.copy(WithState(x)).v


def by_deep_copied_state(x):
    return copy.deepcopy(WithState(x)).v


def by_new_arguments(x):
    return copy.copy(NewArguments(x)).v


def by_deep_copied_exception(x):
    return copy.copy(ValueError(x)).args[0]


def by_deep_copied_partial(x):
    return copy.copy(functools.partial(lambda a: a, x))()


def by_frozen_copy(x):
    return copy.deepcopy(Frozen(x)).v


def by_getstate(x):
    return Slotted(x).__getstate__()[1]["v"]


def by_reduce_ex(x):
    return Row(x).__reduce_ex__(2)[2]["v"]


# ---- functools


def by_partial_method(x):
    class C:
        def m(self, a):
            return a

        n = functools.partialmethod(m, x)

    return C().n()


def by_cache(x):
    return functools.cache(lambda: x)()


def by_cached_property(x):
    class C:
        @functools.cached_property
        def v(self):
            return x

    c = C()
    return (c.v, c.v)[1]


def by_partial_keywords(x):
    return functools.partial(dict, a=x).keywords["a"]


def by_reduce(x):
    return functools.reduce(lambda a, b: b, ["1", x])


def by_key_of_comparison(x):
    return functools.cmp_to_key(lambda a, b: 0)(x).obj


def by_dispatch(x):
    return functools.singledispatch(lambda a: a)(x)


def by_total_ordering(x):
    return max([Row(x)], key=lambda row: 1).v


# ---- contexts and threads


def by_context_item(x):
    c = contextvars.ContextVar("c")
    c.set(x)
    return contextvars.copy_context()[c]


def by_context_get(x):
    c = contextvars.ContextVar("c")
    c.set(x)
    return contextvars.copy_context().get(c)


def by_context_values(x):
    c = contextvars.ContextVar("c")
    c.set(x)
    return next(v for k, v in contextvars.copy_context().items() if k is c)


def by_context_run(x):
    return contextvars.copy_context().run(lambda a: a, x)


def by_default_of_variable(x):
    return contextvars.ContextVar("c", default=x).get()


def by_old_value(x):
    c = contextvars.ContextVar("c")
    c.set(x)
    return c.set("1").old_value


def by_thread_local(x):
    local = threading.local()
    local.v = x
    return local.v


def by_future(x):
    f = concurrent.futures.Future()
    f.set_result(x)
    return f.result()


def by_queue(x):
    q = queue.PriorityQueue()
    q.put((0, x))
    return q.get()[1]


def by_simple_queue(x):
    q = queue.SimpleQueue()
    q.put(x)
    return q.get()


def by_scheduler(x):
    values = []
    s = sched.scheduler(lambda: 0, lambda n: None)
    s.enter(0, 1, values.append, (x,))
    s.run()
    return values[0]


# ---- exceptions


def by_system_exit(x):
    try:
        sys.exit(x)
    except SystemExit as e:
        return e.code


def by_raised_system_exit(x):
    try:
        raise SystemExit(x)
    except SystemExit as e:
        return e.code


def by_stop_iteration(x):
    def g():
        return x
        yield

    try:
        next(g())
    except StopIteration as e:
        return e.value


def by_stop_iteration_arguments(x):
    return StopIteration(x).value


def by_os_error(x):
    return OSError(2, "m", x).filename


def by_os_error_text(x):
    return FileNotFoundError(2, x).strerror


def by_import_error(x):
    return ImportError("m", name=x).name


def by_attribute_error(x):
    return AttributeError("m", obj=x).obj


def by_unicode_error(x):
    return UnicodeDecodeError("utf-8", b"1", 0, 1, x).reason if type(x) is str else x


def by_key_error(x):
    try:
        {}[x]
    except KeyError as e:
        return e.args[0]


def by_exception_group(x):
    return ExceptionGroup("m", [ValueError(x)]).exceptions[0].args[0]


def by_syntax_error(x):
    return SyntaxError("m", (x, 1, 1, "t")).filename


def by_exc_info(x):
    try:
        raise ValueError(x)
    except ValueError:
        return sys.exc_info()[1].args[0]


def by_with_traceback(x):
    return ValueError(x).with_traceback(None).args[0]


def by_cause(x):
    try:
        raise ValueError from KeyError(x)
    except ValueError as e:
        return e.__cause__.args[0]


def by_traceback_locals(x):
    try:
        raise ValueError
    except ValueError as e:
        return next(f for f, _ in traceback.walk_tb(e.__traceback__)).f_locals["x"]


# ---- weak references, classes, inspection


def by_weak_proxy(x):
    s = Slotted(x)
    return weakref.proxy(s).v


def by_weak_reference(x):
    s = Slotted(x)
    return weakref.ref(s)().v


def by_weak_value_dictionary(x):
    s = Slotted(x)
    return weakref.WeakValueDictionary(a=s)["a"].v


def by_weak_key_dictionary(x):
    s = Slotted("1")
    return weakref.WeakKeyDictionary({s: x})[s]


def by_weak_method(x):
    s = Reduced(x)
    return weakref.WeakMethod(s.__reduce__)()()[1][0]


def by_finalizer(x):
    s = Slotted("1")
    return weakref.finalize(s, lambda a: a, x).peek()[2][0]


def by_signature_default(x):
    def f(a=x):
        pass

    return inspect.signature(f).parameters["a"].default


def by_bound_arguments(x):
    return inspect.signature(lambda a: 0).bind(x).arguments["a"]


def by_call_arguments(x):
    return inspect.getcallargs(lambda a: 0, x)["a"]


def by_parameter(x):
    return inspect.Parameter("a", inspect.Parameter.POSITIONAL_ONLY, default=x).default


def by_static_attribute(x):
    return inspect.getattr_static(Row(x), "v")


def by_members(x):
    return dict(inspect.getmembers(Row(x)))["v"]


def by_closure_variables(x):
    def f():
        return x

    return inspect.getclosurevars(f).nonlocals["x"]


def by_frame(x):
    return sys._getframe().f_locals["x"]


def by_new_class(x):
    return types.new_class("C", (), {}, lambda ns: ns.update(a=x)).a


def by_class_keywords(x):
    class C:
        def __init_subclass__(cls, v):
            cls.v = v

    return types.new_class("D", (C,), {"v": x}).v


def by_dynamic_attribute(x):
    class C:
        @types.DynamicClassAttribute
        def v(self):
            return x

    return C().v


def by_mapping_proxy(x):
    return types.MappingProxyType({"a": x})["a"]


def by_cell(x):
    return types.CellType(x).cell_contents


def by_module(x):
    m = types.ModuleType("m")
    m.v = x
    return vars(m)["v"]


def by_module_doc(x):
    return types.ModuleType("m", x).__doc__


def by_enumeration(x):
    return enum.Enum("E", {"a": x}).a.value


def by_enumeration_class(x):
    class E(enum.Enum):
        a = x

    return E.a.value


def by_member_of_value(x):
    return enum.Enum("E", {"a": x})(x).value


def by_dataclass_replaced(x):
    return dataclasses.replace(Row("1"), v=x).v


def by_dataclass_default(x):
    return dataclasses.make_dataclass("D", [("v", object, x)])().v


def by_field_metadata(x):
    return dataclasses.field(metadata={"a": x}).metadata["a"]


def by_field_default(x):
    return dataclasses.field(default=x).default


def by_named_tuple_default(x):
    return collections.namedtuple("P", "a b", defaults=[x])("1").b


def by_typed_dict(x):
    return typing.TypedDict("T", {"a": object})(a=x)["a"]


def by_annotated(x):
    return typing.Annotated[int, x].__metadata__[0]


# ---- iterators


def by_copied_tee(x):
    a, _ = itertools.tee(v for v in (x, "1"))
    list(a)
    return next(copy.copy(_))


def by_second_tee(x):
    a, b = itertools.tee([x])
    return (next(a), next(b))[1]


def by_copied_chain(x):
    return next(copy.copy(iter([x])))


def by_grouped(x):
    return next(next(itertools.groupby([x]))[1])


def by_group_key(x):
    return next(itertools.groupby([x]))[0]


def by_cycle(x):
    c = itertools.cycle([x, "1"])
    return [next(c) for _ in range(3)][2]


def by_merged(x):
    return next(heapq.merge([x], key=lambda v: 0))


def by_largest(x):
    return heapq.nlargest(1, [x])[0]


def by_bisected(x):
    values = []
    bisect.insort(values, x)
    return values[0]


def by_length_hint_iterator(x):
    return next(map(lambda a: a, [x]))


def by_call_iterator(x):
    return next(iter(lambda: x, None))


def by_topological_order(x):
    return next(iter(graphlib.TopologicalSorter({x: []}).static_order()))


# ---- operator and others


def by_item_getter(x):
    return operator.itemgetter(0, 1)([x, "1"])[0]


def by_attribute_getter(x):
    return operator.attrgetter("v.v")(Row(Row(x)))


def by_method_caller(x):
    return operator.methodcaller("get", "b", x)({})


def by_exit_stack(x):
    with contextlib.ExitStack() as stack:
        return stack.enter_context(contextlib.nullcontext(x))


def by_context_manager(x):
    @contextlib.contextmanager
    def manager():
        yield x

    with manager() as v:
        return v


def by_log_record(x):
    return logging.LogRecord("n", 10, "p", 1, "%s", (x,), None).args[0]


def by_log_extra(x):
    return logging.getLogger("n").makeRecord("n", 10, "p", 1, "m", (), None, extra={"v": x}).v


def by_logger_adapter(x):
    return logging.LoggerAdapter(logging.getLogger("n"), {"v": x}).process("m", {})[1]["extra"]["v"]


def by_mock_return(x):
    return unittest.mock.Mock(return_value=x)()


def by_mock_attribute(x):
    return unittest.mock.Mock(v=x).v


def by_mock_side_effect(x):
    return unittest.mock.Mock(side_effect=[x])()


def by_python_object_of_ctypes(x):
    return ctypes.py_object(x).value


def by_referents(x):
    return gc.get_referents([x])[0]


def by_fraction_dictionary(x):
    return {fractions.Fraction(1): x}[1]


def by_saved_builtin(x):
    return vars(types.SimpleNamespace(a=x)).get("a")


def by_super_attribute(x):
    class C:
        def v(self):
            return x

    class D(C):
        def v(self):
            return super().v()

    return D().v()


def by_property_of_class(x):
    return type("C", (), {"v": property(lambda self: x)})().v


def by_callable_object(x):
    class C:
        def __call__(self):
            return x

    return C()()


def by_getattr_hook(x):
    class C:
        def __getattr__(self, name):
            return x

    return C().anything


# ---- through text


def by_text(x):
    return type(x)(str(x))


def by_formatted_text(x):
    return type(x)(f" {x!s:>12} ".strip())


def by_json(x):
    return json.loads(json.dumps({"a": [x]}))["a"][0]


def by_row_of_csv(x):
    return type(x)(next(csv.reader([f"1,{x}"]))[1])


def by_template(x):
    return type(x)(string.Template("$a").substitute(a=x))


def by_percent(x):
    return type(x)("%s" % x)


def by_format_map(x):
    return type(x)("{a}".format_map({"a": x}))


def by_joined_text(x):
    return type(x)("".join(["", str(x)]))


def by_split_text(x):
    return type(x)(f"a {x}".split()[1])


def by_matched_text(x):
    return type(x)(re.match(".*", f"{x}").group())


def by_printed_text(x):
    buffer = io.StringIO()
    print(x, file=buffer, end="")
    return type(x)(buffer.getvalue())


def by_wrapped_text(x):
    return type(x)(textwrap.dedent(f" {x}"))


def by_literal(x):
    return ast.literal_eval(repr(x))


def by_evaluated_text(x):
    return eval(repr(x))


HANDED_BACK = [function for name, function in list(globals().items()) if name.startswith("by_")]
"""Each function, all of which return the object that they get, or an equal one."""
