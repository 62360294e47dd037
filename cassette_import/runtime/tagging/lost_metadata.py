"""What happens where a leaf loses metadata: a line in the context's report, or an error.

A leaf that was given tagged values either moves them, computes by a rule, cannot depend on them, or loses their
metadata. A context type says by its attribute `lost` what a loss is: `"ignore"`, `"report"` or `"error"`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from cassette_import.errors import NotOverdubbable
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.call_sites import CallSite, nearest_site
from cassette_import.runtime.tagging.classification import CONSUMES, CREATES, classification

LOSSES: Final = "lost metadata"
"""The attribute of a context that has its losses. It is no identifier, so no class of contexts uses the same name."""


@dataclass
class Loss:
    """A leaf that has lost metadata: where it was called first, and how often it was called."""

    function: Any
    site: CallSite
    count: int = 0


def cannot_lose(function: Any) -> bool:
    """Whether the result of a leaf does not depend on the values that it gets, or only as text that is written."""
    return function is str or classification(function) in (CONSUMES, CREATES)


def leaf_name(function: Any) -> str:
    """The name of a leaf with its module, for messages.

    >>> leaf_name(list.append), leaf_name(len)
    ('list.append', 'len')
    """
    if isinstance(function, str):
        return function
    name = str(getattr(function, "__qualname__", None) or getattr(function, "__name__", type(function).__qualname__))
    module = getattr(function, "__module__", None)
    if not isinstance(module, str) or module == "builtins" or name.startswith("<"):
        return name
    return f"{module.lstrip('_')}.{name}"


@hidden
def lose(context: Any, function: Any) -> None:
    """A leaf loses metadata of a context: count it, or raise an error."""
    if context.lost == "error":
        site = nearest_site(context._entered_modules)
        error = NotOverdubbable(
            f"the metadata of {type(context).__qualname__} is lost in {leaf_name(function)}: no rule is known for it, "
            f"at {site}: {site.source}\n"
            "Register an overload for the function or define a method `computed`; if it is Python, install its package"
        )
        raise getattr(context, "refuse", _itself)(error)
    losses: dict[int, Loss] = losses_of(context)
    known = losses.get(id(function))
    if known is None:
        known = losses[id(function)] = Loss(function, nearest_site(context._entered_modules))
    known.count += 1


@hidden
def lose_key(key: Any, metas: Any) -> None:
    """A number is stored as the key of a dict, and loses its metadata.

    Integers are not affected: they count things, and dicts are indexed by them.
    """
    if not isinstance(key, int):
        lose_number(metas, "the key of a dict")


@hidden
def lose_number(metas: Any, place: str, is_reported: bool = False) -> None:
    """A place without metadata gets a value: an error in contexts for which a loss is an error.

    If `is_reported`, contexts that report losses report this one.
    """
    for tag in metas:
        if (tag.lost == "error" or (is_reported and tag.lost == "report")) and tag.context is not None:
            lose(tag.context, place)


def _itself(error: NotOverdubbable) -> NotOverdubbable:
    return error


def losses_of(context: Any) -> dict[int, Loss]:
    """What leaves have lost in a context and its copies, by identity of the leaf."""
    while context._copy_of is not None:
        context = context._copy_of
    found: dict[int, Loss] = vars(context).setdefault(LOSSES, {})
    return found
