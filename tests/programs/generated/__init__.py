"""Programs that Hypothesis makes up, and those that it once found."""
