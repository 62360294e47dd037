"""Programs that Hypothesis generates, and those that once failed."""
