"""Sorting with keys, a merge sort by hand, and binary search."""

import random
from operator import itemgetter


class Person:
    def __init__(self, name, age, city):
        self.name = name
        self.age = age
        self.city = city

    def key(self):
        return self.city, -self.age, self.name


def people(count):
    generator = random.Random(7)
    cities = ["Bonn", "Ghent", "Lyon", "Porto"]
    return [
        Person(f"p{generator.randrange(10**6)}", generator.randrange(90), cities[number % 4]) for number in range(count)
    ]


def by_age(person):
    return person.age


def merged(left, right):
    result = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return result + left[i:] + right[j:]


def merge_sort(values):
    if len(values) < 2:
        return values
    middle = len(values) // 2
    return merged(merge_sort(values[:middle]), merge_sort(values[middle:]))


def search(values, sought):
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < sought:
            low = middle + 1
        else:
            high = middle
    return low


def main():
    crowd = people(600)
    oldest = sorted(crowd, key=by_age, reverse=True)[:10]
    ordered = sorted(crowd, key=Person.key)
    pairs = sorted([(person.age, person.name) for person in crowd], key=itemgetter(1))
    ages = merge_sort([person.age for person in ordered])
    return oldest[0].age, pairs[0], [search(ages, age) for age in range(90)]
