"""Sends requests to a server, stores the answers in a database, and prints values that differ in every run."""

import datetime
import os
import random
import sqlite3
import sys
import time
import uuid

import requests


def stored(url, database):
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    with connection:
        connection.execute("create table answers (id text, at real, body text)")
    with requests.Session() as session:
        session.headers["X-Shop"] = "1"
        for number in range(3):
            response = session.get(url, params={"number": number})
            response.raise_for_status()
            with connection:
                values = (str(uuid.uuid4()), time.time(), response.text)
                connection.execute("insert into answers values (?, ?, ?)", values)
    return connection


def main(url, database):
    connection = stored(url, database)
    for row in connection.execute("select * from answers order by at"):
        print(row["id"], row["at"], len(row), tuple(row))
    try:
        connection.execute("select nothing")
    except sqlite3.OperationalError as error:
        print(repr(error), error.sqlite_errorname)
    connection.close()
    response = requests.get(url)
    print(response.status_code, response.headers["Date"], response.elapsed, isinstance(response, requests.Response))
    with requests.get(url, stream=True) as streamed:
        for line in streamed.iter_lines():
            print(line)
    try:
        requests.get("http://127.0.0.1:1/")
    except requests.ConnectionError as error:
        print(type(error), error, error.request.url)
    cards = list(range(20))
    random.shuffle(cards)
    print(cards, random.random(), datetime.datetime.now(), os.environ["SHOP"], os.getenv("NOWHERE", "none"))


main(*sys.argv[1:])
