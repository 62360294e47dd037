"""The pages about the code itself are as the code is."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "cassette_import"


def test_every_file_that_the_architecture_names_exists():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {name for name in re.findall(r"`([\w/]+\.py)`", text)}
    files = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")]
    missing = {name for name in named if not any(file == name or file.endswith("/" + name) for file in files)}
    assert missing == set()


def test_the_environment_variables_of_tests_and_benchmarks_are_listed():
    section = (
        (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("## Environment variables of")[2]
    )
    listed = re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE)
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    read = re.compile(r'environ(?:\.get\(|\[)"(CASSETTE_(?!IMPORT_)\w+)"')
    used = {name for file in files for name in read.findall(file.read_text(encoding="utf-8", errors="replace"))}
    assert sorted(listed) == sorted(used)
