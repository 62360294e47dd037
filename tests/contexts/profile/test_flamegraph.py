"""The page with the flame graph: one file that works offline, in a real browser."""

import itertools
import json
import re

import pytest
from helpers.browser import Page
from helpers.command_line import cassette

from cassette_import.contexts import Profile
from cassette_import.contexts.profile import context as profile_context
from cassette_import.contexts.profile import statistics
from cassette_import.contexts.profile.statistics import Statistics
from cassette_import.kits.calls.exports import page


def outer():
    pass


def inner():
    pass


def other():
    pass


@pytest.fixture
def profile(monkeypatch):
    """`outer` calls `inner`, which takes long, and `other`, which does not; by a clock that the test sets."""
    now = 0.0
    for module in (profile_context, statistics):
        monkeypatch.setattr(module, "perf_counter", lambda: now)
    made = Profile(overhead=False)
    made.prehook(outer)
    for function, seconds in ((inner, 0.03), (other, 0.01)):
        made.prehook(function)
        now += seconds
        made.posthook(None, function)
    now += 0.005
    made.posthook(None, outer)
    return made


@pytest.fixture
def shown(profile, tmp_path):
    path = tmp_path / "flames.html"
    profile.formats[".html"](str(path))
    with Page(path.as_uri(), tmp_path / "browser") as made:
        yield made


def data_of(text):
    return json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])


def frames(shown):
    """The texts and widths of the boxes."""
    return dict(
        shown.evaluate("[...document.querySelectorAll('.frame')].map(box => [box.textContent, box.clientWidth])")
    )


def test_the_page_loads_nothing_else(profile):
    text = page(Statistics(profile))
    assert "default-src 'none'" in text
    assert re.findall(r"(?:src|href)=\"(?!data:)", text) == []
    assert "http" not in text.replace("http-equiv", "")


def test_the_page_holds_each_path_with_its_calls_and_time(profile):
    data = data_of(page(Statistics(profile)))
    paths = [
        (data["frames"][frame][0], depth, calls)
        for frame, depth, calls in zip(data["frame"], data["depth"], data["calls"], strict=True)
    ]
    assert paths == [("<MainThread>", 0, 1), ("outer", 1, 1), ("inner", 2, 1), ("other", 2, 1)]
    assert data["self"] == [0.0, 0.005, 0.03, 0.01]


def test_a_name_cannot_end_the_data_that_it_is_in():
    function = eval("lambda: 0")
    function.__code__ = function.__code__.replace(co_name="</script><script>alert(1)</script>")
    made = Profile(overhead=False)
    made.prehook(function)
    made.posthook(None, function)
    text = page(Statistics(made), "<title>")
    assert "alert" in text
    assert "<script>alert" not in text
    assert "&lt;title&gt;" in text
    assert data_of(text)["frames"][1][0] == function.__code__.co_name


def test_a_recursion_deeper_than_the_recursion_limit_is_on_the_page(tmp_path):
    made = Profile(overhead=False)
    for _ in range(3000):
        made.prehook(outer)
    for _ in range(3000):
        made.posthook(None, outer)
    assert max(data_of(page(Statistics(made)))["depth"]) == 3000


def test_a_page_without_calls_opens_without_errors(tmp_path):
    path = tmp_path / "nothing.html"
    Profile().formats[".html"](str(path))
    with Page(path.as_uri(), tmp_path / "browser") as shown:
        shown.key("Enter")
        assert shown.console == []


def test_the_graph_is_drawn_in_proportion_and_the_console_is_empty(shown):
    found = frames(shown)
    assert found.keys() == {"<MainThread>", "outer", "inner", "other"}
    assert found["outer"] > found["inner"] > 2 * found["other"] > 0
    assert shown.console == []
    assert [url for url in shown.requests if not url.startswith(("file:", "data:"))] == []


def test_a_click_zooms_in_and_the_button_shows_everything_again(shown):
    before = frames(shown)
    shown.click(".frame[title^='inner']")
    assert frames(shown).keys() == {"<MainThread>", "outer", "inner"}
    assert frames(shown)["inner"] == before["<MainThread>"]
    shown.click("#reset")
    assert frames(shown) == before
    assert shown.console == []


def test_the_keyboard_moves_zooms_and_goes_back(shown):
    shown.click("#graph")
    before = frames(shown)
    for key in ("Escape", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown", "ArrowRight"):
        shown.key(key)
    assert shown.evaluate("document.querySelector('.frame.focus').textContent") == "other"
    assert shown.evaluate("document.getElementById('detail').textContent").startswith("other  ")
    shown.key("Enter")
    assert frames(shown)["other"] == before["<MainThread>"]
    shown.key("Backspace")
    assert frames(shown).keys() == {"<MainThread>", "outer", "inner", "other"}
    assert frames(shown)["outer"] == before["<MainThread>"]
    shown.key("Escape")
    assert frames(shown) == before
    assert shown.console == []


DETAIL = "document.getElementById('detail').textContent"


def test_the_details_of_the_frame_under_the_mouse_are_shown_when_the_mouse_moves(shown):
    shown.move(".frame[title^='inner']")
    assert shown.evaluate(DETAIL).startswith("inner  ")
    shown.move(".frame[title^='other']")
    assert shown.evaluate(DETAIL).startswith("other  ")


def test_a_frame_that_moves_under_a_resting_mouse_is_not_shown_in_detail(shown):
    shown.click(".frame[title^='inner']")
    shown.key("Escape")
    shown.key("ArrowUp")
    assert shown.evaluate(DETAIL).startswith("outer  ")
    # Browsers send these events some time after drawing; a test cannot wait for them.
    shown.evaluate(
        "['mouseover', 'mousemove'].forEach(kind => document.querySelector(\".frame[title^='inner']\").dispatchEvent("
        "new MouseEvent(kind, {bubbles: true, screenX: Number(mouse.split(' ')[0]), "
        "screenY: Number(mouse.split(' ')[1])})))"
    )
    assert shown.evaluate(DETAIL).startswith("outer  ")
    assert shown.console == []


def test_the_search_marks_matches_and_shows_their_share_of_the_time(shown):
    shown.click("#search")
    shown.type("nne")
    marked = "[...document.querySelectorAll('.frame.found')].map(box => box.textContent)"
    assert shown.evaluate(marked) == ["inner"]
    assert shown.evaluate("found.textContent") == "1 found, 30.00 ms (66.7 %)"
    shown.key("Escape")
    assert shown.evaluate(marked) == []
    assert shown.console == []


def test_a_row_of_the_table_searches_for_its_function_and_a_heading_sorts(shown):
    shown.click("#functions tbody tr")
    assert shown.evaluate("document.querySelector('.frame.found').textContent") == "inner"
    shown.click("#functions th:last-child")
    names = shown.evaluate("[...document.querySelectorAll('#functions tbody tr')].map(row => row.cells[3].textContent)")
    assert names == sorted(names, key=str.lower)
    assert shown.console == []


# ---- large programs: modules, orders, colours


def attributes(shown, expression):
    return shown.evaluate(f"[...document.querySelectorAll('.frame')].map(box => [box.textContent, {expression}])")


def test_a_frame_names_the_module_of_its_function(shown):
    modules = dict(attributes(shown, "box.dataset.module ?? null"))
    assert modules == {"<MainThread>": None, "outer": __name__, "inner": __name__, "other": __name__}
    after = shown.evaluate("getComputedStyle(document.querySelector(\".frame[title^='inner']\"), '::after').content")
    assert __name__ in after


def test_the_programs_own_functions_have_its_file_as_module(tmp_path):
    (tmp_path / "app.py").write_text("def main():\n    return len([])\n\nmain()\n")
    done = cassette("run", "-c", "profile", "-o", "out.html", "app.py", folder=tmp_path)
    assert done.status == 0
    frames = {name: module for name, _, module in data_of((tmp_path / "out.html").read_text())["frames"]}
    assert frames["main"] == "app.py"
    assert frames["<built-in method builtins.len>"] == ""


@pytest.fixture
def in_order(monkeypatch):
    """`other` is called before `inner`, which takes longer."""
    now = 0.0
    for module in (profile_context, statistics):
        monkeypatch.setattr(module, "perf_counter", lambda: now)
    made = Profile(overhead=False)
    for function, seconds in ((other, 0.01), (inner, 0.03)):
        made.prehook(function)
        now += seconds
        made.posthook(None, function)
    return made


def test_the_frames_are_left_heavy_or_in_the_order_of_the_first_calls(in_order, tmp_path):
    path = tmp_path / "flames.html"
    in_order.formats[".html"](str(path))
    with Page(path.as_uri(), tmp_path / "browser") as shown:
        positions = {}
        for button in ("#heavy", "#order", "#heavy"):
            shown.click(button)
            lefts = dict(attributes(shown, "parseFloat(box.style.left)"))
            positions[button] = sorted(("inner", "other"), key=lefts.get)
            assert shown.evaluate(f"document.querySelector('{button}').getAttribute('aria-pressed')") == "true"
        assert positions == {"#heavy": ["inner", "other"], "#order": ["other", "inner"]}
        assert shown.console == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_text_of_frames_has_contrast_in_both_colour_schemes(shown, scheme):
    """The contrast of WCAG 2: at least 4.5 to 1."""
    shown._ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    found = shown.evaluate(
        "[...document.querySelectorAll('.frame')].map(box => [getComputedStyle(box).color,"
        " getComputedStyle(box).backgroundColor])"
    )
    assert len(found) == 4
    for colours in found:
        light, dark = sorted((luminance(colour) for colour in colours), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_frames_side_by_side_do_not_cover_each_other(tmp_path):
    functions = [eval(f"lambda: {number}") for number in range(300)]
    made = Profile(overhead=False)
    for number, function in enumerate(functions):
        function.__code__ = function.__code__.replace(co_name=f"f{number}")
        made.prehook(function)
        sum(range(3000))
        made.posthook(None, function)
    path = tmp_path / "flames.html"
    made.formats[".html"](str(path))
    with Page(path.as_uri(), tmp_path / "browser") as shown:
        boxes = shown.evaluate(
            "[...document.querySelectorAll('.frame')].slice(1).map(box => box.getBoundingClientRect())"
            ".map(box => [box.left, box.right])"
        )
        boxes.sort()
        assert len(boxes) > 200
        assert all(box[1] <= following[0] + 1.5 for box, following in itertools.pairwise(boxes))
