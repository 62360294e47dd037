"""Programs that know nothing of tasks print the same on workers: images, a search for parameters, features of files."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

IMAGES = """
from PIL import Image

def features(path):
    with Image.open(path) as image:
        return image.convert("L").resize((32, 32)).histogram()
"""
REPORT = """
import pathlib
import image_features

rows = []
for path in sorted(pathlib.Path("images").glob("*.png")):
    rows.append(image_features.features(path))
print(len(rows), sum(map(sum, rows)))
for number, row in enumerate(rows):
    print(number, row.index(max(row)), max(row))
"""
FITS = """
import random

def loss(rate, steps, seed):
    draw = random.Random(seed)
    points = [(x, 3 * x + draw.gauss(0, 0.1)) for x in (draw.random() for _ in range(50))]
    slope = 0.0
    for _ in range(steps):
        slope -= rate * sum((slope * x - y) * x for x, y in points) / len(points)
    return sum((slope * x - y) ** 2 for x, y in points) / len(points)
"""
SEARCH = """
import itertools
from fits import loss

def search():
    losses = {}
    for rate, steps in itertools.product((0.1, 0.5, 1.0), (10, 50)):
        losses[rate, steps] = [loss(rate, steps, seed) for seed in range(2)]
    return losses

found = search()
for setting, values in found.items():
    print(setting, values)
print(min(found, key=lambda setting: sum(found[setting])))
"""
WORDS = """
import collections
import re

def words(path):
    with open(path) as file:
        return collections.Counter(re.findall("[a-z]+", file.read().lower()))
"""
COUNT = """
import collections, os, sys
import word_features

def main(folder):
    counts = [word_features.words(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]
    total = sum(counts, collections.Counter())
    print(total.most_common(10))

main(sys.argv[1])
"""


@pytest.fixture
def same_output(tmp_path):
    """Checks that a script prints the same with and without `parallel`; returns what the context reports."""

    def check(module, source, script, target, *arguments):
        (tmp_path / f"{module}.py").write_text(source)
        (tmp_path / "program.py").write_text(script)
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
        plain = subprocess.run([sys.executable, "program.py", *arguments], **options)
        assert plain.returncode == 0, plain.stderr
        run = ["-m", "cassette_import", "run", "-c", f"parallel:targets={module}:{target},workers=2"]
        done = subprocess.run([sys.executable, *run, "program.py", *arguments], **options)
        assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
        return done.stderr

    return check


def test_a_folder_of_images(same_output, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    (tmp_path / "images").mkdir()
    for number in range(12):
        image.effect_noise((64, 64), 10.0 + number).save(tmp_path / "images" / f"{number:02}.png")
    assert "image_features.features: 12 tasks" in same_output("image_features", IMAGES, REPORT, "features")


def test_a_search_for_parameters(same_output):
    assert "fits.loss: 12 tasks" in same_output("fits", FITS, SEARCH, "loss")


def test_features_of_files(same_output, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.txt").write_text("one two three " * number + "four " * 3)
    assert "word_features.words: 8 tasks" in same_output("word_features", WORDS, COUNT, "words", str(folder))
