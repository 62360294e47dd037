"""The kinds of activations: entered ones, those that threads, tasks and generators hold, and those in which
hooks run.
"""

from __future__ import annotations

from typing import Any, ClassVar

from cassette_import.activation.tagging_modules import carry_values_between_threads, tag_scopes
from cassette_import.activation.variants import StackVariant, VariantKey, variants
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.records import Protocol
from cassette_import.runtime.state import IN_USE, INACTIVE, Activation, forget_hook_activations, release
from cassette_import.runtime.variant import ActiveVariant
from cassette_import.specialization.registry import registry


class HasKey(Protocol):
    """What a variant needs of a context."""

    def _variant_key(self) -> VariantKey:
        """What decides how functions are specialised for the context."""


def variant_of(contexts: tuple[HasKey, ...]) -> StackVariant | None:
    """The variant of a stack of contexts; None if it is empty."""
    return variants.of(tuple([context._variant_key() for context in contexts])) if contexts else None


class StackActivation(Activation):
    """An activation of at least one context, or of the contexts outside one whose hook runs."""

    __slots__ = ()

    def suspend(self, level: int) -> Activation:
        """Make the activation in which the hooks and overloads of context `level` run: the contexts outside it.

        Another thread may do the same meanwhile, where they share an activation, or forget the hook activations,
        because it assigns another variant to this one.
        """
        contexts = self.contexts[:level]
        variant = variant_of(contexts)
        suspended = self._suspended()
        made = HookActivation(
            contexts, variant, suspended.roots, outer=suspended, suspended=suspended, tags=suspended.tags[:level]
        )
        return self._keep(level, made)

    def without(self, left_out: tuple[int, ...]) -> Activation:
        """Make the activation in which module levels run: that of the contexts that are not `left_out`."""
        contexts = tuple([context for number, context in enumerate(self.contexts) if number not in left_out])
        tags = tuple([tag for number, tag in enumerate(self.tags) if number not in left_out]) if contexts else ()
        made = ModuleLevelActivation(contexts, variant_of(contexts), self.roots, outer=self._suspended(), tags=tags)
        return self._keep(left_out, made)

    def _keep(self, key: int | tuple[int, ...], made: Activation) -> Activation:
        """Note an activation inside this one, as in use as long as this one is, unless another thread was first."""
        if made.variant is not None:
            made.variant.family.active += 1  # functions that are specialised meanwhile include this variant
        refresh(made)
        known = self.hook_activations
        if known is None:
            known = self.hook_activations = {}
        return known.setdefault(key, made)

    def _suspended(self) -> Activation:
        """What hook activations refer to as the activation in which the hook was called."""
        return self


class EnteredActivation(StackActivation):
    """The activation of a context that a thread or task has entered."""

    __slots__ = ()

    def end_tags(self, result: Any) -> None:
        """End the tags of this entry. Their store keeps what belongs to its result."""
        tag_scopes().note_exit(self, result)


class ReadyActivation(StackActivation):
    """The activation of a context whose variant and roots are known, because the same code has entered its type before.

    `Context.__enter__` sets the attributes itself: it has no time for another frame. There are no tags, and the context
    reports no escapes.
    """

    __slots__ = ()
    __init__ = object.__init__  # takes no frame


class HeldActivation(StackActivation):
    """An activation that is in use as long as an object refers to it: a thread, job, task, generator or coroutine."""

    __slots__ = ()

    def __init__(
        self, contexts: tuple[Any, ...], variant: ActiveVariant, roots: frozenset[str], tags: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(contexts, variant, roots, tags=tags)
        variant.family.active += 1
        IN_USE.hold(self)

    def _suspended(self) -> Activation:
        """A copy: only what runs in the held activation itself may keep it alive."""
        return EnteredActivation(self.contexts, self.variant, self.roots, tags=self.tags)

    @hidden
    def __del__(self) -> None:
        release(self)
        forget_hook_activations(self)
        IN_USE.remove(self)


class InheritedActivation(HeldActivation):
    """What a thread, job or task has inherited. It has the tags of the activation in which it was started."""

    __slots__ = ()
    is_inherited: ClassVar[bool] = True

    def __init__(
        self, contexts: tuple[Any, ...], variant: ActiveVariant, roots: frozenset[str], tags: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(contexts, variant, roots, tags)
        for tag in tags:
            if tag is not None:
                tag.depth += 1

    @hidden
    def __del__(self) -> None:
        for tag in self.tags:
            if tag is not None:
                tag.depth -= 1
        HeldActivation.__del__(self)


class HookActivation(StackActivation):
    """What is active while a hook or overload runs. It is in use as long as an object refers to it."""

    __slots__ = ()

    @hidden
    def __del__(self) -> None:
        release(self)


class ModuleLevelActivation(HookActivation):
    """What is active while the module level of an import runs, if some active context has no `module_level`.

    `outer` is the activation in which the import began.
    """

    __slots__ = ()
    is_module_level: ClassVar[bool] = True


def without_module_level(activation: Activation) -> tuple[int, ...]:
    """The numbers of the contexts that have no `module_level`."""
    return tuple([number for number, context in enumerate(activation.contexts) if not context.module_level])


def module_level_activation(activation: Activation) -> Activation:
    """What is active while a module level runs that is imported in an activation."""
    left_out = without_module_level(activation)
    if not left_out or not isinstance(activation, StackActivation):
        return activation
    known = activation.hook_activations
    found = None if known is None else known.get(left_out)
    return activation.without(left_out) if found is None else found


def held_activation(
    contexts: tuple[Any, ...],
    roots: frozenset[str],
    tags: tuple[Any, ...] = (),
    kind: type[HeldActivation] = HeldActivation,
) -> Activation:
    """An activation that is in use as long as an object refers to it, or until its `end`."""
    variant = variant_of(contexts)
    if variant is None:
        return INACTIVE
    made = kind(contexts, variant, roots, tags)
    refresh(made)
    return made


def inherited_activation(activation: Activation) -> Activation:
    """What a thread, job or task inherits that is started in an activation: the contexts that have `inherit`."""
    if activation.variant is None:
        return INACTIVE
    if activation.is_inherited:
        return activation
    inherited = activation.inherited
    if inherited is None:
        numbers = [number for number, context in enumerate(activation.contexts) if context.inherit]
        contexts = tuple([activation.contexts[number] for number in numbers])
        tags = tuple([activation.tags[number] for number in numbers]) if activation.tags else ()
        if any(tags):
            carry_values_between_threads()
        inherited = activation.inherited = held_activation(contexts, activation.roots, tags, InheritedActivation)
    return inherited


def refresh(activation: Activation) -> None:
    """Assign the current variant of its contexts to an activation in use, and instrument every function for it.

    A context is entered in two steps: its variant is chosen, then the activation is noted as in use. Between the two,
    another thread may register a hook of a new kind, or specialise functions for the variants that were in use. From
    the second step on, other threads take this activation into account.
    """
    variant = activation.variant
    if variant is None:
        return
    if variants.of(variant.keys) is not variant:
        _replace_variant(activation)
    elif variant.instrumented_at.get(activation.roots) != registry.generation:
        registry.instrument(variant, activation.roots)


def _replace_variant(activation: Activation) -> None:
    """Assign the variant that its contexts have now to an activation in use."""
    new = variant_of(activation.contexts)
    if new is None:
        return
    new.family.active += 1
    if new.instrumented_at.get(activation.roots) != registry.generation:
        registry.instrument(new, activation.roots)  # while functions are still entered for the old one
    old = activation.family
    if old is None:  # the activation was left meanwhile
        new.family.active -= 1
    else:
        old.active -= 1
        activation.variant, activation.family = new, new.family
        forget_hook_activations(activation)
