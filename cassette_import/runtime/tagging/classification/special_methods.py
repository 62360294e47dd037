"""The classification of special methods by name, where they do the same in all classes.

Containers have other rows for some of them in the table of their module.
"""

from __future__ import annotations

from typing import Final

from cassette_import.runtime.tagging.classification.table import ITSELF, Table

SPECIAL_METHODS: Final = Table(
    moves={ITSELF: "__iter__ __aiter__"},
    computes=(
        "__abs__ __add__ __radd__ __iadd__ __and__ __rand__ __iand__ __bytes__ __ceil__ __complex__ __divmod__"
        " __rdivmod__ __float__ __floor__ __floordiv__ __rfloordiv__ __index__ __int__ __invert__ __lshift__"
        " __rlshift__ __mod__ __rmod__ __mul__ __rmul__ __imul__ __neg__ __or__ __ror__ __ior__ __pos__ __pow__"
        " __rpow__ __round__ __rshift__ __rrshift__ __sub__ __rsub__ __isub__ __truediv__ __rtruediv__ __trunc__"
        " __xor__ __rxor__ __ixor__ __matmul__ __rmatmul__ __missing__ __getitem__ __setitem__ __buffer__"
        " __set__ __getattr__ __get__ __next__ __anext__ __reversed__ __copy__ __deepcopy__ __replace__ __setattr__"
        " __setstate__ __enter__ __aenter__ __reduce__ __reduce_ex__ __getstate__ __getnewargs__ __getnewargs_ex__"
        " __getattribute__ __new__ __init__ __call__"
    ),
    consumes=(
        "__bool__ __contains__ __len__ __length_hint__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__"
        " __instancecheck__ __subclasscheck__ __delattr__ __delete__ __delitem__ __del__ __exit__ __aexit__"
        " __sizeof__ __alloc__ __release_buffer__ __await__"
    ),
    writes="__repr__ __str__ __format__",
    creates=(
        "__class_getitem__ __dir__ __getformat__ __setformat__ __init_subclass__ __mro_entries__ __prepare__"
        " __set_name__ __signature__ __subclasses__ __subclasshook__ __new_member__"
        " __typing_subst__ __typing_prepare_subst__ __typing_unpacked_tuple_args__"
    ),
)
