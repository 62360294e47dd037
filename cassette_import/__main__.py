"""Runs the command line, as ``python -m cassette_import``."""

import os
import sys


def _entries_for_start() -> int:
    """How many entries `-m` has put on `sys.path`: none if the current folder was deleted."""
    try:
        os.getcwd()
    except OSError:
        return 0
    return 1


if __name__ == "__main__":
    if sys.argv[1:2] in (["run"], ["replay"]) and not sys.flags.safe_path:
        # `-m` puts the current folder first on the path. It may contain a `random.py` of the program, which must not
        # replace the standard library's for cassette_import. The program's own folder takes this place when it begins.
        sys.path[: _entries_for_start()] = [os.path.dirname(os.__file__)]
    from cassette_import.interpreter.module_bundle import bundled

    with bundled("command_line"):
        from cassette_import.frontends.command_line.main import main

        if sys.argv[1:2] == ["run"]:
            from cassette_import.frontends.command_line import run as run
    sys.exit(main())
