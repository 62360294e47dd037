"""Dictionaries and lists: grouping, sorting, merging, counting; what is called are methods of built-in types."""

NAMES = ("ada", "bob", "cleo", "dan", "eve", "fay", "gus")
PLACES = ("north", "south", "east", "west")


def make(count):
    records = []
    for number in range(count):
        record = {"id": number, "name": NAMES[number * 5 % 7], "place": PLACES[number * 3 % 4]}
        record["amount"] = number * 37 % 101
        if number % 3 == 0:
            record["note"] = "-".join([record["name"], record["place"], str(number % 10)])
        records.append(record)
    return records


def group(records, key):
    groups = {}
    for record in records:
        groups.setdefault(record[key], []).append(record)
    return groups


def totals(groups):
    return {name: sum(record["amount"] for record in members) for name, members in groups.items()}


def index(records):
    words = {}
    for record in records:
        for word in record.get("note", "").split("-"):
            if word:
                words[word] = words.get(word, 0) + 1
                words.setdefault(f"in {word}", set()).add(record["id"])
    return {word: found if isinstance(found, int) else len(found) for word, found in words.items()}


def merge(left, right):
    merged = []
    left, right = list(left), list(right)
    while left and right:
        merged.append(left.pop() if left[-1] >= right[-1] else right.pop())
    merged.extend(reversed(left or right))
    merged.reverse()
    return merged


def main():
    records = make(1500)
    by_name, by_place = group(records, "name"), group(records, "place")
    ranked = sorted(records, key=lambda record: (-record["amount"], record["name"]))[:5]
    amounts = [sorted(record["amount"] for record in members) for members in by_place.values()]
    merged = amounts[0]
    for more in amounts[1:]:
        merged = merge(merged, more)
    return totals(by_name), index(records), [record["id"] for record in ranked], merged[:5], merged[-5:]
