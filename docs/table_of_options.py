"""Writes `context-options.md`: every option of every ready-made context, from signatures and docstrings.

Run it after changing an option: ``python docs/table_of_options.py``. A test compares the page with the contexts.
"""

from itertools import groupby
from pathlib import Path

from cassette_import.contexts import READY_MADE
from cassette_import.contexts.lookup import context_type_named
from cassette_import.kits.option_descriptions import described_options

PAGE = Path(__file__).resolve().parent / "context-options.md"
HEAD = """# Options of all ready-made contexts

`-c NAME:option=value,option=value` sets them on the command line and for the pytest plugin; in Python they are keyword
arguments.
`python -m cassette_import contexts NAME` prints the options of one context. An option without a default is required.
`docs/table_of_options.py` writes this page.
"""


def page() -> str:
    """The page: a section with a table for each context that takes options."""
    parts = [HEAD]
    for name in READY_MADE:
        options = described_options(context_type_named(name))
        if options:
            rows = [
                f"| {', '.join(f'`{each.name}`' for each in same)} | {_default(default)} | {_escaped(description)} |"
                for (default, description), same in groupby(options, lambda each: (each.default, each.description))
            ]
            parts.append("\n".join([f"## `{name}`\n", "| option | default | meaning |", "|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def _default(default: str | None) -> str:
    return "" if default is None else f"`{default}`" if default else "empty"


def _escaped(description: str) -> str:
    return description.replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
