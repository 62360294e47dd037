"""The page with an interactive flame graph and tables: one HTML file that works offline."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

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
    template = resources.files(__name__).joinpath("flamegraph.html").read_text(encoding="utf-8")
    # A name with "</script>" in it would end the element that holds the data.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return template.replace("@title@", html.escape(title)).replace("@data@", text)
