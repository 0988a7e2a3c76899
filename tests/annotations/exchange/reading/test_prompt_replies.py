"""Replies to prompts, as a table and in the submission form."""

import json

import pytest

from annotations.exchange import AnswerStatus, InputError
from annotations.exchange.reading.prompt_replies import ConversationTurn, read_prompt_replies
from annotations.exchange.reading.source import make_bytes_source
from tests.problems import faults, raises_problem


def table(text):
    return read_prompt_replies(make_bytes_source("replies.csv", text.encode()))


def form(*questions, **facts):
    told = {"team": "t", "system": "small", "submissionid": "1", "language": "EN", "date": "d"}
    told |= {"label": "eloquent-2025-robustness", **facts, "questions": list(questions)}
    return read_prompt_replies(make_bytes_source("a.json", json.dumps(told).encode()))


def refused(read, *arguments):
    with pytest.raises(InputError) as caught:
        read(*arguments)
    return faults(caught.value)


def test_a_table_may_lack_system_language_and_status():
    (one,) = table("item,variant,reply\n007,1,Yes\n").replies
    assert (one.system, one.item, one.language, one.variant) == ("model", "007", "", "1")
    assert (one.text, one.status, one.turns) == ("Yes", AnswerStatus.TEXT, ())


def test_a_reply_of_blanks_is_empty_and_a_status_may_stand_in_any_case():
    found = table("item,variant,reply,status\na,1,  ,\na,2,,Refused\na,3,half,ERROR\n").replies
    assert [one.status.value for one in found] == ["empty", "refused", "error"]


def test_a_submission_keeps_its_turns_and_facts():
    turns = [{"question": "A or B?", "answer": "Both."}, {"question": "Which?", "answer": "B."}]
    found = form({"questionid": 12, "turns": turns})
    (one,) = found.replies
    assert (one.system, one.item, one.language, one.number) == ("small", "12", "en", True)
    assert one.turns == (ConversationTurn("A or B?", "Both."), ConversationTurn("Which?", "B."))
    assert one.text == "Both.\n\nB."
    assert found.submissions[0].label == "eloquent-2025-robustness"


def test_no_answer_in_a_submission_is_empty():
    turns = [{"question": "A?", "answer": None}, {"question": "A?", "answer": "[no answer]"}]
    (one,) = form({"questionid": "a", "turns": turns}).replies
    assert (one.text, one.status) == ("", AnswerStatus.EMPTY)


def test_a_file_may_hold_several_submissions():
    one = {"system": "x", "language": "sv", "questions": []}
    turns = [{"question": "q", "answer": "a"}]
    both = [one | {"questions": [{"questionid": "1", "turns": turns}]}] * 2
    found = read_prompt_replies(make_bytes_source("a.json", json.dumps(both).encode()))
    assert len(found.replies) == len(found.submissions) == 2


def test_what_is_missing_in_a_submission_is_told_with_its_line():
    questions = [
        {"turns": [{"question": "q", "answer": "a"}]},
        {"questionid": "1"},
        {"questionid": "2", "turns": [{"question": " ", "answer": "a"}, {"question": "q"}]},
    ]
    assert refused(form, *questions) == [
        (1, "questionid", "questionid_missing"),
        (1, "turns", "turns_missing"),
        (1, "question", "turn_without_question"),
        (1, "answer", "turn_without_answer"),
    ]


def test_another_layout_is_refused():
    with raises_problem("submission_without_questions", line=1, column="questions"):
        read_prompt_replies(make_bytes_source("a.json", b'{"system": "x"}'))
