"""The classification of `builtins` and `types`.

Exceptions are not listed: the arguments of an exception become the items of its attribute `args`.
"""

from __future__ import annotations

from typing import Final

from cassette_import.runtime.tagging.classification.table import Table

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
