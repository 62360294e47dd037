"""What `python -m cassette_import` runs: the command line."""

import sys

from cassette_import.cli import main

if __name__ == "__main__":
    sys.exit(main())
