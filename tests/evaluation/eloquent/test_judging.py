"""What a judge is asked, and what counts of its words."""

import pytest

from annotations.exchange.reading.judgements import JudgementRow
from evaluation.core.text.items import parse_score
from evaluation.eloquent.run.judging import (
    build_judge_question,
    build_second_judge_question,
    is_human_judge,
    read_judgement,
)
from tests.evaluation.eloquent.world import RULES, reply


def test_a_judge_sees_all_replies_and_no_answers_as_such():
    replies = [
        reply("s", RULES, 0, "Eleven {a} side."),
        reply("s", RULES, 1, "", "empty"),
        reply("s", RULES, 3, "I cannot", "refused_generation"),
    ]
    content = build_judge_question(replies)[-1]["content"]
    assert "Reply 1:\nEleven {a} side.\n\nReply 2:\n[no answer]\n\nReply 3:\n[no answer]" in content
    assert content.startswith("Below are 3 replies")
    assert content.endswith("Similarity score: X")
    assert "I cannot" not in content


def test_a_judge_that_copies_the_instruction_gives_no_score():
    content = build_judge_question([reply("s", RULES, 0), reply("s", RULES, 1)])[-1]["content"]
    assert parse_score(content).reason == "score_is_no_number"


def test_the_second_question_shows_the_first_answer():
    replies = [reply("s", RULES, 0), reply("s", RULES, 1)]
    first = build_judge_question(replies)
    again = build_second_judge_question(replies, "They agree.")
    assert again[:2] == first
    assert again[2] == {"role": "assistant", "content": "They agree."}
    assert again[3]["role"] == "user"


@pytest.mark.parametrize(
    ("judge", "human"),
    [("human", True), ("Human", True), ("human:rana", True), ("humane", False), ("gpt", False)],
)
def test_people_are_known_by_their_names(judge, human):
    assert is_human_judge(judge) is human


def given(score, reply, reason=None):
    return JudgementRow(2, "001", "s", "en", "j", "1", score, reply, reason)


def test_a_score_goes_before_the_judges_words():
    found = read_judgement(given(4.0, "They agree.\nSimilarity score: 2"))
    assert (found.score, found.notes) == (4.0, "They agree.")
    assert read_judgement(given(None, "They agree.\nSimilarity score: 2")).score == 2.0


def test_a_judgement_without_a_score_says_why():
    assert read_judgement(given(None, "")).reason == "no_judge_reply"
    assert read_judgement(given(None, "Fine.")).reason == "no_score_line"
    wrong = read_judgement(given(None, "Similarity score: 2", "score_above_5"))
    assert (wrong.score, wrong.reason) == (None, "score_above_5")
