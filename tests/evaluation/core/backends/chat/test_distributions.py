import json
from math import isnan, log

import numpy as np
import pytest

from evaluation.core.backends.chat.contract import (
    MAX_DETAIL,
    UnlistedTokens,
    parse_token_logprobs,
    shorten_logprobs,
)
from evaluation.core.backends.chat.openai import parse_reply
from evaluation.maqa.methods.uncertainty import measure_logits, measure_top_logprobs


def listed(logs):
    return [{"token": f"t{n}", "bytes": [n % 256], "logprob": x} for n, x in enumerate(logs)]


def test_a_long_list_is_cut_and_its_entropy_stays_that_of_the_whole_distribution():
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, 2_000)
    logs = logits - np.log(np.exp(logits).sum())
    entry = {"token": "t", "logprob": -1.0, "top_logprobs": listed(logs.tolist())}
    (token,) = parse_token_logprobs(shorten_logprobs({"content": [entry]}))
    assert len(token.top) == MAX_DETAIL
    assert token.top[0][1] == logs.max()
    assert token.others.tokens == 2_000 - MAX_DETAIL
    found = measure_top_logprobs(
        [x for _, x in token.top],
        2_000,
        (token.others.tokens, token.others.probability, token.others.entropy),
    )
    whole = measure_logits(logits)
    assert found.entropy == pytest.approx(whole.entropy, abs=1e-9)
    assert found.entropy_high == found.entropy
    assert found.max_softmax == pytest.approx(whole.max_softmax)
    assert found.margin == pytest.approx(whole.margin)


def test_a_short_list_and_one_with_what_is_no_number_stay_as_they_came():
    few = {"content": [{"token": "a", "logprob": -1, "top_logprobs": listed([-1.0, -2.0])}]}
    assert shorten_logprobs(few) == few
    bad = {"content": [{"token": "a", "top_logprobs": listed([-9.0] * MAX_DETAIL + [None])}]}
    assert shorten_logprobs(bad) == bad
    for other in (None, "text", {"content": None}, {"content": ["x", None]}):
        assert shorten_logprobs(other) == other


def test_a_reply_of_a_server_is_kept_with_the_list_cut():
    content = [{"token": "a", "logprob": -1, "top_logprobs": listed([-9.0] * (MAX_DETAIL + 5))}]
    payload = {"choices": [{"message": {"content": "a"}, "logprobs": {"content": content}}]}
    reply = parse_reply(json.loads(json.dumps(payload)))
    for told in (reply.logprobs, reply.raw["choices"][0]["logprobs"]):
        assert len(told["content"][0]["top_logprobs"]) == MAX_DETAIL
        assert told["content"][0]["others"]["tokens"] == 5


def test_tokens_are_bytes_and_what_is_no_number_is_nan():
    entries = [
        {"token": "\ufffd", "bytes": [0xC3], "logprob": -0.5, "top_logprobs": []},
        {"token": "é", "bytes": None, "logprob": None},
        {"token": "x", "bytes": [999], "logprob": True, "others": {"tokens": "many"}},
        {"token": "y", "logprob": -1,
         "others": {"tokens": 3, "probability": 0.1, "entropy": 0.2}},
    ]  # fmt: skip
    found = parse_token_logprobs({"content": entries})
    assert [token.data for token in found] == [b"\xc3", "é".encode(), b"x", b"y"]
    assert [isnan(token.logprob) for token in found] == [False, True, True, False]
    assert [token.others for token in found] == [None, None, None, UnlistedTokens(3, 0.1, 0.2)]


@pytest.mark.parametrize("said", [None, {}, {"content": []}, {"content": "x"}, {"content": [1]}])
def test_a_server_that_says_nothing_has_no_tokens(said):
    assert parse_token_logprobs(said) is None


def test_known_others_leave_an_interval_where_some_are_still_unknown():
    # .5 and .2 listed, two of .1 known, .1 over 6 more: H = known - .1 ln .1, + .1 ln 6 at most.
    found = measure_top_logprobs([log(0.5), log(0.2)], 10, (2, 0.2, -0.2 * log(0.1)))
    known = -(0.5 * log(0.5) + 0.2 * log(0.2) + 0.2 * log(0.1))
    assert found.entropy == pytest.approx(known - 0.1 * log(0.1))
    assert found.entropy_high == pytest.approx(found.entropy + 0.1 * log(6))
    assert found.margin == pytest.approx(0.3)
