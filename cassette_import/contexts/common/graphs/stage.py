"""What pages of graphs share: style, buttons, and the script that zooms, pans, and takes keys and clicks."""

from __future__ import annotations

from importlib import resources
from typing import Final

__all__ = ["page_of"]

_ZOOM: Final = """\
  <div id="zoom" role="group" aria-label="zoom">
    <button type="button" id="in" aria-label="zoom in">+</button>
    <button type="button" id="out" aria-label="zoom out">−</button>
    <button type="button" id="fit">everything</button>
  </div>"""


def page_of(package: str, parts: dict[str, str]) -> str:
    """The page of a package's template.

    Parameters
    ----------
    package:
        The package that has the template `page.html`.
    parts:
        The text of each part, by its mark in the template. Texts of the last one may look like another mark.
    """
    here = resources.files(__package__)
    shared = {
        "@stage_style@": here.joinpath("stage.css").read_text(encoding="utf-8").rstrip(),
        "@stage_script@": here.joinpath("stage.js").read_text(encoding="utf-8").rstrip(),
        "@zoom@": _ZOOM,
    }
    page = resources.files(package).joinpath("page.html").read_text(encoding="utf-8")
    for mark, text in {**shared, **parts}.items():
        page = page.replace(mark, text)
    return page
