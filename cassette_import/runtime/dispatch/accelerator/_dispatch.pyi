from collections.abc import Callable
from contextvars import ContextVar
from types import CodeType, FunctionType
from typing import Any, Literal

from cassette_import.runtime.state import Activation
from cassette_import.runtime.variant import Family

def configure(
    active: ContextVar[Any],
    activation_type: type[Activation],
    hook_activation: Callable[[Activation, int], Activation],
    flags: dict[str, Any],
    name_of_metadata: str,
    /,
) -> bool: ...
def note_change() -> None: ...
def tell_of_texts(function: Callable[[str, CodeType | None, Any], Any], modules: set[str], /) -> bool: ...
def set_code(function: FunctionType, code: CodeType, /) -> None: ...
def specialised_calls(function: FunctionType, /) -> FunctionType: ...
def note_metadata() -> None: ...
def unobserved(work: Callable[..., Any], /, *arguments: Any) -> Any: ...
def filter_observers() -> None: ...
def set_in_frames(name: str, value: object, frames: tuple[object, ...], /) -> None: ...

class Suspension: ...

def suspend(activation: Activation, level: int, /) -> Suspension: ...
def resume(suspension: Suspension, /) -> None: ...

class ActiveFamilies:
    def __contains__(self, family: object, /) -> bool: ...

class InstancesOf:
    types: tuple[type, ...]
    def __init__(self, types: tuple[type, ...], /) -> None: ...
    def __contains__(self, value: object, /) -> bool: ...

class NoTargets:
    def __init__(self, functions: frozenset[FunctionType], names: frozenset[str], /) -> None: ...
    def __contains__(self, callee: object, /) -> bool: ...

class SuspendedCall:
    suspended: tuple[Callable[..., Any], int]
    def __init__(self, function: Callable[..., Any], level: int, /) -> None: ...
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...

class AcceleratedEvent:
    def __init__(
        self,
        slowly: Callable[..., Any],
        variant: object,
        enter: Callable[..., Any],
        leave: Callable[..., Any],
        fail: Callable[..., Any],
        /,
    ) -> None: ...
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...

class EveryCallee:
    def __init__(self, event: Callable[..., Any], variant: object, elsewhere: Callable[[Any], Any], /) -> None: ...
    def __call__(self, callee: Any, /) -> Any: ...

class OverloadEvent:
    def __init__(
        self,
        event: Callable[..., Any],
        variant: object,
        target: Any,
        level: int,
        choose: Callable[[Any, tuple[Any, ...]], tuple[Callable[..., Any] | None, int]],
        /,
    ) -> None: ...
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...

class Learn:
    is_only_variant: bool
    def __init__(
        self,
        slowly: Callable[..., Any],
        given_up: dict[str, Callable[[Any], Any]],
        targets: frozenset[int],
        held: dict[str, Any],
        /,
    ) -> None: ...
    def __call__(self, callee: Any, key: str, receiver: Any = None, cleared: None = None, /) -> Any: ...
    def remember(
        self, callee: Any, event: Callable[..., Any] | None, binds: Literal["receiver", "callee"] | None, /
    ) -> None: ...
    def forget(self) -> None: ...

class SplittingCall:
    def __init__(self, hook: Callable[..., Any], slowly: Callable[..., Any], leading: int, /) -> None: ...
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...

class PlainCallee:
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...

class PlainInterception:
    def __init__(
        self,
        slowly: Callable[[Any], Any],
        variant: object,
        event: Callable[..., Any],
        targets: frozenset[int],
        names_of_targets: frozenset[str],
        is_call: bool,
        tables: tuple[Any, ...],
        /,
    ) -> None: ...
    def __call__(self, callee: Any, /) -> Any: ...

class Interception:
    def __init__(self, kind: int, /) -> None: ...
    def __call__(self, callee: Any, /) -> Any: ...

_Kinds = tuple[frozenset[int], frozenset[int], Callable[[Any], bool]]

class Unpacking:
    def __init__(self, slowly: Callable[..., Any], kinds_of: Callable[[Any], _Kinds | None], /) -> None: ...
    def __call__(self, value: Any, spec: Any, /) -> Any: ...

class Steps:
    def __iter__(self) -> Steps: ...
    def __next__(self) -> Any: ...

class AsyncLoop:
    def __init__(
        self,
        slowly: Callable[[Any], Any],
        kinds_of: Callable[[Any], Any],
        mode: Literal["events"],
        later: Callable[[Any], Any],
        unpack: None,
        claimed: Callable[[Any], Any],
        /,
    ) -> None: ...
    def __call__(self, iterable: Any, /) -> Any: ...

class Loop:
    def __init__(
        self,
        slowly: Callable[..., Any],
        kinds_of: Callable[[Any], _Kinds | None],
        mode: Literal["events", "here", "splat", "late splat", "delegate"] = "events",
        later: Callable[[Any], tuple[Any, Callable[[], Any]]] | None = None,
        unpack: Callable[..., Any] | None = None,
        claimed: Callable[[Any, Any], Any] | None = None,
        /,
    ) -> None: ...
    def __call__(self, iterable: Any, spec: Any = None, /) -> Any: ...
    def steps(self, iterator: Any, spec: Any, /) -> Steps | None: ...

class UnlessTagged:
    def __init__(self, slowly: Callable[..., Any], /) -> None: ...
    def __call__(self, *values: Any) -> Any: ...

class PlainSite:
    def __init__(
        self,
        slowly: Callable[..., Any],
        interception: PlainInterception,
        given_up: dict[str, Any],
        cell: dict[str, Any],
        name: str,
        /,
    ) -> None: ...
    def __call__(self, callee: Any, key: str | None = None, receiver: Any = None, /) -> Any: ...

class EntryMethod:
    def __init__(
        self,
        slowly: Callable[..., Any],
        is_entry: bool,
        types: tuple[type[Activation], type[Any], type[Family]],
        in_use: tuple[dict[Activation, None], dict[int, Any], dict[str, Any]],
        prepared: tuple[object, dict[str, Any], object],
        is_any_active: str,
        /,
    ) -> None: ...
    def __call__(self, *arguments: Any) -> Any: ...

class WatchedSource:
    activation: Activation
    callee: Any
    iterator: Any
    kept: list[Any] | None
    has_key: bool
    rest: Any
    def __iter__(self) -> WatchedSource: ...
    def __next__(self) -> Any: ...

class WatchedCallback:
    activation: Activation
    callee: Any
    function: Any
    sources: tuple[Any, ...]
    rest: Any
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...
