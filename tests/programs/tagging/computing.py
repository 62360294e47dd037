"""An unmodified program that computes values of strings and numbers: it yields each with its name."""

import io
import json
import re


class Named:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "named " + self.name


def of_text(s):
    """Values that are computed from a text."""
    yield "+", s + "x"
    yield "+ from the right", "x" + s
    yield "+=", augmented(s)
    yield "*", s * 2
    yield "%", "%s" % s
    yield "% of a tuple", "%s %s" % (1, s)
    yield "% of a dict", "%(a)s" % {"a": s}
    yield "% of an object", "%s" % Named(s)
    yield "format", "{}".format(s)
    yield "format with a keyword", "{x}".format(x=s)
    yield "format_map", "{x}".format_map({"x": s})
    yield "f-string", f"{s}"
    yield "f-string with all", f"a{s!r:>10}b"
    yield "f-string with a width", f"{s:{5}}"
    yield "f-string of an object", f"{Named(s)}"
    yield "str", str(s)
    yield "str of an object", str(Named(s))
    yield "repr", repr(s)
    yield "bytes", bytes(s, "ascii")
    yield "join a list", ",".join([s, "a"])
    yield "join a generator", ",".join(c for c in [s, "a"])
    yield "join characters", "".join(c for c in s)
    yield "join a map", "".join(map(str.upper, [s]))
    yield "join, called by the class", str.join(",", (c for c in [s, "a"]))
    yield "join with it", s.join(["1", "2"])
    yield "slice", s[1:]
    yield "index", s[0]
    yield "method", s.upper()
    yield "bound method", (lambda method: method())(s.strip)
    yield "method of the class", str.upper(s)
    yield "methods", s.casefold().title().center(20, "*")
    yield "replace", "abc".replace("a", s)
    yield "translate", s.translate({97: "b"})
    yield "encode, decode", s.encode().decode()
    yield "split", s.split("b")[0]
    yield "split, loop", [part.upper() for part in s.split("b")][1]
    yield "splitlines", s.splitlines()[0]
    yield "partition", s.partition("b")[2]
    first, *rest = s
    yield "unpacking", first
    yield "unpacking the rest", rest[0]
    yield "loop", spelled(s)
    yield "json", json.loads(json.dumps({"a": [s]}))["a"][0]
    yield "match", re.match("(.*)", s).group(1)
    yield "sub", re.sub("z", "y", s)
    yield "findall", re.findall("c", s)[0]
    yield "finditer", next(re.finditer("c", s))[0]
    yield "sorted", sorted(s)[0]
    yield "list", list(s)[2]
    yield "reversed", list(reversed(s))[2]
    yield "max", max(s)
    yield "zip", [x + y for x, y in zip(s, "123", strict=True)][1]
    yield "dict comprehension", {k: v for k, v in enumerate(s)}[0]
    yield "set comprehension", next(iter({c for c in s[:1]}))
    yield "StringIO", written(s)
    yield "or", s or "z"
    yield "get", {"a": s}.get("a")
    yield "setdefault", {}.setdefault("q", s)
    yield "pop", [s].pop()
    yield "keywords", (lambda **k: k)(a=s)["a"]
    yield "splat", (lambda *k: k)(*[s])[0]


def without(s):
    """Values that are not computed from a text."""
    yield "constant", "abc"
    yield "looked up", {"abc": "z"}[s]
    yield "other", f"{1}{'a'}"
    yield "compared", "yes" if s == "abc" else "no"


def augmented(s):
    s += "q"
    return s


def spelled(s):
    text = ""
    for character in s:
        text += character
    return text


def written(s):
    buffer = io.StringIO()
    buffer.write("a")
    buffer.write(s)
    return buffer.getvalue()


def of_number(x):
    """Values that are computed from a number."""
    yield "+", x + 1
    yield "-", -x
    yield "sum", sum([x, 1])
    yield "sum of a generator", sum(y for y in [x, 1])
    yield "round", round(x)
    yield "int", int(x)
    yield "divmod", divmod(x, 2)[0]
    yield "text", f"{x:.2f}"
    yield "str", str(x)
    yield "abs", abs(x)
    yield "method", x.hex()
    yield "attribute", x.real
