"""Counts words in dictionaries: methods of strings and dicts, small helpers."""

from collections import Counter, defaultdict

TEXT = (
    """It was the best of times, it was the worst of times; it was the age of wisdom... it was the age of
foolishness, it was the epoch of belief - it was the epoch of incredulity, it was the season of Light!"""
    * 60
)


def normalised(word):
    return word.strip(".,;!-").lower()


def words(text):
    for line in text.split("\n"):
        for word in line.split():
            word = normalised(word)
            if word:
                yield word


def counted(text):
    counts = {}
    for word in words(text):
        counts[word] = counts.get(word, 0) + 1
    return counts


def by_letter(counts):
    letters = defaultdict(list)
    for word, count in counts.items():
        letters[word[0]].append((count, word))
    return {letter: sorted(found, reverse=True) for letter, found in letters.items()}


def bigrams(text):
    pairs = Counter()
    previous = ""
    for word in words(text):
        pairs[previous, word] += 1
        previous = word
    return pairs.most_common(10)


def is_vowel(letter):
    return letter in "aeiou"


def vowels(text):
    return sum(1 for letter in text if is_vowel(letter))


def main():
    return by_letter(counted(TEXT)), bigrams(TEXT), vowels(TEXT[:8000])
