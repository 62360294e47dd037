"""Requests: which recorded one replays a request, in any order, and which requests are not recorded at all."""

import asyncio
import http.client
import json
import threading
import urllib.request
from pathlib import Path

import pytest

from cassette_import import overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.recording.recording_file import ReplayMismatch

requests = pytest.importorskip("requests")
httpx = pytest.importorskip("httpx")


def with_urlopen(method, url, headers, body):
    request = urllib.request.Request(url, body, headers, method=method)
    with urllib.request.urlopen(request) as response:
        return response.read().decode()


def with_http_client(method, url, headers, body):
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host)
    connection.request(method, f"/{path}", body, headers)
    answer = connection.getresponse().read().decode()
    connection.close()
    return answer


def with_requests(method, url, headers, body):
    return requests.request(method, url, headers=headers, data=body).text


def with_a_session(method, url, headers, body):
    with requests.Session() as session:
        return session.request(method, url, headers=headers, data=body).text


def with_a_prepared_request(method, url, headers, body):
    session = requests.Session()
    return session.send(session.prepare_request(requests.Request(method, url, headers, data=body))).text


def with_httpx(method, url, headers, body):
    return httpx.request(method, url, headers=headers, content=body).text


def with_a_client(method, url, headers, body):
    with httpx.Client(headers={"x-client": "1"}) as client:
        return client.request(method, url, headers=headers, content=body).text


def with_an_async_client(method, url, headers, body):
    async def ask():
        async with httpx.AsyncClient() as client:
            return (await client.request(method, url, headers=headers, content=body)).text

    return asyncio.run(ask())


WAYS = [
    with_urlopen,
    with_http_client,
    with_requests,
    with_a_session,
    with_a_prepared_request,
    with_httpx,
    with_a_client,
    with_an_async_client,
]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def send(request):
    """Each way to send a request."""

    def send(url, method="GET", headers=None, body=None):
        return request.param(method, url, headers or {}, body)

    return send


def recorded(file, function, *arguments, **options):
    with Record(file, **options) as record:
        return overdub(record, function, *arguments)


def replayed(file, function, *arguments, **options):
    with Replay(file, **options) as replay:
        return overdub(replay, function, *arguments)


def requests_in(file):
    lines = map(json.loads, Path(file).read_text().splitlines())
    with_requests = [line for line in lines if "request" in line and "prepare" not in line["what"][1]]
    return [line["request"] for line in with_requests if line["request"]["method"]]


def test_requests_are_replayed_in_any_order(send, url, file):
    def both(*names):
        return {name: send(f"{url}/{name}") for name in names}

    before = recorded(file, both, "a", "b")
    assert replayed(file, both, "b", "a", match_on="method+uri") == before


@pytest.mark.parametrize(
    ("match_on", "changed"),
    [
        ("method+uri", {"headers": {"x-count": "2"}, "body": b"other"}),
        ("method+path+query", {"body": b"other"}),
        ("uri+body", {"headers": {"x-count": "2"}}),
        ("uri+headers.x-count", {"body": b"other"}),
        ("path", {"url": "/a?page=2"}),
    ],
)
@pytest.mark.parametrize("send", [with_urlopen, with_a_client], indirect=True)
def test_parts_that_are_not_compared_may_differ(send, url, file, match_on, changed):
    def once(url=f"{url}/a?page=1", **more):
        return send(url, **{"method": "POST", "headers": {"x-count": "1"}, "body": b"one", **more})

    def again():
        more = {**changed, "url": url + changed["url"]} if "url" in changed else changed
        return once(**more)

    before = recorded(file, once)
    assert replayed(file, again, match_on=match_on) == before


@pytest.mark.parametrize(
    ("match_on", "changed", "message"),
    [
        ("method+uri", {"method": "PUT"}, "method: 'POST' -> 'PUT'"),
        ("uri", {"url": "/b"}, "/a?page=1' -> "),
        ("query", {"url": "/a?page=2"}, "page=2"),
        ("uri+body", {"body": b"other"}, "body: 'one' -> 'other'"),
        ("headers", {"headers": {"x-count": "2"}}, "headers.x-count: '1' -> '2'"),
        ("headers.x-count", {"headers": {"x-count": "2"}}, "headers.x-count: '1' -> '2'"),
        (None, {"body": b"other"}, "body: 'one' -> 'other'"),
        (None, {"headers": {"x-count": "2"}}, "headers.x-count: '1' -> '2'"),
    ],
)
@pytest.mark.parametrize("send", [with_urlopen, with_a_session], indirect=True)
def test_a_request_that_differs_shows_the_nearest_one_and_the_differences(send, url, file, match_on, changed, message):
    def once(url=f"{url}/a?page=1", **more):
        return send(url, **{"method": "POST", "headers": {"x-count": "1"}, "body": b"one", **more})

    def again():
        more = {**changed, "url": url + changed["url"]} if "url" in changed else changed
        return once(**more)

    recorded(file, once)
    with pytest.raises(ReplayMismatch) as mismatch:
        replayed(file, again, match_on=match_on)
    assert message in str(mismatch.value)


def test_own_functions_compare_requests(send, url, file):
    def same_length(request, recorded):
        assert len(request.path) == len(recorded.path)

    before = recorded(file, send, f"{url}/one")
    assert replayed(file, send, f"{url}/two", match_on=[same_length, "method"]) == before
    with pytest.raises(ReplayMismatch):
        replayed(file, send, f"{url}/three", match_on=[same_length])


def test_connections_that_are_made_in_another_order_get_their_own_responses(url, file):
    def with_two_connections(first, second):
        connections = [http.client.HTTPConnection(url.removeprefix("http://")) for _ in "ab"]
        for connection, path in zip(connections, (first, second), strict=True):
            connection.request("GET", path)
        return {
            path: connection.getresponse().read() for connection, path in zip(connections, (first, second), strict=True)
        }

    before = recorded(file, with_two_connections, "/a", "/b")
    assert replayed(file, with_two_connections, "/b", "/a", match_on="uri") == before


def test_requests_over_one_connection_in_another_order_get_their_own_responses(url, file):
    def over_one_connection(*paths):
        connection = http.client.HTTPConnection(url.removeprefix("http://"))
        answers = {}
        for path in paths:
            connection.request("GET", path)
            answers[path] = connection.getresponse().read()
        return answers

    before = recorded(file, over_one_connection, "/a", "/b", "/c")
    assert replayed(file, over_one_connection, "/c", "/a", "/b", match_on="uri") == before


def test_threads_that_send_their_requests_in_any_order_are_replayed(send, url, file):
    def several(names):
        answers = {}

        def ask(name):
            answers[name] = send(f"{url}/{name}")

        threads = [threading.Thread(target=ask, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    before = recorded(file, several, "abcd")
    assert replayed(file, several, "dcba", match_on="method+uri") == before


def test_a_request_is_replayed_once_unless_repeats_are_allowed(send, url, file):
    def several(count):
        return [send(f"{url}/a") for _ in range(count)]

    before = recorded(file, several, 1)
    with pytest.raises(ReplayMismatch, match="this run makes it more often"):
        replayed(file, several, 2, match_on="uri")
    assert replayed(file, several, 3, match_on="uri", allow_playback_repeats=True) == before * 3


def test_one_function_of_requests_replays_another_one(url, file):
    before = recorded(file, with_requests, "GET", f"{url}/a", {}, None)
    assert replayed(file, lambda: requests.get(f"{url}/a").text, match_on="uri") == before


@pytest.mark.parametrize("options", [{"ignore_localhost": True}, {"ignore_hosts": "127.*"}])
@pytest.mark.parametrize("match_on", [None, "uri"])
def test_ignored_requests_are_sent_in_both_runs(send, url, file, options, match_on):
    before = recorded(file, send, f"{url}/a", **options)
    assert requests_in(file) == []
    after = replayed(file, send, f"{url}/a", match_on=match_on)
    assert after != before
    assert "/a" in after


@pytest.mark.parametrize("match_on", [None, "uri+headers+body"])
def test_filtered_parts_are_neither_written_nor_compared(send, url, file, match_on):
    options = {
        "filter_headers": ["x-key", ("x-user", "somebody")],
        "filter_query_parameters": ["key"],
        "filter_post_data_parameters": ["pin"],
    }

    def once(secret):
        headers = {"x-key": secret, "x-user": secret, "Content-Type": "application/x-www-form-urlencoded"}
        return send(f"{url}/a?size=1&key={secret}", "POST", headers, f"pin={secret}&tea=1".encode())

    recorded(file, once, "S3CRET-1", **options)
    first = Path(file).read_text().split('"value"')[0]
    assert "S3CRET" not in "".join(map(str, requests_in(file))) + first
    assert "size=1" in requests_in(file)[-1]["uri"]
    assert "somebody" in str(requests_in(file)[-1]["headers"])
    assert replayed(file, once, "S3CRET-2", match_on=match_on)


@pytest.mark.parametrize("match_on", [None, "uri+headers+body"])
def test_parts_that_a_function_has_replaced_are_not_compared_without_it(send, url, file, match_on):
    def hidden(key, value, request):
        return "hidden"

    options = {
        "filter_headers": [("x-key", hidden)],
        "filter_query_parameters": [("key", hidden)],
        "filter_post_data_parameters": [("pin", hidden)],
    }

    def once(secret):
        headers = {"x-key": secret, "Content-Type": "application/x-www-form-urlencoded"}
        return send(f"{url}/a?size=1&key={secret}", "POST", headers, f"pin={secret}&tea=1".encode())

    recorded(file, once, "S3CRET-1", **options)
    assert "hidden" in requests_in(file)[-1]["uri"]
    assert replayed(file, once, "S3CRET-2", match_on=match_on)
    assert replayed(file, once, "S3CRET-3", match_on=match_on, **options)


def test_a_hook_changes_or_ignores_requests(send, url, file):
    def hook(request):
        if request.path == "/health":
            return None
        request.uri = request.uri.replace("today", "DAY")
        return request

    def program(day):
        send(f"{url}/health")
        return send(f"{url}/{day}")

    before = recorded(file, program, "today", before_record_request=hook)
    assert [request["uri"] for request in requests_in(file)] == [f"{url}/DAY"]
    assert replayed(file, program, "today", before_record_request=hook) == before


def test_a_hook_changes_the_written_parts_of_responses(send, url, file):
    def hook(response):
        return type(response.value)() if isinstance(response.value, str | bytes) else response.value

    before = recorded(file, send, f"{url}/a", before_record_response=hook)
    assert "/a" in before
    assert replayed(file, send, f"{url}/a") == ""


@pytest.mark.parametrize("hook", [lambda response: response, lambda response: response._replace(part="")])
def test_a_hook_that_returns_the_response_changes_nothing(send, url, file, hook):
    before = recorded(file, send, f"{url}/a", before_record_response=hook)
    assert "/a" in before
    assert replayed(file, send, f"{url}/a") == before


def test_a_part_for_which_a_hook_returns_none_is_not_recorded(send, url, file):
    def hook(response):
        return None if "answer" in str(response.value) else response

    before = recorded(file, send, f"{url}/a", before_record_response=hook)
    assert before.startswith("answer")
    assert "answer" not in Path(file).read_text()
    with pytest.raises(ReplayMismatch):
        replayed(file, send, f"{url}/a")


@pytest.mark.parametrize(
    "options", [{"match_on": "host+port"}, {"ignore_hosts": "a"}, {"filter_query_parameters": "a"}]
)
def test_an_invalid_address_is_an_error_of_the_library(file, options):
    def program():
        with pytest.raises(requests.exceptions.InvalidURL):
            requests.get("http://[::1")
        return True

    assert recorded(file, program, **{name: value for name, value in options.items() if name != "match_on"})
    assert replayed(file, program, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"match_on": "methd"}, "match_on='methd' names no part"),
        ({"match_on": "nowhere:f"}, "match_on='nowhere:f' cannot be found"),
        ({"match_on": [3]}, "match_on: 3 is neither"),
        ({"record_mode": "sometimes"}, "record_mode='sometimes': there are none, once"),
        ({"order": "other"}, "order='other'"),
        ({"before_record_request": "nowhere:f"}, "before_record_request='nowhere:f' cannot be found"),
    ],
)
def test_wrong_options_are_errors(file, options, message):
    recorded(file, len, "")
    with pytest.raises(ValueError, match=message):
        Replay(file, **options)
