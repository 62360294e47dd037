"""The built-in sources, sinks and sanitizers of `Taint`, as data: dotted names.

A name is that of a function, of a method in the class that defines it, or of an attribute of a class or module.
Modules that are imported later count from then on. To extend the data for every `Taint`, append to the lists before it
is made; to extend it for one `Taint`, pass arguments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, Final

__all__ = ["SANITIZERS", "SINKS", "SOURCES", "Sanitizer", "Sink"]


@dataclasses.dataclass(frozen=True)
class Sink:
    """A function that must not receive untrusted values.

    Parameters
    ----------
    name:
        Its dotted name.
    kind:
        The kind of sink: ``"SQL"``, ``"shell"``, … A sanitizer for this kind makes values safe.
    arguments:
        The arguments that matter, by position (the receiver of a method is number 0) or keyword; None for all.
    condition:
        A function of positional and keyword arguments that returns whether the call is dangerous; None for always.
    """

    name: str
    kind: str = "code"
    arguments: tuple[int | str, ...] | None = None
    condition: Callable[[tuple[Any, ...], Mapping[str, Any]], bool] | None = None


@dataclasses.dataclass(frozen=True)
class Sanitizer:
    """A function whose results are safe, for sinks of these kinds, or for all sinks."""

    name: str
    kinds: frozenset[str] | None = None


def _of(owner: str, names: str) -> list[str]:
    return [f"{owner}.{name}" for name in names.split()]


SOURCES: Final[list[str]] = [
    "input",
    "sys.stdin",
    # Flask and other frameworks that use werkzeug
    *_of("werkzeug.sansio.request.Request", "args cookies headers path full_path query_string url root_url mimetype"),
    *_of("werkzeug.wrappers.request.Request", "data form files values json stream get_data get_json"),
    *_of("flask.wrappers.Request", "view_args"),
    # Django
    *_of("django.http.request.HttpRequest", "GET POST COOKIES FILES META body path path_info headers"),
    *_of("django.core.handlers.wsgi.WSGIRequest", "GET POST COOKIES FILES"),
    # Starlette and FastAPI
    *_of("starlette.requests.HTTPConnection", "query_params path_params cookies headers url"),
    # the standard library
    *_of("http.server.BaseHTTPRequestHandler", "path headers rfile requestline"),
    *_of("socket.socket", "recv recvfrom"),
]
"""Functions whose results are untrusted, and attributes with untrusted values."""


_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "csh", "fish", "cmd", "cmd.exe", "powershell", "pwsh"})


def _through_a_shell(arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> bool:
    """Whether a call of `subprocess` runs a shell: `shell=True`, or a list that begins with the name of a shell."""
    command = arguments[0] if arguments else keywords.get("args")
    return bool(keywords.get("shell")) or _runs_a_shell(command)


def _runs_a_shell(command: Any) -> bool:
    if not isinstance(command, (list, tuple)) or not command:
        return False
    words = [str(word) for word in command]
    if PurePath(words[0]).name == "env":
        words = [word for word in words[1:] if "=" not in word]
    return bool(words) and PurePath(words[0]).name in _SHELLS


def _starts_a_shell(arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> bool:
    """Whether a program that is given with its arguments is a shell, as `os.execv` gets it."""
    return any(_runs_a_shell(one) or _runs_a_shell([one]) for one in arguments if isinstance(one, (str, list, tuple)))


_METHODS_OF_PATHS: Final = (
    "open read_text read_bytes write_text write_bytes unlink mkdir rmdir rename replace touch iterdir glob rglob"
)
_TEXT: Final = (1, "query", "sql", "statement")

SINKS: Final[list[Sink]] = [
    *(Sink(name, "SQL", _TEXT) for name in _of("sqlite3.Connection", "execute executemany executescript")),
    *(Sink(name, "SQL", _TEXT) for name in _of("sqlite3.Cursor", "execute executemany executescript")),
    *(Sink(name, "SQL", _TEXT) for name in _of("psycopg2.extensions.cursor", "execute executemany")),
    *(Sink(name, "SQL", _TEXT) for name in _of("psycopg.Cursor", "execute executemany")),
    *(Sink(name, "SQL", _TEXT) for name in _of("pymysql.cursors.Cursor", "execute executemany")),
    Sink("sqlalchemy.text", "SQL", (0, "text")),
    *(Sink(name, "shell", (0, "cmd", "command")) for name in _of("os", "system popen")),
    *(
        Sink(name, "shell", (0, "args"), _through_a_shell)
        for name in _of("subprocess", "run call check_call check_output Popen")
    ),
    *(Sink(name, "shell", (0, "cmd")) for name in _of("subprocess", "getoutput getstatusoutput")),
    Sink("asyncio.subprocess.create_subprocess_shell", "shell", (0, "cmd")),
    Sink("asyncio.subprocess.create_subprocess_exec", "shell", None, _starts_a_shell),
    *(
        Sink(name, "shell", None, _starts_a_shell)
        for name in _of("os", "execv execve execvp execvpe execl execle execlp execlpe spawnv spawnve spawnvp spawnl")
    ),
    Sink("pty.spawn", "shell", (0, "argv"), _starts_a_shell),
    *(Sink(name, "code", (0, "source")) for name in ("eval", "exec", "compile")),
    *(Sink(name, "code", (0, "name")) for name in ("__import__", "importlib.import_module", "importlib.__import__")),
    *(Sink(name, "code", (0,)) for name in ("pickle.loads", "pickle.load", "marshal.loads")),
    *(Sink(name, "code", (0,)) for name in _of("runpy", "run_path run_module")),
    *(Sink(name, "code", (0, "stream")) for name in _of("yaml", "unsafe_load unsafe_load_all full_load")),
    *(Sink(name, "path", (0, "file", "path")) for name in ("open", "os.open", "os.remove", "os.unlink")),
    *(Sink(name, "path", (0, 1)) for name in _of("os", "rename replace link symlink")),
    *(Sink(name, "path", (0, "path", "name")) for name in _of("os", "listdir scandir mkdir makedirs rmdir chmod")),
    *(Sink(name, "path", (0, 1, "src", "dst")) for name in _of("shutil", "copy copy2 copyfile copytree move")),
    *(Sink(name, "path", (0,)) for name in _of("pathlib.Path", _METHODS_OF_PATHS)),
    Sink("shutil.rmtree", "path", (0, "path")),
    Sink("flask.helpers.send_file", "path", (0, "path_or_file")),
    Sink("flask.templating.render_template_string", "template", (0, "source")),
    Sink("jinja2.environment.Environment.from_string", "template", (1, "source")),
    Sink("jinja2.environment.Template", "template", (0, "source")),
    Sink("markupsafe.Markup", "HTML", (0, "object")),
    Sink("urllib.request.urlopen", "URL", (0, "url")),
    Sink("requests.api.request", "URL", (1, "url")),
    *(Sink(name, "URL", (0, "url")) for name in _of("requests.api", "get post put patch delete head")),
]
"""Functions that must not receive untrusted values."""

SANITIZERS: Final[list[Sanitizer]] = [
    Sanitizer("shlex.quote", frozenset({"shell"})),
    Sanitizer("html.escape", frozenset({"HTML"})),
    Sanitizer("markupsafe.escape", frozenset({"HTML"})),
    Sanitizer("os.path.basename", frozenset({"path"})),
    Sanitizer("werkzeug.utils.secure_filename", frozenset({"path", "shell"})),
    Sanitizer("uuid.UUID"),
    Sanitizer("datetime.date.fromisoformat"),
    Sanitizer("datetime.datetime.fromisoformat"),
    Sanitizer("ipaddress.ip_address"),
]
"""Functions whose results are safe. Numbers, truth values and None are always safe."""
