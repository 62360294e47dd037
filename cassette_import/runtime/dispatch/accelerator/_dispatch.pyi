from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Literal

from cassette_import.runtime.state import Activation

def configure(
    active: ContextVar[Any],
    activation_type: type[Activation],
    hook_activation: Callable[[Activation, int], Activation],
    /,
) -> bool: ...

class Suspension: ...

def suspend(activation: Activation, level: int, /) -> Suspension: ...
def resume(suspension: Suspension, /) -> None: ...

class SuspendedCall:
    suspended: tuple[Callable[..., Any], int]
    def __init__(self, function: Callable[..., Any], level: int, /) -> None: ...
    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...

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
