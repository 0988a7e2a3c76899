"""`manage.py ask` against a server that fails in every way, and against scripted replies."""

import csv
import json
import re
import socket
import time

import pytest

from evaluation.runs.flow.asking.plan import CLOSED, TEMPLATES
from tests.contracts.replay import facts_of
from tests.evaluation.commands.asking import ask, lines_of, rows_of, summary_of, write_questions
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import Answer, error, question_of, said

KEY = "sk-very-secret-0123"


def test_every_question_is_asked_once_and_the_answers_stand_in_the_folder(chat, questions, output):
    ran = ask(questions, output, chat.spec)
    assert (ran.code, ran.err) == (0, "")
    rows = rows_of(output)
    assert [row["question"] for row in rows] == ["q0", "q1", "q2", "q3"]
    assert [row["answer"] for row in rows] == [
        f"to {TEMPLATES[CLOSED].format(question=f'What is number {n}?', choices='')}"[:63]
        for n in range(4)
    ]
    first = rows[0]
    assert (first["model"], first["status"], first["sample"]) == ("small", "text", "0")
    assert (first["finish_reason"], first["attempts"]) == ("stop", "1")
    assert (first["prompt_tokens"], first["completion_tokens"]) == ("10", "5")
    assert len(first["prompt_hash"]) == 64
    assert float(first["seconds"]) > 0
    assert sorted(path.name for path in output.iterdir()) == [
        "model_answers.csv",
        "requests.jsonl",
        "summary.json",
    ]
    line = lines_of(output)[0]
    assert line["request"] in chat.bodies
    assert line["reply"]["choices"][0]["message"]["content"] == line["answer"]
    assert summary_of(output)["models"][0]["statuses"]["text"] == 4


def test_the_same_command_goes_on_and_asks_nothing_twice(chat, questions, output):
    bad = {"What is number 2?"}

    def reply(body):
        return error(400) if any(q in question_of(body) for q in bad) else said("fine")

    chat.reply = reply
    assert ask(questions, output, chat.spec).code == 3
    assert len(chat.bodies) == 4
    bad.clear()
    assert ask(questions, output, chat.spec).code == 0
    assert len(chat.bodies) == 5  # the error, and nothing else
    assert "What is number 2?" in question_of(chat.bodies[-1])
    before = (output / "model_answers.csv").read_bytes()
    ran = ask(questions, output, chat.spec)
    assert (ran.code, len(chat.bodies)) == (0, 5)
    assert "4 stored before, 0 asked" in ran.out
    assert (output / "model_answers.csv").read_bytes() == before


HANG = Answer(delay=4.0)
FAULTS = {
    "401": (error(401), "unauthorized"),
    "404": (error(404), "not_found"),
    "html": (Answer(200, b"<html>hello", {"Content-Type": "text/html"}), "not_json"),
    "invalid": (Answer(200, b'{"choices": nonsense}'), "not_json"),
    "no-chat": (Answer(200, b'{"data": []}'), "no_reply"),
    "5MB": (said("a" * 5_000_000), "answer_too_long"),
    "hang": (HANG, "timeout"),
    "garbage": (Answer(raw=bytes(range(128, 256)) * 4), "cut"),
    "cut": (Answer(200, said("never seen").content, cut=20), "cut"),
    "charset": (Answer(200, said("x").content.replace(b'"x"', b'"\xfc\xff"')), "wrong_charset"),
    "long-prompt": (error(400, "context_length_exceeded"), "prompt_too_long"),
    "500": (error(500), "server_error"),
    "429": (error(429, headers={"Retry-After": "0"}), "rate_limited"),
    "wait-an-hour": (error(429, headers={"Retry-After": "3600"}), "rate_limited"),
    "no-money": (error(429, "insufficient_quota"), "no_quota"),
    "elsewhere": (Answer(307, b"", {"Location": "http://127.0.0.1:1/"}), "redirect"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_a_state_of_its_reply_and_the_rest_goes_on(
    chat, questions, output, monkeypatch, fault
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    bad, code = FAULTS[fault]
    chat.reply = lambda body: bad if "number 1?" in question_of(body) else said("fine")
    timeout = "1.5" if fault == "hang" else "30"
    ran = ask(questions, output, chat.spec, "--timeout", timeout, "--attempts", "1")
    assert (ran.code, ran.err) == (3, "")
    assert [row["status"] for row in rows_of(output)] == ["text", "error", "text", "text"]
    assert rows_of(output)[1]["error"] == code
    assert summary_of(output)["models"][0]["errors"] == {code: 1}
    assert_key_is_nowhere(output, ran)


def assert_key_is_nowhere(output, ran):
    for path in output.iterdir():
        assert KEY not in path.read_text(), path.name
    assert KEY not in ran.out + ran.err


def test_an_empty_reply_is_an_answer_and_a_refusal_too_on_either_side(chat, questions, output):
    replies = {
        "0?": said(" \n"),
        "1?": error(400, "content_filter"),
        "2?": said("I was about to", "content_filter"),
        "3?": said(None, message={"refusal": "I will not."}),
    }
    chat.reply = lambda body: next(a for q, a in replies.items() if q in question_of(body))
    assert ask(questions, output, chat.spec).code == 0
    found = [(row["status"], row["answer"]) for row in rows_of(output)]
    assert found == [
        ("empty", ""),
        ("refused_prompt", ""),
        ("refused_generation", "I was about to"),
        ("refused_generation", "I will not."),
    ]


@pytest.mark.slow
def test_busy_and_broken_servers_are_asked_again_after_the_time_they_name(
    chat, questions, output, monkeypatch
):
    plan = iter([error(429, headers={"Retry-After": "0.4"}), error(500), error(408), error(409)])
    chat.reply = lambda body: next(plan, None) or said("fine")
    begin = time.monotonic()
    ran = ask(questions, output, chat.spec, "--concurrency", "1")
    assert ran.code == 0
    assert len(chat.bodies) == 4 + 4
    assert rows_of(output)[0]["attempts"] == "5"
    assert time.monotonic() - begin > 0.4


def test_a_wrong_key_is_told_without_the_key_and_soon_no_further_question_is_sent(
    tmp_path, chat, output, monkeypatch
):
    monkeypatch.setenv("MY_KEY", KEY)
    chat.reply = lambda body: Answer(401, f"the key {KEY} is wrong".encode())
    questions = write_questions(tmp_path / "q.jsonl", 60)
    ran = ask(questions, output, chat.spec, "--key-variable", "MY_KEY", "--concurrency", "4")
    assert ran.code == 3
    assert chat.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert 5 <= len(chat.bodies) <= 5 + 4
    assert {row["status"] for row in rows_of(output)} == {"error"}
    assert len(rows_of(output)) == 60
    assert "environment variable MY_KEY" in ran.out
    assert_key_is_nowhere(output, ran)


def test_an_endpoint_that_is_down_makes_every_row_an_error(questions, output):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ran = ask(questions, output, f"openai:m@http://127.0.0.1:{port}", "--attempts", "2")
    assert ran.code == 3
    rows = rows_of(output)
    assert [row["status"] for row in rows] == ["error"] * 4
    assert {row["error"] for row in rows} <= {"connection", "not_asked"}
    assert "the connection failed" in ran.out


def test_samples_are_fresh_conversations_with_seeds_of_their_own(chat, questions, output):
    ran = ask(
        *(questions, output, chat.spec, "--samples", "3", "--seed", "7", "--temperature", "1"),
        *("--max-tokens", "9", "--parameters", '{"top_p": 0.9, "logprobs": true}'),
    )
    assert ran.code == 0
    bodies = [body for body in chat.bodies if "number 0?" in question_of(body)]
    assert len({body["seed"] for body in bodies}) == 3
    assert 7 in {body["seed"] for body in bodies}
    assert {len(body["messages"]) for body in bodies} == {2}
    assert {(b["temperature"], b["max_tokens"], b["top_p"], b["logprobs"]) for b in bodies} == {
        (1.0, 9, 0.9, True)
    }
    assert [row["sample"] for row in rows_of(output)] == ["0", "1", "2"] * 4
    # Two more samples ask for two more, and no others.
    ran = ask(
        *(questions, output, chat.spec, "--samples", "5", "--seed", "7", "--temperature", "1"),
        *("--max-tokens", "9", "--parameters", '{"logprobs": true, "top_p": 0.9}'),
    )
    assert ran.code == 0
    assert len(chat.bodies) == 4 * 5


def test_logprobs_are_kept_as_they_came(chat, questions, output):
    told = {"content": [{"token": "fine", "logprob": -0.1}]}
    chat.reply = lambda body: said("fine", choice={"logprobs": told})
    assert ask(questions, output, chat.spec).code == 0
    assert [line["reply"]["choices"][0]["logprobs"] for line in lines_of(output)] == [told] * 4


def test_a_parameter_that_is_null_is_not_sent(chat, questions, output):
    given = '{"seed": null, "max_tokens": null, "max_completion_tokens": 20}'
    assert ask(questions, output, chat.spec, "--parameters", given, "--system", "").code == 0
    body = chat.bodies[0]
    assert set(body) == {"model", "messages", "temperature", "max_completion_tokens"}
    assert [message["role"] for message in body["messages"]] == ["user"]


def test_another_parameter_prompt_or_name_adds_rows_under_a_name_that_tells(
    chat, questions, output, tmp_path
):
    template = tmp_path / "template.txt"
    template.write_text("Say in a word: {question}\n")
    asked = [
        ((), "small"),
        (("--temperature", "1"), "small (temperature=1.0)"),
        (("--name", "other"), "other"),
        (("--template", template), r"small \(template=\w{8}\)"),
    ]
    for at, (arguments, _) in enumerate(asked, 1):
        assert ask(questions, output, chat.spec, *arguments).code == 0
        assert len(rows_of(output)) == 4 * at
    names = list(dict.fromkeys(row["model"] for row in rows_of(output)))
    assert names[:3] == [name for _, name in asked[:3]]
    assert re.fullmatch(asked[3][1], names[3])
    assert len(chat.bodies) == 4 * 3  # another name for the same requests asks nothing
    assert "Say in a word: What is number 0?" in {question_of(body) for body in chat.bodies}
    for arguments, _ in asked:
        ask(questions, output, chat.spec, *arguments)
    assert len(rows_of(output)) == 4 * 4
    assert len(chat.bodies) == 4 * 3


def test_the_passage_is_shown_where_there_are_passages(chat, tmp_path, output):
    questions = write_questions(tmp_path / "q.jsonl", 2, passage="p")
    passages = tmp_path / "passages.jsonl"
    passages.write_text('{"passage": "p", "text": "Numbers {have} no end."}\n')
    assert ask(questions, output, chat.spec, "--passages", passages).code == 0
    assert "Numbers {have} no end." in question_of(chat.bodies[0])
    closed = ("--passages", passages, "--strategy", "closed")
    assert ask(questions, output, chat.spec, *closed).code == 0
    assert "no end" not in question_of(chat.bodies[-1])
    assert {row["model"] for row in rows_of(output)} >= {"small"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--strategy", "passage"), "--passages FILE"),
        (("--template", "{questoin}"), r"\{questoin\} is unknown"),
        (("--template", "{passage} {question}"), "needs the strategy passage"),
        (("--template", "no field"), r"\{question\} is missing"),
        (("--template", "{question"), "braces"),
        (("--template", "{question!r}"), "name only"),
        (("--parameters", "[1]"), "JSON object"),
        (("--parameters", '{"model": "x"}'), "--parameters: model "),
        (("--parameters", '{"temperature": 1}'), "--temperature"),
        (("--budget", "1"), "--price-in"),
        (("--name", " "), "1 to 255"),
        (("--samples", "0"), "less than 1"),
        (("--timeout", "0"), "too little"),
        (("--model", "gpt"), "openai:MODEL@URL"),
        (("--model", "openai:m@ftp://x"), "http://"),
        (("--model", "openai:m@http://user:pw@x/v1"), "environment variable"),
        (("--model", "replies:none.csv"), "none.csv"),
        (("--dry-run", "--write-batch", "f"), "choose one"),
    ],
)
def test_bad_usage_is_code_2_and_nothing_is_asked(
    chat, questions, output, tmp_path, arguments, words
):
    if arguments[0] == "--template":
        (tmp_path / "template.txt").write_text(arguments[1])
        arguments = ("--template", tmp_path / "template.txt")
    ran = ask(questions, output, chat.spec, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert re.search(words, ran.err), ran.err
    assert "Traceback" not in ran.err
    assert chat.bodies == []
    assert not (output / "model_answers.csv").exists()


def test_questions_that_cannot_be_read_are_code_2(chat, tmp_path, output):
    path = tmp_path / "q.csv"
    path.write_text("question,text\nq1,\n")
    ran = ask(path, output, chat.spec)
    assert (ran.code, "line 2, column text" in ran.err) == (2, True)


def test_tables_of_somebody_else_are_not_replaced(chat, questions, output):
    output.mkdir()
    (output / "model_answers.csv").write_text("mine")
    ran = ask(questions, output, chat.spec)
    assert (ran.code, (output / "model_answers.csv").read_text()) == (2, "mine")
    assert chat.bodies == []


def test_a_dry_run_counts_and_sends_and_writes_nothing(chat, questions, output):
    prices = ("--price-in", "1000", "--price-out", "2000", "--max-tokens", "10")
    ran = ask(questions, output, chat.spec, "--dry-run", *prices)
    assert ran.code == 0
    # System text 51 letters, prompt 65: 13 + 17 tokens of 4 letters, 2 * 4 for messages: 38 * 4.
    assert "4 152 40" in " ".join(map(facts_of, ran.out.splitlines()))
    assert "at most about 0.2320" in ran.out  # 152 * .001 + 40 * .002
    assert (chat.bodies, output.exists()) == ([], False)


def test_a_budget_is_never_passed_and_the_same_command_does_not_spend_it_again(
    tmp_path, chat, output
):
    questions = write_questions(tmp_path / "q.jsonl", 30)
    # A reply costs 10 * .001 + 5 * .002 = .02; at most 38 * .001 + 10 * .002 = .058 is reserved.
    money = ("--budget", "0.2", "--price-in", "1000", "--price-out", "2000", "--max-tokens", "10")
    ran = ask(questions, output, chat.spec, *money)
    assert ran.code == 3
    # The eighth request begins at .14 spent (.14 + .058 < .2), the ninth would need .218.
    assert len(chat.bodies) == 8
    assert summary_of(output)["last"]["end"] == "budget"
    assert summary_of(output)["models"][0]["cost"] == pytest.approx(0.16)
    assert len(rows_of(output)) == 8
    assert ask(questions, output, chat.spec, *money).code == 3
    assert len(chat.bodies) == 8
    assert ask(questions, output, chat.spec, "--max-tokens", "10").code == 0
    assert len(chat.bodies) == 30


def test_requests_a_minute_are_spread_out(chat, questions, output):
    begin = time.monotonic()
    assert ask(questions, output, chat.spec, "--requests-per-minute", "600").code == 0
    assert time.monotonic() - begin >= 3 * 0.1


def test_no_more_are_asked_at_once_than_wanted(tmp_path, chat, output):
    questions = write_questions(tmp_path / "q.jsonl", 20)
    chat.reply = lambda body: said("fine", delay=0.03)
    assert ask(questions, output, chat.spec, "--concurrency", "5").code == 0
    assert chat.most_at_once == 5


def test_a_batch_is_written_and_its_results_are_read(chat, questions, output, tmp_path):
    batch, results = tmp_path / "batch.jsonl", tmp_path / "results.jsonl"
    ran = ask(questions, output, chat.spec, "--write-batch", batch)
    assert (ran.code, chat.bodies, output.exists()) == (0, [], False)
    lines = [json.loads(line) for line in batch.read_text().splitlines()]
    assert [(line["method"], line["url"]) for line in lines] == [
        ("POST", "/v1/chat/completions")
    ] * 4
    assert lines[0]["body"]["model"] == "small"
    answered = [
        {
            "custom_id": line["custom_id"],
            "response": {"status_code": 200, "body": json.loads(said(f"r{n}").content)},
            "error": None,
        }
        for n, line in enumerate(lines)
    ]
    refused = json.loads(error(400, "content_filter").content)
    answered[2]["response"] = {"status_code": 400, "body": refused}
    answered[3] = {
        **answered[3],
        "response": None,
        "error": {"code": "batch_expired", "message": "too late"},
    }
    results.write_text("".join(json.dumps(line) + "\n" for line in reversed(answered)))
    assert ask(questions, output, chat.spec, "--read-batch", results).code == 3
    found = [(row["answer"], row["status"], row["error"]) for row in rows_of(output)]
    assert found == [
        ("r0", "text", ""),
        ("r1", "text", ""),
        ("", "refused_prompt", ""),
        ("", "error", "batch_expired"),
    ]
    again = tmp_path / "again.jsonl"
    assert ask(questions, output, chat.spec, "--write-batch", again).code == 0
    assert len(again.read_text().splitlines()) == 1
    assert ask(questions, output, chat.spec).code == 0
    assert len(chat.bodies) == 1
    other = ask(questions, output, chat.spec, "--temperature", "1", "--read-batch", results)
    assert (other.code, other.refusals) == (2, (f"{results}, batch_of_others",))


def test_scripted_replies_are_read_as_answers_of_a_model_that_can_be_graded(tmp_path, output):
    answers = tmp_path / "crowd.csv"
    with answers.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("worker", "question", "answer"))
        writer.writerows(
            (f"w{w}", f"q{q}", f"number {q} it is, said {w}") for w in range(5) for q in range(4)
        )
    questions = write_questions(tmp_path / "questions.jsonl", 4)
    script = tmp_path / "small.csv"
    script.write_text(
        "question,reply,sample,status\n"
        'q0,=number 0,0,\nq0,other,1,\nq1,"a,\nb",,\nq2,,,refused\nq3,,,\n'
    )
    ran = ask(questions, output, f"replies:{script}", "--samples", "2")
    assert ran.code == 0
    assert ask(questions, output, f"replies:{script}", "--temperature", "1").code == 0
    graded = manage(
        *("evaluate", "aqer", answers, "--models", output / "model_answers.csv"),
        *("--embedder", "tfidf-word", "--output", tmp_path / "graded"),
    )
    assert graded.code == 0, graded.err
    with (tmp_path / "graded" / "model_answers.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [(row["model"], row["question"], row["reason"]) for row in table][:4] == [
        ("small", "q0", ""),
        ("small", "q1", ""),
        ("small", "q2", "refused"),
        ("small", "q3", "empty"),
    ]
    assert len(table) == 8
    # The file that was read is the one of sample 0, quotes and line breaks as they came.
    assert rows_of(output)[2]["answer"] == "a,\nb"


def test_a_server_that_repeats_the_key_finds_it_in_no_file(chat, questions, output, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk/secret-9")
    chat.reply = lambda body: Answer(200, said("it is sk/secret-9").content.replace(b"/", b"\\/"))
    assert ask(questions, output, chat.spec).code == 0
    assert {row["answer"] for row in rows_of(output)} == {"it is [key]"}
    assert all("secret-9" not in path.read_text() for path in output.iterdir())


def test_a_key_that_is_a_plain_word_does_not_change_answers(chat, questions, output, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    chat.reply = lambda body: said("set EMPTY")
    assert ask(questions, output, chat.spec).code == 0
    assert {row["answer"] for row in rows_of(output)} == {"set EMPTY"}
