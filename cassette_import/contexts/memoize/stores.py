"""The stores of `memoize`: results are cached in memory, with diskcache in a folder, or in a mapping of the user."""

from __future__ import annotations

import atexit
import functools
import hashlib
import io
import os
import pickle
import re
import sys
import sysconfig
import threading
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager
from threading import Lock
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, ClassVar, Final, Protocol

from cassette_import.contexts.memoize.cached_results import PROTOCOL, CachedResult, CannotCache, Key, on_one_line
from cassette_import.errors import CassetteError
from cassette_import.interpreter.installed_packages import needs
from cassette_import.interpreter.namespaces import class_namespace
from cassette_import.interpreter.when_gone import when_gone
from cassette_import.kits.events import OVERDUBBED
from cassette_import.kits.targets import target_name

__all__ = ["FileLocks", "Folder", "LockError", "Memory", "Shared", "Store", "digest_of"]

# ---- the digest of a function: the same in another run only if the function would return the same results there
#
# It covers the code of the function, its defaults and closure, and, as far as the function names them, the functions,
# classes and constants of the program that it uses, and theirs. Other packages count by name.

_PLAIN: Final = (int, float, complex, str, bytes, bool, type(None), tuple, frozenset, list, dict, set)
_COUNTED: Final = (*_PLAIN, functools.partial, MethodType)
"""The types of global variables whose values count."""
_LRU_CACHE: Final = type(functools.lru_cache(len))


def digest_of(function: Any) -> bytes:
    """The digest of a function.

    Raises
    ------
    CannotCache
        If a variable of its closure has neither a name nor a state that another run could compare, or if it leads to
        too many functions.

    >>> import colorsys
    >>> digest_of(colorsys.rgb_to_hls) == digest_of(colorsys.rgb_to_hls)
    True
    """
    parts = _Parts(function)
    try:
        parts.add_callable(function)
    except RecursionError:
        raise CannotCache(
            "it uses too many functions, one by another, to compare them with those of another run"
        ) from None
    return parts.hash.digest()


class _Parts:
    """The parts of a function that determine its results, each added once."""

    def __init__(self, function: Any) -> None:
        self.hash = hashlib.sha256(repr(sys.version_info[:2]).encode())
        self._own_package = _package(function)
        self._order: dict[int, int] = {}

    def add(self, text: str) -> None:
        self.hash.update(f"{len(text)}:{text}".encode("utf-8", "backslashreplace"))

    def add_callable(self, function: Any) -> None:
        """Add a function or class with all that it uses; of other packages, and of C code, the name."""
        number = self._order.setdefault(id(function), len(self._order))
        self.add(f"{target_name(function)}#{number}")
        if number < len(self._order) - 1 or not self._is_of_program(function):
            return
        if isinstance(function, FunctionType):
            self._add_function(function)
        elif isinstance(function, type):
            self._add_class(function)

    def _add_function(self, function: FunctionType) -> None:
        code = OVERDUBBED.plain_code_of(function.__code__)
        self.add(_text_of(code))
        self._add_state(function.__defaults__)
        self._add_state(function.__kwdefaults__)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.add(name)
            try:
                self._add_state(cell.cell_contents)
            except ValueError:  # the variable has no value yet
                continue
        names = dict.fromkeys(_names_in(code))
        for name in names:
            if name in function.__globals__:
                self.add(name)
                self._add_global(function.__globals__[name], names)

    def _add_class(self, owner: type) -> None:
        for base in type.__getattribute__(owner, "__bases__"):
            self.add_callable(base)
        for name, value in sorted(class_namespace(owner).items()):
            held = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            if isinstance(held, (FunctionType, type)):
                self.add(name)
                self.add_callable(held)
            elif isinstance(held, property):
                for function in filter(None, (held.fget, held.fset, held.fdel)):
                    self.add_callable(function)
            elif not name.startswith("__"):
                self._add_plain(value)

    def _add_state(self, value: Any) -> None:
        """Add a default or a value of a closure, which all calls share."""
        if isinstance(value, (FunctionType, type, BuiltinFunctionType)):
            self.add_callable(value)
        elif isinstance(value, MethodType):
            self.add_callable(value.__func__)
            self._add_state(value.__self__)
        elif type(value) is tuple:
            self.add(f"{len(value)} items")
            for item in value:
                self._add_state(item)
        else:
            self.add_callable(type(value))
            try:
                self.hash.update(Key((value,), {}, self._mark).value)
            except CannotCache:
                kind = f"{type(value).__qualname__} object"
                raise CannotCache(f"it uses a {kind} that cannot be compared with that of another run") from None

    def _add_global(self, value: Any, names: Iterable[str]) -> None:
        """Add a global variable that code names; of a module, the attributes that it may name."""
        if isinstance(value, (FunctionType, type)):
            self.add_callable(value)
        elif isinstance(value, ModuleType):
            self.add(value.__name__)
            if self._is_in_program(value.__name__, getattr(value, "__file__", None)):
                for name in names:
                    held = vars(value).get(name)
                    if isinstance(held, (FunctionType, type)):
                        self.add_callable(held)
                    else:
                        self._add_plain(held)
        else:
            wrapped = _wrapped(value)
            if wrapped is not None:
                self.add_callable(wrapped)
            else:
                self._add_plain(value)

    def _add_plain(self, value: Any) -> None:
        """Add a value that consists of numbers, text, functions and containers of these. Of objects, add the class."""
        if isinstance(value, _COUNTED):
            try:
                self.hash.update(_PlainPickler(self._mark).pickled(value))
            except (CannotCache, RecursionError):  # of a function among the values; of a list that contains itself
                return

    def _mark(self, function: Any) -> str:
        """Add a function or class; return what represents it in the bytes of a container that holds it."""
        self.add_callable(function)
        return f"{target_name(function)}#{self._order[id(function)]}"

    def _is_of_program(self, function: Any) -> bool:
        code = getattr(function, "__code__", None)
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        filename = code.co_filename if isinstance(code, CodeType) else getattr(module, "__file__", None)
        return self._is_in_program(getattr(function, "__module__", None), filename)

    def _is_in_program(self, module: Any, filename: Any) -> bool:
        """Whether a module belongs to the program, or to the package of the function itself."""
        if not isinstance(filename, str):
            return False
        if isinstance(module, str) and module.partition(".")[0] == self._own_package:
            return True
        return not (filename.startswith(_library_folders()) or _INSTALLED(filename))


class _PlainPickler(pickle.Pickler):
    """Writes numbers, text and containers; functions and classes as `mark` does, and the classes of other objects."""

    def __init__(self, mark: Callable[[Any], str]) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, PROTOCOL)
        self.fast = True  # no notes of which values are the same object
        self._mark = mark

    def pickled(self, value: Any) -> bytes:
        self.dump(_in_order(value))
        return self._file.getvalue()

    def reducer_override(self, obj: Any) -> Any:
        if obj is _represented:
            return NotImplemented
        if isinstance(obj, functools.partial):
            return _represented, (_in_order((obj.func, obj.args, obj.keywords)),)
        if isinstance(obj, MethodType):
            obj = obj.__func__
        function = _wrapped(obj) or obj
        if isinstance(function, (FunctionType, type)):
            return _represented, (self._mark(function),)
        return _represented, (target_name(obj) if isinstance(obj, BuiltinFunctionType) else _kind(obj),)


def _represented(what: object) -> None:
    """Represents an object in a digest. It is never called, because the bytes are not read."""


def _kind(obj: Any) -> str:
    kind: Any = type(obj)
    return f"{kind.__module__}.{kind.__qualname__}"


def _in_order(value: Any) -> Any:
    """The value with its sets as sorted lists: the order of a set may be another one in the next run."""
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted(map(_in_order, value), key=_text_of_item)]
    if isinstance(value, (list, tuple)):
        return [_in_order(item) for item in value]
    return {name: _in_order(item) for name, item in value.items()} if isinstance(value, Mapping) else value


def _text_of_item(item: Any) -> str:
    if isinstance(item, (FunctionType, BuiltinFunctionType, type)):
        return target_name(item)
    return repr(item) if isinstance(item, _PLAIN) else _kind(item)


def _names_in(code: CodeType) -> Iterator[str]:
    """The names of global variables and attributes in code, and in the functions that it makes."""
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names_in(const)


def _text_of(code: CodeType) -> str:
    """What code does, without the lines that it comes from."""
    consts = [_text_of(const) if isinstance(const, CodeType) else repr(_in_order(const)) for const in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_kwonlyargcount, code.co_flags
    return f"{code.co_code!r} {code.co_exceptiontable!r} {names} {consts}"


def _wrapped(value: Any) -> FunctionType | None:
    """The function behind one of `functools.lru_cache`."""
    found = vars(value).get("__wrapped__") if type(value) is _LRU_CACHE else None
    return found if isinstance(found, FunctionType) else None


def _package(function: Any) -> str | None:
    module = getattr(function, "__module__", None)
    return module.partition(".")[0] if isinstance(module, str) else None


_INSTALLED: Final = re.compile(r"[\\/](site|dist)-packages[\\/]").search
"""Installed packages are also in folders of users, of other environments, and of distributions."""


def _library_folders() -> tuple[str, ...]:
    """The folders of the standard library and of installed packages."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({os.path.join(sysconfig.get_path(name), "") for name in names})


# ---- locks between processes and threads, one for each key: the one that computes a result holds its lock
#
# The kernel releases a lock when its process ends, however it ends: no process waits for one that was killed.

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


_FILES: Final[set[int]] = set()
"""The open files of the locks that this process holds."""


class HeldLock:
    """A lock that the process which took it holds until `release`, or until it ends."""

    def __init__(self, locks: FileLocks, name: str, file: int) -> None:
        self._locks = locks
        self._name = name
        self._file = file
        _FILES.add(file)

    def release(self) -> None:
        """Let the next thread or process have the lock. Nothing happens in a forked process, which does not hold it."""
        self._locks.names.discard(self._name)
        if self._file not in _FILES:
            return
        try:
            os.unlink(self._locks.path(self._name))  # who opened the file before that finds out, and opens a new one
        except OSError:  # another process has removed the folder
            pass
        fcntl.flock(self._file, fcntl.LOCK_UN)  # a forked process may have the file open
        _FILES.discard(self._file)
        os.close(self._file)


class _Names(threading.local):
    """The names of the locks that a thread holds."""

    def __init__(self) -> None:
        self.held: set[str] = set()


class FileLocks:
    """Locks by name.

    Parameters
    ----------
    folder:
        Where the files of the locks are while these are held; it is made if need be.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._names = _Names()

    @property
    def names(self) -> set[str]:
        """The names of the locks that this thread holds."""
        return self._names.held

    def path(self, name: str) -> str:
        """The file of a lock."""
        return os.path.join(self._folder, name)

    def hold(self, name: str) -> HeldLock | None:
        """Wait for a lock, and hold it.

        Returns
        -------
        The lock; None if this thread holds it already, or if there are no such locks here.
        """
        if fcntl is None or name in self.names:
            return None
        try:
            os.makedirs(self._folder, exist_ok=True)
            file = self._locked(self.path(name))
        except OSError:  # the folder cannot be written, or its file system has no locks
            return None
        self.names.add(name)
        return HeldLock(self, name, file)

    def _locked(self, path: str) -> int:
        """The open file at this path, locked."""
        while True:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                if _is_file_of(path, file):
                    return file
            except BaseException:  # an interrupted program
                os.close(file)
                raise
            os.close(file)


def _is_file_of(path: str, file: int) -> bool:
    """Whether an open file is the one that has this path: who held the lock before has removed its own."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _forget() -> None:
    """Close the files in a forked process: a lock ends with the process that took it."""
    while _FILES:
        os.close(_FILES.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# ---- the stores of `memoize`: results are cached in memory, with diskcache in a folder, or in a mapping of the user


class ResultLock(Protocol):
    """The lock of one result: who holds it computes the result, and others wait until it is there."""

    def release(self) -> None:
        """Let the next thread or process have the lock."""


class LockError(CassetteError):
    """The lock of a result could not be taken, so another process may be computing the result."""


class Store(Protocol):
    """Stores results by function and arguments."""

    @property
    def digest(self) -> Callable[[Any], object] | None:
        """What identifies functions in the next run, if results are still stored then."""

    def identity(self, function: Any) -> Hashable:
        """The key of a function in this store.

        Raises
        ------
        CannotCache
            If another run could not tell the function from another one.
        """

    def get(self, function: Hashable, key: Any) -> CachedResult | None:
        """The stored result, or None."""

    def put(self, function: Hashable, key: Any, result: CachedResult) -> None:
        """Store a result."""

    def lock(self, function: Hashable, key: Any) -> ResultLock | None:
        """Wait for the lock of a result, and take it; None if the store has no locks."""

    def clear(self) -> None:
        """Delete all results."""


class Memory:
    """Results in memory. With a limit, the least recently used result is deleted first."""

    digest: ClassVar[None] = None

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._results: OrderedDict[Any, CachedResult] = OrderedDict()
        self._lock = Lock()

    def identity(self, function: Any) -> Hashable:
        """The identity of the function; the context keeps the function alive."""
        return id(function)

    def get(self, function: Hashable, key: Any) -> CachedResult | None:
        """See `Store.get`."""
        found = self._results.get((function, key))
        if found is not None and self._limit is not None:
            with self._lock:
                if (function, key) in self._results:
                    self._results.move_to_end((function, key))
        return found

    def put(self, function: Hashable, key: Any, result: CachedResult) -> None:
        """See `Store.put`."""
        with self._lock:
            self._results[function, key] = result
            if self._limit is not None and len(self._results) > self._limit:
                self._results.popitem(last=False)

    def lock(self, function: Hashable, key: Any) -> None:
        """See `Store.lock`."""

    def clear(self) -> None:
        """See `Store.clear`."""
        with self._lock:
            self._results.clear()


_open_caches: Final[weakref.WeakSet[Any]] = weakref.WeakSet()


@atexit.register
def _close_caches() -> None:
    for cache in list(_open_caches):
        cache.close()


class _ByDigest:
    """A store whose keys are the same in other processes and later runs."""

    def __init__(self) -> None:
        self._digests: dict[int, tuple[Any, bytes]] = {}

    def identity(self, function: Any) -> Hashable:
        """The digest of the function: a changed function starts anew."""
        return self.digest(function)

    def digest(self, function: Any) -> bytes:
        """The digest of a function or class, computed once."""
        known = self._digests.get(id(function))
        if known is None:  # the function is kept alive, so that no other one gets its identity
            known = self._digests[id(function)] = function, digest_of(function)
        return known[1]


class Folder(_ByDigest):
    """Results in a folder, for later runs and for several processes at once. An unreadable result counts as missing."""

    def __init__(self, path: str) -> None:
        super().__init__()
        try:
            from diskcache import Cache
        except ImportError:
            raise ValueError(needs("folder=", "diskcache", "memoize")) from None
        try:
            self._cache: Any = Cache(path, eviction_policy="none")
        except Exception as error:  # from the file system, or from SQLite
            raise ValueError(f"the folder {path} cannot be used: {' '.join(str(error).split())}") from None
        self._locks = FileLocks(os.path.join(path, "computing"))
        # CPython 3.13 warns of databases that are not closed.
        _open_caches.add(self._cache)
        when_gone(self, self._cache.close)

    def get(self, function: Hashable, key: Any) -> CachedResult | None:
        """See `Store.get`."""
        try:
            found = self._cache.get(_digest(function, key))
            return None if found is None else _checked(found)
        except Exception:  # a damaged file, or a class that does not exist any more
            return None

    def put(self, function: Hashable, key: Any, result: CachedResult) -> None:
        """See `Store.put`."""
        try:
            self._cache.set(_digest(function, key), result.pickled())
        except Exception:  # a full disk, or a lock that another process holds: the next call is a miss
            return

    def lock(self, function: Hashable, key: Any) -> ResultLock | None:
        """See `Store.lock`. Other threads and processes wait; they do not wait for a process that is killed."""
        return self._locks.hold(_digest(function, key).hex())

    def clear(self) -> None:
        """See `Store.clear`."""
        self._cache.clear()


_PREFIX: Final = "cassette_import:memoize:"


class Shared(_ByDigest):
    """Results in a mapping of the user, such as a database: texts as keys, bytes as values.

    Only `mapping[key]` and `mapping[key] = value` are needed for calls, and what fails there counts as missing.
    """

    def __init__(
        self, mapping: MutableMapping[str, bytes], locks: Callable[[str], AbstractContextManager[Any]] | None
    ) -> None:
        super().__init__()
        self._mapping = mapping
        self._locks = locks
        self.unreleased: Counter[str] = Counter()
        """Why locks could not be released: they had ended before, for example."""

    def get(self, function: Hashable, key: Any) -> CachedResult | None:
        """See `Store.get`."""
        try:
            return _checked(self._mapping[_name(function, key)])
        except Exception:  # a missing key, a lost connection, or a class that does not exist any more
            return None

    def put(self, function: Hashable, key: Any, result: CachedResult) -> None:
        """See `Store.put`."""
        try:
            self._mapping[_name(function, key)] = result.pickled()
        except Exception:  # a lost connection: the next call is a miss
            return

    def lock(self, function: Hashable, key: Any) -> ResultLock | None:
        """See `Store.lock`."""
        if self._locks is None:
            return None
        try:
            lock = self._locks(_name(function, key))
            lock.__enter__()
        except Exception as error:
            raise LockError(
                f"a lock of memoize cannot be taken: {_described(error)}; check what makes the locks (locks=)"
            ) from error
        return _LockOfUser(lock, self.unreleased)

    def clear(self) -> None:
        """See `Store.clear`. Other keys of the mapping stay."""
        names: list[Any] = list(self._mapping)
        for name in names:
            text = name.decode() if isinstance(name, bytes) else name  # clients of databases have bytes
            if text.startswith(_PREFIX):
                del self._mapping[name]


class _LockOfUser:
    """A lock of the user's, which was taken. Why it could not be released is counted."""

    def __init__(self, lock: AbstractContextManager[Any], unreleased: Counter[str]) -> None:
        self._lock = lock
        self._unreleased = unreleased

    def release(self) -> None:
        """See `ResultLock.release`. The result is there, or its exception, whatever the lock says."""
        try:
            self._lock.__exit__(None, None, None)
        except Exception as error:
            self._unreleased[_described(error)] += 1


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {on_one_line(error)}"


def _checked(pickled: bytes) -> CachedResult:
    pickle.loads(pickled)
    return CachedResult(pickled, is_pickled=True)


def _name(function: Any, key: bytes) -> str:
    return _PREFIX + _digest(function, key).hex()


def _digest(function: Any, key: bytes) -> bytes:
    return hashlib.sha256(function + key).digest()
