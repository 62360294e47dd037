"""`CallTypes`: the types of arguments and results at each call site of a program.

The call site is the current position of the frame that calls the hook. Each thread writes to its own table without a
lock; `report` and `stubs` combine the tables afterwards. Knows hooks, frames and shapes; must not know how types are
written.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from threading import get_ident
from types import FrameType
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.contexts.call_types import report
from cassette_import.contexts.call_types.sites import Outcome, Site, TypeShape
from cassette_import.contexts.call_types.stubs import stubs
from cassette_import.contexts.common.function_names import described
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.text import suggestion, text_writer
from cassette_import.rewriting.events import Events
from cassette_import.runtime.module_imports import ModuleImport, importer

__all__ = ["CallTypes"]

_ONE_SHAPE: Final = frozenset(map(id, (list, set, frozenset)))  # a class of the program may have no hash
"""Containers whose elements share one annotation."""
_ELEMENTS: Final = 10
_DEPTH: Final = 3
_MOST_OUTCOMES: Final = 100
_called_from: Final = sys._getframe


class CallTypes(Context, events=Events.CALLS):
    """Records the types of arguments and results at each call site.

    Parameters
    ----------
    limit:
        How many call sites the list on the terminal shows. Files have all of them.
    leaves:
        Whether calls of functions that are not written in Python are listed, too.
    module:
        The module to write stubs for. Without it, stubs are written for all overdubbed modules.
    imports:
        Whether the calls of the module level of imported modules are recorded, too. If not, an import is one call of
        ``import NAME``, a leaf.

    Raises
    ------
    ValueError
        If `limit` is not a number. The message is one line.

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
    module_level = False

    def __init__(
        self, *, limit: int = 30, leaves: bool = False, module: str | None = None, imports: bool = False
    ) -> None:
        super().__init__()
        self.module_level = imports
        if isinstance(limit, bool) or not isinstance(limit, int):
            raise ValueError(f"limit is a number of call sites, not {limit!r}")
        self._limit = limit
        self._leaves = leaves
        self._module = module
        self._threads: dict[int, dict[Any, Site]] = {}
        self.types: dict[int, type] = {}
        """The types by the `id()` that shapes contain."""
        self._simple: set[int] = set()  # the id() of types whose elements are not recorded

    def forked(self) -> None:
        """Start with no calls in a forked process."""
        self._threads.clear()

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Record the types of the arguments and the result."""
        frame = _called_from(1)
        self._record(self._site(frame, frame.f_lasti, f), args, kwargs, False, result)

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Record the types of the arguments and the exception."""
        frame = _called_from(1)
        traceback = exception.__traceback__
        # The frame itself may be in its exception handler by now.
        lasti = traceback.tb_lasti if traceback is not None and traceback.tb_frame is frame else frame.f_lasti
        try:
            self._record(self._site(frame, lasti, f), args, kwargs, True, exception)
        except RecursionError:  # the program's own exception goes on
            return

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
        if type(function) is ModuleImport:
            frame = importer(frame)
            code, lasti = frame.f_code, frame.f_lasti
        label, is_long_lived = described(function)
        # The site keeps the code, and a long-lived function, alive, so that no other object gets their id().
        key = (id(code), lasti, id(function) if is_long_lived else label)
        site = sites.get(key)
        if site is None:
            sites[key] = site = Site(frame, lasti, function, is_long_lived)
        return site

    def _record(self, site: Site, args: tuple[Any, ...], kwargs: dict[str, Any], raised: bool, value: Any) -> None:
        shape = self._shape
        keywords = tuple([(name, shape(given)) for name, given in kwargs.items()]) if kwargs else ()
        outcome: Outcome | None = (self._shapes(args, _DEPTH), keywords, raised, shape(value))
        outcomes = site.outcomes
        if outcome in outcomes:
            outcomes[outcome] += 1
            return
        if len(outcomes) >= _MOST_OUTCOMES:
            outcome = None
        outcomes[outcome] = outcomes.get(outcome, 0) + 1

    def _shapes(self, values: Iterable[Any], depth: int) -> tuple[TypeShape, ...]:
        simple, shape = self._simple, self._shape
        return tuple([id(type(value)) if id(type(value)) in simple else shape(value, depth) for value in values])

    def _shape(self, value: Any, depth: int = _DEPTH) -> TypeShape:
        """The type of a value and the types of its first elements, found without running any code of the program."""
        kind: Any = type(value)
        identity = id(kind)
        if identity in self._simple:
            return identity
        self.types[identity] = kind
        try:
            if identity in _ONE_SHAPE:
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
        except RuntimeError:  # another thread changed the size of the container
            return identity
        if issubclass(kind, type):
            self.types[id(value)] = value
            return (identity, id(value))
        self._simple.add(identity)
        return identity

    def sites(self) -> list[Site]:
        """The call sites so far; one `Site` for each thread that called there."""
        return [site for sites in list(self._threads.values()) for site in list(sites.values())]

    def stubs(self) -> dict[str, str]:
        """The text of a `.pyi` file for each module, with the functions that were called."""
        return stubs(self.sites(), self.types, self._module)

    def _stubs_to_write(self) -> dict[str, str]:
        """The stubs; an error if the chosen module has none, so that a file of an earlier run is kept."""
        found = self.stubs()
        if self._module is not None and not found:
            others = stubs(self.sites(), self.types)
            meant = suggestion(self._module, others) or "; it has to be overdubbed, see -p"
            raise ValueError(f"no function of a module {self._module!r} was called{meant}")
        return found

    def summary(self) -> str:
        """The call sites and their types, at most `limit` of them."""
        return report.text(self._listed(), self.types, self._limit)

    def _listed(self) -> list[Site]:
        return [site for site in self.sites() if self._leaves or site.python is not None]

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.pyi` for stubs, `.txt` and `.json` for the list of call sites."""
        return {
            ".pyi": text_writer(lambda: _in_one_file(self._stubs_to_write()), "backslashreplace"),
            ".txt": text_writer(lambda: report.text(self._listed(), self.types), "backslashreplace"),
            ".json": text_writer(
                lambda: json.dumps(report.entries(self._listed(), self.types), indent=2), "backslashreplace"
            ),
        }


def _in_one_file(by_module: Mapping[str, str]) -> str:
    if len(by_module) == 1:
        return next(iter(by_module.values()))
    return "\n\n".join(f"# ---- {module}\n\n{text}" for module, text in by_module.items())
