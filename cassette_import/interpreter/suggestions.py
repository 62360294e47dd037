"""What a user may have meant by a name that is unknown: the known name that is most similar."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["similar_name", "suggestion"]


def similar_name(given: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to an unknown one; None if none is similar."""
    import difflib  # only messages need it

    return next(iter(difflib.get_close_matches(given, list(known), n=1)), None)


def suggestion(given: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name; empty if no known name is similar.

    >>> suggestion("profle", ["profile", "trace"]), suggestion("x", ["profile"])
    ('; did you mean profile?', '')
    """
    similar = similar_name(given, known)
    return f"; did you mean {similar}?" if similar else ""
