import json
import re

import numpy as np
import pytest

from evaluation.core.backends.errors import ChatError
from evaluation.evidence.baselines import AGAIN, METHODS, Judge, parse_judge_score
from tests.evaluation.core.backends.conftest import FakeServer
from tests.evaluation.evidence.baselines.world import QUESTIONS, TEXTS, corpus, crowd


@pytest.fixture
def server():
    server = FakeServer()
    yield server
    server.close()


def chat(content):
    return 200, {}, json.dumps({"choices": [{"message": {"content": content}}]}).encode()


def judge(server, **options):
    return Judge(f"openai:small@{server.url}", first_wait=0.001, timeout=5.0, **options)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("4", 4.0),
        (" 4.5 ", 4.5),
        ("**3**/5", 3.0),
        ("Score: 0", 0.0),
        ("5.0 points", 5.0),
        ("85", None),
        ("5.5", None),
        ("good", None),
        ("B2", None),
        ("", None),
    ],
)
def test_a_score_is_the_first_number_if_it_is_one_from_0_to_5(reply, score):
    assert parse_judge_score(reply) == score


def test_each_answer_is_asked_about_with_its_question_and_without_the_others(server):
    def by_length(fake, request):
        answer = re.search("Answer: (.*)", request["messages"][0]["content"])[1]
        return chat(str(len(answer) % 6))

    server.always = by_length
    asked = [f"question {n}" for n in QUESTIONS]
    found = judge(server).score_answers(asked, TEXTS)
    assert found.tolist() == [len(text) % 6 for text in TEXTS]
    for _, _, body in server.requests:
        content = body["messages"][0]["content"]
        assert sum(text in content for text in TEXTS) == 1
        assert (body["model"], body["temperature"]) == ("small", 0)
    assert {path for path, _, _ in server.requests} == {"/v1/chat/completions"}


def test_a_reply_without_a_score_is_asked_for_once_more_and_then_left_empty(server):
    replies = iter(["fine", "4", "fine", "very fine"])
    server.always = lambda fake, request: chat(next(replies))
    found = [judge(server).score_answers(["q"], ["a"])[0] for _ in range(2)]
    np.testing.assert_array_equal(found, [4, np.nan])
    assert len(server.requests) == 4
    again = server.requests[1][2]["messages"]
    assert [message["role"] for message in again] == ["user", "assistant", "user"]
    assert again[-1]["content"] == AGAIN


def test_the_key_is_taken_from_the_environment_and_never_told(server, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "sk-secret")
    server.always = lambda fake, request: (401, {}, b"bad key sk-secret")
    with pytest.raises(ChatError, match="JUDGE_KEY") as caught:
        judge(server, api_key_env="JUDGE_KEY").score_answers(["q"], ["a"])
    assert "sk-secret" not in str(caught.value)
    assert str(caught.value).startswith("judge 'openai:small@")
    assert server.requests[0][1]["Authorization"] == "Bearer sk-secret"


def test_a_judge_that_answers_no_chat_or_is_none_is_refused(server):
    server.always = lambda fake, request: (200, {}, b'{"data": []}')
    with pytest.raises(ChatError, match="holds no reply"):
        judge(server).score_answers(["q"], ["a"])
    with pytest.raises(ChatError, match="openai:MODEL@URL"):
        Judge("minilm")


def test_a_worker_is_worth_the_mean_of_its_scores_and_an_empty_one_is_left_out():
    judged = [5, 4, 1, 3, np.nan, 0]
    found = METHODS["judge"].score(crowd(of=corpus(judged=judged)))
    np.testing.assert_allclose(found, [4, 4, 0.5])
