"""`study maqa` with the probabilities of tokens: of a server that gives the likeliest ones."""

import csv
import json
from math import log

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import fake_chat, said

QUESTIONS = [{"question": "Which colours?", "answer": ["Red", "White"]}]
PARTS = {'["': 0.9, "Red": 0.6, '", "': 0.9, "Blue": 0.3, '"]': 0.9}
TEXT = "".join(PARTS)


def entry(token, p, others=0.1):
    """A token with probability p, another with `others`; the rest is not told."""
    tops = [{"token": token, "logprob": log(p)}, {"token": "?", "logprob": log(others)}]
    return {"token": token, "logprob": log(p), "top_logprobs": tops}


def whole(token, p):
    """The same place with all ten tokens: p, .1, and eight that share the rest."""
    rest = (1 - p - 0.1) / 8
    tops = [(token, p), ("?", 0.1), *((f"r{n}", rest) for n in range(8))]
    listed = [{"token": one, "logprob": log(x)} for one, x in tops]
    return {"token": token, "logprob": log(p), "top_logprobs": listed}


def likely(body):
    content = [entry(token, p) for token, p in PARTS.items()]
    return said(TEXT, choice={"logprobs": {"content": content}})


def study(tmp_path, server, *options):
    (tmp_path / "q.json").write_text(json.dumps(QUESTIONS))
    command = ("study", "maqa", tmp_path / "q.json", "--model", server.spec, "--bootstrap", 0)
    ran = manage(*command, "--output", tmp_path / "out", *options)
    assert ran.code == 0, ran.err
    with (tmp_path / "out" / "answers.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    return found, json.loads((tmp_path / "out" / "summary.json").read_text())


def entropy(*p):
    return -sum(one * log(one) for one in p)


def test_the_likeliest_tokens_give_an_interval_of_entropy_at_each_answer(tmp_path):
    with fake_chat(likely) as server:
        wanted = ("--first-tokens", "top", "--top", 5, "--vocabulary", 10)
        rows, summary = study(tmp_path, server, *wanted)
        assert server.bodies[0]["logprobs"] is True
        assert server.bodies[0]["top_logprobs"] == 5
        again, _ = study(tmp_path, server, *wanted)
        assert len(server.bodies) == 1  # the second time from the journal
    assert again == rows
    red, blue = rows
    assert [red["answer"], red["right"]] == ["Red", "true"]
    assert [blue["answer"], blue["right"]] == ["Blue", "false"]
    low = entropy(0.6, 0.1, 0.3)  # one token has all that is missing
    assert float(red["entropy"]) == pytest.approx(low)
    assert float(red["entropy_high"]) == pytest.approx(low + 0.3 * log(8))
    assert float(blue["max_softmax"]) == pytest.approx(0.3)
    assert float(blue["margin"]) == pytest.approx(0.2)
    assert summary["first_tokens"] == "top"
    # What it wrote is what `evaluate maqa` takes, with the same numbers.
    files = (tmp_path / "q.json", "--replies", tmp_path / "out" / "replies.jsonl")
    assert (
        manage("evaluate", "maqa", *files, "--bootstrap", 0, "--output", tmp_path / "b").code == 0
    )
    for name in ("metrics.csv", "answers.csv"):
        assert (tmp_path / "b" / name).read_text() == (tmp_path / "out" / name).read_text()


def goes_on(body):
    last = body["messages"][-1]
    if last["role"] != "assistant":
        return likely(body)
    place = {'["': "Red", '["Red", "': "Blue"}[last["content"]]
    assert (body["max_tokens"], body["temperature"]) == (1, 0)
    return said(place, choice={"logprobs": {"content": [whole(place, PARTS[place])]}})


def test_a_server_that_goes_on_is_asked_for_every_token_at_each_answer(tmp_path):
    with fake_chat(goes_on) as server:
        rows, summary = study(tmp_path, server, "--first-tokens", "all")
    # .6, .1 and eight of .0375; .3, .1 and eight of .075.
    assert float(rows[0]["entropy"]) == pytest.approx(entropy(0.6, 0.1, *8 * [0.0375]))
    assert float(rows[1]["entropy"]) == pytest.approx(entropy(0.3, 0.1, *8 * [0.075]))
    assert rows[1]["entropy"] == rows[1]["entropy_high"]
    assert [one["step"] for one in summary["asked"]] == ["answers", "first tokens"]
    assert summary["asked"][1]["requests"] == 2
    assert not summary["exclusions"]


def test_a_server_that_begins_anew_is_found_out_and_the_likeliest_tokens_count(tmp_path):
    def begins_anew(body):
        if body["messages"][-1]["role"] != "assistant":
            return likely(body)
        return said("Sure", choice={"logprobs": {"content": [whole("Sure", 0.8)]}})

    with fake_chat(begins_anew) as server:
        rows, summary = study(tmp_path, server, "--first-tokens", "all")
    assert float(rows[0]["max_softmax"]) == pytest.approx(0.6)
    (told,) = summary["exclusions"]
    assert (told["reason"], told["count"]) == ("distribution_of_another_place", 2)
    assert told["named"][0] == {"item": "0", "sample": 0, "answer": "Red"}


@pytest.mark.parametrize("logprob", [None, "nan", 0.7])
def test_a_server_with_crooked_probabilities_loses_the_distribution_and_not_the_reply(
    tmp_path, logprob
):
    def crooked(body):
        content = [entry(token, p) for token, p in PARTS.items()]
        content[1]["top_logprobs"][0]["logprob"] = float("nan") if logprob == "nan" else logprob
        return said(TEXT, choice={"logprobs": {"content": content}})

    with fake_chat(crooked) as server:
        rows, summary = study(tmp_path, server, "--first-tokens", "top")
    reason = "probability_above_1" if logprob == 0.7 else "not_finite"
    assert [(one["reason"], one["count"]) for one in summary["exclusions"]] == [(reason, 1)]
    assert (rows[0]["max_softmax"], rows[0]["right"]) == ("", "true")
    if logprob == "nan":  # no JSON: nothing of its probabilities can be kept
        assert rows[1]["max_softmax"] == ""
    else:
        assert float(rows[1]["max_softmax"]) == pytest.approx(0.3)


def test_another_model_is_not_asked_for_probabilities_unless_wanted(tmp_path):
    with fake_chat(lambda _: said(TEXT)) as server:
        rows, summary = study(tmp_path, server)
        assert "logprobs" not in server.bodies[0]
    assert summary["first_tokens"] == "none"
    assert rows[0]["reason"] == "no_distribution"
    with fake_chat(lambda _: said(TEXT)) as server:  # wanted, and the server says nothing
        rows, summary = study(tmp_path, server, "--first-tokens", "top")
    assert rows[0]["reason"] == "no_distribution"
    assert not summary["exclusions"]
