"""The finder and the loaders: which modules are meant, who finds them, and where their code comes from.

Knows finders, specs and loaders; must not know contexts or how code is rewritten. `specialize.registry` is
told which modules are meant, and is asked for code in one case: a module imported while a context is active.
Otherwise what is executed is what Python would have executed: same bytecode, same `.pyc`, same tracebacks.

What is needed here is imported at the top: finding and loading must not import anything (F12).
"""

from __future__ import annotations

import fnmatch
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib import machinery
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, MethodType, ModuleType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from cassette_import.errors import CassetteWarning
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.specialization.registry import registry

__all__ = ["Decision", "Finder", "Loader", "Selection", "decide", "finder", "is_pattern", "locate"]

_CodeGetter: TypeAlias = Callable[[str], CodeType | None]
_Path: TypeAlias = Sequence[str] | None

OURSELVES: Final = __name__.partition(".")[0]


class Decision(NamedTuple):
    """What is done to a module, and why. Loader and finder are the ones that Python itself would use."""

    name: str
    action: Literal["rewritten", "left alone"]
    reason: str = ""
    origin: str | None = None
    loader: str = ""
    finder: str = ""


class Selection:
    """The modules that a list of names, with a list of exceptions, means.

    A name means the module and everything below it, an `fnmatch` pattern each full name it matches (F11).
    """

    def __init__(self, packages: Iterable[str], exclude: Iterable[str] = ()) -> None:
        self.packages: Final = tuple(packages)
        self.exclude: Final = tuple(exclude)
        self._wanted = _expression(self.packages)
        # We would rewrite what we are made of, and ask ourselves for the code (F12).
        self._unwanted = _expression((*self.exclude, OURSELVES))

    def names(self, module_name: str) -> bool:
        """Whether the module is named, be it excluded or not."""
        return self._wanted.match(module_name) is not None

    def covers(self, module_name: str) -> bool:
        """Whether the module is named and not excluded."""
        return self._wanted.match(module_name) is not None and self._unwanted.match(module_name) is None


def is_pattern(name: str) -> bool:
    """Whether a name is to be matched as a pattern."""
    return any(character in name for character in "*?[")


def _expression(names: Iterable[str]) -> re.Pattern[str]:
    """One expression for all names: whoever imports any module at all pays for the refusal (F13)."""
    parts = [fnmatch.translate(name) if is_pattern(name) else rf"{re.escape(name)}(\..*)?\Z" for name in names]
    return re.compile("|".join(parts) or r"(?!)", re.DOTALL)


class Finder:
    """Our entry of `sys.meta_path`: lets the others find, and sees to it that what is meant is overdubbed."""

    def __init__(self) -> None:
        self.selections: tuple[Selection, ...] = ()  # replaced as a whole, never changed (V11)
        self.decisions: dict[str, Decision] = {}  # of the modules that were seen, last import last
        self._searches = _Searches()
        self._said: set[str] = set()

    def __repr__(self) -> str:
        names = [name for selection in self.selections for name in selection.packages]
        return f"<cassette_import finder for {', '.join(names) or 'nothing'}>"

    def covers(self, module_name: str) -> bool:
        """Whether the module is to be overdubbed."""
        return any(selection.covers(module_name) for selection in self.selections)

    def find_spec(self, fullname: str, path: _Path = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec that the finders behind this one make; only its loader may be another one (F1, F4)."""
        if not self.covers(fullname):
            return None
        spec, found_by = self.search(fullname, path, target)
        if spec is not None:
            self._take_in(spec, decide(fullname, spec)._replace(finder=found_by))
        return spec

    def search(self, fullname: str, path: _Path, target: ModuleType | None = None) -> tuple[ModuleSpec | None, str]:
        """Ask the finders behind this one; the spec, and who made it."""
        # A finder behind us may ask all others, us included: it gets no answer, or it would be asked again,
        # without end. The guard is for this thread alone: to other threads None would be wrong (F2).
        if fullname in self._searches.running:
            return None, ""
        self._searches.running.add(fullname)
        try:
            for other in self._behind():
                find_spec = getattr(other, "find_spec", None)  # there are entries without (F3)
                spec = None if find_spec is None else find_spec(fullname, path, target)
                if spec is not None:
                    return spec, _title(other)
            return None, ""
        finally:
            self._searches.running.discard(fullname)

    def _behind(self) -> list[Any]:
        everybody = list(sys.meta_path)  # searching may change the list itself (F3)
        ours = [position for position, entry in enumerate(everybody) if entry is self]
        return everybody[ours[-1] + 1 :] if ours else everybody

    def _take_in(self, spec: ModuleSpec, decision: Decision) -> None:
        loader = spec.loader
        if decision.action == "left alone":
            self.decisions[decision.name] = decision
        elif type(loader) is Loader:
            pass  # some finder keeps specs and gave one out again
        elif type(loader) is SourceFileLoader:
            # What a subclass of it does is not known, so subclasses are not replaced (F5).
            spec.loader = Loader(loader.name, loader.path, decision)
        else:
            self.add_module(decision)
            if _executes_its_code(loader) and registry.wants_trampolines():
                spec.loader = _Wrapper(loader, spec, decision)  # type: ignore[assignment]  # passes for one

    def add_module(self, decision: Decision) -> None:
        """Have the functions of a module overdubbed that is about to be executed, or was already."""
        try:
            registry.add_module(decision.name, decision.origin)
        except Exception as error:  # importing never fails because of us (S5)
            self._lament(decision._replace(action="left alone", reason=_reason(error)))
        else:
            self.decisions[decision.name] = decision

    def code_getter(
        self, decision: Decision, plain: _CodeGetter, read: Callable[[str], bytes], trusted: bool
    ) -> _CodeGetter:
        """What the `get_code` of a loader is at this moment: `plain`, unless contexts are in use.

        Our loaders decide when `get_code` is looked up, and not when it is called: what goes wrong there, the
        program's own SyntaxError before all, is raised by importlib alone, and no frame of ours keeps it from
        stripping its frames from the traceback (D7, S4). Import, reload, lazy loaders and `runpy` all come
        through `get_code` (C14, V13).

        A loader that is not `trusted` may make its code of something else than the source that it shows.
        """
        name, filename = decision.name, decision.origin
        if not self.covers(name):  # uninstalled since the module was found
            return plain
        self.add_module(decision)
        if filename is None or not registry.wants_trampolines(filename):
            return plain
        try:
            code = plain(name)
            source = read(filename)
            if code is None or not (trusted or code == _compiled(source, filename)):
                return plain
        except Exception:  # the program's: let it happen once more, without us
            return plain
        try:
            code = registry.module_code(name, filename, source, code)
        except Exception as error:  # ours: the module does not run yet (S5)
            self._lament(decision._replace(reason=f"its module level is left alone: {_reason(error)}"))
        return lambda fullname: code if fullname == name else plain(fullname)

    def _lament(self, decision: Decision) -> None:
        """Record that a module is imported plain, and warn of it once."""
        self.decisions[decision.name] = decision
        text = f"{decision.name} is imported plain: {decision.reason}"
        if text not in self._said:
            self._said.add(text)
            warnings.warn_explicit(text, CassetteWarning, decision.origin or decision.name, 1, decision.name)


class _Searches(threading.local):
    """The modules that a thread is searching for."""

    def __init__(self) -> None:
        self.running: set[str] = set()


class Loader(SourceFileLoader):
    """Python's own loader, but for modules that are imported while a context is active."""

    def __init__(self, fullname: str, path: str, decision: Decision | None = None) -> None:
        super().__init__(fullname, path)
        self._decision = decision or Decision(fullname, "rewritten", origin=path, loader=_title(self))

    @property
    def get_code(self) -> _CodeGetter:  # no method: see Finder.code_getter
        return finder.code_getter(self._decision, super().get_code, self.get_data, trusted=True)

    @hidden
    def exec_module(self, module: ModuleType) -> None:
        """Execute the module. A context that another thread enters meanwhile has not seen all of its functions."""
        watched = registry.wants_module_level()
        SourceFileLoader.exec_module(self, module)
        if not watched and registry.wants_module_level():
            registry.instrument_active()


class _Wrapper:
    """Another tool's loader, while it loads one module in an active context (F5, F6, F8).

    It has the attributes of that loader and no others, passes for one of its type, and is gone again when the
    module runs: the module finds the loader itself.
    """

    def __init__(self, loader: Any, spec: ModuleSpec, decision: Decision) -> None:
        self._wrapped, self._spec, self._decision = loader, spec, decision

    @property  # type: ignore[misc]  # nobody is to assign to it
    def __class__(self) -> Any:
        return type(self._wrapped)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    @property
    def exec_module(self) -> Callable[[ModuleType], None]:
        # importlib's own function, which asks `self`, that is us, for the code.
        return MethodType(type(self._wrapped).exec_module, self)

    @property
    def get_code(self) -> _CodeGetter:
        loader, module = self._wrapped, sys.modules.get(self._spec.name)
        self._spec.loader = loader
        if module is not None and vars(module).get("__loader__") is self:
            module.__loader__ = loader
        return finder.code_getter(self._decision, loader.get_code, loader.get_data, trusted=False)


def _executes_its_code(loader: Any) -> bool:
    """Whether a loader leaves executing to importlib, which executes what its `get_code` gives.

    pytest's hook does not, and stays what it is: it is asked for as `__loader__` again (P1).
    """
    standard = getattr(type(loader), "exec_module", None) is SourceFileLoader.exec_module
    return standard and hasattr(loader, "get_code") and hasattr(loader, "get_data")


def decide(name: str, spec: ModuleSpec) -> Decision:
    """What to do with the module of a spec, whether it has been imported already or not."""
    loader: Any = spec.loader
    filename = spec.origin
    if filename is None and hasattr(loader, "get_filename"):
        try:
            filename = loader.get_filename(name)
        except ImportError:
            pass
    if loader is None and spec.submodule_search_locations is not None:
        loader = machinery.NamespaceLoader  # as importlib does it, but later
    reason = _why_not(loader, filename)
    return Decision(name, "left alone" if reason else "rewritten", reason, filename, _title(loader))


_WITHOUT_SOURCE: Final[tuple[tuple[type, str], ...]] = (
    (machinery.BuiltinImporter, "built-in module"),
    (machinery.FrozenImporter, "frozen module"),
    (machinery.ExtensionFileLoader, "extension module"),
    (machinery.SourcelessFileLoader, "no source, only bytecode"),
    (machinery.NamespaceLoader, "namespace package"),
)


def _why_not(loader: Any, filename: str | None) -> str:
    """Why a module has to be left alone (F7, F14, C13); empty if it has not."""
    for kind, reason in _WITHOUT_SOURCE:
        if issubclass(_type(loader), kind):
            return reason
    if filename is None:
        return f"its loader, {_title(loader)}, tells no file" if loader else "made without a file"
    if filename.endswith(tuple(machinery.BYTECODE_SUFFIXES)):  # in a zip file (F8)
        return "no source, only bytecode"
    if _compiles_something_else(loader):
        return f"its loader, {_title(loader)}, compiles something else than the source"
    if filename.endswith(tuple(machinery.SOURCE_SUFFIXES)) or hasattr(loader, "get_source"):
        return ""
    return f"its loader, {_title(loader)}, shows no source" if loader else "no source"


def _compiles_something_else(loader: Any) -> bool:
    """Whether a loader has a way of its own from source to code: what it adds would be lost in ours (F5)."""
    own = getattr(_type(loader), "source_to_code", None)
    return own is not None and own.__module__.partition(".")[0] not in (
        "importlib",
        "_frozen_importlib_external",
    )


def _type(thing: Any) -> type:
    """The type of a loader or finder: classes serve as either themselves."""
    return thing if isinstance(thing, type) else type(thing)


def _title(thing: Any) -> str:
    """What people call a loader or finder."""
    kind = _type(thing)
    if kind is Loader:
        kind = SourceFileLoader  # which it stands for
    if thing is None or kind.__module__.startswith("_frozen_importlib"):
        return "" if thing is None else kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def _compiled(source: bytes, filename: str) -> CodeType | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the loader's own compiling has said them (S6)
        return compile(source, filename, "exec", dont_inherit=True)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def locate(name: str) -> tuple[ModuleSpec | None, str]:
    """The spec of a module and who finds it, without importing anything, its parents neither.

    The finders behind ours are asked, so nothing is changed or recorded.
    """
    parent, _, last = name.rpartition(".")
    path: _Path = None
    if parent in sys.modules:
        path = getattr(sys.modules[parent], "__path__", None)
    elif parent:
        above, _ = locate(parent)
        path = None if above is None else above.submodule_search_locations
    if parent and path is None:
        return None, ""
    try:
        return finder.search(name, path)
    except (KeyError, ImportError):  # a namespace package wants the package around it in sys.modules (F7)
        spec = ModuleSpec(name, None, is_package=True)
        folders = [os.path.join(entry, last) for entry in path or ()]
        spec.submodule_search_locations = list(filter(os.path.isdir, folders))
        return (spec, machinery.PathFinder.__name__) if spec.submodule_search_locations else (None, "")


finder: Final = Finder()
