"""Sign-in by an OpenID provider that is down, hangs, or sends answers of another form."""

import socket
import threading
import time

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crowdgrade.sign_in import provider_session
from crowdgrade.sign_in.refusals import REFUSALS
from tests.crowdgrade.sign_in.conftest import begin, code_of, find_way, sign_in, user_of

pytestmark = pytest.mark.django_db


def test_a_description_of_another_issuer_is_refused(provider):
    provider.description = {"issuer": "https://elsewhere.example.org"}
    response = begin(Client())
    assert (response.status_code, code_of(response)) == (403, "issuer")


def test_an_incomplete_description_is_a_failure_of_the_provider(provider):
    provider.description = {"token_endpoint": None}
    response = begin(Client())
    assert (response.status_code, code_of(response)) == (502, "incomplete")


def test_a_provider_that_is_down_is_no_error_of_the_site(provider, change):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        change(issuer=f"http://127.0.0.1:{free.getsockname()[1]}")
        response = begin(Client())
    assert (response.status_code, code_of(response)) == (502, "down")


def test_a_provider_that_goes_down_on_the_way_is_no_error_of_the_site(provider):
    client = Client()
    back = provider.authorize(find_way(begin(client)))
    provider.close()
    response = client.get(back)
    assert (response.status_code, code_of(response)) == (502, "down")


@pytest.mark.parametrize("endpoint", ["http://192.0.2.1/token", "https://10.0.0.1/token"])
def test_an_address_that_is_not_public_is_not_asked(provider, endpoint):
    provider.description = {"token_endpoint": endpoint}
    client = Client()
    response = client.get(provider.authorize(find_way(begin(client))))
    assert code_of(response) == "down"


@pytest.mark.parametrize("end", [".well-known/openid-configuration", "token", "keys"])
def test_a_provider_that_never_answers_is_given_up_after_its_seconds(provider, monkeypatch, end):
    monkeypatch.setattr(provider_session, "SECONDS", 0.2)
    provider.silent = {end}
    client, began = Client(), time.monotonic()
    response = begin(client)
    if end != ".well-known/openid-configuration":
        response = client.get(provider.authorize(find_way(response)))
    assert (response.status_code, code_of(response)) == (502, "down")
    assert user_of(client) is None
    # The description is asked for at both ends of the way; only one request is waited for.
    assert 0.2 <= time.monotonic() - began < 5


def test_the_look_up_of_the_providers_name_counts_among_its_seconds(provider, monkeypatch):
    monkeypatch.setattr(provider_session, "SECONDS", 0.2)
    released = threading.Event()

    def wait_for_name(*_, **__):
        released.wait(20)
        raise socket.gaierror(socket.EAI_AGAIN, "no name server answers")

    monkeypatch.setattr(socket, "getaddrinfo", wait_for_name)
    began = time.monotonic()
    try:
        response = begin(Client())
        assert time.monotonic() - began < 5
    finally:
        released.set()
    assert (response.status_code, code_of(response)) == (502, "down")


BROKEN = [[], ["access_token"], 5, True, None, "text", b"<html>", b"", {}, {"keys": 1},
          {"keys": ["k"]}, {"access_token": "a", "id_token": 5}]  # fmt: skip


@pytest.mark.parametrize("end", [".well-known/openid-configuration", "token", "keys", "userinfo"])
@pytest.mark.parametrize("answer", BROKEN)
def test_an_answer_of_another_form_is_a_refusal_and_no_error_of_the_site(provider, end, answer):
    # The claims without an address, so that userinfo is asked for.
    provider.userinfo = provider.person
    provider.answers = {end: answer}
    client = Client()
    response = begin(client)
    if end != ".well-known/openid-configuration":
        response = client.get(provider.authorize(find_way(response)))
    assert response.status_code in (403, 502)
    assert code_of(response) in REFUSALS
    assert user_of(client) is None
    assert User.objects.count() == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"token_endpoint_auth_methods_supported": None},
        {"scopes_supported": 5},
        {"userinfo_endpoint": None},
        {"unknown": None},
    ],
)
def test_optional_parts_of_a_description_may_be_wrong(provider, change, wrong):
    change(groups=frozenset({"graders"}))
    provider.person["groups"] = ["graders"]
    provider.description |= wrong
    client, _ = sign_in(provider)
    assert user_of(client).username == "ada"


def test_an_access_token_may_expire_at_any_time(provider, monkeypatch):
    give = provider._give_token

    def give_with_time(body):
        status, headers, sent = give(body)
        return status, headers, {**sent, "expires_in": "soon"}

    monkeypatch.setattr(provider, "_give_token", give_with_time)
    client, _ = sign_in(provider)
    assert user_of(client).username == "ada"
