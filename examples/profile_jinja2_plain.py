"""An ordinary program that renders the pages of a small shop with jinja2.

This command shows where jinja2 spends its time:

    python -m cassette_import run -p jinja2 examples/profile_jinja2_plain.py
"""

from jinja2 import Environment

PAGE = """\
{% macro price(item) %}{{ "%.2f"|format(item.price) }}{% endmacro %}
<h1>{{ shop|title }}</h1>
{% for item in items|sort(attribute="price") if item.price < limit %}
  <p class="{{ loop.cycle('odd', 'even') }}">{{ loop.index }}. {{ item.name|capitalize|e }}: {{ price(item) }}</p>
{% else %}
  <p>Nothing is that cheap.</p>
{% endfor %}
"""
ITEMS = [{"name": f"cassette no. {number}", "price": number * 37 % 50 + 0.99} for number in range(40)]


def pages(limits):
    """Render one page for each maximum price."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return [environment.from_string(PAGE).render(shop="the shop", items=ITEMS, limit=limit) for limit in limits]


if __name__ == "__main__":
    rendered = pages(range(0, 50, 2))
    print(f"{len(rendered)} pages, {sum(map(len, rendered))} characters")
