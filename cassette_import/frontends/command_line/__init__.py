"""The command line: its parser, and a module for each command that is more than a few lines."""
