"""Requests are signed, go to vetted addresses alone, and end whatever the receiver does."""

import re
import socket
import threading
import time
from pathlib import Path

import pytest

from annotations.outgoing.addresses import build_network_check
from evaluation.webhooks import storage
from evaluation.webhooks.messages import WebhookError
from evaluation.webhooks.storage import (
    build_signed_headers,
    check_webhook_url,
    send_request,
    sign_event,
)

DOCS = Path(__file__).resolve().parents[3] / "platform" / "docs"
HERE = build_network_check(["127.0.0.0/8"])
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"test": 2432232314}'


def test_a_signature_is_that_of_the_example_in_the_specification():
    # From the test of the reference libraries of standardwebhooks.com.
    event, timestamp = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
    signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert sign_event(SECRET, event, timestamp, BODY) == signature


@pytest.fixture
def verify():
    """The function in the documents."""
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "webhooks.md").read_text(), re.DOTALL)
    found = {}
    exec(code, found)  # the project's own document
    return found["verify"]


def test_the_example_in_the_documents_accepts_what_was_received_and_nothing_else(receiver, verify):
    headers = build_signed_headers(SECRET, "e1", BODY, time.time())
    assert send_request(receiver.url, headers, BODY, HERE).error == ""
    (came,) = receiver.received
    assert (came.path, came.body) == ("/hook", BODY)
    assert came.headers["content-type"] == "application/json"
    assert verify(SECRET, came.headers, came.body)
    assert not verify(SECRET, came.headers, came.body + b" ")
    assert not verify("whsec_" + "A" * 32, came.headers, came.body)
    for name, value in (("webhook-id", "e2"), ("webhook-timestamp", str(int(time.time()) + 1))):
        assert not verify(SECRET, came.headers | {name: value}, came.body)
    late = build_signed_headers(SECRET, "e1", BODY, time.time() - 301)
    assert not verify(SECRET, late, BODY)
    turned = came.headers["webhook-signature"]
    both = came.headers | {"webhook-signature": f"v1,b2xk {turned}"}
    assert verify(SECRET, both, came.body)


@pytest.mark.parametrize(
    ("status", "headers", "error"),
    [
        (200, {}, ""),
        (299, {}, ""),
        (404, {}, "status"),
        (410, {}, "status"),
        (500, {}, "status"),
        (302, {"Location": "http://127.0.0.1:1/"}, "redirect"),
        (307, {"Location": "/other"}, "redirect"),
    ],
)
def test_only_a_status_of_success_counts_and_no_redirect_is_followed(
    receiver, status, headers, error
):
    receiver.status, receiver.headers = status, headers
    outcome = send_request(receiver.url, {}, BODY, HERE)
    assert (outcome.error, outcome.status) == (error, status)
    assert len(receiver.received) == 1


def test_a_response_may_ask_to_wait(receiver):
    receiver.status, receiver.headers = 503, {"Retry-After": "90"}
    assert send_request(receiver.url, {}, BODY, HERE).wait == 90


def test_a_body_without_end_is_not_read(receiver):
    receiver.endless = True
    outcome = send_request(receiver.url, {}, BODY, HERE)
    assert (outcome.error, outcome.status) == ("", 204)
    assert outcome.seconds < storage.SECONDS / 2


def test_a_receiver_that_says_nothing_is_given_up(receiver, monkeypatch):
    monkeypatch.setattr(storage, "SECONDS", 0.2)
    receiver.silent = threading.Event()
    outcome = send_request(receiver.url, {}, BODY, HERE)
    assert (outcome.error, outcome.status) == ("timeout", None)
    assert outcome.seconds < 5


def test_a_name_server_that_says_nothing_is_given_up(monkeypatch):
    monkeypatch.setattr(storage, "SECONDS", 0.2)
    released = threading.Event()

    def wait_for_name(*_, **__):
        released.wait(20)
        raise socket.gaierror(socket.EAI_AGAIN, "no name server answers")

    monkeypatch.setattr(socket, "getaddrinfo", wait_for_name)
    began = time.monotonic()
    try:
        outcome = send_request("http://slow.example/", {}, BODY, HERE)
        assert time.monotonic() - began < 5
    finally:
        released.set()
    assert (outcome.error, outcome.status) == ("timeout", None)


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "localhost"])
def test_every_spelling_of_this_machine_is_refused_at_the_connection(receiver, host):
    url = receiver.url.replace("127.0.0.1", host)
    assert send_request(url, {}, BODY, build_network_check([])).error == "address_refused"
    assert receiver.received == []


def test_of_several_addresses_of_a_name_one_that_is_refused_is_enough(receiver, monkeypatch):
    real = socket.getaddrinfo

    def resolve(host, port, *args, **kwargs):
        found = real("127.0.0.1", port, *args, **kwargs)
        return [(*found[0][:4], ("8.8.8.8", port)), *found] if host == "both.example" else found

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    url = receiver.url.replace("127.0.0.1", "both.example")
    assert send_request(url, {}, BODY, build_network_check([])).error == "address_refused"
    assert receiver.received == []


def test_a_closed_port_is_a_failed_connection():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert send_request(f"http://127.0.0.1:{port}/", {}, BODY, HERE).error == "connection"


def test_an_address_that_is_not_allowed_gets_no_request(receiver):
    assert send_request(receiver.url, {}, BODY, build_network_check([])).error == "address_refused"
    assert receiver.received == []


def test_a_name_that_resolves_to_the_own_network_is_refused_at_the_connection(
    receiver, monkeypatch
):
    """DNS rebinding: public while it is checked, private when it is connected to."""
    url = receiver.url.replace("127.0.0.1", "rebinding.example")
    check_webhook_url(url, build_network_check([]))  # a name passes here, whatever it resolves to
    real = socket.getaddrinfo

    def resolve(host, *args, **kwargs):
        return real("127.0.0.1" if host == "rebinding.example" else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert send_request(url, {}, BODY, build_network_check([])).error == "address_refused"
    assert receiver.received == []
    assert send_request(url, {}, BODY, HERE).error == ""


def test_no_proxy_of_the_environment_is_used(receiver, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert send_request(receiver.url, {}, BODY, HERE).error == ""


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("", "no_url"),
        ("example.org/hook", "no_url"),
        ("ftp://example.org/", "no_url"),
        ("https:///hook", "no_url"),
        ("https://example.org:0/", "no_url"),
        ("https://example.org:99999/", "no_url"),
        ("https://[::1/", "no_url"),
        ("https://example.org/a b", "no_url"),
        ("https://example.org/\n", "no_url"),
        ("https://exämple.org/", "no_url"),
        ("https://rana:secret@example.org/", "user_in_url"),
        ("https://rana@example.org/", "user_in_url"),
        ("https://example.org/#part", "fragment_in_url"),
        ("http://127.0.0.1/", "address"),
        ("http://[::ffff:10.0.0.1]/", "address"),
        ("http://169.254.169.254/latest/", "address"),
        ("http://2130706433/", "address"),
        ("http://0x7f.1:8080/", "address"),
        ("http://017700000001/", "address"),
        ("http://[fec0::1]/", "address"),
        ("http://[::ffff:0:7f00:1]/", "address"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_when_it_is_stored(url, code):
    with pytest.raises(WebhookError) as refused:
        check_webhook_url(url, build_network_check([]))
    assert (refused.value.code, refused.value.field) == (code, "url")


@pytest.mark.parametrize("url", ["https://example.org/hook?key=1", "http://8.8.8.8:8080/"])
def test_a_public_address_is_taken(url):
    check_webhook_url(url, build_network_check([]))
