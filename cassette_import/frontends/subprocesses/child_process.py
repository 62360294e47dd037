"""The start of a child process of `run --subprocesses`: it joins the run before its program begins.

The process installs the packages and enters the contexts of the first process.
"""

from __future__ import annotations

import atexit
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import import __version__
from cassette_import.activation.context import Context
from cassette_import.contexts.lookup import context_named, importable_from
from cassette_import.frontends import settings
from cassette_import.frontends.programs.exit_hooks import call_before_exit, replace_exit_functions
from cassette_import.frontends.programs.import_path import current_folders, make_way_for
from cassette_import.frontends.programs.main_module import code_of_main
from cassette_import.frontends.programs.user_program import CannotRun, Script
from cassette_import.frontends.subprocesses.process_family import FamilyResults, ProcessFamily
from cassette_import.importing.installation import install_unchecked
from cassette_import.importing.selection import OURSELVES
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["start"]

_HELPERS: Final = ("from multiprocessing.resource_tracker import", "from multiprocessing.semaphore_tracker import")
_FORK_SERVER: Final = "from multiprocessing.forkserver import"


def start(described: str) -> None:
    """Join the run that the environment variable describes; do nothing if this process is not the program's."""
    family = ProcessFamily.join(described, __version__)
    if family is None or _is_own_command() or _code().startswith(_HELPERS):
        return
    try:
        wanted = settings.from_environment(os.environ)
        if not wanted.disable:
            _start(family, wanted)
    except Exception as error:  # the program runs even so; another program may read its standard error
        family.hand_in({"problem": f"{type(error).__name__}: {error}"})


def _start(family: ProcessFamily, wanted: settings.Settings) -> None:
    replace_exit_functions()
    with importable_from(family.run["folders"]):
        contexts = [context_named(text) for text in wanted.contexts or ()]
    output, report_file = family.run["output"], family.run["report"]
    results = FamilyResults(contexts, output, report_file, family=family, is_child=True)
    results.is_fork_server = _code().startswith(_FORK_SERVER)
    results.begin([install_unchecked(wanted.packages, wanted.exclude or ())] if wanted.packages else [])
    atexit.register(results.write)
    call_before_exit(results.write)
    _arrange(results)
    for context in contexts:
        context.__enter__()  # for as long as the process lives


def _is_own_command() -> bool:
    """Whether the process is a command of cassette_import, which reads its settings from the environment itself."""
    if os.path.basename(sys.argv[0]).startswith("cassette-import"):
        return True
    module = sys.orig_argv[len(sys.orig_argv) - len(sys.argv)] if sys.argv[0] == "-m" else ""
    return module.removeprefix("-m").partition(".")[0] == OURSELVES


def _code() -> str:
    """The code that follows `python -c`; empty for other processes."""
    if sys.argv[0] != "-c":
        return ""
    return sys.orig_argv[len(sys.orig_argv) - len(sys.argv)].removeprefix("-c")


# ---- the main module


def _arrange(results: FamilyResults) -> None:
    """Let the main module be overdubbed, however Python will run it."""
    tools: Any = runpy
    run_code: Callable[..., object] = tools._run_code

    @hidden
    def run_overdubbed(
        code: Any, namespace: Any, initial: Any = None, name: Any = None, *more: Any, **named: Any
    ) -> Any:
        if name in ("__main__", "__mp_main__"):  # the module of `-m`; the main module in a process of multiprocessing
            results.has_main_module = True
            code = code_of_main(code, more, name)
        return run_code(code, namespace, initial, name, *more, **named)

    tools._run_code = run_overdubbed
    if os.path.isfile(sys.argv[0]):
        _arrange_script(Script(sys.argv[0], sys.argv[1:]), results)
    elif not sys.flags.safe_path and sys.argv[0] in ("-m", "-c"):
        for folder in current_folders():
            make_way_for(folder)


def _arrange_script(script: Script, results: FamilyResults) -> None:
    """Have a script overdubbed, through a path hook.

    Python asks the path hooks whether a script is a folder or a zip file. If one of them agrees, `runpy` runs the
    script, and here `runpy` calls cassette_import.
    """
    if script.is_container:
        return
    tools: Any = runpy
    run_module: Callable[..., object] = tools._run_module_as_main

    def claim(path: str) -> Any:
        if path not in (script.name, script.filename):
            raise ImportError
        sys.path_hooks.remove(claim)
        tools._run_module_as_main = run
        return object()

    @hidden
    def run(*arguments: Any) -> None:
        tools._run_module_as_main = run_module
        for path in (script.name, script.filename):
            sys.path_importer_cache.pop(path, None)
        if sys.flags.safe_path:
            del sys.path[0]  # the script, which Python takes for a folder
        results.has_main_module = True
        _run(script)

    sys.path_hooks.insert(0, claim)


def _run(script: Script, contexts: Sequence[Context] = ()) -> None:
    try:
        script.prepare()
    except CannotRun as error:
        print(error, file=sys.stderr)
        sys.exit(error.status)
    script.run(contexts)
