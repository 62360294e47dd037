"""What `python -m cassette_import` runs: the command line."""

import os
import sys

if __name__ == "__main__":
    if sys.argv[1:2] in (["run"], ["replay"]) and not sys.flags.safe_path:
        # `-m` has put the current folder first, where there may be a `random.py` that is the program's, and not ours to
        # import. The program's own folder comes to this place when the program begins.
        sys.path[0] = os.path.dirname(os.__file__)
    from cassette_import.frontends.command_line.main import main

    sys.exit(main())
