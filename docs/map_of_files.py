"""Writes `files.md`: every module of the package with the first sentence of its docstring.

Run it after adding or moving a module, or changing its docstring: ``python docs/map_of_files.py``. A test compares the
page with the files.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

DOCUMENTS = Path(__file__).resolve().parent
PACKAGE = DOCUMENTS.parent / "cassette_import"
FLOORS = [
    *("__main__.py", "distributed", "frontends", "contexts", "passes", "__init__.py", "activation", "importing"),
    *("specialization", "runtime", "rewriting", "interpreter", "errors.py"),
]
HEAD = """# Map of the files

Every module, from the top floor down, with the first sentence of its docstring. Imports run downwards only;
[architecture](architecture.md) explains the floors. `docs/map_of_files.py` writes this page.
"""


def text() -> str:
    """The page."""
    parts = [HEAD]
    for floor in FLOORS:
        path = PACKAGE / floor
        folders = [path, *sorted(item for item in path.rglob("*") if item.is_dir())] if path.is_dir() else []
        if not folders:
            parts.append(f"## `{floor}`\n\n{first_sentence(path)}\n")
        parts += [part for folder in folders for part in section(folder)]
    return "\n".join(parts)


def section(folder: Path) -> Iterator[str]:
    """What the page says of one package: its sentence, and a table of its modules."""
    package = folder / "__init__.py"
    if not package.exists():
        return
    name = folder.relative_to(PACKAGE).as_posix()
    yield f"{'##' if '/' not in name else '###'} `{name}/`\n\n{first_sentence(package)}\n"
    modules = sorted(file for suffix in ("*.py", "*.c", "*.h") for file in folder.glob(suffix) if file != package)
    if modules:
        rows = [f"| `{file.name}` | {first_sentence(file)} |" for file in modules]
        yield "\n".join(["| file | concept |", "|---|---|", *rows]) + "\n"


def first_sentence(file: Path) -> str:
    """The first sentence of a module's docstring, or of the comment on top of a file in C."""
    source = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        docstring = ast.get_docstring(ast.parse(source)) or ""
    else:
        docstring = source.partition("*/")[0].removeprefix("/* ")
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", paragraph)[0].replace("|", r"\|")


if __name__ == "__main__":
    (DOCUMENTS / "files.md").write_text(text(), encoding="utf-8")
