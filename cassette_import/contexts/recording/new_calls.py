"""Calls that a replay makes although they are not in its recording: new ones, and requests that are ignored.

An object from the recording has nothing behind it. A client, such as a session, is made when a new request needs it;
other objects cannot be.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.carried_requests import Carried
from cassette_import.contexts.recording.external_calls import run_in_external_call
from cassette_import.contexts.recording.record import Record
from cassette_import.contexts.recording.recording_context import RecordingContext
from cassette_import.contexts.recording.recording_file import Recording
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["NewCalls", "NoObject", "make_again", "make_real", "make_reals"]


class NoObject(Exception):
    """The object of this class comes from the recording, and cannot be made."""


class NewCalls:
    """Makes the calls that a recording lacks, and adds them to it.

    Parameters
    ----------
    context:
        The replay.
    recorder:
        Records the calls.
    recording:
        The recording, which may be empty.
    path:
        The file that the calls are added to. If it is not the file of the recording, it begins as a copy of this file.
    """

    def __init__(self, context: RecordingContext, recorder: Record, recording: Recording, path: str) -> None:
        self._context = context
        self._recording = recording
        self._path = path
        self.recorder = recorder
        self.live: set[int] = set()
        """The numbers of the proxies from the recording that have made new calls."""
        self._first_proxy = recorder.record_for(context, recording if recording.calls else None)
        if not recording.calls:
            recorder.stream(path, waits=True)

    @property
    def count(self) -> int:
        """How many calls were added."""
        return self.recorder.calls - len(self._recording.calls) if self.recorder.is_streaming else 0

    @hidden
    def make(
        self,
        what: list[Any],
        carried: Carried | None,
        made_by: Carried | None,
        call: Callable[..., Any],
        arguments: Any,
        keywords: Mapping[str, Any],
    ) -> Any:
        """Make a call and record it."""
        if not self.recorder.is_streaming:
            self._begin()
        return self.recorder.recorded(what, call, arguments, keywords, carried, made_by)

    def is_live(self, number: int) -> bool:
        """Whether the object behind the proxy of this number exists, and is used since a new call."""
        return number >= self._first_proxy or number in self.live

    def inform(self, run: Mapping[str, Any]) -> None:
        """Note what the command line runs, for the header of a new recording."""
        self.recorder.inform({**run, "output": ""})

    def forget(self) -> None:
        """Leave no file, if no call was made: the run has failed before."""
        self.recorder.forget()

    def close(self) -> None:
        """Write the last line, if there are new calls."""
        self.recorder.close()

    def _begin(self) -> None:
        """Prepare the file for the first new call: a line that was cut off is removed."""
        if os.path.abspath(self._path) != os.path.abspath(self._recording.path):
            shutil.copy(self._recording.path, self._path)
        with open(self._path, "rb+") as file:
            contents = file.read()
            file.truncate(contents.rfind(b"\n") + 1)
        self.recorder.stream(self._path)


def make_reals(*values: Any) -> None:
    """Make the objects behind all proxies in arguments; raise `NoObject` if one cannot be made."""
    for value in values:
        if proxies.is_proxy(value):
            make_real(value)
        elif isinstance(value, list | tuple):
            make_reals(*value)
        elif type(value) is dict:
            make_reals(*value.values())


def make_real(proxy: Any) -> Any:
    """The object behind a proxy, made now if it comes from the recording; raise `NoObject` if it cannot be made."""
    if proxies.real_of(proxy) is None:
        make = proxies.maker_of(proxy)
        if make is None:
            raise NoObject(type(proxy).__qualname__)
        proxies.change_proxy(proxy, real=run_in_external_call(make))
    return proxies.real_of(proxy)


def make_again(
    call: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any], assigned: Mapping[str, Any]
) -> Any:
    """Make a client or a request object as the program has made it, and with the attributes that it has assigned."""
    make_reals(arguments, keywords)
    made = call(*proxies.with_real_objects(arguments), **proxies.with_real_objects(dict(keywords)))
    for name, value in assigned.items():
        setattr(made, name, value)
    return made
