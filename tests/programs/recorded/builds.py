"""Builds a wheel and a source distribution with poetry-core."""

import hashlib
import os

from poetry.core.masonry import api

for build in (api.build_wheel, api.build_sdist):
    name = build("dist")
    with open(os.path.join("dist", name), "rb") as file:
        print(name, hashlib.sha256(file.read()).hexdigest())
