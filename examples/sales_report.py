"""Prints a report of sales; docs/contexts-provenance.md traces its numbers back to their input."""

import csv
import sys


def read(path):
    with open(path, newline="") as file:
        return [Sale(row["item"], float(row["price"]), int(row["count"])) for row in csv.DictReader(file)]


class Sale:
    def __init__(self, item, price, count):
        self.item = item
        self.price = price
        self.count = count

    @property
    def amount(self):
        return self.price * self.count


def totals(sales):
    found = {}
    for sale in sales:
        found[sale.item] = found.get(sale.item, 0) + sale.amount
    return found


def main(path):
    sales = read(path)
    by_item = totals(sales)
    for item, amount in sorted(by_item.items()):
        share = amount / sum(by_item.values())
        print(f"{item:<8}{amount:>8.2f}{share:>7.0%}")
    print("average price", sum(sale.price for sale in sales) / len(sales))


if __name__ == "__main__":
    main(sys.argv[1])
