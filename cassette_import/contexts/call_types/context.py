"""`CallTypes`: the types of arguments and results at each call site of a program.

The call site is the current position of the frame that calls the hook. Each thread writes to its own table without a
lock; `sites` and `stubs` combine the tables afterwards.
"""

from __future__ import annotations

import functools
import json
import pickle
import sys
import types
from collections.abc import Iterable, Mapping
from itertools import islice
from opcode import opmap
from threading import get_ident
from types import CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from cassette_import.activation.context import Context
from cassette_import.activation.inheritance import DIVERTED
from cassette_import.contexts.call_types.sites import Outcome, Site, TypeShape, entries, merged, text
from cassette_import.contexts.call_types.stubs import CalledModule, add_calls, called_modules, is_installed, stub
from cassette_import.interpreter.records import cast
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.kits.calls.accelerator import ACCELERATOR
from cassette_import.kits.events import ModuleImport, importer
from cassette_import.kits.function_names import described
from cassette_import.kits.options import check_number, options_of
from cassette_import.kits.reporting import Writer
from cassette_import.kits.text import text_writer
from cassette_import.rewriting.events import Events

if TYPE_CHECKING:
    from cassette_import.kits.calls.accelerator._accelerator import Tally

__all__ = ["CallTypes"]

_ONE_SHAPE: Final = frozenset(map(id, (list, set, frozenset)))  # a class of the program may have no hash
"""Containers whose elements share one annotation."""
_ELEMENTS: Final = 10
_DEPTH: Final = 3
_MOST_OUTCOMES: Final = 100
_PRECALL: Final = opmap.get("PRECALL")
"""In 3.11, an instruction before each `CALL`. Once it is adapted to a function in C, it makes the call itself."""
_called_from: Final = sys._getframe


class _Results(NamedTuple):
    """What another process has recorded: the entries of call sites, and the called modules, pickled."""

    entries: list[dict[str, Any]]
    modules: bytes


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
        If `limit` is not a number, or less than 0. The message is one line.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import install, overdub
    >>> with install("colorsys"):
    ...     types = CallTypes(module="colorsys")
    ...     _ = overdub(types, colorsys.hls_to_rgb, 0.1, 0.2, 1)
    >>> "def _v(m1: float, m2: float, hue: float) -> float: ..." in types.stubs()["colorsys"]
    True
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True
    module_level = False

    def __init__(
        self, *, limit: int = 30, leaves: bool = False, module: str | None = None, imports: bool = False
    ) -> None:
        super().__init__()
        self.module_level = imports
        check_number("limit", limit, "call sites")
        self._limit = limit
        self._leaves = leaves
        self._module = module
        self._threads: dict[int, dict[Any, Site]] = {}
        self._elsewhere: list[_Results] = []
        self.types: dict[int, type] = {}
        """The types by the `id()` that shapes contain."""
        self._simple: set[int] = set()  # the id() of types whose elements are not recorded

    @options_of(__init__)
    def __new__(cls, **options: Any) -> CallTypes:
        """Make an instance of the type whose posthook is in C, if there is the accelerator."""
        return super().__new__(_accelerated_type() if ACCELERATOR.is_used and cls is CallTypes else cls)

    def forked(self) -> None:
        """Start with no calls in a forked process."""
        self._threads.clear()
        self._elsewhere.clear()

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Record the types of the arguments and the result."""
        frame = _called_from(1)
        self._count(self._site(frame, frame.f_lasti, f), self._outcome(args, kwargs, False, result))

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Record the types of the arguments and the exception."""
        frame = _called_from(1)
        traceback = exception.__traceback__
        # The frame itself may be in its exception handler by now.
        lasti = traceback.tb_lasti if traceback is not None and traceback.tb_frame is frame else frame.f_lasti
        try:
            self._count(self._site(frame, lasti, f), self._outcome(args, kwargs, True, exception))
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

    def _outcome(self, args: tuple[Any, ...], kwargs: dict[str, Any], raised: bool, value: Any) -> Outcome:
        shape = self._shape
        keywords = tuple([(name, shape(given)) for name, given in kwargs.items()]) if kwargs else ()
        return self._shapes(args, _DEPTH), keywords, raised, shape(value)

    def _count(self, site: Site, outcome: Outcome) -> None:
        outcomes = site.outcomes
        key = outcome if _has_room(outcomes, outcome) else None
        outcomes[key] = outcomes.get(key, 0) + 1

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
        """The text of a `.pyi` file for each module in which functions were called."""
        return {name: stub(name, called) for name, called in sorted(self._called(self._module).items())}

    def _called(self, module: str | None) -> dict[str, CalledModule]:
        """The functions of all modules, or of one, that were called here or in the processes of added results."""
        found = called_modules(self.sites(), self.types, module)
        for results in self._elsewhere:
            others = pickle.loads(results.modules)  # a copy each time: calls are added to it
            add_calls(found, others if module is None else {name: others[name] for name in others if name == module})
        return found

    def _stubs_to_write(self) -> dict[str, str]:
        """The stubs; an error if the chosen module has none, so that a file of an earlier run is kept."""
        found = self.stubs()
        if self._module is not None and not found:
            why = "it has to be overdubbed, see -p"
            if is_installed(self._module):
                why = "lambdas, and what decorators of other modules made, do not count"
            meant = suggestion(self._module, self._called(None)) or f"; {why}"
            raise ValueError(f"no function of a module {self._module!r} was called{meant}")
        return found

    def summary(self) -> str:
        """The call sites and their types, at most `limit` of them."""
        return text(self._entries(), self._limit)

    def _entries(self) -> list[dict[str, Any]]:
        listed = [site for site in self.sites() if self._leaves or site.python is not None]
        found = entries(listed, self.types)
        return merged([found, *(one.entries for one in self._elsewhere)]) if self._elsewhere else found

    def portable_results(self) -> _Results:
        """See `Merging`: the entries of call sites, and the functions that stubs are written of."""
        chosen = {} if self._module is None else self._called(self._module)
        return _Results(self._entries(), pickle.dumps({**self._called(None), **chosen}))

    def add_results(self, results: _Results) -> None:
        """See `Merging`: the numbers of calls with the same types are added up."""
        self._elsewhere.append(results)

    @property
    def merged_formats(self) -> Mapping[str, Writer]:
        """See `Merging`: all formats."""
        return self.formats

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.pyi` for stubs, `.txt` and `.json` for the list of call sites."""
        return {
            ".pyi": text_writer(lambda: _in_one_file(self._stubs_to_write()), "backslashreplace"),
            ".txt": text_writer(lambda: text(self._entries()), "backslashreplace"),
            ".json": text_writer(lambda: json.dumps(self._entries(), indent=2), "backslashreplace"),
        }


class _AcceleratedCallTypes(CallTypes, events=Events.CALLS):
    """The same with a posthook in C, which only counts calls whose types it has met before."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.recorder = ACCELERATOR.TypeRecorder(self._tally, self.types)
        self._tallies: dict[tuple[int, Outcome], tuple[Site, Tally]] = {}
        self._codes: dict[int, CodeType] = {}  # to which the recorder refers

    def _tally(
        self, frame: FrameType, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> tuple[Tally, object | None] | None:
        """The tally of a call, and what will recognise the function, if anything does.

        None if the call is counted: it has no tally, since there are too many outcomes.
        """
        site = self._site(frame, _instruction_of_call(frame), function)
        outcome = self._outcome(args, kwargs, False, result)
        if not _has_room(site.outcomes, outcome):
            self._count(site, outcome)
            return None
        site.outcomes.setdefault(outcome, 0)
        tally = self._tallies.setdefault((id(site), outcome), (site, self.recorder.tally()))[1]
        if site.kept is function:
            return tally, function
        code = _code_of_closure(function)
        if code is not None:
            self._codes[id(code)] = code
        return tally, code

    def sites(self) -> list[Site]:
        """The call sites so far; one `Site` for each thread that called there."""
        for (_, outcome), (site, tally) in list(self._tallies.items()):
            site.outcomes[outcome] = tally.count
        return super().sites()

    def forked(self) -> None:
        """Start with no calls in a forked process."""
        self.recorder.forget()
        self._tallies.clear()
        super().forked()


@functools.cache
def _accelerated_type() -> type[CallTypes]:
    """The type whose posthook is in C: the extension may be there later than this module."""
    place = {"__module__": CallTypes.__module__, "__doc__": CallTypes.__doc__, "posthook": ACCELERATOR.record_types}
    events = {"events": Events.CALLS}
    made = types.new_class(CallTypes.__name__, (_AcceleratedCallTypes,), events, lambda names: names.update(place))
    return cast(type[CallTypes], made)


def _instruction_of_call(frame: FrameType) -> int:
    """The place of the instruction that calls a function in C, the same before and after the interpreter adapts it."""
    lasti = frame.f_lasti
    if sys.version_info < (3, 12) and frame.f_code.co_code[lasti] == _PRECALL:
        return lasti + 4  # it and its cache
    return lasti


def _has_room(outcomes: Mapping[Outcome | None, int], outcome: Outcome) -> bool:
    return outcome in outcomes or len(outcomes) < _MOST_OUTCOMES


def _code_of_closure(function: Any) -> CodeType | None:
    """What recognises the closures of one `def`, which are not long-lived; None for everything else."""
    if type(function) is not FunctionType or function.__code__.co_filename == DIVERTED:
        return None
    code = function.__code__
    return code if "<" in code.co_qualname and code.co_qualname == function.__qualname__ else None


def _in_one_file(by_module: Mapping[str, str]) -> str:
    if len(by_module) == 1:
        return next(iter(by_module.values()))
    return "\n\n".join(f"# ---- {module}\n\n{text}" for module, text in by_module.items())
