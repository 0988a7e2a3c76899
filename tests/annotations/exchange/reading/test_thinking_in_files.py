"""Files of replies: the same answer with and without thinking is read alike, in every format."""

import json

import pytest

from annotations.exchange import AnswerStatus, read_model_answers
from annotations.exchange.model_replies import describe_thinking_counts
from annotations.exchange.reading.judgements import read_judgements
from annotations.exchange.reading.prompt_replies import read_prompt_replies
from annotations.exchange.reading.several_answers import read_several_answers_replies
from annotations.exchange.reading.word_problems import read_word_problem_replies

THINKING = "<think>\nIt may be 9; no.\n</think>\n\n"
CUT = "<think>\nIt may be 9, or"


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def model_answers(path, replies):
    rows = [{"model": f"m{at}", "question": "q", "answer": text} for at, text in enumerate(replies)]
    file = read_model_answers(lines(path, rows))
    return [(one.text, one.status) for one in file.records], file.warnings


def several_answers(path, replies):
    rows = [{"system": f"m{at}", "item": "q", "reply": text} for at, text in enumerate(replies)]
    file = read_several_answers_replies(lines(path, rows))
    return [(one.text, one.status) for one in file.replies], file.warnings


def word_problems(path, replies):
    rows = [{"system": f"m{at}", "id": "q", "reply": text} for at, text in enumerate(replies)]
    file = read_word_problem_replies(lines(path, rows))
    return [(one.text, one.status) for one in file.replies], file.warnings


def prompt_replies(path, replies):
    rows = [
        {"system": f"m{at}", "item": "q", "variant": "1", "reply": text}
        for at, text in enumerate(replies)
    ]
    file = read_prompt_replies(lines(path, rows))
    return [(one.text, one.status) for one in file.replies], file.warnings


def submissions(path, replies):
    forms = [
        {
            "system": f"m{at}",
            "language": "en",
            "questions": [{"questionid": "q", "turns": [{"question": "?", "answer": text}]}],
        }
        for at, text in enumerate(replies)
    ]
    path = path.with_suffix(".json")
    path.write_text(json.dumps(forms))
    file = read_prompt_replies(path)
    return [(one.text, one.status) for one in file.replies], file.warnings


@pytest.mark.parametrize(
    "read", [model_answers, several_answers, word_problems, prompt_replies, submissions]
)
def test_thinking_is_put_aside_and_counted(tmp_path, read):
    found, warnings = read(tmp_path / "replies.jsonl", ["It is 7.", THINKING + "It is 7.", CUT])
    text, cut = ("It is 7.", AnswerStatus.TEXT), ("", AnswerStatus.CUT_OFF)
    assert found == [text, text, cut]
    # A run says by itself how many answers of models were cut off.
    assert list(warnings) == describe_thinking_counts(2, 0 if read is model_answers else 1)


def test_an_option_keeps_it(tmp_path):
    row = {"model": "m", "question": "q", "answer": THINKING + "It is 7."}
    file = read_model_answers(lines(tmp_path / "a.jsonl", [row]), keep_thinking=True)
    assert [(one.text, one.thinking) for one in file.records] == [(THINKING + "It is 7.", "")]


@pytest.mark.parametrize("column", ["finish_reason", "Finish Reason", "stop_reason"])
def test_a_finish_reason_tells_why_there_is_no_answer(tmp_path, column):
    rows = [
        {"model": "m", "question": name, "answer": "", "status": "", column: reason}
        for name, reason in (("q1", "length"), ("q2", "stop"), ("q3", "network_error"))
    ]
    file = read_model_answers(lines(tmp_path / "a.jsonl", rows))
    assert [one.status.value for one in file.records] == ["cut_off", "empty", "error"]


def test_the_limit_of_an_answer_holds_for_the_answer_alone(tmp_path):
    long = f"<think>{'hm ' * 40_000}</think>It is 7."
    row = {"model": "m", "question": "q", "answer": long}
    assert read_model_answers(lines(tmp_path / "a.jsonl", [row])).records[0].text == "It is 7."


def test_the_words_of_a_judge_are_read_without_its_thinking(tmp_path):
    reply = f"{THINKING}Similarity score: 4"
    row = {"item": "q", "judge_reply": reply}
    file = read_judgements(lines(tmp_path / "j.jsonl", [row]))
    assert [one.reply for one in file.judgements] == ["Similarity score: 4"]
