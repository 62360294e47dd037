"""Functions with bugs that random inputs do not reach."""

import re
import zlib


def nested_magic(text):
    if text[:4] == "MAGI" and text[4:8] == "CVAL":
        for character, expected in zip(text[8:], "secret", strict=False):
            if character != expected:
                return
        if int(text[14:]) == 424242424242:
            raise RuntimeError("all values were found")


def protected(data):
    if len(data) < 8 or int.from_bytes(data[:4], "big") != zlib.crc32(data[4:]):
        return
    if data[4] == 7 and data[5:9] == b"BOOM":
        raise KeyError("behind the checksum")


def computed(number: int):
    if number * 7 - 3 == 70000004:
        raise RuntimeError("the number was found")


def drawing(shape: dict):
    if shape["kind"] == "circle" and shape.get("radius") == 1234.5:
        for point in shape["points"]:
            if point["x"] * 3 + 1 == 1000000:
                raise RuntimeError("the point was found")


def ordered(text):
    if re.fullmatch(r"[A-Z]{3}-\d{4}(/x)?", text) and text.lower().endswith("/x"):
        raise RuntimeError("the order was found")


class BadText(ValueError):
    """What a parser raises for texts that it cannot parse."""


class Parser:
    """JSON with comments. A comment that is not closed, behind a comma, is a bug."""

    def __init__(self, text):
        self.text = text
        self.place = 0

    def space(self):
        while self.text[self.place : self.place + 1].isspace():
            self.place += 1
        if self.text.startswith("/*", self.place):
            self.place = self.text.index("*/", self.place) + 2  # ValueError, which is not BadText
            self.space()

    def value(self):
        if self.text.startswith("[", self.place):
            return self.items()
        for word, value in (("true", True), ("null", None)):
            if self.text.startswith(word, self.place):
                self.place += len(word)
                return value
        match = re.compile(r"-?\d+").match(self.text, self.place)
        if match is None:
            raise BadText(self.place)
        self.place = match.end()
        return int(match.group())

    def items(self):
        found = []
        self.place += 1
        while not self.text.startswith("]", self.place):
            found.append(self.value())
            if not self.text.startswith((",", "]"), self.place):
                raise BadText(self.place)
            if self.text.startswith(",", self.place):
                self.place += 1
                self.space()
        self.place += 1
        return found


def parsed(text):
    return Parser(text).value()


def evaluated(text):
    """Sums and quotients of numbers and brackets."""
    value, rest = _sum(text.replace(" ", ""))
    if rest:
        raise BadText(rest)
    return value


def _sum(text):
    value, rest = _quotient(text)
    while rest[:1] in ("+", "-") and rest:
        other, after = _quotient(rest[1:])
        value, rest = (value + other if rest[0] == "+" else value - other), after
    return value, rest


def _quotient(text):
    value, rest = _atom(text)
    while rest[:1] == "/":
        other, rest = _atom(rest[1:])
        value = value // other
    return value, rest


def _atom(text):
    if text[:1] == "(":
        value, rest = _sum(text[1:])
        if rest[:1] != ")":
            raise BadText(rest)
        return value, rest[1:]
    match = re.match(r"\d+", text)
    if match is None:
        raise BadText(text)
    return int(match[0]), text[match.end() :]


def endless(text):
    while text == "loop":
        pass


def greedy(number: int):
    if number > 1000:
        return bytearray(number * 10**7)
    return None


def two_errors(text):
    if text[:1] == "a":
        return [][len(text)]
    if text[:1] == "b":
        return {}[text]
    return None


HELLO = "hello"


class Words:
    STOP = "all-stop"


def commanded(text):
    match text.split():
        case ["launch", "the-missiles", *_]:
            raise RuntimeError("launched")
        case [Words.STOP, _]:
            raise KeyError("stopped")
        case _:
            return None


def structured(order: dict):
    match order:
        case {"kind": "refund", "items": [{"price": 4242}, "urgent", str()]}:
            raise RuntimeError("the order was found")
        case {"kind": None | True}:
            raise KeyError("no kind")


def starred(order: dict):
    match order:
        case {"steps": ["begin", *between, "end"]} if between:
            raise RuntimeError("the steps were found")
        case {"names": [first, *others]} if others and first != others[-1]:
            raise KeyError(first)


def numbered(data):
    match data[:3]:
        case b"\x7fAB":
            match data[3:]:
                case b"deep":
                    raise RuntimeError("found")
