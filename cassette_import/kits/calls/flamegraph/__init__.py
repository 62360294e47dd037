"""The page with an interactive flame graph and tables: one HTML file that works offline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cassette_import.kits.calls.graphs import page as graphs

__all__ = ["page_of"]


def page_of(data: Mapping[str, Any], title: str) -> str:
    """The page.

    Parameters
    ----------
    data:
        What the script of the page reads: `unit` (``"seconds"`` or ``"bytes"``), the titles `own` and `of_site`,
        `summary`, `frames`, the paths (`frame`, `depth`, `calls`, `self`), and the rows of the tables `functions` and
        `sites`.
    title:
        The heading.

    Example
    -------
    >>> page_of({"unit": "bytes"}, "a < b").splitlines()[0]
    '<!DOCTYPE html>'
    """
    return graphs.page_of(__name__, title, data)
