"""Which modules are overdubbed: selections, the finder, and the decision about each module with its reason."""
