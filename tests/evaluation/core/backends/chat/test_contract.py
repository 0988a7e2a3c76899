"""One contract, every chat back-end."""

import asyncio
import json

import pytest

from annotations.exchange import AnswerStatus
from evaluation.core.backends.chat.contract import ChatModel, ChatRequest
from evaluation.core.backends.chat.registry import get_chat_model
from tests.evaluation.core.backends.chat.fake import fake_chat, needs_packaged_model

REQUEST = ChatRequest(
    "q1",
    ({"role": "user", "content": "What is one and one?"},),
    {"temperature": 0.0, "max_tokens": 8, "seed": 3},
)


@pytest.fixture(params=["openai", "replies", pytest.param("local", marks=pytest.mark.long)])
def model(request, tmp_path):
    if request.param == "openai":
        with fake_chat() as server:
            yield get_chat_model(server.spec)
    elif request.param == "replies":
        (tmp_path / "script.csv").write_text("question,reply\nq1,two\nq2,three\n")
        yield get_chat_model(f"replies:{tmp_path / 'script.csv'}")
    else:
        needs_packaged_model()
        yield get_chat_model("local:smollm2")


def replies(model: ChatModel, *requests: ChatRequest):
    async def ask():
        await model.open(4)
        try:
            return await asyncio.gather(*map(model.reply, requests))
        finally:
            await model.close()

    return asyncio.run(ask())


def test_a_reply_has_a_status_that_fits_its_text_and_its_raw_answer(model):
    (reply,) = replies(model, REQUEST)
    assert reply.status is (AnswerStatus.TEXT if reply.text else AnswerStatus.EMPTY)
    assert reply.fault is None
    assert json.loads(json.dumps(reply.raw)) == reply.raw


def test_the_same_request_has_the_same_reply_and_many_may_be_asked_at_once(model):
    found = replies(model, *[REQUEST] * 4)
    assert len({reply.text for reply in found}) == 1


def test_it_can_be_opened_again_after_it_was_closed(model):
    assert replies(model, REQUEST)[0].text == replies(model, REQUEST)[0].text


def test_its_spec_names_it_again_and_its_parts_are_known(model):
    again = get_chat_model(model.spec)
    assert (again.kind, again.address, again.model) == (model.kind, model.address, model.model)
    assert model.name


def test_the_body_holds_the_messages_and_every_parameter(model):
    body = model.build_request_body(REQUEST)
    assert body["messages"] == [dict(message) for message in REQUEST.messages]
    assert REQUEST.parameters.items() <= body.items()


def test_closing_what_was_never_opened_is_no_error(model):
    asyncio.run(model.close())
