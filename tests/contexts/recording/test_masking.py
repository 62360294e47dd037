"""Secrets are found in whatever form they are written, and a replay goes on with their placeholders."""

import base64
import json
import os
import re
import urllib.parse

import pytest

from cassette_import import overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.boundaries import boundary

SECRET = 's3cr3t/"v?l~é+ü'
CALLS = []


@boundary
def send(*arguments, **keywords):
    CALLS.append(arguments)
    return arguments[-1]


def in_base64(secret, before, after, encode=base64.b64encode):
    return encode(f"{before}{secret}{after}".encode()).decode()


SPELLED = {
    "itself": lambda secret: f"a {secret} b",
    "quoted": urllib.parse.quote,
    "quoted in lower case": lambda secret: re.sub("%..", lambda found: found[0].lower(), urllib.parse.quote(secret)),
    "quoted with plus": urllib.parse.quote_plus,
    "JSON": json.dumps,
    "JSON with characters": lambda secret: json.dumps(secret, ensure_ascii=False),
    "literal": repr,
    "hexadecimal": lambda secret: secret.encode().hex(),
    "hexadecimal in capitals": lambda secret: secret.encode().hex().upper(),
    "base 64 of bytes": lambda secret: base64.b64encode(b"\xff\x00" + secret.encode() + b"\xff"),
    "bytes": lambda secret: b"\xff\x00" + secret.encode() + b"\xff",
    **{
        f"base 64, {len(before)} before, {len(after)} after, {encode.__name__}": (
            lambda secret, before=before, after=after, encode=encode: (
                f"Basic {in_base64(secret, before, after, encode)}"
            )
        )
        for before in ("", "u", "us", "me:")
        for after in ("", ":", ":x", ":xy")
        for encode in (base64.b64encode, base64.urlsafe_b64encode)
    },
    "base 64 without padding": lambda secret: in_base64(secret, "u:", "").rstrip("="),
    "base 64 twice": lambda secret: in_base64(secret, "u:", secret),
}


@pytest.mark.parametrize("spell", SPELLED.values(), ids=SPELLED)
@pytest.mark.parametrize("secret", [SECRET, "correct horse", "sk_live-0123456789"])
def test_a_secret_is_masked_in_arguments_and_results_however_it_is_spelled(spell, secret, tmp_path, monkeypatch):
    def program():
        return send("x", spell(os.environ["SHOP_TOKEN"]))

    monkeypatch.setenv("SHOP_TOKEN", secret)
    file = tmp_path / "it.cassette"
    with Record(str(file), mask=["*_TOKEN"]) as record:
        overdub(record, program)
    text = file.read_text()
    made = spell(secret)
    assert secret not in text
    assert json.dumps(made if isinstance(made, str) else base64.b64encode(made).decode())[1:-1] not in text
    for offset in range(3):
        core = base64.b64encode(b"\0" * offset + secret.encode())[4:-4].decode()
        assert core not in text
        assert core.replace("+", "-").replace("/", "_") not in text
    with Replay(str(file)) as replay:
        replayed = overdub(replay, program)
    if isinstance(made, str) and "64" in next(name for name, one in SPELLED.items() if one is spell):
        word = replayed.rpartition(" ")[2]
        word += "=" * (-len(word) % 4)
        assert b"<SHOP_TOKEN>" in base64.b64decode(word.replace("-", "+").replace("_", "/"))


def test_a_secret_in_base64_lines_is_masked(tmp_path, monkeypatch):
    def program():
        return send(base64.encodebytes(b"x" * 55 + os.environb[b"SHOP_TOKEN"] + b"x" * 50).decode())

    monkeypatch.setenv("SHOP_TOKEN", "correct horse battery")
    with Record(str(tmp_path / "it.cassette"), mask=["*_TOKEN"]) as record:
        overdub(record, program)
    lines = (tmp_path / "it.cassette").read_text().replace("\\n", "")
    for offset in range(3):
        assert base64.b64encode(b"\0" * offset + b"correct horse battery")[4:-4].decode() not in lines


def test_secret_bytes_are_masked(tmp_path):
    secret = bytes(range(128, 148))

    def program():
        return send(b"\x00" + secret, token=secret)

    with Record(str(tmp_path / "it.cassette"), mask=["token"]) as record:
        overdub(record, program)
    text = (tmp_path / "it.cassette").read_text()
    for offset in range(3):
        assert base64.b64encode(b"\0" * offset + secret)[4:-4].decode() not in text


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("SHOP_TOKEN", "correct horse", "<SHOP_TOKEN>"),
        ("DB_PASSWORD", "correct horse", "<DB_PASSWORD>"),
        ("AWS_SECRET_ACCESS_KEY", "correct horse", "<AWS_SECRET_ACCESS_KEY>"),
        ("DATABASE_URL", "postgres://u:battery@host/db", "postgres://u:<password of DATABASE_URL>@host/db"),
        ("SHOP_NAME", "correct horse", "correct horse"),
    ],
)
def test_the_value_of_a_variable_with_a_secret_is_masked(name, value, shown, tmp_path, monkeypatch):
    monkeypatch.setenv(name, value)
    with Record(tmp_path / "kept.cassette") as record:
        assert overdub(record, lambda: send(os.environ[name])) == value
    text = (tmp_path / "kept.cassette").read_text()
    assert ("correct horse" in text or "battery" in text) == (shown == value)
    monkeypatch.delenv(name)
    assert overdub(Replay(tmp_path / "kept.cassette"), lambda: send(os.environ[name])) == shown


@pytest.mark.parametrize(
    "arguments",
    [
        (["echo", "--password=battery"],),
        (["echo", "--token", "battery"],),
        ({"token": "battery"},),
        ({"cookies": {"session": "battery"}},),
    ],
)
def test_usual_secrets_are_not_written(arguments, tmp_path):
    with Record(tmp_path / "kept.cassette") as record:
        overdub(record, lambda: send(*arguments, "sent"))
    assert "battery" not in (tmp_path / "kept.cassette").read_text()
    assert overdub(Replay(tmp_path / "kept.cassette"), lambda: send(*arguments, "sent")) == "sent"
