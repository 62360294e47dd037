"""The classification of `dataclasses`, `contextlib`, `enum`, `json` and `string`.

Knows names; must not know rules.
"""

from __future__ import annotations

from typing import Final

from cassette_import.runtime.tagging.classification.table import Table

DATACLASSES: Final = Table(
    moves={
        "arguments become parts of the object": "Field field",
        "parts become parts of the result": "asdict astuple replace",
    },
    consumes="is_dataclass",
    creates="InitVar dataclass fields make_dataclass",
)

CONTEXTLIB: Final = Table(
    moves={
        "the managed value becomes the result": (
            "AbstractContextManager: __enter__ AbstractAsyncContextManager: __aenter__ AsyncExitStack:"
            " enter_async_context push_async_exit push_async_callback _create_async_exit_wrapper"
            " _create_async_cb_wrapper _push_async_cm_exit"
        ),
        "arguments become parts of the object": (
            "aclosing chdir closing nullcontext redirect_stderr redirect_stdout suppress"
        ),
    },
    consumes="ExitStack: close AsyncExitStack: aclose",
    creates=(
        "AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator AsyncExitStack ContextDecorator"
        " ExitStack asynccontextmanager contextmanager AsyncContextDecorator: _recreate_cm"
        " ContextDecorator: _recreate_cm"
    ),
)

ENUM: Final = Table(
    moves={
        "arguments become parts of the object": "Enum EnumDict EnumDict: __setitem__ __init__ update",
        "an item becomes the result": "EnumType: __getitem__ __call__",
    },
    computes="Flag IntFlag IntEnum StrEnum ReprEnum Flag: * IntFlag: * IntEnum: * StrEnum: * ReprEnum: *",
    writes="global_enum_repr global_flag_repr global_str bin show_flag_values",
    creates=(
        "EnumType EnumMeta EnumCheck FlagBoundary auto global_enum member nonmember pickle_by_enum_name"
        " pickle_by_global_name property unique verify Enum: * EnumCheck: * EnumType: * EnumMeta: * FlagBoundary: *"
        " EnumDict: *"
    ),
)

JSON: Final = Table(
    moves={"arguments become parts of the object": "JSONDecoder JSONEncoder"},
    computes="detect_encoding load loads JSONDecoder: decode raw_decode JSONEncoder: default",
    writes="dump dumps JSONEncoder: encode iterencode",
)

STRING: Final = Table(
    moves={"arguments become parts of the object": "Formatter Template"},
    computes="capwords Formatter: * Template: *",
)
