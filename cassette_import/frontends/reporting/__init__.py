"""The results of a run: what its contexts found, and the report of what was rewritten, specialised and left alone."""
