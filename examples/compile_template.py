"""A template of jinja2 compiled away: jinja2 is the interpreter, the template is known, and the data are unknown.

What is left is one function of the data, which imports neither jinja2 nor cassette_import.
"""

import tempfile

import jinja2

from cassette_import import install
from cassette_import.contexts.graph import residual, unknown

LETTER = """Dear {{ name }},
{% for item in items %}{{ loop.index }}. {{ item.name|upper }}: {{ '%.2f' % item.price }}
{% endfor %}{% if items|length > 1 %}Thanks for {{ items|length }} orders.{% endif %}"""

# jinja2 writes templates as modules, and imports them: the names of these modules start alike.
install(["jinja2", "markupsafe", "_jinja2_module_templates_*"])


def render(template, name, items):
    return template.render(name=name, items=items)


with tempfile.TemporaryDirectory() as folder:
    jinja2.Environment(loader=jinja2.DictLoader({"letter": LETTER})).compile_templates(folder, zip=None)
    template = jinja2.Environment(loader=jinja2.ModuleLoader(folder)).get_template("letter")
    items = [{"name": "tea", "price": 2.5}, {"name": "salt", "price": 1.0}]
    letter = residual(render, template, unknown("name", "Ann"), unknown("items", items))

other = [{"name": "rice", "price": 3.0}, {"name": "oil", "price": 12.25}]
assert letter("Bob", other) == render(template, "Bob", other)
print(letter("Bob", other))
print([line.strip() for line in letter.source.splitlines() if "join" in line][-1].replace(" str(", "\n  str("))
assert "import" not in letter.source
