"""`manage.py ask`: what is no answer in a reply, what is no answer at all, and what helps."""

import json

import pytest

from tests.evaluation.commands.asking import ask, lines_of, rows_of, summary_of
from tests.evaluation.core.backends.chat.fake import Answer, said

THINKING = "<think>\nIt may be 9; no.\n</think>\n\n"


def test_thinking_is_put_aside_kept_and_counted(chat, questions, output):
    chat.reply = lambda body: said(f"{THINKING}It is 7.<|im_end|>")
    ran = ask(questions, output, chat.spec)
    assert (ran.code, {row["answer"] for row in rows_of(output)}) == (0, {"It is 7."})
    line = lines_of(output)[0]
    assert (line["answer"], line["thinking"]) == ("It is 7.", "It may be 9; no.")
    assert line["reply"]["choices"][0]["message"]["content"].startswith(THINKING)
    assert summary_of(output)["models"][0]["with_thinking"] == 4
    assert "--keep-thinking" in ran.out
    # The option shows what is kept, and asks nothing again.
    kept = ask(questions, output, chat.spec, "--keep-thinking")
    assert (kept.code, len(chat.bodies)) == (0, 4)
    assert {row["answer"] for row in rows_of(output)} == {f"{THINKING}It is 7."}
    ask(questions, output, chat.spec)
    assert {row["answer"] for row in rows_of(output)} == {"It is 7."}


@pytest.mark.parametrize(
    ("content", "reason", "message"),
    [
        (None, "length", {"reasoning_content": "hm"}),
        ("", "MAX_TOKENS", {}),
        ("<think>\nhm", "length", {}),
    ],
)
def test_replies_that_were_cut_off_are_a_state_of_their_own(
    chat, questions, output, content, reason, message
):
    chat.reply = lambda body: said(content, reason, message=message)
    ran = ask(questions, output, chat.spec)
    assert (ran.code, {row["status"] for row in rows_of(output)}) == (3, {"cut_off"})
    assert summary_of(output)["models"][0]["statuses"]["cut_off"] == 4
    assert "--max-tokens" in ran.out
    # The same command would get the same: it asks nothing again, and is still not complete.
    assert (ask(questions, output, chat.spec).code, len(chat.bodies)) == (3, 4)
    chat.reply = lambda body: said("It is 7.")
    assert ask(questions, output, chat.spec, "--max-tokens", 999).code == 0
    assert len(chat.bodies) == 8


def test_an_answer_that_ends_at_the_length_is_an_answer_and_counted(chat, questions, output):
    chat.reply = lambda body: said("It is 7, bec", "length")
    ran = ask(questions, output, chat.spec)
    assert (ran.code, {row["status"] for row in rows_of(output)}) == (0, {"text"})
    assert summary_of(output)["models"][0]["cut_short"] == 4
    assert "--max-tokens" in ran.out


@pytest.mark.parametrize(
    ("content", "choice"),
    [("", {"error": {"code": 400, "message": "gone"}}), ("half", {})],
)
def test_an_error_in_an_answer_of_status_200_is_asked_again(
    chat, questions, output, content, choice
):
    chat.reply = lambda body: said(content, "error", choice=choice)
    ran = ask(questions, output, chat.spec, "--attempts", 1)
    rows = rows_of(output)
    assert (ran.code, {row["status"] for row in rows}) == (3, {"error"})
    assert {(row["error"], row["answer"]) for row in rows} == {("error_in_reply", "")}
    chat.reply = lambda body: said("It is 7.")
    assert (ask(questions, output, chat.spec).code, len(chat.bodies)) == (0, 8)


def test_what_the_server_said_is_shown_with_the_option_that_helps(chat, questions, output):
    said_so = {"error": {"message": "this model knows no top_p", "type": "invalid_request_error"}}
    chat.reply = lambda body: Answer(400, json.dumps(said_so).encode())
    ran = ask(questions, output, chat.spec)
    assert ran.code == 3
    assert "400 (this model knows no top_p)" in ran.out
    assert "--parameters '{\"top_p\": null}'" in ran.out


def test_a_reasoning_model_is_asked_without_handwritten_parameters(chat, questions, output):
    refused = {
        "message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "param": "max_tokens",
    }

    def reply(body):
        if "max_tokens" in body:
            return Answer(400, json.dumps({"error": refused}).encode())
        return said("It is 7.")

    chat.reply = reply
    ran = ask(questions, output, chat.spec, "--concurrency", 1)
    assert (ran.code, len(chat.bodies)) == (0, 5)  # one request was sent once more
    (change,) = summary_of(output)["last"]["adapted"]
    assert change in ran.out
    line = lines_of(output)[-1]
    assert line["adapted"] == [change]
    assert line["request"]["max_completion_tokens"] == 256
    assert "max_tokens" not in line["request"]


def test_an_event_stream_is_read(chat, questions, output):
    events = [
        {"choices": [{"index": 0, "delta": {"content": "It "}}]},
        {"choices": [{"index": 0, "delta": {"content": "is 7."}, "finish_reason": "stop"}]},
    ]
    content = "".join(f"data: {json.dumps(one)}\n\n" for one in events) + "data: [DONE]\n\n"
    headers = {"Content-Type": "text/event-stream"}
    chat.reply = lambda body: Answer(200, content.encode(), headers)
    ran = ask(questions, output, chat.spec)
    assert (ran.code, {row["answer"] for row in rows_of(output)}) == (0, {"It is 7."})


def test_a_journal_from_before_thinking_was_separated_is_read_anew(chat, questions, output):
    texts = {"q0": f"{THINKING}It is 7.", "q1": "<think>\nhm", "q2": "", "q3": "half"}
    reasons = {"q0": "stop", "q1": "length", "q2": "length", "q3": "network_error"}
    assert ask(questions, output, chat.spec).code == 0
    lines = lines_of(output)
    for line in lines:
        del line["thinking"]
        line["answer"], line["finish_reason"] = texts[line["question"]], reasons[line["question"]]
        line["status"] = "text" if line["answer"] else "empty"
    (output / "requests.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert ask(questions, output, chat.spec).code == 3
    found = {row["question"]: (row["status"], row["answer"]) for row in rows_of(output)}
    assert found["q0"] == ("text", "It is 7.")
    assert (found["q1"], found["q2"]) == (("cut_off", ""), ("cut_off", ""))
    assert found["q3"][0] == "text"  # an error, which was asked again
    assert len(chat.bodies) == 5
