"""The tables of all modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

# ---- the form of a table: the names of one module of the standard library by what its callables do with values
#
# Names are separated by blanks. A name that ends in a colon is that of a class, and the names after it are those of its
# methods; `*` stands for all other methods of the class. Special methods that do the same in all classes are in
# `special_methods`.

ITSELF = "the receiver becomes the result"
"""What is moved needs no rule: the result is the object whose method is called."""


class Table(NamedTuple):
    """The classification of the callables of one module."""

    moves: dict[str, str]
    """The names by what is moved where, in words."""
    computes: str = ""
    consumes: str = ""
    writes: str = ""
    """What consumes values by making text of them, or by writing them somewhere."""
    creates: str = ""


def names_in(text: str) -> Iterator[str]:
    """The qualified names in a text.

    >>> list(names_in("abs list: append pop"))
    ['abs', 'list.append', 'list.pop']
    """
    prefix = ""
    for word in text.split():
        if word.endswith(":"):
            prefix = word[:-1] + "."
        else:
            yield prefix + word


# ---- the classification of `builtins` and `types`
#
# Exceptions are not listed: the arguments of an exception become the items of its attribute `args`.

BUILTINS: Final = Table(
    moves={
        "the argument becomes the result": (
            "bool bytes bytearray complex float int str int: conjugate __int__ __index__ __pos__ __trunc__ __floor__"
            " __ceil__ float: conjugate __float__ __pos__ bytes: __bytes__"
        ),
        "the argument becomes an item": (
            "list: append insert __setitem__ set: add dict: __setitem__ setdefault bytearray: append insert"
        ),
        "the argument becomes an attribute": "setattr object: __setattr__ type: __setattr__",
        "an attribute becomes the result": (
            "getattr object: __getattribute__ super: __getattribute__ type: __getattribute__"
        ),
        "an item becomes the result": (
            "max min next list: pop __getitem__ tuple: __getitem__ dict: get pop popitem __getitem__ set: pop"
        ),
        "items become items of the result": (
            "dict enumerate filter frozenset iter list reversed set sorted tuple zip"
            " list: copy __add__ __mul__ __rmul__ __iter__ __reversed__ tuple: __add__ __mul__ __rmul__ __iter__"
            " __new__"
            " dict: copy fromkeys values items __or__ __ror__ set: copy difference intersection symmetric_difference"
            " union __and__ __rand__ __or__ __ror__ __sub__ __rsub__ __xor__ __rxor__ frozenset: copy difference"
            " intersection symmetric_difference union __and__ __rand__ __or__ __ror__ __sub__ __rsub__ __xor__ __rxor__"
        ),
        "items become items of the object": (
            "list: extend reverse sort __iadd__ __imul__ __init__ dict: update __ior__ __init__ set: difference_update"
            " intersection_update symmetric_difference_update update __iand__ __ior__ __isub__ __ixor__ __init__"
            " bytearray: extend"
        ),
        "items become arguments of the callback": "map",
        "arguments become parts of the object": "object type",
        "arguments become arguments of the callee": "type: __call__",
        "the namespace becomes the namespace of the class": "type: __new__",
    },
    computes=(
        "abs divmod pow round sum hash ord chr bin hex oct compile memoryview input slice eval exec anext"
        " int: as_integer_ratio bit_count bit_length from_bytes to_bytes float: as_integer_ratio fromhex hex"
        " complex: conjugate range: * bytes: * bytearray: * memoryview: * str: *"
    ),
    consumes=(
        "all any callable hasattr id isinstance issubclass len delattr range float: is_integer int: is_integer"
        " list: clear count index remove tuple: count index dict: clear keys set: clear discard remove isdisjoint"
        " issubset issuperset frozenset: isdisjoint issubset issuperset memoryview: release __enter__"
    ),
    writes="ascii format print repr exit quit open help",
    creates=(
        "__import__ __build_class__ property classmethod staticmethod super aiter vars breakpoint copyright"
        " credits dir globals license locals type: mro __loader__: *"
        " property: getter setter deleter slice: indices memoryview: _from_flags"
    ),
)

TYPES: Final = Table(
    moves={
        "arguments become parts of the object": ("SimpleNamespace"),
        "an item becomes the result": "MappingProxyType: get __getitem__ GeneratorType: __next__",
        "items become items of the result": "MappingProxyType: copy values items",
        "the argument becomes the result of `yield`": "GeneratorType: send",
        "the exception is raised at the `yield`": "GeneratorType: throw",
        "arguments become arguments of the callee": "GenericAlias",
    },
    computes=(
        "CellType FunctionType MethodType ModuleType new_class prepare_class"
        " GenericAlias: __getitem__ UnionType: __getitem__ GeneratorType: close"
        " MappingProxyType: __or__ __ror__ __ior__ CoroutineType: send throw AsyncGeneratorType: asend athrow"
    ),
    consumes=(
        "MappingProxyType: keys __iter__ __reversed__ CoroutineType: close AsyncGeneratorType: aclose FrameType: clear"
    ),
    creates=(
        "MappingProxyType AsyncGeneratorType BuiltinFunctionType ClassMethodDescriptorType CodeType CoroutineType"
        " DynamicClassAttribute"
        " EllipsisType FrameType GeneratorType GetSetDescriptorType MemberDescriptorType MethodDescriptorType"
        " MethodWrapperType NoneType NotImplementedType TracebackType UnionType WrapperDescriptorType"
        " BuiltinMethodType LambdaType coroutine get_original_bases resolve_bases __getattr__ CapsuleType"
        " CodeType: * DynamicClassAttribute: getter setter deleter"
    ),
)


# ---- the classification of `dataclasses`, `contextlib`, `enum`, `json` and `string`

DATACLASSES: Final = Table(
    moves={
        "parts become parts of the result": "asdict astuple replace",
    },
    computes="Field field",
    consumes="is_dataclass",
    creates="InitVar dataclass fields make_dataclass",
)

CONTEXTLIB: Final = Table(
    moves={
        "the managed value becomes the result": "nullcontext: __enter__ closing: __enter__",
        "arguments become parts of the object": "aclosing closing nullcontext",
    },
    computes="AsyncExitStack: enter_async_context",
    consumes=(
        "chdir redirect_stderr redirect_stdout suppress ExitStack: close __enter__ AsyncExitStack: aclose __aenter__"
        " AbstractContextManager: __enter__ AbstractAsyncContextManager: __aenter__ chdir: __enter__ __init__"
        " suppress: __enter__ __init__"
    ),
    creates=(
        "AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator AsyncExitStack ContextDecorator"
        " ExitStack asynccontextmanager contextmanager AsyncContextDecorator: _recreate_cm"
        " ContextDecorator: _recreate_cm AsyncExitStack: push_async_exit push_async_callback"
        " _create_async_exit_wrapper _create_async_cb_wrapper _push_async_cm_exit"
    ),
)

ENUM: Final = Table(
    moves={},
    computes=(
        "Enum EnumDict Flag IntFlag IntEnum StrEnum ReprEnum EnumType: __getitem__ __call__"
        " Flag: * IntFlag: * IntEnum: * StrEnum: * ReprEnum: *"
    ),
    writes="global_enum_repr global_flag_repr global_str bin show_flag_values",
    creates=(
        "EnumType EnumMeta EnumCheck FlagBoundary auto global_enum member nonmember pickle_by_enum_name"
        " pickle_by_global_name property unique verify Enum: * EnumCheck: * EnumType: * EnumMeta: * FlagBoundary: *"
        " EnumDict: *"
    ),
)

JSON: Final = Table(
    moves={},
    computes="JSONDecoder JSONEncoder detect_encoding load loads JSONDecoder: decode raw_decode JSONEncoder: default",
    writes="dump dumps JSONEncoder: encode iterencode",
)

STRING: Final = Table(
    moves={},
    creates="Formatter",
    computes="capwords Template Formatter: * Template: *",
)


# ---- the classification of `collections`, `copy`, `heapq` and `bisect`

COLLECTIONS: Final = Table(
    moves={
        "the argument becomes an item": (
            "deque: append appendleft insert __setitem__ OrderedDict: setdefault __setitem__"
        ),
        "an item becomes the result": ("deque: pop popleft __getitem__ OrderedDict: pop popitem"),
        "items become items of the result": (
            "deque OrderedDict defaultdict"
            " deque: copy __add__ __mul__ __rmul__ __copy__ defaultdict: copy __or__ __ror__ __copy__"
            " OrderedDict: copy fromkeys values items __or__ __ror__"
        ),
        "items become items of the object": (
            "deque: extend extendleft reverse rotate __iadd__ __imul__ OrderedDict: update __ior__"
            " OrderedDict: __init__ defaultdict: __init__ deque: __init__"
        ),
    },
    computes=(
        "ChainMap Counter UserDict UserList UserString ChainMap: * UserDict: * UserList: * Counter: total"
        " most_common elements fromkeys update subtract copy _keep_positive __init__"
        " __missing__ __or__ __ior__ UserString: *"
    ),
    consumes=("deque: clear count index remove OrderedDict: clear keys move_to_end __iter__ __reversed__"),
    creates="namedtuple",
)

COPY: Final = Table(
    moves={"parts become parts of the result": "copy deepcopy replace"},
)

HEAPQ: Final = Table(
    moves={
        "the argument becomes an item": "heappush heappush_max",
        "an item becomes the result": ("heappop heappushpop heapreplace heappop_max heappushpop_max heapreplace_max"),
        "items become items of the result": "merge nlargest nsmallest",
        "items become items of the object": "heapify heapify_max",
    },
)

BISECT: Final = Table(
    moves={"the argument becomes an item": "insort insort_left insort_right"},
    consumes="bisect bisect_left bisect_right",
)


# ---- the classification of `operator`, `math` and `statistics`

OPERATOR: Final = Table(
    moves={
        "an item becomes the result": "getitem itemgetter",
        "an attribute becomes the result": "attrgetter",
        "the argument becomes an item": "setitem",
        "items become items of the result": "concat iconcat",
        "arguments become parts of the object": "methodcaller",
        "arguments become arguments of the callee": "call",
    },
    computes=(
        "abs add and_ floordiv iadd iand ifloordiv ilshift imatmul imod imul index inv invert ior ipow irshift isub"
        " itruediv ixor lshift matmul mod mul neg or_ pos pow rshift sub truediv xor"
    ),
    consumes=(
        "contains countOf delitem eq ge gt indexOf is_ is_not is_none is_not_none le length_hint lt ne not_ truth"
    ),
)

MATH: Final = Table(
    moves={},
    computes=(
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf erfc exp exp2 expm1"
        " fabs factorial floor fma fmax fmin fmod frexp fsum gamma gcd hypot isqrt lcm ldexp lgamma log log10 log1p"
        " log2 modf nextafter perm pow prod radians remainder sin sinh sqrt sumprod tan tanh trunc ulp"
    ),
    consumes="isclose isfinite isinf isnan isnormal issubnormal signbit",
)

STATISTICS: Final = Table(
    moves={
        "an item becomes the result": "median median_low median_high mode",
        "items become items of the result": "multimode",
        "arguments become parts of the object": "LinearRegression LinearRegression: _make _replace",
        "parts become parts of the result": "LinearRegression: _asdict",
    },
    computes=(
        "correlation covariance fmean geometric_mean harmonic_mean kde kde_random linear_regression mean"
        " median_grouped pstdev pvariance quantiles stdev variance NormalDist NormalDist: *"
    ),
)


# ---- the classification of `itertools` and `functools`

ITERTOOLS: Final = Table(
    moves={
        "items become items of the result": (
            "batched chain combinations combinations_with_replacement compress cycle dropwhile filterfalse groupby"
            " islice pairwise permutations product takewhile tee zip_longest chain: from_iterable"
        ),
        "the argument becomes items of the result": "repeat",
        "items become arguments of the callback": "accumulate starmap",
    },
    computes="count",
)

FUNCTOOLS: Final = Table(
    moves={
        "items become arguments of the callback": "reduce",
        "arguments become parts of the object": "partial",
        "arguments become arguments of the callee": "partial: __call__",
    },
    computes="partialmethod",
    creates=(
        "cache Placeholder cmp_to_key lru_cache singledispatch total_ordering update_wrapper wraps cached_property"
        " singledispatchmethod singledispatchmethod: register partialmethod: _make_unbound_method"
        " cached_property: __set_name__"
    ),
)


# ---- the tables of all modules

TABLES: Final[dict[str, Table]] = {
    "builtins": BUILTINS,
    "operator": OPERATOR,
    "math": MATH,
    "itertools": ITERTOOLS,
    "functools": FUNCTOOLS,
    "collections": COLLECTIONS,
    "copy": COPY,
    "heapq": HEAPQ,
    "bisect": BISECT,
    "statistics": STATISTICS,
    "dataclasses": DATACLASSES,
    "contextlib": CONTEXTLIB,
    "enum": ENUM,
    "types": TYPES,
    "json": JSON,
    "string": STRING,
}
"""The tables by the name of the module that they are for."""
