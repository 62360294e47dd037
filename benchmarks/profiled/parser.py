"""A tokenizer and a recursive-descent parser of arithmetic, by character."""

TEXT = " + ".join(f"({number} * 3 - {number} / (7 + x{number % 5})) * -2" for number in range(40))


class Parser:
    def __init__(self, text):
        self.text = text
        self.position = 0
        self.token = None
        self.advance()

    def peek(self):
        return self.text[self.position] if self.position < len(self.text) else ""

    def advance(self):
        while self.peek() == " ":
            self.position += 1
        start = self.position
        character = self.peek()
        if character.isdigit():
            while self.peek().isdigit():
                self.position += 1
            self.token = ("number", int(self.text[start : self.position]))
        elif character.isalpha():
            while self.peek().isalnum():
                self.position += 1
            self.token = ("name", self.text[start : self.position])
        elif character:
            self.position += 1
            self.token = ("operator", character)
        else:
            self.token = ("end", "")

    def accept(self, *operators):
        kind, value = self.token
        if kind == "operator" and value in operators:
            self.advance()
            return value
        return None

    def expression(self, names):
        value = self.term(names)
        while operator := self.accept("+", "-"):
            other = self.term(names)
            value = value + other if operator == "+" else value - other
        return value

    def term(self, names):
        value = self.factor(names)
        while operator := self.accept("*", "/"):
            other = self.factor(names)
            value = value * other if operator == "*" else value / other
        return value

    def factor(self, names):
        if self.accept("-"):
            return -self.factor(names)
        if self.accept("("):
            value = self.expression(names)
            self.accept(")")
            return value
        kind, value = self.token
        self.advance()
        return names[value] if kind == "name" else value


def main():
    names = {f"x{number}": number + 0.5 for number in range(5)}
    return [Parser(TEXT).expression(names) for _ in range(4)]
