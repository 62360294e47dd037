"""The page of all options is that of the contexts."""

import runpy
from pathlib import Path

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_options_has_every_option_of_the_ready_made_contexts():
    made = runpy.run_path(str(DOCUMENTS / "table_of_options.py"))
    page = (DOCUMENTS / "context-options.md").read_text(encoding="utf-8")
    assert page == made["page"](), "run docs/table_of_options.py"
