"""When a recorded call is the same as a call of this run: its function, its arguments, and the request it carries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cassette_import.contexts.recording.call_text import is_same_call
from cassette_import.contexts.recording.carried_requests import Carried, decoded_request
from cassette_import.contexts.recording.recording_file import Call
from cassette_import.contexts.recording.requests_by_function import FUNCTIONS, family_of_title

if TYPE_CHECKING:
    from cassette_import.contexts.recording.matching import Matcher, RequestMatcher

__all__ = ["SameCalls"]


class SameCalls:
    """Compares the calls of this run with recorded ones.

    Parameters
    ----------
    match_on:
        Which parts of requests are compared, see `Matcher`. None compares all arguments.

    Raises
    ------
    ValueError
        If there is no such part.
    """

    def __init__(self, match_on: Iterable[str | RequestMatcher] | None) -> None:
        self._matcher: Matcher | None = None
        if match_on is not None:
            # Imported here, because most replays compare all arguments.
            from cassette_import.contexts.recording.matching import Matcher

            self._matcher = Matcher(match_on)

    def is_same(self, call: Call, what: list[Any], encoded: Any, carried: Carried | None) -> bool:
        """Whether a recorded call is this one."""
        if carried is None and not call.is_filtered:
            return is_same_call(call.what, call.arguments, what, encoded)
        if self._matcher is not None and carried is not None and carried.is_sent and call.encoded_request is not None:
            return _is_same_function(call.what, what) and self._matcher.is_match(
                carried.request, decoded_request(call.encoded_request)
            )
        if call.is_filtered:
            return (
                call.what == what
                and carried is not None
                and call.encoded_request is not None
                and decoded_request(call.encoded_request) == carried.request
            )
        if not is_same_call(call.what, call.arguments, what, encoded):
            return False
        # The arguments do not show what a request object contains.
        return (
            carried is None or call.encoded_request is None or decoded_request(call.encoded_request) == carried.request
        )


def _is_same_function(what: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two calls have the same kind of result. The numbers of clients do not matter."""
    if what[:2] == other[:2]:
        return True
    family = _family(what)
    return family != "" and family == _family(other)


def _family(what: Sequence[Any]) -> str:
    parameters = FUNCTIONS.get(what[1])
    return family_of_title(what[1]) if parameters is None else parameters.family
