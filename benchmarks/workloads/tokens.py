"""Strings, character by character: a tokenizer and a recursive descent parser for arithmetic."""

TEXT = "\n".join(
    f"result_{number} = ({number} + 3.5 * width_{number % 7}) / (2 - -{number % 5 + 3}) ** 2  # line {number}"
    for number in range(60)
)


class Token:
    __slots__ = ("kind", "text")

    def __init__(self, kind, text):
        self.kind = kind
        self.text = text


class Tokenizer:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def peek(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def take_while(self, accepted):
        start = self.at
        while self.at < len(self.text) and accepted(self.text[self.at]):
            self.at += 1
        return self.text[start : self.at]

    def tokens(self):
        found = []
        while self.at < len(self.text):
            character = self.peek()
            if character == " ":
                self.at += 1
            elif character == "#":
                self.take_while(lambda c: c != "\n")
            elif character.isalpha() or character == "_":
                found.append(Token("name", self.take_while(lambda c: c.isalnum() or c == "_")))
            elif character.isdigit():
                found.append(Token("number", self.take_while(lambda c: c.isdigit() or c == ".")))
            elif self.text.startswith("**", self.at):
                self.at += 2
                found.append(Token("operator", "**"))
            else:
                self.at += 1
                found.append(Token("end" if character == "\n" else "operator", character))
        found.append(Token("end", ""))
        return found


class Parser:
    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0

    def next_is(self, *texts):
        return self.tokens[self.at].text in texts

    def take(self):
        token = self.tokens[self.at]
        self.at += 1
        return token

    def statements(self):
        found = []
        while self.at < len(self.tokens):
            name = self.take()
            if name.kind == "end":
                continue
            self.take()
            found.append(("=", name.text, self.sum()))
            self.take()
        return found

    def sum(self):
        left = self.product()
        while self.next_is("+", "-"):
            left = (self.take().text, left, self.product())
        return left

    def product(self):
        left = self.power()
        while self.next_is("*", "/"):
            left = (self.take().text, left, self.power())
        return left

    def power(self):
        base = self.atom()
        if self.next_is("**"):
            self.take()
            return ("**", base, self.power())
        return base

    def atom(self):
        token = self.take()
        if token.text == "(":
            inner = self.sum()
            self.take()
            return inner
        if token.text == "-":
            return ("negative", self.atom())
        return float(token.text) if token.kind == "number" else token.text


def main():
    return Parser(Tokenizer(TEXT).tokens()).statements()[-3:]
