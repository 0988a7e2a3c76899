"""What judges said of sets of replies."""

from annotations.exchange.reading.judgements import read_judgements
from annotations.exchange.reading.source import make_bytes_source
from tests.problems import raises_problem


def read(text):
    return read_judgements(make_bytes_source("judgements.csv", text.encode())).judgements


def test_what_is_not_said_has_its_default():
    (one,) = read("item,score\n001,4.5\n")
    assert (one.item, one.system, one.language, one.judge) == ("001", "model", "", "judge")
    assert (one.repeat, one.score, one.reply) == ("1", 4.5, "")


def test_a_score_beyond_the_scale_is_none_with_a_reason():
    found = read("item,score\na,5\na,5.1\na,-1\na,0\n")
    assert [one.score for one in found] == [5.0, None, None, 0.0]
    assert [one.reason for one in found] == [None, "score_above_5", "score_below_0", None]


def test_an_empty_score_is_none_and_not_0():
    first, second = read("item,score,judge_reply\na,,\na,3,\n")
    assert (first.score, second.score) == (None, 3.0)


def test_a_file_without_any_score_is_refused():
    with raises_problem("no_score", line=None):
        read("item,system\na,b\n")
