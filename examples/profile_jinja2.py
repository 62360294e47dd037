"""Where does jinja2 spend its time? A profile of a package that knows nothing of contexts.

The program itself is in `profile_jinja2_plain.py`, and knows nothing of them either.
"""

from profile_jinja2_plain import pages

from cassette_import import install
from cassette_import.contexts import Profile

install("jinja2")

with Profile(sort="own", limit=10) as profile:
    pages(range(0, 50, 2))

print(profile.summary())
