"""What a child process of `run --subprocesses` does before its program begins: the same as the first process.

Knows what Python does between `site` and a program; must not know how anything is overdubbed.
"""

from __future__ import annotations

import atexit
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import cassette_import
from cassette_import import Context
from cassette_import.contexts.lookup import context_named, importable_from
from cassette_import.frontends import settings
from cassette_import.frontends.programs import program
from cassette_import.frontends.programs.exit_hooks import look_out, tell_before_leaving
from cassette_import.frontends.programs.import_path import make_way_for
from cassette_import.frontends.programs.process_family import Family
from cassette_import.frontends.reporting.family_report import FamilyOutcome
from cassette_import.importing.installation import install_unchecked
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["start"]

_HELPERS: Final = ("from multiprocessing.resource_tracker import", "from multiprocessing.semaphore_tracker import")
_FORK_SERVER: Final = "from multiprocessing.forkserver import"


def start(described: str) -> None:
    """Join the run that the variable describes; do nothing if this process is none of the program's."""
    family = Family.join(described, cassette_import.__version__)
    if family is None or _is_ours() or _code().startswith(_HELPERS):
        return
    try:
        wanted = settings.from_environment(os.environ)
        if not wanted.disable:
            _start(family, wanted)
    except Exception as error:  # the program runs in any case; its standard error may be read by another program
        family.hand_in({"problem": f"{type(error).__name__}: {error}"})


def _start(family: Family, wanted: settings.Settings) -> None:
    look_out()
    with importable_from(family.wanted["folders"]):
        contexts = [context_named(text) for text in wanted.contexts or ()]
    output, report_file = family.wanted["output"], family.wanted["report"]
    outcome = FamilyOutcome(contexts, output, report_file, family=family, is_child=True)
    outcome.is_fork_server = _code().startswith(_FORK_SERVER)
    outcome.begin([install_unchecked(wanted.packages, wanted.exclude or ())] if wanted.packages else [])
    atexit.register(outcome.write)
    tell_before_leaving(outcome.write)
    _arrange(outcome)
    for context in contexts:
        context.__enter__()  # for as long as the process lives


def _is_ours() -> bool:
    """Whether the process is a command of ours, which finds its settings in the environment by itself."""
    if os.path.basename(sys.argv[0]).startswith("cassette-import"):
        return True
    module = sys.orig_argv[len(sys.orig_argv) - len(sys.argv)] if sys.argv[0] == "-m" else ""
    return module.removeprefix("-m").partition(".")[0] == cassette_import.__name__


def _code() -> str:
    """What `-c` was given."""
    if sys.argv[0] != "-c":
        return ""
    return sys.orig_argv[len(sys.orig_argv) - len(sys.argv)].removeprefix("-c")


# ---- the main module


def _arrange(outcome: FamilyOutcome) -> None:
    """Have the main module overdubbed, whichever way Python will run it."""
    tools: Any = runpy
    run_code: Callable[..., object] = tools._run_code

    @hidden
    def run_overdubbed(
        code: Any, namespace: Any, initial: Any = None, name: Any = None, *more: Any, **named: Any
    ) -> Any:
        if name in ("__main__", "__mp_main__"):  # what `-m` runs; the main module in a process of multiprocessing
            outcome.has_main_module = True
            code = program.code_of_main(code, more, name)
        return run_code(code, namespace, initial, name, *more, **named)

    tools._run_code = run_overdubbed
    if os.path.isfile(sys.argv[0]):
        _arrange_script(program.Script(sys.argv[0], sys.argv[1:]), outcome)
    elif not sys.flags.safe_path and sys.argv[0] in ("-m", "-c"):
        make_way_for(os.getcwd())


def _arrange_script(script: program.Script, outcome: FamilyOutcome) -> None:
    """Python asks its path hooks whether a script is a folder or zip file; if it is, `runpy` is to run it: this is
    where we come in."""
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
            del sys.path[0]  # what Python takes for a folder
        outcome.has_main_module = True
        _run(script)

    sys.path_hooks.insert(0, claim)


def _run(script: program.Script, contexts: Sequence[Context] = ()) -> None:
    try:
        script.prepare()
    except program.CannotRun as error:
        print(error, file=sys.stderr)
        sys.exit(error.status)
    script.run(contexts)
