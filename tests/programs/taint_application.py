"""A small unmodified Flask application: some of its views are vulnerable."""

import os
import shlex
import sqlite3
import subprocess

from flask import Flask, jsonify, request


class Store:
    """Users in a database; the classic mistake is in `find`."""

    def __init__(self):
        self.connection = sqlite3.connect(":memory:", check_same_thread=False)
        self.connection.execute("CREATE TABLE users (name TEXT, secret TEXT)")
        self.connection.executemany("INSERT INTO users VALUES (?, ?)", [("ann", "s1"), ("bob", "s2")])

    def find(self, name):
        query = f"SELECT name FROM users WHERE name = '{name}'"
        return self.rows(query)

    def find_safely(self, name):
        return self.rows("SELECT name FROM users WHERE name = ?", (name,))

    def page(self, number):
        return self.rows(f"SELECT name FROM users ORDER BY name LIMIT 1 OFFSET {number}")

    def matching(self, wanted):
        conditions = [f"{column} = '{value}'" for column, value in wanted.items()]
        cursor = self.connection.cursor()
        cursor.execute("SELECT name FROM users WHERE " + " AND ".join(conditions))
        return [name for (name,) in cursor]

    def rows(self, query, parameters=()):
        return [name for (name,) in self.connection.execute(query, parameters)]


store = Store()
app = Flask(__name__)


@app.get("/vulnerable")
def vulnerable():
    return jsonify(store.find(request.args.get("name", "").strip()))


@app.get("/safe")
def safe():
    return jsonify(store.find_safely(request.args.get("name", "").strip()))


@app.get("/page")
def page():
    return jsonify(store.page(int(request.args["number"])))


@app.get("/user/<name>")
def user(name):
    return jsonify(store.find(name))


@app.post("/search")
def search():
    return jsonify(store.matching(request.get_json()["where"]))


@app.post("/form")
def form():
    wanted = {"name": request.form["name"]}
    return jsonify(store.matching(wanted))


@app.get("/echo")
def echo():
    return subprocess.run(f"echo {request.args['text']}", shell=True, capture_output=True, text=True).stdout


@app.get("/echo-quoted")
def echo_quoted():
    quoted = shlex.quote(request.args["text"])
    return subprocess.run(f"echo {quoted}", shell=True, capture_output=True, text=True).stdout


@app.get("/echo-without-shell")
def echo_without_shell():
    return subprocess.run(["echo", request.args["text"]], capture_output=True, text=True).stdout


@app.get("/clean")
def clean():
    return jsonify(store.find(cleaned(request.args["name"])))


def cleaned(text):
    return "".join(character for character in text if character.isalnum())


@app.get("/file")
def file():
    with open(os.path.join(app.root_path, request.args["name"]), encoding="utf-8") as opened:
        return opened.readline()
