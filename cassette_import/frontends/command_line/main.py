"""The command line: `run`, `replay`, `show`, `contexts`, `primitives`, `doctor`, `cache`.

Knows arguments and what to do with them; must not know how programs are run, how code is rewritten, or any
context.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from cassette_import.frontends import settings

if TYPE_CHECKING:
    from cassette_import import Context
    from cassette_import.frontends.programs.program import Program

__all__ = ["build_parser", "main"]

_DEFAULT_CONTEXT: Final = "profile"


class UsageError(Exception):
    """What was asked for makes no sense; the message is one line."""


class _Parser(argparse.ArgumentParser):
    """Wrong usage is answered with one line.

    With `takes_program`, everything from the first argument that is no option, or from `-m`, on belongs to a program.
    """

    def __init__(self, *, takes_program: bool = False, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, **keywords)
        self._takes_program = takes_program

    def error(self, message: str) -> NoReturn:
        """Leave with one line on standard error, and status 2."""
        self.exit(2, f"{self.prog}: {message}\n")

    def parse_known_args(  # type: ignore[override]  # typeshed has overloads for namespaces of other types
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Take away the program and its arguments before argparse sees them (M4)."""
        if not self._takes_program:
            return super().parse_known_args(args, namespace)
        given = list(sys.argv[1:] if args is None else args)
        end = self._where_program_begins(given)
        found, unknown = super().parse_known_args(given[:end], namespace)
        program = given[end:]
        if program[:1] == ["--"]:
            del program[0]
        # As Python's own `-mMODULE`.
        elif program and program[0].startswith("-m") and program[0] != "-m":
            program[:1] = ["-m", program[0][2:]]
        found.program = program
        return found, unknown

    def _where_program_begins(self, arguments: Sequence[str]) -> int:
        with_value = {option for action in self._actions if action.nargs is None for option in action.option_strings}
        index = 0
        while index < len(arguments):
            argument = arguments[index]
            if not argument.startswith("-") or argument in ("-", "--") or argument[:2] == "-m":
                return index
            index += 2 if argument in with_value else 1
        return len(arguments)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    from cassette_import import __version__

    parser = _Parser(prog=_program_name(), description="Run unaware Python programs in a context of your own.")
    parser.add_argument("--version", action="version", version=f"cassette_import {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    context_help = "ready-made context, entry point, or module:Class, each with :key=value,…"

    run = commands.add_parser(
        "run",
        takes_program=True,
        help="run a script or module in contexts",
        usage=f"{parser.prog} run [-p PACKAGE[,…]]… [-x EXCLUDE[,…]]… [-c CONTEXT]… [-o FILE] "
        "[--report FILE] [--escapes] [--subprocesses] (SCRIPT | -m MODULE) [ARGUMENT]…",
    )
    run.add_argument(
        "-p",
        "--packages",
        action="append",
        metavar="PACKAGE[,…]",
        help="overdub these (default: the program)",
    )
    run.add_argument("-x", "--exclude", action="append", metavar="EXCLUDE[,…]", help="but not these")
    run.add_argument(
        "-c",
        "--context",
        action="append",
        help=f"{context_help}; outermost first; none for none (default: profile)",
    )
    run.add_argument("-o", "--output", metavar="FILE", help="write what the context found, in the format of the suffix")
    run.add_argument("--report", metavar="FILE", help="write what was rewritten, specialised and left alone, as JSON")
    run.add_argument("--escapes", action="store_true", help="tell which Python functions were not overdubbed, and why")
    run.add_argument(
        "--subprocesses",
        action="store_true",
        default=None,
        help="overdub the Python programs that the program starts as well",
    )
    run.set_defaults(perform=_run)

    replay = commands.add_parser("replay", help="run a recorded program again, with nothing of what was outside")
    replay.add_argument("file", metavar="FILE", help="what `run -c record -o FILE` wrote")
    replay.set_defaults(perform=_replay)

    show = commands.add_parser("show", help="print a function as it runs in a context")
    show.add_argument("target", metavar="MODULE:FUNCTION")
    show.add_argument("-c", "--context", action="append", help=context_help)
    show.add_argument("--diff", action="store_true", help="print the differences from the function as it was written")
    show.set_defaults(perform=_show)

    commands.add_parser("contexts", help="list the contexts that have a name").set_defaults(perform=_contexts)
    commands.add_parser("primitives", help="list which syntax is which event").set_defaults(perform=_primitives)

    doctor = commands.add_parser("doctor", help="tell what is done to each module of a package, and why")
    doctor.add_argument("package", metavar="PACKAGE")
    doctor.add_argument("-x", "--exclude", action="append", metavar="EXCLUDE[,…]", help="leave these alone")
    doctor.set_defaults(perform=_doctor)

    cache = commands.add_parser("cache", help="list the files that are kept beside the .pyc files")
    cache.add_argument("packages", nargs="*", metavar="PACKAGE", help="of these packages only")
    cache.add_argument("--clear", action="store_true", help="remove them")
    cache.set_defaults(perform=_cache)
    return parser


def _program_name() -> str:
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name if name.startswith("cassette") else "python -m cassette_import"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    parser = build_parser()
    given = parser.parse_args(arguments)
    if given.command is None:
        parser.error("a command is needed: run, replay, show, contexts, primitives, doctor or cache")
    try:
        status: int = given.perform(given)
    except (UsageError, settings.SettingsError) as error:
        print(f"{parser.prog} {given.command}: {error}", file=sys.stderr)
        return 2
    return status


def _until_closed(lines: Iterable[str]) -> int:
    """Print the lines, for as long as somebody reads them: `| head` does not for long."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer would be written at exit, and complained about.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _settings(given: argparse.Namespace) -> settings.Settings:
    packages, exclude = getattr(given, "packages", None), getattr(given, "exclude", None)
    return settings.resolved(
        settings.Settings(
            packages=None if packages is None else settings.names(packages),
            exclude=None if exclude is None else settings.names(exclude),
            contexts=None if given.context is None else settings.contexts(given.context),
            report=getattr(given, "report", None),
            subprocesses=getattr(given, "subprocesses", None),
        )
    )


# ---- run


def _run(given: argparse.Namespace) -> int:
    from cassette_import.contexts.common.targets import about_to_run
    from cassette_import.frontends.command_line.run import CannotBegin, run_overdubbed
    from cassette_import.frontends.programs import exit_hooks
    from cassette_import.frontends.programs.program import CannotRun

    wanted = _settings(given)
    program = _program(given.program)
    try:
        if wanted.disable:
            program.is_overdubbed = False
            program.prepare()
            program.run()
            return 0
        wanted = wanted._replace(contexts=(_DEFAULT_CONTEXT,) if wanted.contexts is None else wanted.contexts)
        if wanted.contexts or wanted.report or given.escapes:
            exit_hooks.look_out()
        # Contexts may lie beside the program, or here.
        with about_to_run(program.module):
            contexts = _made(wanted.contexts, program.folder, os.getcwd())
        if given.escapes:
            from cassette_import.activation.escape_report import EscapeWatch

            contexts.append(EscapeWatch(contexts))
        run_overdubbed(program, wanted, contexts, given.output)
    except CannotBegin as error:
        raise UsageError(str(error)) from error
    except CannotRun as error:
        print(error, file=sys.stderr)
        return error.status
    return 0


def _program(words: Sequence[str]) -> Program:
    from cassette_import.frontends.programs.program import Module, Script

    if not words:
        raise UsageError("a script, or -m and a module, is needed")
    if words[0] != "-m":
        return Script(words[0], words[1:])
    if len(words) == 1:
        raise UsageError("-m needs a module")
    return Module(words[1], words[2:])


def _made(descriptions: Sequence[str] | None, *folders: str) -> list[Context]:
    from cassette_import.contexts.lookup import UnknownContext, context_named, importable_from

    try:
        with importable_from(folders):
            return [context_named(text) for text in ((_DEFAULT_CONTEXT,) if descriptions is None else descriptions)]
    except UnknownContext as error:
        raise UsageError(str(error)) from error


def _replay(given: argparse.Namespace) -> int:
    from cassette_import.contexts.recording.recording_file import BadRecording
    from cassette_import.frontends.command_line.replay import replay
    from cassette_import.frontends.programs.program import CannotRun

    try:
        return replay(given.file)
    except BadRecording as error:
        raise UsageError(str(error)) from error
    except CannotRun as error:
        print(error, file=sys.stderr)
        return error.status


# ---- the others


def _show(given: argparse.Namespace) -> int:
    from cassette_import import reflect

    reflection = reflect(_function(given.target))
    if reflection is None:
        raise UsageError(f"{given.target} has no Python source that could be overdubbed")
    texts = []
    for context in _made(_settings(given).contexts):
        overdubbed = reflection.overdubbed(context).rstrip("\n")
        texts.append(_differences(given.target, reflection.tree, overdubbed, context) if given.diff else overdubbed)
    return _until_closed(texts)


def _differences(target: str, tree: ast.AST, overdubbed: str, context: Context) -> str:
    import difflib

    try:
        overdubbed = ast.unparse(ast.parse(overdubbed))  # to be laid out as the other side is
    except SyntaxError:  # it has names that are none in Python, and is laid out so already
        pass
    lines = difflib.unified_diff(
        ast.unparse(tree).splitlines(),
        overdubbed.splitlines(),
        target,
        f"{target} in {type(context).__name__}",
        lineterm="",
    )
    return "\n".join(lines)


def _function(target: str) -> Any:
    module_name, colon, path = target.partition(":")
    if not colon or not path:
        raise UsageError(f"{target!r} is not of the form module:function")
    try:
        found: Any = importlib.import_module(module_name)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise UsageError(f"{target}: {error}") from error
    if not callable(found):
        raise UsageError(f"{target} is no function")
    return found


def _contexts(given: argparse.Namespace) -> int:
    from cassette_import.contexts.lookup import context_types

    rows = []
    for name, target in context_types().items():
        module_name, _, path = target.partition(":")
        try:
            context: Any = importlib.import_module(module_name)
            for attribute in path.split("."):
                context = getattr(context, attribute)
            about = (context.__doc__ or "").strip().partition("\n")[0]
        except (ImportError, AttributeError) as error:
            about = f"cannot be imported: {error}"
        rows.append((name, target, about))
    return _until_closed(_table(("name", "where", "what it does"), rows))


def _primitives(given: argparse.Namespace) -> int:
    from cassette_import.rewriting.primitives import TABLE

    rows = [(primitive.event.name or str(primitive.event), primitive.syntax, primitive.name) for primitive in TABLE]
    return _until_closed(_table(("event", "syntax", "function"), rows))


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in (titles, *rows)) for column in range(len(titles))]
    for row in (titles, *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _doctor(given: argparse.Namespace) -> int:
    from cassette_import.importing.doctor import NoSuchPackage, diagnose, format_lines

    try:
        return _until_closed(format_lines(diagnose(given.package, settings.names(given.exclude or ()))))
    except NoSuchPackage as error:
        raise UsageError(str(error)) from error


def _cache(given: argparse.Namespace) -> int:
    from cassette_import.specialization import disk_cache

    places = _places_of(given.packages) if given.packages else [entry or os.curdir for entry in sys.path]
    existing = [place for place in dict.fromkeys(places) if os.path.exists(place)]
    files = list(dict.fromkeys(file for place in existing for file in disk_cache.find(place)))
    if given.clear:
        files = disk_cache.clear(existing)
    status = _until_closed(map(str, files))
    print(f"{len(files)} files{' removed' if given.clear else ''}", file=sys.stderr)
    return status


def _places_of(packages: Sequence[str]) -> list[str]:
    """The files and folders of packages."""
    from cassette_import.importing.finder import locate

    places: list[str] = []
    for package in packages:
        spec, _ = locate(package)
        if spec is None:
            raise UsageError(f"no finder knows {package!r}")
        places += spec.submodule_search_locations or ()
        if spec.origin is not None:
            places.append(spec.origin)
    return places
