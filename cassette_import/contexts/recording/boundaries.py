"""The boundary: which functions lead out of a program, as data that users add to; and finding them as modules come.

Knows names, modules and imports; must not know what is done at the boundary.

A name is a dotted path, `module.function`, `module.Class` or `module.Class.method`. A function or method stands
for itself, whatever name it is called by. A class stands for its constructor: what it makes lies outside, and every
use of it is a call to the outside.
"""

from __future__ import annotations

import fnmatch
import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, TypeVar

from cassette_import.interpreter.callables import underlying

__all__ = ["BOUNDARY", "CHANCE", "ENVIRONMENT", "GROUPS", "STARTS", "Found", "boundary", "leading_outside", "watch"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _in(module: str, names: str) -> list[str]:
    return [f"{module}.{name}" for name in names.split()]


GROUPS: Final[dict[str, list[str]]] = {
    "time": [
        *_in("time", "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns"),
        *_in("time", "thread_time thread_time_ns clock_gettime clock_gettime_ns sleep localtime gmtime ctime asctime"),
        *_in("time", "strftime"),
        *_in("datetime", "datetime.now datetime.today datetime.utcnow datetime.fromtimestamp datetime.astimezone"),
        *_in("datetime", "datetime.timestamp date.today date.fromtimestamp"),
    ],
    "chance": [
        *_in("random", "Random Random.seed Random.random Random.getrandbits Random.randrange Random.randint"),
        *_in("random", "Random.randbytes"),
        *_in("random", "Random.choice Random.choices Random.sample Random.shuffle Random.uniform Random.triangular"),
        *_in("random", "Random.betavariate Random.expovariate Random.gammavariate Random.gauss Random.normalvariate"),
        *_in("random", "Random.lognormvariate Random.vonmisesvariate Random.paretovariate Random.weibullvariate"),
        *_in("random", "Random.binomialvariate SystemRandom.random SystemRandom.getrandbits"),
        *_in("uuid", "uuid1 uuid4 uuid6 uuid7 getnode"),
        *_in("os", "urandom getrandom"),
        *_in("secrets", "choice randbelow randbits token_bytes token_hex token_urlsafe"),
    ],
    "input": [
        *_in("builtins", "input"),
        *_in("getpass", "getpass"),
    ],
    "machine": [
        *_in("os", "getpid getppid getlogin getuid geteuid getgid getegid cpu_count"),
        *_in("os", "process_cpu_count uname times getloadavg sched_getaffinity get_terminal_size isatty"),
        *_in("platform", "node platform machine processor release system version uname"),
        *_in("getpass", "getuser"),
        *_in("socket", "gethostname getfqdn"),
        *_in("shutil", "get_terminal_size which disk_usage"),
    ],
    "files": [
        *_in("builtins", "open"),
        *_in("os", "open read write close lseek fstat fsync pipe stat lstat listdir scandir walk access chmod chown"),
        *_in("os", "mkdir makedirs remove unlink rename renames replace rmdir removedirs symlink readlink truncate"),
        *_in("os", "link utime statvfs chdir umask getcwd getcwdb"),
        *_in("os.path", "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath"),
        *_in("os.path", "abspath expanduser"),
        *_in("posixpath", "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath"),
        *_in("ntpath", "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath"),
        *_in("genericpath", "exists isfile isdir islink getsize getmtime getatime getctime samefile"),
        *_in("pathlib", "Path.open Path.read_text Path.read_bytes Path.write_text Path.write_bytes Path.exists"),
        *_in("pathlib", "Path.is_file Path.is_dir Path.is_symlink Path.stat Path.lstat Path.iterdir Path.glob"),
        *_in("pathlib", "Path.rglob Path.walk Path.mkdir Path.rmdir Path.unlink Path.touch Path.rename Path.replace"),
        *_in("pathlib", "Path.resolve Path.absolute Path.cwd Path.home Path.expanduser"),
        *_in("pathlib", "Path.chmod Path.symlink_to Path.samefile"),
        *_in("glob", "glob iglob"),
        *_in("shutil", "copy copy2 copyfile copytree move rmtree make_archive unpack_archive"),
        *_in("tempfile", "mkdtemp mkstemp gettempdir TemporaryFile NamedTemporaryFile TemporaryDirectory"),
        *_in("tempfile", "SpooledTemporaryFile"),
        *_in("io", "open open_code FileIO"),
        *_in("gzip", "open GzipFile"),
        *_in("bz2", "open BZ2File"),
        *_in("lzma", "open LZMAFile"),
        *_in("zipfile", "ZipFile"),
        *_in("tarfile", "open TarFile.open"),
        *_in("shelve", "open"),
        *_in("dbm", "open"),
        *_in("mmap", "mmap"),
        *_in("configparser", "RawConfigParser.read"),
    ],
    "processes": [
        *_in("subprocess", "run call check_call check_output getoutput getstatusoutput Popen"),
        *_in("os", "system popen kill waitpid wait"),
    ],
    "network": [
        *_in("socket", "socket create_connection create_server socketpair getaddrinfo gethostbyname getnameinfo"),
        *_in("select", "select poll epoll kqueue"),
        *_in("selectors", "DefaultSelector"),
        *_in("http.client", "HTTPConnection HTTPSConnection"),
        *_in("urllib.request", "urlopen urlretrieve OpenerDirector.open"),
        *_in("smtplib", "SMTP SMTP_SSL"),
        *_in("imaplib", "IMAP4 IMAP4_SSL"),
        *_in("poplib", "POP3 POP3_SSL"),
        *_in("ftplib", "FTP FTP_TLS"),
        *_in("xmlrpc.client", "ServerProxy"),
        *_in("ssl", "create_default_context SSLContext.wrap_socket get_server_certificate"),
        *_in("asyncio", "sleep open_connection start_server open_unix_connection create_subprocess_exec"),
        *_in("asyncio", "create_subprocess_shell"),
        *_in("asyncio.base_events", "BaseEventLoop.time BaseEventLoop.getaddrinfo"),
        *_in("asyncio.selector_events.BaseSelectorEventLoop", "sock_recv sock_recv_into sock_sendall sock_connect"),
        *_in("asyncio.selector_events.BaseSelectorEventLoop", "sock_accept"),
    ],
    "databases": [
        *_in("sqlite3", "connect Connection"),
    ],
    "libraries": [
        *_in("requests", "get post put patch delete head options request Session session"),
        *_in("requests", "Session.request Session.get Session.post Session.put Session.patch Session.delete"),
        *_in("requests", "Session.head Session.options Session.send"),
        *_in("httpx", "get post put patch delete head options request stream Client AsyncClient"),
        *_in("urllib3", "PoolManager HTTPConnectionPool HTTPSConnectionPool ProxyManager request"),
        *_in("aiohttp", "ClientSession request"),
        *_in("websockets", "connect"),
        *_in("websocket", "create_connection WebSocket"),
        *_in("psycopg", "connect Connection.connect AsyncConnection.connect"),
        *_in("psycopg2", "connect"),
        *_in("pymysql", "connect"),
        *_in("MySQLdb", "connect"),
        *_in("asyncpg", "connect create_pool"),
        *_in("aiosqlite", "connect"),
        *_in("redis", "Redis StrictRedis from_url"),
        *_in("redis.asyncio", "Redis from_url"),
        *_in("pymongo", "MongoClient"),
        *_in("boto3", "client resource Session"),
        *_in("paramiko", "SSHClient Transport"),
        *_in("grpc", "insecure_channel secure_channel"),
    ],
}  # fmt: skip
"""The names of the functions that lead outside, by what they lead to."""

BOUNDARY: Final[list[str]] = [name for names in GROUPS.values() for name in names]
"""All of them. Append to it before a `Record` or `Replay` is made."""

ENVIRONMENT: Final = "environment"
"""Not a group of functions, but left out like one: the variables of the environment."""

CHANCE: Final = "random.Random"
"""Of its methods, those lead outside that are called on a generator that got no seed from the program."""

STARTS: Final[dict[str, int]] = {
    "threading.Thread.start": 0,
    "concurrent.futures.thread.ThreadPoolExecutor.submit": 1,
    "concurrent.futures._base.Executor.map": 1,
    "asyncio.base_events.BaseEventLoop.run_in_executor": 2,
    "asyncio.threads.to_thread": 0,
}
"""Functions that have another thread call a function, and which argument that is."""

_marked: Final[list[tuple[str, Any]]] = []
_watchers: Final[weakref.WeakSet[_Watcher]] = weakref.WeakSet()


def leading_outside(without: Iterable[str] = ()) -> list[str]:
    """The names in `BOUNDARY` that are not left out.

    Parameters
    ----------
    without:
        Names of `GROUPS`, or names of functions and patterns for them (`fnmatch`).

    Raises
    ------
    ValueError
        If something is neither a group nor a name of the boundary.

    >>> "builtins.open" in leading_outside(), "builtins.open" in leading_outside(["files"])
    (True, False)
    """
    left = dict.fromkeys(BOUNDARY)
    for text in without:
        meant = GROUPS.get(text) or fnmatch.filter(BOUNDARY, text)
        if not meant and text != ENVIRONMENT:
            raise ValueError(
                f"without={text!r} leaves nothing out: there are the groups {', '.join((*GROUPS, ENVIRONMENT))}, and "
                "dotted names of functions"
            )
        for name in meant:
            left.pop(name, None)
    return list(left)


class Found:
    """A boundary function that exists by now, and the name by which it is recorded."""

    __slots__ = ("name", "target")

    def __init__(self, name: str, target: Any) -> None:
        self.name = name
        self.target = target


def boundary(function: _Function) -> _Function:
    """Decorator: this function leads outside. `Record` records its calls, `Replay` answers them.

    Parameters
    ----------
    function:
        Any function, coroutine function, generator function or class.

    Returns
    -------
    The function itself.

    >>> @boundary
    ... def exchange_rate(currency):
    ...     raise ConnectionError("no network here")
    """
    _marked.append((f"{function.__module__}.{function.__qualname__}", function))
    for watcher in list(_watchers):
        watcher.look()
    return function


class _Watcher:
    """Tells of boundary functions: those that exist, at once; the others when their module has been imported."""

    def __init__(self, names: Iterable[str], tell: Callable[[Sequence[Found]], None]) -> None:
        self._waiting = dict.fromkeys(names)
        self._marks = 0
        self._known: set[int] = set()
        self._tell = tell
        _watchers.add(self)
        if not any(type(finder) is _Imports for finder in sys.meta_path):
            sys.meta_path.insert(0, _Imports())
        self.look()

    def lacks(self, name: str) -> bool:
        """Whether nothing of this name has come so far."""
        return name in self._waiting

    def look(self, imported: str | None = None) -> None:
        """Look for what has come; only below the module that was imported, if that is said."""
        found = [Found(name, function) for name, function in _marked[self._marks :]]
        self._marks = len(_marked)
        for name in list(self._waiting):
            if imported is None or name.startswith(imported + "."):
                target = _located(name)
                if target is not None:
                    found.append(Found(name, target))
                    del self._waiting[name]
        new = []
        for one in found:
            key = id(underlying(one.target))
            if key not in self._known:
                self._known.add(key)
                new.append(one)
        if new:
            self._tell(new)


def watch(names: Iterable[str], tell: Callable[[Sequence[Found]], None]) -> _Watcher:
    """Have `tell` called with the functions of these names, and those marked by `boundary`, as they come to exist.

    Returns
    -------
    What has to be kept for as long as that shall go on.
    """
    return _Watcher(names, tell)


def _located(name: str) -> Any:
    """What a dotted name refers to, if its module is there; nothing is imported."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:count]))
        if isinstance(found, ModuleType):
            for part in parts[count:]:
                # Not getattr: a lazy module would import something, and a class might run code of the program.
                namespace = vars(found)
                if part not in namespace and isinstance(found, type):
                    namespace = next((vars(base) for base in found.__mro__ if part in vars(base)), {})
                found = namespace.get(part)
                if isinstance(found, classmethod | staticmethod):
                    found = found.__func__
                if found is None:
                    return None
            return found if callable(found) else None
    return None


class _Imports(MetaPathFinder):
    """A finder that finds nothing, and tells when a module that others have found is loaded."""

    def __init__(self) -> None:
        self._searching: set[str] = set()

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname in self._searching or not _is_awaited(fullname):
            return None
        self._searching.add(fullname)
        try:
            for finder in sys.meta_path:
                spec = None if finder is self else _asked(finder, fullname, path, target)
                if spec is not None:
                    if spec.loader is not None:
                        _announce_after_loading(spec)
                    return spec
        finally:
            self._searching.discard(fullname)
        return None


def _asked(finder: Any, fullname: str, path: Any, target: Any) -> ModuleSpec | None:
    find: Any = getattr(finder, "find_spec", None)
    return None if find is None else find(fullname, path, target)


def _is_awaited(module: str) -> bool:
    return any(name.startswith(module + ".") for watcher in list(_watchers) for name in watcher._waiting)


class _Announcing(Loader):
    """Another loader, which is put back in its place before it loads; then the watchers are told."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        spec.loader = self._loader
        if vars(module).get("__loader__") is self:
            module.__loader__ = self._loader
        self._loader.exec_module(module)
        for watcher in list(_watchers):
            watcher.look(spec.name)


def _announce_after_loading(spec: ModuleSpec) -> None:
    if hasattr(spec.loader, "exec_module") and hasattr(spec.loader, "create_module"):
        spec.loader = _Announcing(spec.loader)
