"""The functions whose calls are external, as data that users may add to."""

from __future__ import annotations

import fnmatch
import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any, Final, TypeVar

from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.interpreter.callables import underlying
from cassette_import.kits.events import CALLBACK_TAKERS

__all__ = [
    "BOUNDARY",
    "CALLBACK_TAKERS",
    "ENVIRONMENT",
    "GENERATOR",
    "GROUPS",
    "JOBS_OF_THREAD_POOLS",
    "LATE_CALLERS",
    "NUMPY_GENERATORS",
    "NUMPY_RANDOM",
    "READERS",
    "STARTING_FUNCTIONS",
    "TASKS_IN_SETS",
    "BoundaryFunction",
    "BoundaryWatcher",
    "boundary",
    "leading_outside",
]

# ---- the functions of the boundary, found at once or when their module is imported; and the decorator that marks
# more
#
# A name is a dotted path, `module.function`, `module.Class` or `module.Class.method`. It names the function object, so
# calls under other names are found too. A class names its constructor: its instances are external objects, and every
# use of them is an external call.

_Function = TypeVar("_Function", bound=Callable[..., Any])

_marked: Final[list[tuple[str, Any]]] = []
"""The functions that `boundary` has marked, with their names."""
_watched_modules: Final[set[str]] = set()
"""The modules whose import the watchers are notified of."""
_watchers: Final[weakref.WeakSet[BoundaryWatcher]] = weakref.WeakSet()


class BoundaryFunction:
    """A function of the boundary that exists, and the name under which its calls are recorded."""

    __slots__ = ("function", "name")

    def __init__(self, name: str, function: Any) -> None:
        self.name = name
        self.function = function


def boundary(function: _Function) -> _Function:
    """Decorator: calls of this function are external. `Record` records them, `Replay` answers them.

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
        watcher.report_new()
    return function


class BoundaryWatcher:
    """Reports functions of the boundary: existing ones at once, the others when their module has been imported.

    It works as long as it is kept alive.

    Parameters
    ----------
    names:
        The dotted names of the functions. Those that `boundary` marks are reported, too.
    report:
        Called with the functions that have been found. Each one is reported once.
    """

    def __init__(self, names: Iterable[str], report: Callable[[Sequence[BoundaryFunction]], None]) -> None:
        self._missing = dict.fromkeys(names)
        self._marked_reported = 0
        self._reported: set[int] = set()
        self._report = report
        _watchers.add(self)
        for name in self._missing:
            _watch_modules_of(name)
        POST_IMPORT.come_first()
        self.report_new()

    def lacks(self, name: str) -> bool:
        """Whether no function of this name has been found so far."""
        return name in self._missing

    def has_missing_in(self, module: str) -> bool:
        """Whether a function of this module, or of one below it, has not been found so far."""
        return any(name.startswith(module + ".") for name in self._missing)

    def report_new(self, module: str | None = None) -> None:
        """Report functions that exist by now: those in one module, or by default all."""
        found = [BoundaryFunction(name, function) for name, function in _marked[self._marked_reported :]]
        self._marked_reported = len(_marked)
        for name in list(self._missing):
            if module is None or name.startswith(module + "."):
                function = _existing_function(name)
                if function is not None:
                    found.append(BoundaryFunction(name, function))
                    del self._missing[name]
        new = []
        for one in found:
            key = id(underlying(one.function))
            if key not in self._reported:
                self._reported.add(key)
                new.append(one)
        if new:
            self._report(new)


def _watch_modules_of(name: str) -> None:
    """Watch the imports of all modules that may contain the function of a dotted name."""
    module = name.rpartition(".")[0]
    while module:
        if module not in _watched_modules:
            _watched_modules.add(module)
            POST_IMPORT.when_imported(module, _report_functions_of)
        module = module.rpartition(".")[0]


def _report_functions_of(name: str, module: ModuleType) -> None:
    """Let the watchers report the functions of a module that has just been executed."""
    for watcher in list(_watchers):
        watcher.report_new(name)
    if not any(watcher.has_missing_in(name) for watcher in list(_watchers)):
        _watched_modules.discard(name)
        POST_IMPORT.forget(name, _report_functions_of)


def _existing_function(name: str) -> Any:
    """The function of a dotted name, if its module has been imported; this imports nothing."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        target: Any = sys.modules.get(".".join(parts[:count]))
        if isinstance(target, ModuleType):
            for part in parts[count:]:
                # Not `getattr`: a lazy module would import something, and a class might run code of the program.
                namespace = vars(target)
                if part not in namespace and isinstance(target, type):
                    namespace = next((vars(base) for base in target.__mro__ if part in vars(base)), {})
                target = namespace.get(part)
                if isinstance(target, classmethod | staticmethod):
                    target = target.__func__
                if target is None:
                    return None
            return target if callable(target) else None
    return None


# ---- the functions whose calls are external, as data that users may add to


def _in(module: str, names: str) -> list[str]:
    return [f"{module}.{name}" for name in names.split()]


NUMPY_RANDOM: Final = "numpy.random."
NUMPY_GENERATORS: Final = (
    "Generator",
    "RandomState",
    "default_rng",
    "PCG64",
    "PCG64DXSM",
    "MT19937",
    "Philox",
    "SFC64",
)
"""The functions of `numpy.random` that make a generator."""

_DISTRIBUTIONS: Final = (
    "beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric laplace "
    "logistic lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f "
    "normal pareto permutation poisson power random rayleigh shuffle standard_cauchy standard_exponential "
    "standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull zipf"
)

GROUPS: Final[dict[str, list[str]]] = {
    "time": [
        *_in("time", "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns"),
        *_in("time", "thread_time thread_time_ns clock_gettime clock_gettime_ns sleep localtime gmtime ctime asctime"),
        *_in("time", "strftime"),
        *_in("datetime", "datetime.now datetime.today datetime.utcnow datetime.fromtimestamp datetime.astimezone"),
        *_in("datetime", "datetime.timestamp date.today date.fromtimestamp"),
        *_in("email.utils", "formatdate localtime make_msgid"),
        *_in("timeit", "timeit repeat"),
        *_in("http.cookiejar", "time2isoz time2netscape"),
        *_in("resource", "getrusage"),
    ],
    "random": [
        *_in("random", "Random Random.seed Random.random Random.getrandbits Random.randrange Random.randint"),
        *_in("random", "Random.randbytes"),
        *_in("random", "Random.choice Random.choices Random.sample Random.shuffle Random.uniform Random.triangular"),
        *_in("random", "Random.betavariate Random.expovariate Random.gammavariate Random.gauss Random.normalvariate"),
        *_in("random", "Random.lognormvariate Random.vonmisesvariate Random.paretovariate Random.weibullvariate"),
        *_in("random", "Random.binomialvariate SystemRandom.random SystemRandom.getrandbits"),
        *_in("numpy.random", " ".join(NUMPY_GENERATORS)),
        *_in("numpy.random.Generator", _DISTRIBUTIONS),
        *_in("numpy.random.Generator", "integers multivariate_hypergeometric permuted spawn"),
        *_in("numpy.random.RandomState", _DISTRIBUTIONS),
        *_in("numpy.random.RandomState", "rand randn randint random_integers random_sample tomaxint"),
        *_in("numpy.random.RandomState", "seed set_state"),
        *_in("numpy.random", "seed set_state"),
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
        *_in("os", "getgroups getgrouplist getpriority getresuid getresgid sysconf"),
        *_in("multiprocessing", "cpu_count"),
        *_in("threading", "get_native_id"),
        *_in("resource", "getrlimit setrlimit"),
        *_in("pwd", "getpwnam getpwuid getpwall"),
        *_in("grp", "getgrnam getgrgid getgrall"),
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
        *_in("os", "fdopen pipe2 dup dup2 pread pwrite readv writev preadv pwritev sendfile copy_file_range ftruncate"),
        *_in("os", "fdatasync fchmod fchown fchdir fstatvfs openpty memfd_create eventfd eventfd_read eventfd_write"),
        *_in("os", "get_inheritable set_inheritable get_blocking set_blocking lockf ttyname"),
        *_in("linecache", "getline getlines checkcache updatecache lazycache"),
        *_in("fileinput", "input FileInput filename fileno lineno filelineno isfirstline isstdin nextfile close"),
        *_in("tokenize", "open"),
        *_in("netrc", "netrc"),
        *_in("numpy", "load loadtxt genfromtxt fromfile save savez savez_compressed savetxt memmap ndarray.tofile"),
        *_in("gzip", "compress"),
        *_in("fcntl", "fcntl ioctl flock lockf"),
        *_in("termios", "tcgetattr tcsetattr"),
        *_in("os.path", "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath"),
        *_in("os.path", "abspath expanduser"),
        *_in("posixpath", "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath"),
        *_in("ntpath", "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath"),
        *_in("genericpath", "exists isfile isdir islink getsize getmtime getatime getctime samefile"),
        *_in("pathlib", "Path.open Path.read_text Path.read_bytes Path.write_text Path.write_bytes Path.exists"),
        *_in("pathlib", "Path.is_file Path.is_dir Path.is_symlink Path.stat Path.lstat Path.iterdir Path.glob"),
        *_in("pathlib", "Path.rglob Path.walk Path.mkdir Path.rmdir Path.unlink Path.touch Path.rename Path.replace"),
        *_in("pathlib", "Path.resolve Path.absolute Path.cwd Path.home Path.expanduser"),
        *_in("pathlib", "Path.chmod Path.symlink_to Path.samefile Path.owner Path.group Path.readlink"),
        *_in("pathlib", "Path.hardlink_to Path.is_mount Path.is_socket Path.is_fifo"),
        *_in("codecs", "open"),
        *_in("filecmp", "cmp cmpfiles dircmp"),
        *_in("glob", "glob iglob"),
        *_in("shutil", "copy copy2 copyfile copytree move rmtree make_archive unpack_archive"),
        *_in("tempfile", "mkdtemp mkstemp mktemp gettempdir TemporaryFile NamedTemporaryFile TemporaryDirectory"),
        *_in("tempfile", "SpooledTemporaryFile"),
        *_in("io", "open open_code FileIO"),
        *_in("gzip", "open GzipFile"),
        *_in("bz2", "open BZ2File"),
        *_in("lzma", "open LZMAFile"),
        *_in("zipfile", "ZipFile Path is_zipfile"),
        *_in("tarfile", "open TarFile.open is_tarfile"),
        *_in("shelve", "open"),
        *_in("dbm", "open whichdb dumb.open gnu.open ndbm.open sqlite3.open"),
        *_in("wave", "open"),
        *_in("mailbox", "mbox Maildir MH Babyl MMDF"),
        *_in("mmap", "mmap"),
    ],
    "processes": [
        *_in("subprocess", "run call check_call check_output getoutput getstatusoutput Popen"),
        *_in("os", "system popen kill waitpid wait"),
        *_in("webbrowser", "open open_new open_new_tab"),
    ],
    "network": [
        *_in("socket", "socket create_connection create_server socketpair getaddrinfo gethostbyname getnameinfo"),
        *_in("socket", "fromfd close send_fds recv_fds gethostbyaddr gethostbyname_ex"),
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
        *_in("psutil", "Process Popen boot_time cpu_count cpu_freq cpu_percent cpu_stats cpu_times cpu_times_percent"),
        *_in("psutil", "disk_io_counters disk_partitions disk_usage getloadavg net_connections net_if_addrs"),
        *_in("psutil", "net_if_stats net_io_counters pid_exists pids process_iter swap_memory users virtual_memory"),
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
"""Dotted names of the functions whose calls are external, by group."""

_OLD_GROUPS: Final = {"chance": "random"}
"""Earlier names of groups. They are still accepted: recordings may contain them."""

BOUNDARY: Final[list[str]] = [name for names in GROUPS.values() for name in names]
"""The names of all groups. Append to it before a `Record` or `Replay` is made."""

ENVIRONMENT: Final = "environment"
"""The environment variables. They are not a group of functions, but can be left out like one."""

GENERATOR: Final = "random.Random"
"""Calls of its methods are external if the program has not seeded the generator."""

STARTING_FUNCTIONS: Final[dict[str, int]] = {
    "threading.Thread.start": 0,
    "concurrent.futures.thread.ThreadPoolExecutor.submit": 1,
    "concurrent.futures._base.Executor.map": 1,
    "concurrent.futures._base.Future.add_done_callback": 1,
    "asyncio.base_events.BaseEventLoop.run_in_executor": 2,
    "asyncio.threads.to_thread": 0,
}
"""Functions that start a thread or job, or delay a function, and the index of the argument that is called."""

READERS: Final = frozenset(
    (
        *_in("configparser", "RawConfigParser.read"),
        *_in("urllib.robotparser", "RobotFileParser.read"),
        *_in("xml.etree.ElementTree", "parse iterparse ElementTree.parse ElementTree.write"),
        *_in("xml.dom.minidom", "parse"),
        *_in("xml.sax", "parse"),
        *_in("xml.sax.expatreader", "ExpatParser.parse"),
        *_in("xml.sax.saxutils", "prepare_input_source"),
        *_in("argparse", "ArgumentParser.parse_args"),
        *_in("xml.dom.expatbuilder", "parse"),
        *_in("http.cookiejar", "FileCookieJar.load FileCookieJar.revert MozillaCookieJar.save LWPCookieJar.save"),
    )
)
"""Methods that read or write files and keep what they read in the program's objects. They run like code of the program,
so their calls of `open` are external, and a replay fills the same objects."""

JOBS_OF_THREAD_POOLS: Final[dict[str, str]] = {
    f"multiprocessing.pool.Pool.{name}": kind
    for name, kind in {
        "apply": "one",
        "apply_async": "one",
        "map": "item",
        "map_async": "item",
        "imap": "item",
        "imap_unordered": "item",
        "starmap": "items",
        "starmap_async": "items",
    }.items()
}
"""Methods of thread pools that start jobs: one, or one for each item of an iterable, which is the argument or contains
the arguments."""

LATE_CALLERS: Final = frozenset({*_in("atexit", "register"), *_in("signal", "signal")})
"""Functions that keep a function of the program, which is called at a moment that no recording contains."""

TASKS_IN_SETS: Final = "asyncio.tasks.as_completed"
"""A function that makes tasks of coroutines in the order of a set of them, which differs from run to run."""


def leading_outside(without: Iterable[str] = ()) -> list[str]:
    """The names in `BOUNDARY`, except those that are left out.

    Parameters
    ----------
    without:
        Names of `GROUPS`, or names of functions and patterns for them (`fnmatch`).

    Returns
    -------
    The names, in the order of `BOUNDARY`.

    Raises
    ------
    ValueError
        If a text is neither a group nor a name in the boundary.

    >>> "builtins.open" in leading_outside(), "builtins.open" in leading_outside(["files"])
    (True, False)
    """
    left = dict.fromkeys(BOUNDARY)
    for text in without:
        names = GROUPS.get(_OLD_GROUPS.get(text, text)) or fnmatch.filter(BOUNDARY, text)
        if not names and text != ENVIRONMENT:
            raise ValueError(
                f"without={text!r} leaves nothing out: there are the groups {', '.join((*GROUPS, ENVIRONMENT))}, and "
                "dotted names of functions"
            )
        for name in names:
            left.pop(name, None)
    return list(left)
