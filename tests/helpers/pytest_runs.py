"""Runs pytest with cassette_import's plugin in a separate process."""

import re
import textwrap

from helpers.command_line import run


def write(folder, name, source):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source))


def run_pytest(*words, folder, plugins=(), **variables):
    """Run pytest with cassette_import's plugin, with the named plugins, and with no others."""
    loaded = [word for plugin in ("cassette_import.frontends.pytest_plugin.hooks", *plugins) for word in ("-p", plugin)]
    return run(
        *("-m", "pytest", "-p", "no:cacheprovider", *loaded, *words),
        folder=folder,
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        **variables,
    )


def outcomes(done):
    """Return the counts in pytest's last line."""
    line = done.stdout.strip().splitlines()[-1]
    return {kind: int(count) for count, kind in re.findall(r"(\d+) (passed|failed|errors?|skipped)", line)}
