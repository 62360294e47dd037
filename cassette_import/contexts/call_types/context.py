"""`CallTypes`: which types of arguments and results the calls of a program have, at each call site.

The call site is where the frame stands that a hook is called from. Each thread writes into tables of its own,
without a lock; they are put together afterwards, in `call_types_report` and `call_types_stubs`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from threading import get_ident
from types import FrameType
from typing import Any, ClassVar, Final

from cassette_import import Context, Events
from cassette_import.contexts.call_types import report
from cassette_import.contexts.call_types.sites import Outcome, Shape, Site
from cassette_import.contexts.call_types.stubs import stubs
from cassette_import.contexts.common.function_names import described
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.text import text_writer

__all__ = ["CallTypes"]

_SEQUENCES: Final = frozenset({list, set, frozenset})
_ELEMENTS: Final = 10
_DEPTH: Final = 3
_OUTCOMES: Final = 100
_called_from: Final = sys._getframe


class CallTypes(Context, events=Events.CALLS):
    """Finds out the types of arguments and results at each call site.

    Parameters
    ----------
    limit:
        How many call sites the list on the terminal shows. Files hold all of them.
    leaves:
        Whether calls of functions that are not written in Python are listed as well.
    module:
        The module to print stubs of. If it is not given, those of all overdubbed modules.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import install, overdub
    >>> with install("colorsys"):
    ...     types = CallTypes(module="colorsys")
    ...     _ = overdub(types, colorsys.hls_to_rgb, 0.1, 0.2, 1)
    >>> print(types.stubs()["colorsys"])
    def _v(m1: float, m2: float, hue: float) -> float: ...
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True

    def __init__(self, *, limit: int = 30, leaves: bool = False, module: str | None = None) -> None:
        super().__init__()
        if isinstance(limit, bool) or not isinstance(limit, int):
            raise ValueError(f"limit is a number of call sites, not {limit!r}")
        self._limit = limit
        self._leaves = leaves
        self._module = module
        self._threads: dict[int, dict[Any, Site]] = {}
        self.types: dict[int, type] = {}
        """The types that shapes name."""
        self._simple: set[int] = set()  # of those without elements that matter

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Note what a call was given, and what it gave."""
        frame = _called_from(1)
        self._note(self._site(frame, frame.f_lasti, f), args, kwargs, False, result)

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Note what a call was given, and what it raised."""
        frame = _called_from(1)
        traceback = exception.__traceback__
        # The frame itself may stand in the handler by now.
        lasti = traceback.tb_lasti if traceback is not None and traceback.tb_frame is frame else frame.f_lasti
        self._note(self._site(frame, lasti, f), args, kwargs, True, exception)

    def _site(self, frame: FrameType, lasti: int, function: Any) -> Site:
        try:
            sites = self._threads[get_ident()]
        except KeyError:
            sites = self._threads.setdefault(get_ident(), {})
        code = frame.f_code
        try:
            return sites[id(code), lasti, id(function)]
        except KeyError:
            pass
        named = described(function)
        # The site keeps the code and the function alive, so that their identities stay theirs.
        key = (id(code), lasti, id(function) if named.lasts else named.label)
        try:
            return sites[key]
        except KeyError:
            sites[key] = site = Site(frame, lasti, function)
            return site

    def _note(self, site: Site, args: tuple[Any, ...], kwargs: dict[str, Any], raised: bool, value: Any) -> None:
        shape = self._shape
        keywords = tuple([(name, shape(given)) for name, given in kwargs.items()]) if kwargs else ()
        outcome: Outcome | None = (self._shapes(args, _DEPTH), keywords, raised, shape(value))
        outcomes = site.outcomes
        if outcome in outcomes:
            outcomes[outcome] += 1
            return
        if len(outcomes) >= _OUTCOMES:
            outcome = None
        outcomes[outcome] = outcomes.get(outcome, 0) + 1

    def _shapes(self, values: Iterable[Any], depth: int) -> tuple[Shape, ...]:
        simple, shape = self._simple, self._shape
        return tuple([id(type(value)) if id(type(value)) in simple else shape(value, depth) for value in values])

    def _shape(self, value: Any, depth: int = _DEPTH) -> Shape:
        """The type of a value, with those of its first elements, without running any code of the program."""
        kind: Any = type(value)
        identity = id(kind)
        if identity in self._simple:
            return identity
        self.types[identity] = kind
        try:
            if kind in _SEQUENCES:
                return (identity, frozenset(self._shapes(islice(value, _ELEMENTS), depth - 1))) if depth else identity
            if kind is dict:
                if not depth:
                    return identity
                items = list(islice(value.items(), _ELEMENTS))
                keys = self._shapes([key for key, _ in items], depth - 1)
                values = self._shapes([item for _, item in items], depth - 1)
                return (identity, frozenset(keys), frozenset(values))
            if kind is tuple:
                few = depth and len(value) <= _ELEMENTS
                return (identity, *self._shapes(value, depth - 1)) if few else identity
        except RuntimeError:  # another thread has changed its size
            return identity
        if issubclass(kind, type):
            self.types[id(value)] = value
            return (identity, id(value))
        self._simple.add(identity)
        return identity

    def sites(self) -> list[Site]:
        """What was seen so far, by thread; a call site that several threads have been at is there several times."""
        return [site for sites in list(self._threads.values()) for site in list(sites.values())]

    def stubs(self) -> dict[str, str]:
        """For each module, what a `.pyi` file would say of its functions that were called."""
        return stubs(self.sites(), self.types, self._module)

    def summary(self) -> str:
        """The call sites, and the types that were seen there."""
        return report.text(self._listed(), self.types, self._limit)

    def _listed(self) -> list[Site]:
        return [site for site in self.sites() if self._leaves or site.python is not None]

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.pyi` for stubs, `.txt` for the list of call sites, `.json` for the same list."""
        return {
            ".pyi": text_writer(lambda: _in_one_file(self.stubs()), "backslashreplace"),
            ".txt": text_writer(lambda: report.text(self._listed(), self.types), "backslashreplace"),
            ".json": text_writer(
                lambda: json.dumps(report.entries(self._listed(), self.types), indent=2), "backslashreplace"
            ),
        }


def _in_one_file(by_module: Mapping[str, str]) -> str:
    if len(by_module) == 1:
        return next(iter(by_module.values()))
    return "\n\n".join(f"# ---- {module}\n\n{text}" for module, text in by_module.items())
