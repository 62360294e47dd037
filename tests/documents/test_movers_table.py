"""The table of movers in the page of tagging is that of the classification."""

import runpy
from pathlib import Path

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_tagging_has_the_table_of_movers():
    made = runpy.run_path(str(DOCUMENTS / "table_of_movers.py"))
    assert (DOCUMENTS / "tagging.md").read_text(encoding="utf-8") == made["page"](), "run docs/table_of_movers.py"
