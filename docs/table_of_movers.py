"""Writes the table in `tagging.md` of what the standard library moves: from the classification of its callables.

Run it after changing the classification: ``python docs/table_of_movers.py``. A test compares the page with the tables.
"""

import re
from pathlib import Path

from cassette_import.runtime.tagging.classification import TABLES
from cassette_import.runtime.tagging.classification.tables import ITSELF, names_in

PAGE = Path(__file__).resolve().parent / "tagging.md"
_BETWEEN = re.compile(r"(?<=<!-- table of movers -->\n).*?(?=\n<!-- end of the table -->)", re.DOTALL)


def table() -> str:
    """The table: what is moved where, and by which callables. Special methods are left out."""
    by_way: dict[str, list[str]] = {}
    for module, found in TABLES.items():
        prefix = "" if module == "builtins" else f"{module}."
        for way, names in found.moves.items():
            by_way.setdefault(way, []).extend(f"`{prefix}{name}`" for name in names_in(names) if "__" not in name)
    rows = [f"| {way} | {', '.join(names)} |" for way, names in by_way.items() if names and way != ITSELF]
    return "\n".join(["| what is moved | by |", "|---|---|", *rows])


def page() -> str:
    """The page with the table."""
    return _BETWEEN.sub(lambda _: table(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
