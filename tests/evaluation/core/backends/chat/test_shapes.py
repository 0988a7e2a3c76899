"""Each shape of a server's answer, sent over loopback: an answer is a text, and nothing else is."""

import asyncio
import copy
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from evaluation.core.backends.chat.contract import ChatRequest, Reply
from evaluation.core.backends.chat.openai import OpenAIChat, parse_reply
from evaluation.core.backends.server import RetryRules
from tests.evaluation.core.backends.chat.fake import Answer, FakeChat, error, fake_chat, said

TOOL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"answer": "yes"}'}}
HTML = b"<!doctype html><title>504</title><h1>Gateway Time-out</h1>"
COMPLETION = json.loads(said("yes").content)


def ask(server: FakeChat, address: str = "", **parameters: Any) -> Reply:
    """Return the reply to one request; the server is given up after 2 s."""
    model = OpenAIChat("m", address or server.url, patience=RetryRules(timeout=2.0))

    async def once() -> Reply:
        await model.open(1)
        try:
            messages = ({"role": "user", "content": "?"},)
            return await model.reply(ChatRequest("q", messages, parameters))
        finally:
            await model.close()

    return asyncio.run(once())


def answered(answer: Answer) -> Reply:
    with fake_chat(lambda body: answer) as server:
        return ask(server)


def payload(**message: Any) -> Answer:
    return said(message.pop("content", None), message.pop("reason", "stop"), message=message)


def body(value: Any) -> Answer:
    return Answer(content=json.dumps(value).encode())


def stream(*events: Any, ending: str = "data: [DONE]\n\n") -> Answer:
    text = "".join(f"data: {json.dumps(one, ensure_ascii=False)}\n\n" for one in events)
    return Answer(content=(text + ending).encode(), headers={"Content-Type": "text/event-stream"})


def delta(text: str, reason: str | None = None) -> dict[str, Any]:
    return {
        "id": "1",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}],
    }


TEXTS = {
    "a string": (payload(content="yes"), "yes"),
    "parts": (payload(content=[{"type": "text", "text": one} for one in ("y", "es")]), "yes"),
    "output parts": (payload(content=[{"type": "output_text", "text": "yes"}]), "yes"),
    "parts with a picture": (payload(content=[{"type": "image"}, {"text": "yes"}]), "yes"),
    "beside reasoning": (payload(content="yes", reasoning_content="no"), "yes"),
    "beside a tool call": (payload(content="yes", tool_calls=[TOOL]), "yes"),
    "without usage": (body({"choices": COMPLETION["choices"]}), "yes"),
    "usage null": (body({**COMPLETION, "usage": None}), "yes"),
    "error null": (body({**COMPLETION, "error": None}), "yes"),
    "cut at the length": (payload(content="yes", reason="length"), "yes"),
    "a stream": (stream(delta("ye"), delta("s", "stop")), "yes"),
    "a stream without DONE": (stream(delta("yes", "stop"), ending=""), "yes"),
    "a stream with U+2028": (stream(delta("y\u2028\u0085es", "stop")), "y\u2028\u0085es"),
    "comments before": (Answer(content=b": PROCESSING\n\n" + said("yes").content), "yes"),
    "a byte order mark": (Answer(content=b"\xef\xbb\xbf" + said("yes").content), "yes"),
}  # fmt: skip


@pytest.mark.parametrize("shape", TEXTS)
def test_a_text_is_read_from_every_shape(shape: str) -> None:
    answer, text = TEXTS[shape]
    reply = answered(answer)
    assert (reply.text, reply.status, reply.fault) == (text, "text", None)


OTHERS = {
    "null": (payload(), "empty"),
    "white space": (payload(content=" \n"), "empty"),
    "only a tool call": (payload(tool_calls=[TOOL], reason="tool_calls"), "empty"),
    "only an old function call": (payload(function_call=TOOL["function"]), "empty"),
    "only a picture": (payload(content=[{"type": "image_url", "image_url": {}}]), "empty"),
    "a refusal": (payload(refusal="I cannot."), "refused_generation"),
    "a refusal and a text": (payload(content="yes", refusal="I cannot."), "refused_generation"),
    "filtered": (payload(content="y", reason="content_filter"), "refused_generation"),
    "filtered without message": (
        body({"choices": [{"finish_reason": "content_filter"}]}),
        "refused_generation",
    ),
    "a streamed filter": (stream(delta("y"), delta("", "content_filter")), "refused_generation"),
    "only reasoning": (payload(reasoning_content="yes"), "cut_off"),
    "only reasoning parts": (payload(content=[{"type": "thinking", "thinking": "yes"}]), "cut_off"),
    "length without a text": (payload(reason="length"), "cut_off"),
    "azure's filter of prompts": (
        Answer(400, json.dumps({"error": {"message": "The response was filtered", "innererror": {
            "code": "ResponsibleAIPolicyViolation"}}}).encode()),
        "refused_prompt",
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", OTHERS)
def test_what_is_no_answer_is_stored_as_what_it_is(shape: str) -> None:
    answer, status = OTHERS[shape]
    reply = answered(answer)
    assert (reply.status, reply.fault) == (status, None)
    # A refusal is stored with its words, or with what a filter left of an answer.
    words = {"a refusal": "I cannot.", "a refusal and a text": "yes", "filtered": "y"}
    assert reply.text == {**words, "a streamed filter": "y"}.get(shape, "")
    assert reply.raw


FAULTS = {
    "a number": (payload(content=7), "no_reply", False),
    "an unknown object": (payload(content={"answer": "yes"}), "no_reply", False),
    "unknown parts": (payload(content=[{"type": "x", "value": "yes"}]), "no_reply", False),
    "no choices": (body({"choices": []}), "no_reply", False),
    "a completion of texts": (body({"choices": [{"text": "yes"}]}), "no_reply", False),
    "another API's message": (body({"content": [{"text": "yes"}]}), "no_reply", False),
    "an error": (body({"error": {"message": "gone"}}), "error_in_reply", False),
    "an error with a text": (body({**COMPLETION, "error": {"code": 502}}), "error_in_reply", True),
    "an error with a code as text": (body({"error": {"code": "429"}}), "error_in_reply", True),
    "an object error": (body({"object": "error", "code": 503}), "error_in_reply", True),
    "an error at the end of a stream": (
        stream(delta("yes"), {"error": {"message": "overloaded", "code": "529"}}),
        "error_in_reply",
        True,
    ),
    "a stream cut between chunks": (stream(delta("yes"), ending=""), "cut", True),
    "a stream cut in a chunk": (stream(delta("yes"), ending='data: {"cho'), "cut", True),
    "a body cut in a text": (Answer(content=said("yes").content[:60]), "cut", True),
    "a body cut after a comma": (Answer(content=b'{"choices": [],'), "cut", True),
    "a cut connection": (Answer(content=said("yes").content, cut=60), "cut", True),
    "html": (Answer(content=HTML), "not_json", False),
    "nothing": (Answer(), "not_json", False),
    "invalid JSON": (Answer(content=b'{"choices": nonsense}'), "not_json", False),
    "invalid UTF-8": (Answer(content=said("yes").content.replace(b"yes", b"\xff")),
                      "wrong_charset", False),
    "html with 504": (Answer(504, HTML), "server_error", True),
    "overloaded": (error(529, "overloaded_error"), "server_error", True),
    "too many requests": (error(429, "rate_limit_exceeded"), "rate_limited", True),
    "advice on bills": (
        Answer(429, b'{"error": {"message": "Rate limit reached. Add a payment method at '
                    b'https://host/account/billing", "code": "rate_limit_exceeded"}}'),
        "rate_limited",
        True,
    ),
    "a used-up quota": (error(429, "insufficient_quota"), "no_quota", False),
    "no such deployment": (error(404, "DeploymentNotFound"), "not_found", False),
    "a page to log in": (Answer(302, b"", {"Location": "/login"}), "redirect", False),
}  # fmt: skip


@pytest.mark.parametrize("shape", FAULTS)
def test_what_is_no_completion_is_an_error_that_says_whether_to_ask_again(shape: str) -> None:
    answer, code, again = FAULTS[shape]
    reply = answered(answer)
    assert (reply.text, reply.status) == ("", "error")
    assert reply.fault is not None
    assert (reply.fault.code, reply.fault.again) == (code, again)


def test_a_server_that_names_a_time_is_asked_after_it() -> None:
    later = datetime.now(UTC) + timedelta(seconds=40)
    date = format_datetime(later, usegmt=True)
    for status in (429, 503, 529):
        reply = answered(error(status, headers={"Retry-After": "7"}))
        assert reply.fault is not None
        assert (reply.fault.again, reply.fault.wait) == (True, 7.0)
        reply = answered(error(status, headers={"Retry-After": date}))
        assert reply.fault is not None
        # The date has whole seconds, and the two answers took some.
        assert reply.fault.wait is not None
        assert 20 < reply.fault.wait <= 40


def test_a_model_that_only_streams_is_asked_for_a_stream() -> None:
    refusal = "This model only support stream mode, please enable the stream parameter."

    def reply(request: dict[str, Any]) -> Answer:
        if not request.get("stream"):
            return Answer(400, json.dumps({"error": {"message": refusal}}).encode())
        if "stream_options" in request:
            message = "Extra inputs are not permitted: stream_options"
            return Answer(400, json.dumps({"error": {"message": message}}).encode())
        return stream(delta("ye"), delta("s", "stop"))

    with fake_chat(reply) as server:
        got = ask(server, max_tokens=9)
        assert (got.text, got.status) == ("yes", "text")
        assert [request.get("stream") for request in server.bodies] == [None, True, True]
        assert server.bodies[2]["max_tokens"] == 9


def test_tokens_of_a_stream_are_counted() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    reply = answered(stream(delta("yes", "stop"), usage))
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("yes", 3, 2)


ADDRESSES = {
    "Azure, deployments": (
        "/openai/deployments/gpt-x?api-version=2024-10-21",
        "/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21",
    ),
    "Azure, version 1": ("/openai/v1/", "/openai/v1/chat/completions"),
    "OpenRouter": ("/api/v1", "/api/v1/chat/completions"),
    "LiteLLM proxy": ("", "/chat/completions"),
    "vLLM and Ollama": ("/v1", "/v1/chat/completions"),
}


@pytest.mark.parametrize("kind", ADDRESSES)
def test_the_address_of_each_kind_of_server_is_asked(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-0123")
    given, path = ADDRESSES[kind]
    with fake_chat() as server:
        paths: list[str] = []
        handler: Any = server.server.RequestHandlerClass
        post: Callable[[Any], None] = handler.do_POST

        def note(self: Any) -> None:
            paths.append(self.path)
            post(self)

        handler.do_POST = note
        reply = ask(server, server.url.removesuffix("/v1") + given)
        headers = {name.casefold(): value for name, value in server.headers[0].items()}
    assert (reply.status, paths) == ("text", [path])
    assert headers["authorization"] == "Bearer secret-0123"
    assert headers.get("api-key") == ("secret-0123" if "api-version" in path else None)


def changed(value: Any) -> Iterator[Any]:
    """Yield the completion with each of its values replaced by each of some others."""
    root = [copy.deepcopy(value)]

    def places(at: Any) -> Iterator[tuple[Any, Any]]:
        for key in list(at) if isinstance(at, dict) else range(len(at)):
            yield at, key
            if isinstance(at[key], (dict, list)):
                yield from places(at[key])

    for at, key in list(places(root)):
        before = at[key]
        others: list[Any] = [None, 0, -1, True, "", "x", [], {}, [None], [[]], {"x": 1}, 1e300]
        for other in others:
            at[key] = other
            yield root[0]
        at[key] = before


def test_no_answer_of_json_ends_in_an_exception_or_becomes_another_text() -> None:
    whole = {
        "choices": [
            {
                "index": 0,
                "message": {
                    "content": [{"type": "text", "text": "yes"}],
                    "refusal": None,
                    "reasoning": [{"text": "hm"}],
                    "tool_calls": [TOOL],
                },
                "finish_reason": "stop",
                "native_finish_reason": "stop",
                "logprobs": {"content": [{"token": "yes", "logprob": -0.1, "top_logprobs": []}]},
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
        "error": None,
        "promptFeedback": {"blockReason": ""},
    }
    n = 0
    for one in changed(whole):
        reply = parse_reply(copy.deepcopy(one), {"max_tokens": 5})
        n += 1
        # "x" replaces the content, or is the text of a refusal.
        assert reply.text in ("", "yes", "x"), one
        assert (reply.status == "text") <= (reply.text != ""), one
        assert (reply.status == "error") == (reply.fault is not None), one
    assert n > 300
