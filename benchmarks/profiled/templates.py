"""A page of text from parts: f-strings, joins, escapes, wrapped lines."""


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def tag(name, content, **attributes):
    pairs = "".join([f' {key}="{escaped(value)}"' for key, value in attributes.items()])
    return f"<{name}{pairs}>{content}</{name}>"


def cell(value):
    if isinstance(value, float):
        return tag("td", f"{value:.2f}", align="right")
    return tag("td", escaped(str(value)))


def row(values, number):
    return tag("tr", "".join([cell(value) for value in values]), bgcolor="odd" if number % 2 else "even")


def table(rows):
    return tag("table", "\n".join([row(values, number) for number, values in enumerate(rows)]))


def wrapped(text, width):
    lines = []
    line = ""
    for word in text.split(" "):
        if len(line) + len(word) + 1 > width and line:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    return lines


def main():
    rows = [(number, f"<item {number}> & co", number * 1.1, None) for number in range(700)]
    page = table(rows)
    return len(page), len(wrapped(page[:40000], 72))
