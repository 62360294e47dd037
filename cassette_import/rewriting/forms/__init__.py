"""What takes the place of an event, one file for each form.

Knows which hooks there are; must not know where an event stands.
"""
