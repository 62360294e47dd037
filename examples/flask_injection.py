"""A Flask application with an SQL injection, and a client that exploits it. Neither is written for `taint`.

    python -m cassette_import run -c taint examples/flask_injection.py

prints the path of the untrusted value: see docs/contexts-taint.md.
"""

import logging
import sqlite3
import threading
import urllib.parse
import urllib.request

from flask import Flask, jsonify, request
from werkzeug.serving import make_server

app = Flask(__name__)
users = sqlite3.connect(":memory:", check_same_thread=False)
users.execute("CREATE TABLE users (name TEXT, mail TEXT)")
users.executemany("INSERT INTO users VALUES (?, ?)", [("ann", "ann@example.org"), ("bob", "bob@example.org")])


def select(columns, condition):
    return f"SELECT {columns} FROM users WHERE {condition}"


@app.get("/mail")
def mail():
    name = request.args["name"].strip()
    query = select("mail", "name = '" + name + "'")
    return jsonify(users.execute(query).fetchall())


@app.get("/mail-safely")
def mail_safely():
    name = request.args["name"].strip()
    query = select("mail", "name = ?")
    return jsonify(users.execute(query, (name,)).fetchall())


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for path in ("mail", "mail-safely"):
        query = urllib.parse.urlencode({"name": "x' OR '1'='1"})
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/{path}?{query}") as response:
            print(path, response.read().decode().strip())
    server.shutdown()
    thread.join()


if __name__ == "__main__":
    main()
