"""An unmodified program whose functions store a number by one route, read it by another one, and return it."""

import argparse
import builtins
import collections
import contextvars
import copy
import copyreg
import dataclasses
import enum
import functools
import inspect
import itertools
import operator
import os
import pickle
import queue
import random
import time
import types
import typing
import unittest.mock
import weakref


class Box:
    pass


# ---- function and class objects


def by_default_arguments(x):
    return (lambda a=x: a).__defaults__[0]


def by_keyword_defaults(x):
    return (lambda *, a=x: a).__kwdefaults__["a"]


def by_assigned_defaults(x):
    def f(a):
        return a

    f.__defaults__ = (x,)
    return f()


def by_assigned_keyword_defaults(x):
    def f(*, a):
        return a

    f.__kwdefaults__ = {"a": x}
    return f()


def by_changed_keyword_defaults(x):
    def f(*, a=0.0):
        return a

    f.__kwdefaults__["a"] = x
    return f()


def by_defaults_of_another_function(x):
    def f(a=x):
        return a

    def g(a):
        return a

    g.__defaults__ = f.__defaults__
    return g()


def by_signature(x):
    return inspect.signature(lambda a=x: a).parameters["a"].default


def by_argument_specification(x):
    return inspect.getfullargspec(lambda a=x: a).defaults[0]


def by_cell(x):
    def f():
        return x

    return f.__closure__[0].cell_contents


def by_assigned_cell(x):
    y = 0.0

    def f():
        return y

    f.__closure__[0].cell_contents = x
    return f()


def by_closure_variables(x):
    y = x

    def f():
        return y

    return inspect.getclosurevars(f).nonlocals["y"]


def by_defaults_of_a_named_tuple(x):
    return collections.namedtuple("Pair", "a b", defaults=[x])(1).b


def by_default_of_an_operator(x):
    class C:
        def __add__(self, other, a=x):
            return a * other

    return C() + 1.0


def by_default_of_a_property(x):
    class C:
        @property
        def value(self, a=x):
            return a * 1.0

    return C().value


def by_default_of_a_constructor(x):
    class C:
        def __init__(self, a=x):
            self.a = a * 1.0

    return C().a


def by_static_method(x):
    return staticmethod(lambda a=x: a).__func__.__defaults__[0]


def by_annotations(x):
    def f(a: x): ...

    return f.__annotations__["a"]


def by_annotations_of_a_class(x):
    class C:
        a: x

    return C.__annotations__["a"]


def by_made_class(x):
    return types.new_class("C", (), {}, lambda namespace: namespace.update(a=x)).a


def by_made_dataclass(x):
    return dataclasses.make_dataclass("C", [], namespace={"a": x}).a


def by_nonlocal_name_of_a_class_body(x):
    y = 0.0

    class C:
        nonlocal y
        y = x
        z = y

    return y if C.z == y else 0.0


def by_class_made_by_type(x):
    return type("C", (), {"a": x})().a


def by_prepared_namespace(x):
    class M(type):
        @classmethod
        def __prepare__(cls, name, bases):
            return {"a": x}

    class C(metaclass=M):
        pass

    return C.a


def by_generated_value_of_an_enum(x):
    class E(enum.Enum):
        def _generate_next_value_(name, start, count, last):
            return x

        A = enum.auto()

    return E.A.value


def by_getattr_of_a_module(x):
    module = types.ModuleType("module")
    module.__getattr__ = lambda name: x
    return module.anything


def by_name_of_builtins(x):
    builtins.stored_number = x
    try:
        return stored_number  # noqa: F821
    finally:
        del builtins.stored_number


def by_class_getitem(x):
    class C:
        def __class_getitem__(cls, item):
            return item

    return C[x]


def by_class_getitem_that_is_a_class_method(x):
    class C:
        @classmethod
        def __class_getitem__(cls, item):
            return [item]

    return C[x][0]


def by_getitem_of_a_metaclass(x):
    class M(type):
        def __getitem__(cls, item):
            return item

    class C(metaclass=M):
        pass

    return C[x]


def by_metadata_of_annotated(x):
    return typing.Annotated[float, x].__metadata__[0]


def by_arguments_of_an_alias(x):
    return types.GenericAlias(list, (x,)).__args__[0]


def by_attribute_of_a_wrapped_function(x):
    def f(): ...

    f.a = x
    return functools.update_wrapper(lambda: 1, f).a


# ---- callables that hold a value


def by_iterator_of_a_bound_method(x):
    return next(iter([x].pop, None))


def by_iterator_of_a_queue(x):
    waiting = queue.SimpleQueue()
    waiting.put(x)
    return next(iter(waiting.get, None))


def by_partial_of_a_bound_method(x):
    return functools.partial(x.__add__)(0.0)


def by_bound_method_of_a_descriptor(x):
    return float.__add__.__get__(x)(0.0)


def by_mapped_bound_method(x):
    return next(map(x.__add__, [0.0]))


def by_evaluated_attribute(x):
    box = Box()
    box.a = x
    return eval("box.a", {"box": box})


def by_factory_that_is_a_bound_method(x):
    return collections.defaultdict([x].pop)["a"]


def by_factory_that_is_a_method_of_an_iterator(x):
    return collections.defaultdict(itertools.repeat(x).__next__)["a"]


def by_receiver_of_a_method(x):
    return x.__add__.__self__


def by_call_of_a_method_wrapper(x):
    return x.__add__.__call__(0.0)


def by_reversed_values(x):
    return next(reversed({"a": x}.values()))


def by_shuffled_list(x):
    items = [x]
    random.shuffle(items)
    return items[0]


def by_sum_of_a_shuffled_list(x):
    items = [x, 0.0]
    random.Random(1).shuffle(items)
    return sum(items)


def by_attribute_getter(x):
    return operator.attrgetter("a")(types.SimpleNamespace(a=x))


# ---- copies


def by_copy_after_vars(x):
    box = Box()
    vars(box)["a"] = x
    return copy.copy(box).a


def by_deep_copy_after_dict(x):
    box = Box()
    box.__dict__.update(a=x)
    return copy.deepcopy(box).a


def by_copy_of_a_dict_in_place(x):
    box = Box()
    box.__dict__ = dict(a=x)
    return copy.copy(box).a


def by_state(x):
    box = Box()
    box.a = x
    return box.__reduce_ex__(2)[2]["a"]


def by_own_reduce(x):
    class C:
        def __reduce__(self):
            return float, (x,)

    return copy.copy(C())


def by_registered_reduce(x):
    class C:
        pass

    copyreg.pickle(C, lambda _: (float, (x,)))
    try:
        return copy.copy(C())
    finally:
        del copyreg.dispatch_table[C]  # it would keep the value until the process ends


def by_copy_of_an_iterator(x):
    return next(copy.copy(iter([x])))


def by_copy_of_repeat(x):
    return next(copy.copy(itertools.repeat(x)))


def by_weak_proxy(x):
    box = Box()
    weakref.proxy(box).a = x
    return box.a


def by_context_variable(x):
    variable = contextvars.ContextVar("variable")
    variable.set(x)
    return variable.get()


def by_token(x):
    variable = contextvars.ContextVar("variable")
    variable.set(x)
    return variable.set(1.0).old_value


def by_copied_context(x):
    variable = contextvars.ContextVar("variable")
    variable.set(x)
    return contextvars.copy_context().run(variable.get)


def by_items_of_a_context(x):
    variable = contextvars.ContextVar("variable")
    variable.set(x)
    return dict(contextvars.copy_context().items())[variable]


def by_code_of_an_exit(x):
    try:
        raise SystemExit(x)
    except SystemExit as error:
        return error.code


def by_attribute_of_an_error(x):
    return OSError(x, "message").errno


def by_struct_time(x):
    return time.struct_time([x] * 9).tm_year


def by_largest_of_a_struct_time(x):
    return max(time.struct_time([x] * 9))


def by_pickle_after_vars(x):
    box = Box()
    vars(box)["a"] = x
    return pickle.loads(pickle.dumps(box)).a


def by_stat_result(x):
    return os.stat_result([x] * 10)[0]


def by_default_of_a_parser(x):
    parser = argparse.ArgumentParser()
    parser.add_argument("--a", default=x)
    return parser.parse_args([]).a


def by_constant_of_a_parser(x):
    parser = argparse.ArgumentParser()
    parser.add_argument("--a", action="store_const", const=x)
    return parser.parse_args(["--a"]).a


def by_namespace_of_a_parser(x):
    return argparse.Namespace(a=x).a


def by_patch(x):
    with unittest.mock.patch.object(Box, "patched", x, create=True):
        return Box.patched


def by_patched_dict(x):
    found = {}
    with unittest.mock.patch.dict(found, a=x):
        return found["a"]


def by_calls_of_a_mock(x):
    mock = unittest.mock.Mock()
    mock(x)
    return mock.call_args[0][0]


def by_slice(x):
    return slice(x).stop


def by_simple_namespace(x):
    return types.SimpleNamespace(a=x).a


STORES = [found for name, found in list(globals().items()) if name.startswith("by_")]
"""Each function, all of which return the number."""
