"""Requests are adapted to servers that refuse our parameters."""

import asyncio
import json

import pytest

from evaluation.core.backends.chat.contract import ChatRequest
from evaluation.core.backends.chat.openai import AdaptedParameters, OpenAIChat
from evaluation.core.backends.server import FaultError
from tests.evaluation.core.backends.chat.fake import Answer, fake_chat, said

MAX_TOKENS = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead."
)
TEMPERATURE = "Unsupported value: 'temperature' does not support 0.0 with this model."
BODY = {"model": "m", "messages": [], "max_tokens": 256, "temperature": 0.0, "seed": 0}


def refusal(message, status=400, **more):
    content = json.dumps({"error": {"message": message, **more}}).encode()
    return FaultError("bad_request", message, status=status, content=content)


def requests_of(reply, *asked):
    with fake_chat(reply) as server:
        model = OpenAIChat("m", server.url)

        async def ask():
            await model.open(4)
            try:
                return [await model.reply(one) for one in asked]
            finally:
                await model.close()

        replies = asyncio.run(ask())
    return model, server.bodies, replies


def request(**parameters):
    return ChatRequest("q", ({"role": "user", "content": "?"},), parameters)


def test_a_reasoning_model_is_asked_as_it_wants():
    def reasoning(body):
        if "max_tokens" in body:
            error = {"message": MAX_TOKENS, "param": "max_tokens", "code": "unsupported_parameter"}
            return Answer(400, json.dumps({"error": error}).encode())
        if body.get("temperature", 1) != 1:
            error = {"message": TEMPERATURE, "param": "temperature", "code": "unsupported_value"}
            return Answer(400, json.dumps({"error": error}).encode())
        return said("yes")

    one = request(max_tokens=256, temperature=0.0, seed=0)
    model, bodies, replies = requests_of(reasoning, one, one)
    assert [reply.text for reply in replies] == ["yes", "yes"]
    assert len(bodies) == 4  # the first request three times, the second one at once
    assert bodies[2] == bodies[3]
    assert (bodies[3]["max_completion_tokens"], bodies[3]["seed"]) == (256, 0)
    assert not {"max_tokens", "temperature"} & bodies[3].keys()
    assert len(model.adaptations) == 2
    assert model.build_request_body(one) == bodies[3]  # what is stored is what was sent


def test_a_server_that_refuses_whatever_is_sent_is_asked_a_few_times():
    error = json.dumps({"error": {"message": MAX_TOKENS}}).encode()
    _, bodies, (reply,) = requests_of(lambda body: Answer(400, error), request(max_tokens=9))
    assert reply.fault.code == "bad_request"
    assert len(bodies) <= 3


@pytest.mark.parametrize(
    ("message", "more", "gone", "new"),
    [
        (MAX_TOKENS, {}, "max_tokens", "max_completion_tokens"),
        ("max_tokens: Extra inputs are not permitted", {}, "max_tokens", "max_completion_tokens"),
        (TEMPERATURE, {"param": "temperature"}, "temperature", None),
        ("`temperature` is deprecated for this model.", {}, "temperature", None),
        ("Unrecognized request argument supplied: seed", {}, "seed", None),
    ],
)
def test_a_refusal_names_what_is_left_out_or_renamed(message, more, gone, new):
    adapted = AdaptedParameters()
    assert adapted.learn_from_refusal(refusal(message, **more), BODY)
    found = adapted.adapt_body(BODY)
    assert gone not in found
    assert found.keys() - BODY.keys() == ({new} if new else set())
    assert len(adapted.notes) == 1


def test_a_validator_says_which_field_by_its_place():
    detail = [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs"}]
    fault = FaultError(
        "bad_request", "no", status=422, content=json.dumps({"detail": detail}).encode()
    )
    adapted = AdaptedParameters()
    assert adapted.learn_from_refusal(fault, BODY)
    assert "seed" not in adapted.adapt_body(BODY)


@pytest.mark.parametrize(
    ("fault", "body"),
    [
        (refusal("Unknown model m"), BODY),
        (refusal("max_tokens is too large: this model supports at most 100"), BODY),
        (refusal("Unsupported parameter: 'top_p'", param="top_p"), {**BODY, "top_p": 0.9}),
        (refusal(TEMPERATURE, param="temperature"), {"model": "m"}),
        (refusal(MAX_TOKENS, status=500), BODY),
        (refusal(""), BODY),
    ],
)
def test_other_refusals_change_nothing(fault, body):
    adapted = AdaptedParameters()
    assert not adapted.learn_from_refusal(fault, body)
    assert (adapted.adapt_body(body), adapted.notes) == (body, ())


def test_what_another_request_has_learnt_is_tried_once_more():
    adapted = AdaptedParameters()
    fault = refusal(TEMPERATURE, param="temperature")
    assert adapted.learn_from_refusal(fault, BODY)
    assert adapted.learn_from_refusal(fault, BODY)  # it was sent before that was known
    assert not adapted.learn_from_refusal(fault, adapted.adapt_body(BODY))
