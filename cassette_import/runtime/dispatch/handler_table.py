"""Handler tables: all that one context type does at one hook point."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cassette_import.interpreter.late_modules import late
from cassette_import.runtime.dispatch.hook_points import hook_points_of
from cassette_import.runtime.dispatch.known_calls import KnownCalls, depends_on_types
from cassette_import.runtime.dispatch.overload_resolution import Handler, choose

if TYPE_CHECKING:
    from cassette_import.runtime.dispatch import unfitting_handlers
else:
    (unfitting_handlers,) = late("cassette_import.runtime.dispatch", "unfitting_handlers")


class Table:
    """The method and the handlers of a context type at one hook point, with those of its bases."""

    def __init__(self, context_type: type, kind: str) -> None:
        points = hook_points_of(context_type, (kind,))
        self.kind = kind
        self.methods: list[Callable[..., Any]] = [point.method for point in points if point.method]
        """The methods of the type and its bases; the first one is called, and may call the others."""
        self.method: Callable[..., Any] | None = self.methods[0] if self.methods else None
        self.handlers: list[Handler] = [
            handler for point in points for handler in point.handlers if _fits_type(handler, context_type)
        ]
        self.targets: dict[int, Any] = {id(target): target for handler in self.handlers for target in handler.targets}
        self._known = KnownCalls()
        self._misses: dict[tuple[object, ...], bool] = {}
        self.untargeted = [handler for handler in self.handlers if not handler.targets]
        self._by_target: dict[int, list[Handler]] = {
            key: [
                handler for handler in self.handlers if not handler.targets or any(t is target for t in handler.targets)
            ]
            for key, target in self.targets.items()
        }

    @property
    def sees_everything(self) -> bool:
        return self.method is not None or bool(self.untargeted)

    def __bool__(self) -> bool:
        return self.method is not None or bool(self.handlers)

    def find(
        self,
        context: Any,
        function: Any,
        arguments: tuple[Any, ...],
        keywords: Any,
        middle: Any = None,
        is_final: bool = True,
    ) -> Callable[..., Any] | None:
        """The registered handler for a call, or None; the method does not count.

        If it is not final, the same is asked again where there is none.
        """
        candidates = self._by_target.get(id(function), self.untargeted)
        if not candidates:
            return None
        is_choice = len(candidates) > 1 or candidates[0].is_typed
        may_be_known = is_choice and not keywords and candidates is not self.untargeted
        if may_be_known:
            key = id(function), id(type(middle)), *[id(type(argument)) for argument in arguments]
            known = self._known.find(key)
            if known is not None:
                return None if known[0] is None else known[0].call
        chosen = self._choose(candidates, context, function, arguments, keywords, middle)
        if chosen is None and candidates is not self.untargeted:
            is_counted = is_final and self._note_miss(candidates, len(arguments), keywords)
            may_be_known = may_be_known and is_final and not is_counted
        if may_be_known:
            self._known.keep(key, chosen, candidates, (middle, *arguments))
        return None if chosen is None else chosen.call

    def _choose(
        self,
        candidates: list[Handler],
        context: Any,
        function: Any,
        arguments: tuple[Any, ...],
        keywords: Any,
        middle: Any,
    ) -> Handler | None:
        """The most specific of some handlers for a call."""
        count = len(arguments)
        matching = [
            one
            for one in candidates
            if one.fits(count, keywords) and (not one.is_typed or one.admits(context, function, middle, arguments))
        ]
        if not matching:
            return None
        chosen = matching[0] if len(matching) == 1 else choose(matching, count)
        chosen.is_applied = True
        return chosen

    def _note_miss(self, candidates: list[Handler], count: int, keywords: Any) -> bool:
        """No handler has matched a call of a target. Return whether further ones of this form are counted."""
        form = id(candidates), count, *keywords
        is_counted = self._misses.get(form)
        if is_counted is None:
            for handler in candidates:
                handler.is_reached = True
        if is_counted is not False:
            is_counted = self._misses[form] = unfitting_handlers.note_miss(candidates, count, keywords)
        return is_counted

    def depends_on_types(self, target: Any, arguments: tuple[Any, ...]) -> bool:
        """Whether calls of a target with arguments of the same exact types have the same handler, whatever happens."""
        candidates = self._by_target.get(id(target), self.untargeted)
        return depends_on_types(candidates, map(type, arguments), of_abstract_classes=False)

    def only_handler(self, target: Any) -> Handler | None:
        """The handler of a target, if there is only one, and it takes arguments of any type."""
        found = self._by_target.get(id(target), [])
        return found[0] if len(found) == 1 and not found[0].is_typed and not found[0].needed_names else None


def _fits_type(handler: Handler, context_type: type) -> bool:
    return handler.context_types is None or any(issubclass(context_type, item) for item in handler.context_types)
