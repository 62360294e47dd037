"""The accelerator of dispatch: an optional extension in C that suspends contexts while it runs hooks and overloads,
looks up the active context at events while nothing is tagged, and enters and leaves contexts.

Dispatch works the same without it, and slower.
"""

from __future__ import annotations

from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.interpreter import observers
from cassette_import.interpreter.extensions import extension, problem_of
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE, Activation, hook_activation

if TYPE_CHECKING:
    from collections.abc import Callable

    from cassette_import.runtime.dispatch.accelerator._dispatch import (
        AcceleratedEvent,
        ActiveFamilies,
        AsyncLoop,
        EntryMethod,
        EveryCallee,
        InstancesOf,
        Interception,
        Learn,
        Loop,
        NoTargets,
        OverloadEvent,
        PlainInterception,
        PlainSite,
        SplittingCall,
        Steps,
        SuspendedCall,
        Suspension,
        UnlessTagged,
        Unpacking,
        WatchedCallback,
        WatchedSource,
    )

__all__ = ["DISPATCH", "AcceleratedDispatch"]

_VERSION: Final = 15
"""Of the sources in C: another one whenever the extension and the modules in Python have to fit each other anew."""


def _note_nothing() -> None:
    """Without the extension, nothing is kept."""


class AcceleratedDispatch:
    """The extension, and why it is not used.

    Attributes
    ----------
    is_used:
        Whether hooks and overloads that are bound from now on use it, see `choose`.
    suspending:
        `suspend(activation, level)`, or None if it is not used; and what takes its result, or else the token of the
        context variable.
    set_in_frames:
        `set_in_frames(name, value, frames)` sets a variable that is None in all frames of all threads, and in the
        stacks of some other frames; None without the extension.
    tell_of_texts:
        Have a function told of the texts that modules of some names give to `compile`, `exec` and `eval`.
    set_code, specialised_calls:
        See `runtime.dispatch.hook_functions`; None without the extension.
    note_change:
        To be called whenever a variant has got other hooks: what the extension knows of it is not valid any more.
    note_metadata:
        To be called when the flag has been made true which says that there is metadata.
    reason:
        Why it is not used; empty if it is.
    switches_variables:
        Whether it found out how to switch the variables of a context as a whole; if not, it is less quick.
    """

    is_used: bool
    suspending: tuple[Callable[[Activation, int], Any] | None, Callable[[Any], None]]
    AcceleratedEvent: type[AcceleratedEvent]
    ActiveFamilies: type[ActiveFamilies]
    AsyncLoop: type[AsyncLoop]
    EntryMethod: type[EntryMethod]
    EveryCallee: type[EveryCallee]
    InstancesOf: type[InstancesOf]
    Interception: type[Interception]
    Learn: type[Learn]
    Loop: type[Loop]
    NoTargets: type[NoTargets]
    OverloadEvent: type[OverloadEvent]
    PlainInterception: type[PlainInterception]
    PlainSite: type[PlainSite]
    SplittingCall: type[SplittingCall]
    Steps: type[Steps]
    SuspendedCall: type[SuspendedCall]
    UnlessTagged: type[UnlessTagged]
    Unpacking: type[Unpacking]
    WatchedCallback: type[WatchedCallback]
    WatchedSource: type[WatchedSource]
    set_in_frames: Callable[[str, object, tuple[object, ...]], None] | None = None
    set_code: Callable[[FunctionType, CodeType], None] | None = None
    tell_of_texts: Callable[[Callable[[str, CodeType | None, Any], Any], set[str]], bool] | None = None
    specialised_calls: Callable[[FunctionType], FunctionType] | None = None
    suspend: Callable[[Activation, int], Suspension]
    resume: Callable[[Suspension], None]

    def __init__(self) -> None:
        self.switches_variables = False
        self.note_change: Callable[[], None] = _note_nothing
        self.note_metadata: Callable[[], None] = _note_nothing
        found = extension(f"{__name__}._dispatch")
        self.reason = found if isinstance(found, str) else self.use(found)
        self.choose(not self.reason)

    def use(self, module: ModuleType) -> str:
        """Take the contents of the extension; return why it cannot be used, or an empty text."""
        if problem := problem_of(module, _VERSION):
            return problem
        self.switches_variables = module.configure(ACTIVE, Activation, hook_activation, FLAGS, METADATA_EXISTS)
        self.OverloadEvent, self.SuspendedCall = module.OverloadEvent, module.SuspendedCall
        self.AcceleratedEvent, self.EveryCallee = module.AcceleratedEvent, module.EveryCallee
        self.Learn, self.SplittingCall = module.Learn, module.SplittingCall
        self.Interception, self.PlainInterception = module.Interception, module.PlainInterception
        self.PlainSite, self.Steps = module.PlainSite, module.Steps
        self.Loop, self.Unpacking, self.UnlessTagged = module.Loop, module.Unpacking, module.UnlessTagged
        self.AsyncLoop = module.AsyncLoop
        self.EntryMethod, self.ActiveFamilies = module.EntryMethod, module.ActiveFamilies
        self.InstancesOf, self.NoTargets = module.InstancesOf, module.NoTargets
        self.WatchedCallback, self.WatchedSource = module.WatchedCallback, module.WatchedSource
        self.note_change, self.note_metadata = module.note_change, module.note_metadata
        self.suspend, self.resume = module.suspend, module.resume
        self.set_in_frames = module.set_in_frames
        observers.use_extension(partial(module.unobserved), partial(module.filter_observers))
        self.set_code, self.specialised_calls = module.set_code, module.specialised_calls
        self.tell_of_texts = module.tell_of_texts
        return ""

    def unless_tagged(self, helper: Callable[..., Any]) -> Callable[..., Any]:
        """A helper of rewritten code that returns its last argument as long as there is no metadata anywhere."""
        return helper if self.reason else self.UnlessTagged(helper)

    def choose(self, is_used: bool) -> None:
        """Set whether the extension is used, which is there if it is."""
        self.is_used = is_used
        self.suspending = (self.suspend, self.resume) if is_used else (None, ACTIVE.reset)


DISPATCH: Final = AcceleratedDispatch()
