"""Forms: the code that replaces an event, one file for each form."""
