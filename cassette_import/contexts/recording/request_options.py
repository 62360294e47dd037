"""The options of `Record` and `Replay` that concern requests, as they are given and as a recording contains them.

The names and their meaning are those of VCR.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

__all__ = ["LEFT_OUT", "NO_OPTIONS", "Names", "RequestOptions", "described_options", "listed", "options_of"]

Names: TypeAlias = Iterable[Any] | str
"""Names, or pairs of a name and its replacement; in one text, names are separated by ``+``."""

_NAME_OPTIONS: Final = ("filter_headers", "filter_query_parameters", "filter_post_data_parameters", "ignore_hosts")
"""The options that are lists of names. A recording contains them, so that a replay needs no options."""


class RequestOptions(NamedTuple):
    """The options, see `Record`."""

    filter_headers: Names = ()
    filter_query_parameters: Names = ()
    filter_post_data_parameters: Names = ()
    ignore_hosts: Names = ()
    ignore_localhost: bool = False
    before_record_request: Callable[[Any], Any] | str | None = None
    before_record_response: Callable[[Any], Any] | str | None = None


NO_OPTIONS: Final = RequestOptions()

LEFT_OUT: Final = object()
"""What stands for a part of a response that is not recorded."""


def described_options(options: RequestOptions) -> dict[str, Any]:
    """The options as a recording contains them. Functions are left out: they cannot be written."""
    found: dict[str, Any] = {
        name: [one if isinstance(one, str) else [one[0], None if callable(one[1]) else one[1]] for one in names]
        for name in _NAME_OPTIONS
        if (names := listed(getattr(options, name)))
    }
    if options.ignore_localhost:
        found["ignore_localhost"] = True
    return found


def options_of(header: Mapping[str, Any], given: RequestOptions) -> RequestOptions:
    """The given options, and those of a recording's header for options that are not given."""
    recorded = {
        name: header[name]
        for name in (*_NAME_OPTIONS, "ignore_localhost")
        if name in header and not getattr(given, name)
    }
    return given._replace(**recorded)


def listed(names: Names) -> list[Any]:
    """Names as a list."""
    return [name.strip() for name in names.split("+") if name.strip()] if isinstance(names, str) else list(names)
