"""Likelihood scores by a scripted server on loopback: the numbers, the cost, resuming, refusals."""

import json

import numpy as np
import pytest

from evaluation.core.backends.errors import ChatError
from evaluation.evidence.likelihood import draw_other_answers, measure_likelihoods
from tests.evaluation.core.backends.chat.fake import FakeChat, needs_packaged_model, said

TEXTS = ['a "closed" path', "an open path", "a closed\npath"]
OTHERS = np.array([1, 0, -1])


def forced(body):
    """The reply that the grammar forces, -1 nat a byte; half of it beside another answer."""
    text = json.loads(body["grammar"].removeprefix("root ::= "))
    log = -0.5 if "answer of a student: " in body["messages"][0]["content"] else -1.0
    content = [{"token": one, "logprob": log} for one in text]
    end = {"token": "</s>", "logprob": -9.0}
    return said(text, choice={"logprobs": {"content": [*content, end]}})


def measure(reply, output, texts=TEXTS, others=OTHERS):
    server = FakeChat(reply)
    try:
        found = measure_likelihoods(
            server.spec, texts, ["Why?"] * len(texts), others, output, lambda *_: None
        )
    finally:
        server.close()
    return found, server.bodies


def test_the_score_is_the_gain_of_the_log_probability_beside_another_answer(tmp_path):
    found, bodies = measure(forced, tmp_path / "out")
    # 15 and 12 letters: -.5 against -1 each; the third has no other answer, and is not asked about.
    np.testing.assert_allclose(found.scores, [7.5, 6.0, np.nan])
    assert (found.n_failed, found.asked["requests"]) == (0, 4)
    # The fake server counts 10 tokens read and 5 written a request.
    assert (found.asked["prompt_tokens"], found.asked["completion_tokens"]) == (40, 20)
    beside = [b["messages"][0]["content"] for b in bodies if b["grammar"].endswith('open path"')]
    assert any(TEXTS[0] in content for content in beside)
    assert all("Why?" in content for content in beside)


def test_a_line_break_is_forced_too(tmp_path):
    found, _ = measure(forced, tmp_path / "out", others=np.array([-1, -1, 0]))
    assert found.scores[2] == pytest.approx(0.5 * len(TEXTS[2]))


def test_stored_replies_are_not_asked_for_again(tmp_path):
    server = FakeChat(forced)
    try:
        both = [
            measure_likelihoods(
                server.spec, TEXTS, ["Why?"] * 3, OTHERS, tmp_path / "out", lambda *_: None
            )
            for _ in range(2)
        ]
    finally:
        server.close()
    assert len(server.bodies) == 4
    np.testing.assert_array_equal(both[0].scores, both[1].scores)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (lambda body: said("a closed path"), "no_logprobs"),
        (
            lambda body: said("no", choice={"logprobs": {"content": [{"token": "no"}]}}),
            "not_forced",
        ),
    ],
)
def test_a_server_that_cannot_do_it_is_refused_after_one_request(tmp_path, reply, code):
    server = FakeChat(reply)
    try:
        with pytest.raises(ChatError) as raised:
            measure_likelihoods(
                server.spec, TEXTS, ["Why?"] * 3, OTHERS, tmp_path / "out", lambda *_: None
            )
    finally:
        server.close()
    assert raised.value.code == code
    assert len(server.bodies) == 1


def test_a_later_reply_without_the_text_leaves_its_answer_out(tmp_path):
    def reply(body):
        is_second = body["grammar"].endswith('open path"')
        return said("no") if is_second else forced(body)

    found, _ = measure(reply, tmp_path / "out")
    np.testing.assert_allclose(found.scores, [7.5, np.nan, np.nan])
    assert found.n_failed == 2


def test_the_other_answer_is_of_another_worker_to_the_same_question():
    questions, workers = [*"aaabbc"], [*"xyzxxz"]
    found = draw_other_answers(questions, workers, 0)
    assert found[3:].tolist() == [-1, -1, -1]
    for row in range(3):
        assert questions[found[row]] == "a"
        assert workers[found[row]] != workers[row]


@pytest.mark.long
@pytest.mark.model
def test_the_packaged_model_gives_a_repeated_answer_a_gain(tmp_path):
    needs_packaged_model()
    texts = ["The bulb is in a closed path.", "The bulb is in a closed path.", "It melts ice."]
    found = measure_likelihoods(
        *("local:smollm2", texts, ["Why does the bulb light?"] * 3, np.array([1, 2, 0])),
        *(tmp_path / "out", lambda *_: None),
    )
    assert found.n_failed == 0
    # Beside an equal answer a text is likelier than beside another one.
    assert found.scores[0] > found.scores[1]
