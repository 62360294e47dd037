"""Where does jinja2 spend its time? A profile of an unmodified package.

The program that uses jinja2 is `profile_jinja2_plain.py`, unmodified too.
"""

from profile_jinja2_plain import pages

from cassette_import import install
from cassette_import.contexts import Profile

install("jinja2")

with Profile(sort="own", limit=10) as profile:
    pages(range(0, 50, 2))

print(profile.summary())
