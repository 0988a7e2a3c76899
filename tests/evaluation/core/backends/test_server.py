"""Addresses of servers, and what their refusals say."""

import asyncio

import pytest

from evaluation.core.backends.chat.contract import ChatRequest
from evaluation.core.backends.chat.openai import OpenAIChat
from evaluation.core.backends.errors import ChatError
from evaluation.core.backends.server import classify_failure, find_error_message
from tests.evaluation.core.backends.chat.fake import fake_chat


def ask(server, address):
    model = OpenAIChat("m", address, api_key_env="MY_KEY")
    paths = []
    handle = server.server.RequestHandlerClass.do_POST

    def noted(self):
        paths.append(self.path)
        handle(self)

    server.server.RequestHandlerClass.do_POST = noted

    async def once():
        await model.open(1)
        try:
            return await model.reply(ChatRequest("q", ({"role": "user", "content": "?"},)))
        finally:
            await model.close()

    return model, asyncio.run(once()), paths


@pytest.mark.parametrize(
    ("behind", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/chat/completions", "/v1/chat/completions"),
        ("?api-version=2024-10-21", "/v1/chat/completions?api-version=2024-10-21"),
        ("/?api-version=preview", "/v1/chat/completions?api-version=preview"),
    ],
)
def test_a_version_in_an_address_is_sent_along(monkeypatch, behind, path):
    monkeypatch.setenv("MY_KEY", "secret-0123")
    with fake_chat() as server:
        _, reply, paths = ask(server, f"{server.url}{behind}")
        assert (reply.status, paths) == ("text", [path])
        headers = {name.casefold(): value for name, value in server.headers[0].items()}
    assert headers["authorization"] == "Bearer secret-0123"
    assert headers.get("api-key") == ("secret-0123" if "?" in behind else None)


@pytest.mark.parametrize(
    "address",
    [
        "http://user:key@host/v1",
        "http://host/v1?key=secret",
        "http://host/v1?api-version=1&key=secret",
        "http://host/v1#here",
        "http://host/v1?api-version=1#here",
    ],
)
def test_credentials_and_fragments_in_an_address_are_refused(address):
    with pytest.raises(ChatError):
        OpenAIChat("m", address)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"error": {"message": "no\n such model", "code": 1}}, "no such model"),
        ({"error": "gone"}, "gone"),
        ({"message": "gone"}, "gone"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, "field required"),
        ({"errors": [{"message": "a"}, {"message": "b"}]}, "a; b"),
        ({"error": {"code": "overloaded"}}, "overloaded"),
        ([{"error": {"message": "gone"}}], "gone"),
        ({"id": 1}, ""),
        (None, ""),
    ],
)
def test_the_message_of_a_server_is_found_in_its_json(said, message):
    assert find_error_message(said) == message


@pytest.mark.parametrize(
    ("status", "content", "code"),
    [
        (400, b'{"error": {"message": "no"}}', "bad_request"),
        (402, b'{"error": {"message": "Insufficient credits."}}', "no_quota"),
        (422, b"{\"error\": \"`inputs` tokens + `max_new_tokens` must be <= 512\"}",
         "prompt_too_long"),
        (400, b'{"error": {"code": "content_filter"}}', "refused_prompt"),
        (400, b"content-filter", "refused_prompt"),
        (500, b"<html>", "server_error"),
    ],
)  # fmt: skip
def test_a_refusal_has_a_code_and_holds_what_the_server_said(status, content, code):
    fault = classify_failure(status, content)
    assert (fault.code, fault.status) == (code, status)
    assert str(status) in fault.problem
    assert b"Insufficient" not in content or "(Insufficient credits.)" in fault.problem
