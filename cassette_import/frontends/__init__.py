"""The ways to start cassette_import: command line, pytest plugin, notebook magics."""
