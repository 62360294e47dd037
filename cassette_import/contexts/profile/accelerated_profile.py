"""The profile whose hooks are in C, which `Profile` makes where there is the accelerator."""

from __future__ import annotations

from typing import Any

from cassette_import.contexts.profile.call_tree import ThreadTree, root_of
from cassette_import.contexts.profile.context import QUICKEST, Profile
from cassette_import.contexts.profile.statistics import Costs, costs_of
from cassette_import.interpreter.records import cast
from cassette_import.kits.calls.accelerator import ACCELERATOR
from cassette_import.kits.events import AcceleratedHooks
from cassette_import.rewriting.events import Events


class _AcceleratedProfile(Profile, events=Events.CALLS):
    """A profile whose hooks are in C."""

    __slots__ = ("recorder",)  # in place of the property: the interpreter specialises the loads of slots
    recorder: Any

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.recorder = ACCELERATOR.Recorder(
            self._threads, self.tree_of_this_thread, self.paths.node_below, self._leave_node, self._other_clock()
        )
        self.recorder.follow_with(self, self.paths.node_of_body, self.leave_body)
        self.follow_body = self.recorder.follow  # type: ignore[method-assign]  # a frame less
        self.follow_expression = self.recorder.follow_expression

    @classmethod
    def _accelerated_hooks(cls) -> AcceleratedHooks:
        """What call sites call: methods of recorders."""
        recorder = ACCELERATOR.Recorder
        return AcceleratedHooks(recorder.enter, recorder.leave, recorder.fail)

    @property
    def announced(self) -> int:
        """See `Profile`."""
        thread: int = self.recorder.announced
        return thread

    @announced.setter
    def announced(self, thread: int) -> None:
        self.recorder.announced = thread

    def event_costs(self) -> Costs:
        """What events add to the measured times."""
        return costs_of(_AcceleratedProfile, is_in_c=True)

    def forked(self) -> None:
        """Start with empty trees."""
        self._compiling_time.forked()
        self._threads.clear()
        self.recorder.forget()

    def _new_tree(self, name: str) -> ThreadTree:
        """The tree of a thread with this name."""
        root = ACCELERATOR.Node(*root_of(name))
        return cast(ThreadTree, ACCELERATOR.Tree(name, root, self.subtracts_overhead))


_AcceleratedProfile.__name__ = _AcceleratedProfile.__qualname__ = Profile.__name__  # reports name what was asked for
_AcceleratedProfile.__module__ = Profile.__module__
QUICKEST.append(_AcceleratedProfile)
