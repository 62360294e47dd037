"""The documentation as a site: it is built without warnings, has every page, and requests nothing from other hosts."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cassette_import.contexts.lookup import context_types

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return folder


def test_every_page_is_built_and_can_be_reached_from_the_first(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    start = (site / "index.html").read_text(encoding="utf-8")
    assert pages <= {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert pages <= {"index.html", *re.findall(r'href="([\w./-]+)"', start)}


def test_nothing_is_fetched_from_other_hosts(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        fetched = re.findall(r'<(?:script|img|iframe)[^>]*src="([^"]*)"', text)
        fetched += re.findall(r'<link[^>]*href="([^"]*)"', text)
        assert [address for address in fetched if re.match(r"(?:https?:)?//", address)] == [], path
    for path in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", path.read_text(encoding="utf-8")), path


def test_what_is_a_list_in_the_text_is_one_on_the_page(site):
    for path in site.rglob("*.html"):
        for paragraph in re.findall(r"<p>(.*?)</p>", path.read_text(encoding="utf-8"), re.DOTALL):
            assert not re.search(r"^(?:- |\d+\. |\|)", paragraph, re.MULTILINE), (path.name, paragraph)


def test_the_reference_has_what_can_be_imported_from_the_package(site):
    import cassette_import

    text = (site / "reference.html").read_text(encoding="utf-8")
    documented = {name.rpartition(".")[2] for name in re.findall(r'id="(cassette_import[\w.]+)"', text)}
    others = {"HIGHER_ORDER", "NO_METADATA", "NO_METAMETA", "primitives"}  # data
    ipython = {"load_ipython_extension", "unload_ipython_extension"}  # called by IPython
    assert {*cassette_import.__all__} - documented - others - ipython == set()


def test_the_overview_shows_every_context_that_has_a_name():
    text = (ROOT / "docs" / "contexts.md").read_text(encoding="utf-8")
    missing = [name for name in context_types() if not re.search(rf"^## .*`{name}`", text, re.MULTILINE)]
    assert missing == []


def test_examples_in_docstrings_are_code_on_the_page(site):
    text = (site / "reference.html").read_text(encoding="utf-8")
    assert "<blockquote>" not in text
    assert "&gt;&gt;&gt; " in text
