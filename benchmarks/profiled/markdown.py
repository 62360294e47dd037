"""The main work of a package from PyPI: markdown-it makes HTML of Markdown."""

from markdown_it import MarkdownIt

PACKAGES = "markdown_it,mdurl"

TEXT = (
    """# Title

Some *emphasis*, a **strong** word, `code` and a [link](https://example.org "title").

- first item
- second item with <b>html</b>
  1. nested
  2. list

> A quote with a line
> and another one

    indented code

```python
print("fenced")
```

| no | table |
"""
    * 6
)

CONVERTER = MarkdownIt()


def main():
    return len(CONVERTER.render(TEXT))
