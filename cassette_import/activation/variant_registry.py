"""All variants by their keys, so that hooks and overloads registered later reach them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from cassette_import.activation.variants import StackVariant, VariantKey
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.own_work import own_work
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.state import IN_USE, Activation
from cassette_import.runtime.variant import Family

if TYPE_CHECKING:
    from cassette_import.activation import earlier_holders
else:
    (earlier_holders,) = late("cassette_import.activation", "earlier_holders")


class Variants:
    """All variants by their keys."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.by_keys: dict[tuple[VariantKey, ...], StackVariant] = {}
        self._families: dict[tuple[VariantKey, ...], Family] = {}
        self._superseded: dict[tuple[VariantKey, ...], list[StackVariant]] = {}

    def of(self, keys: tuple[VariantKey, ...]) -> StackVariant:
        """The current variant for these keys."""
        found = self.by_keys.get(keys)
        if found is None:
            HIGHER_ORDER.add_subclasses()
            with self.lock, own_work():
                family = self._families.setdefault(keys, Family())
                found = self.by_keys.setdefault(keys, StackVariant(keys, family))
            if any(getattr(key.context_type, "names_earlier_holders", False) for key in keys):
                earlier_holders.warn_of_holders(found)  # its contexts are entered for the first time
        return found

    def refresh(self) -> None:
        """Take a new higher-order leaf into account."""
        with self.lock, own_work():
            for variant in self.by_keys.values():
                variant.refresh()

    def changed(self, context_type: type) -> list[Activation]:
        """Refresh variants after a hook or overload was registered; return the activations that need another one."""
        with self.lock, own_work():
            outdated = []
            for keys, variant in list(self.by_keys.items()):
                if not any(issubclass(key.context_type, context_type) for key in keys):
                    continue
                for superseded in self._superseded.get(keys, ()):
                    superseded.refresh()
                shape = variant.shape
                if variant.refresh():
                    del self.by_keys[keys]
                    self._superseded.setdefault(keys, []).append(variant)
                    variant.supersede(shape)
                    outdated += [item for item in set(IN_USE.values()) if item.variant is variant]
            return outdated


variants: Final = Variants()
HIGHER_ORDER.listeners.append(variants.refresh)
