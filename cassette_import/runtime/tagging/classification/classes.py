"""The classification of `dataclasses`, `contextlib`, `enum`, `json` and `string`."""

from __future__ import annotations

from typing import Final

from cassette_import.runtime.tagging.classification.table import Table

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
