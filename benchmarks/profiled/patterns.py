"""Regular expressions: matches, substitutions with a function, a log."""

import re

LINE = re.compile(r"(?P<ip>\d+\.\d+\.\d+\.\d+) - \[(?P<time>[^\]]+)\] \"(?P<verb>\w+) (?P<path>\S+)\" (?P<status>\d+)")
NUMBER = re.compile(r"\d+")
LINES = [
    f'10.0.{number % 256}.{number % 7} - [2024-01-{number % 28 + 1:02}] "GET /{number}?q={number}" {200 + number % 3}'
    for number in range(700)
]


def shortened(match):
    return "#" if len(match.group()) > 2 else match.group()


def parsed(line):
    match = LINE.match(line)
    return match.groupdict() if match else None


def anonymous(path):
    return NUMBER.sub(shortened, path)


def summary(lines):
    counts = {}
    for line in lines:
        entry = parsed(line)
        if entry is not None:
            key = entry["status"], anonymous(entry["path"])
            counts[key] = counts.get(key, 0) + 1
    return counts


def main():
    return summary(LINES), [line for line in LINES if re.search("10.0.1.*GET", line)]
