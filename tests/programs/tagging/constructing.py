"""An unmodified program whose functions move a value through the construction of an object, and return it.

The second argument is moved, too, where there is room for it.
"""

import collections
import dataclasses
import types
import typing

T = typing.TypeVar("T")


class Items(list):
    pass


class ItemsWithInit(list):
    def __init__(self, items, extra):
        super().__init__(items)
        self.extra = extra


class Appended(list):
    def __iadd__(self, other):
        self.append(other)
        return self


class Table(dict):
    pass


class TableWithInit(dict):
    def __init__(self, first, **rest):
        super().__init__(rest)
        self.first = first


class Failure(Exception):
    def __init__(self, value, other):
        super().__init__(value, other)
        self.value = value


class Number(float):
    def __new__(cls, value, unit):
        made = super().__new__(cls, 0.0)
        made.unit = unit
        made.value = value
        return made


class OwnNew:
    def __new__(cls, value, other):
        made = super().__new__(cls)
        made.first = value
        return made

    def __init__(self, value, other):
        self.second = value


class OtherNew:
    def __new__(cls, value):
        made = Simple.__new__(Simple)
        made.x = value
        return made

    def __init__(self, value):
        raise AssertionError("the class has another one")


class Simple:
    def __init__(self, x=None):
        self.x = x


class Meta(type):
    def __call__(cls, value, *rest):
        made = super().__call__(value)
        made.last = rest[-1] if rest else value
        return made


class OfMeta(metaclass=Meta):
    def __init__(self, x):
        self.x = x


class Box(typing.Generic[T]):
    def __init__(self, x):
        self.x = x


class Row(typing.NamedTuple):
    first: object
    second: object = 0


class OwnRow(collections.namedtuple("OwnRow", "first second")):
    __slots__ = ()

    def __new__(cls, first, second=0):
        return super().__new__(cls, first, second)


@dataclasses.dataclass
class Derived:
    x: object
    y: object = 0
    z: object = dataclasses.field(init=False)

    def __post_init__(self):
        self.z = self.x


@dataclasses.dataclass
class WithInitVar:
    x: dataclasses.InitVar[object]
    y: object = 0

    def __post_init__(self, x):
        self.kept = x


@dataclasses.dataclass
class Inner:
    x: object


@dataclasses.dataclass
class Outer:
    inner: Inner
    items: list
    named: dict


def by_list_subclass(x, y):
    return Items([y, x])[1]


def by_list_subclass_from_generator(x, y):
    return Items(item for item in (y, x))[1]


def by_list_subclass_with_init(x, y):
    return ItemsWithInit([y, x], y)[1]


def by_attribute_of_list_subclass(x, y):
    return ItemsWithInit([y], x).extra


def by_own_iadd_of_list_subclass(x, y):
    made = Appended([y])
    made += x
    return made[1]


def by_init_of_list(x, y):
    made = [1, 2, 3]
    made.__init__([y, x])
    return made[1]


def by_dict_subclass(x, y):
    return Table({"a": y, "b": x})["b"]


def by_dict_subclass_from_pairs(x, y):
    return Table([("a", y), ("b", x)])["b"]


def by_dict_subclass_from_keywords(x, y):
    return Table(a=y, b=x)["b"]


def by_dict_subclass_with_init(x, y):
    return TableWithInit(y, b=x)["b"]


def by_attribute_of_dict_subclass(x, y):
    return TableWithInit(x, b=y).first


def by_set_subclass(x, y):
    class Elements(set):
        pass

    (only,) = Elements([x])
    return only


def by_deque_with_length(x, y):
    return collections.deque([y, y, x], 1)[0]


def by_deque_subclass(x, y):
    class Queue(collections.deque):
        pass

    return Queue([y, x])[1]


def by_tuple_subclass(x, y):
    class Several(tuple):
        __slots__ = ()

    return Several([y, x])[1]


def by_tuple_subclass_with_new(x, y):
    class Several(tuple):
        __slots__ = ()

        def __new__(cls, *items):
            return super().__new__(cls, items)

    return Several(y, x)[1]


def by_ordered_dict(x, y):
    return collections.OrderedDict([("a", y), ("b", x)])["b"]


def by_ordered_dict_of_keywords(x, y):
    return collections.OrderedDict(a=y, b=x)["b"]


def by_default_dict_of_items(x, y):
    return collections.defaultdict(list, {"a": y, "b": x})["b"]


def by_mapping_proxy(x, y):
    return types.MappingProxyType({"a": y, "b": x})["b"]


def by_get_of_mapping_proxy(x, y):
    return types.MappingProxyType({"a": y, "b": x}).get("b")


def by_default_of_get_of_mapping_proxy(x, y):
    return types.MappingProxyType({"a": y}).get("b", x)


def by_values_of_mapping_proxy(x, y):
    return list(types.MappingProxyType({"a": y, "b": x}).values())[1]


def by_items_of_mapping_proxy(x, y):
    return [value for _, value in types.MappingProxyType({"a": y, "b": x}).items()][1]


def by_copy_of_mapping_proxy(x, y):
    return types.MappingProxyType({"a": y, "b": x}).copy()["b"]


def by_dict_of_mapping_proxy(x, y):
    return dict(types.MappingProxyType({"a": y, "b": x}))["b"]


def by_exception_argument(x, y):
    return ValueError(y, x).args[1]


def by_raised_exception(x, y):
    try:
        raise KeyError(y, x)
    except KeyError as error:
        return error.args[1]


def by_attribute_of_exception(x, y):
    try:
        raise Failure(x, y)
    except Failure as error:
        return error.value


def by_argument_of_own_exception(x, y):
    try:
        raise Failure(y, x)
    except Failure as error:
        return error.args[1]


def by_value_of_stop_iteration(x, y):
    return StopIteration(x, y).value


def by_code_of_system_exit(x, y):
    return SystemExit(x).code


def by_own_new(x, y):
    return OwnNew(x, y).first


def by_own_new_and_init(x, y):
    return OwnNew(x, y).second


def by_own_new_of_another_class(x, y):
    return OtherNew(x).x


def by_own_new_of_a_number(x, y):
    return Number(y, x).unit


def by_value_of_own_new_of_a_number(x, y):
    return Number(x, y).value


def by_metaclass(x, y):
    return OfMeta(x).x


def by_rest_of_metaclass(x, y):
    return OfMeta(y, x).last


def by_call_of_type(x, y):
    return type.__call__(Simple, x).x


def by_parametrised_class(x, y):
    return Box[int](x).x


def by_parametrised_list(x, y):
    return list[int]([y, x])[1]


def by_typed_named_tuple(x, y):
    return Row(y, x).second


def by_keyword_of_typed_named_tuple(x, y):
    return Row(second=x, first=y).second


def by_default_of_named_tuple(x, y):
    return Row(x).first


def by_own_named_tuple(x, y):
    return OwnRow(y, x).second


def by_replace_of_named_tuple(x, y):
    return Row(y, y)._replace(second=x).second


def by_unchanged_field_of_replace(x, y):
    return Row(x, y)._replace(second=y).first


def by_make_of_named_tuple(x, y):
    return Row._make([y, x]).second


def by_asdict_of_named_tuple(x, y):
    return Row(y, x)._asdict()["second"]


def by_named_tuple_index(x, y):
    return Row(y, x)[1]


def by_post_init(x, y):
    return Derived(x, y).z


def by_field_beside_post_init(x, y):
    return Derived(y, x).y


def by_init_var(x, y):
    return WithInitVar(x, y).kept


def by_asdict(x, y):
    return dataclasses.asdict(Derived(y, x))["y"]


def by_nested_asdict(x, y):
    return dataclasses.asdict(Outer(Inner(x), [y], {"a": y}))["inner"]["x"]


def by_list_in_asdict(x, y):
    return dataclasses.asdict(Outer(Inner(y), [y, Inner(x)], {"a": y}))["items"][1]["x"]


def by_dict_in_asdict(x, y):
    return dataclasses.asdict(Outer(Inner(y), [y], {"a": (y, x)}))["named"]["a"][1]


def by_astuple(x, y):
    return dataclasses.astuple(Outer(Inner(x), [y], {"a": y}))[0][0]


def by_simple_namespace(x, y):
    return types.SimpleNamespace(a=y, b=x).b


def by_method_type(x, y):
    return types.MethodType(by_second, y)(x)


def by_second(first, second):
    return second


def by_property_object(x, y):
    return Simple(x).__dict__["x"]


MOVERS = [found for name, found in list(globals().items()) if name.startswith("by_") and name != "by_second"]
