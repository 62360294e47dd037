"""The encoder in Python of `json`, which writes indented text."""

import json

PACKAGES = "json"


def record(number):
    return {
        "id": number,
        "name": f"item {number}",
        "tags": [f"t{number % 7}", f"t{number % 11}"],
        "price": number * 1.25,
        "parts": [{"key": part, "ok": part % 2 == 0, "note": None} for part in range(number % 5)],
    }


def totals(records):
    found = {}
    for entry in records:
        for tag in entry["tags"]:
            found[tag] = found.get(tag, 0.0) + entry["price"]
    return found


def main():
    text = json.dumps([record(number) for number in range(120)], indent=1, sort_keys=True)
    return totals(json.loads(text))
