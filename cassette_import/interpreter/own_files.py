"""The folder of cassette_import itself: code in it is never part of a program."""

import os
from typing import Final

PACKAGE_FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
"""With a separator at its end, as a prefix of file names."""
