"""Models asked within a run's turns: each reply kept with the run, one budget, nothing twice."""

import time
from contextlib import contextmanager, nullcontext

import pytest

from evaluation.core.messages.message import Message
from evaluation.models import LanguageModel, RunData
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.steps.asking import study_asking as in_turns
from evaluation.runs.steps.asking.conversation import read_progress_of_run
from evaluation.runs.steps.asking.registration import (
    find_model_problems,
    load_registered_models,
)
from evaluation.runs.steps.asking.stored_replies import StoredReply, read_run_replies
from evaluation.runs.steps.asking.study_asking import Round, StudyAsker
from evaluation.runs.steps.checkpoints import OutOfTimeError, RunInputError, Turn
from tests.annotations import world
from tests.evaluation.core.backends.chat.fake import FakeChat, error, question_of, said
from tests.evaluation.runs.steps.test_turn import running

pytestmark = pytest.mark.django_db


@pytest.fixture
def chat(settings):
    settings.MODEL_NETWORKS = ["127.0.0.0/8", "::1/128"]
    server = FakeChat()
    yield server
    server.close()


@pytest.fixture
def run(chat):
    return running(world.version(world.user("rana", is_staff=True)))


def model_of(run, chat, name="small", **more):
    # The server sees the name, so that two models are told apart by their requests.
    spec = chat.spec.replace("small", name)
    return LanguageModel.objects.create(owner=run.owner, name=name, spec=spec, **more)


def turn_of(run, deadline=float("inf"), open_fenced_transaction=nullcontext):
    return Turn(run.pk, open_fenced_transaction, lambda: None, deadline)


def items(*words, samples=1):
    return [Item(word, ({"role": "user", "content": word},), samples) for word in words]


def asked(run, models, **more):
    return StudyAsker(turn_of(run), run, models, **more)


def test_models_are_asked_beside_each_other_and_usage_is_told_by_step(run, chat):
    small = model_of(run, chat, price_in=1.0, price_out=2.0)
    large = model_of(run, chat, "large")
    chat.reply = lambda body: said(f"{body['model']} to {question_of(body)}", delay=0.05)
    room = asked(run, [small, large])
    first, second = room.ask_step("asking", [Round(one, items("a", "b")) for one in (small, large)])
    assert first["b", 0].text == "small to b"
    assert second["a", 0].text == "large to a"
    assert chat.most_at_once > 2
    room.ask_step("judging", [Round(small, items("c"))])
    told = [(one.step, one.model, one.requests, one.prompt_tokens) for one in room.compute_usage()]
    assert sorted(told) == [
        ("asking", "large", 2, 20),
        ("asking", "small", 2, 20),
        ("judging", "small", 1, 10),
    ]
    costs = {(one.step, one.model): one.cost for one in room.compute_usage()}
    # 10 tokens read for 1 and 5 written for 2 a million, twice; nobody knows what large costs.
    assert costs["asking", "small"] == pytest.approx(2 * 20e-6)
    assert costs["asking", "large"] is None
    of_small = next(one for one in read_progress_of_run(run) if one.name == "small")
    assert (of_small.done, of_small.total, of_small.asked, of_small.end) == (1, 1, 3, "done")
    assert of_small.cost == pytest.approx(3 * 20e-6)


def test_samples_have_seeds_of_their_own_and_equal_wordings_are_asked_once(run, chat):
    small = model_of(run, chat)
    same = [Item(name, ({"role": "user", "content": "same"},), 2) for name in ("a", "b")]
    (found,) = asked(run, [small]).ask_step("asking", [Round(small, same, seed=7)])
    assert sorted(found) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert len(chat.bodies) == 2
    seeds = {body["seed"] for body in chat.bodies}
    assert 7 in seeds
    assert len(seeds) == 2


def test_the_models_own_parameters_go_over_the_given_ones(run, chat):
    small = model_of(run, chat, parameters={"temperature": 0.5, "seed": None})
    asked(run, [small]).ask_step(
        "asking", [Round(small, items("a"), {"temperature": 1, "top_k": 3})]
    )
    (body,) = chat.bodies
    assert (body["temperature"], body["top_k"]) == (0.5, 3)
    assert "seed" not in body


def test_probabilities_of_words_are_kept_where_the_server_gives_them(run, chat):
    given = {"content": [{"token": "Rhine", "logprob": -0.1, "top_logprobs": []}]}
    chat.reply = lambda body: said("Rhine", choice={"logprobs": given})
    small = model_of(run, chat)
    sent = {"logprobs": True, "top_logprobs": 20}
    asked(run, [small]).ask_step("asking", [Round(small, items("a"), sent)])
    (found,) = asked(run, [small]).ask_step("asking", [Round(small, items("a"), sent)])
    assert found["a", 0].logprobs == given
    assert len(chat.bodies) == 1
    assert chat.bodies[0]["top_logprobs"] == 20


def test_what_an_earlier_run_was_told_is_taken_over_for_nothing(run, chat):
    small = model_of(run, chat, price_in=1.0, price_out=1.0)
    asked(run, [small]).ask_step("asking", [Round(small, items("a", "b"))])
    # Of another set of the same owner.
    later = running(world.version(run.owner, "lakes"))
    room = asked(later, [small])
    (found,) = room.ask_step("asking", [Round(small, items("a", "b", "c"))])
    assert len(chat.bodies) == 3
    assert found["a", 0].reused
    (usage,) = room.compute_usage()
    assert (usage.requests, usage.reused) == (1, 2)
    assert usage.cost == pytest.approx(15e-6)


def test_nobody_gets_what_another_owner_was_told(run, chat):
    small = model_of(run, chat)
    asked(run, [small]).ask_step("asking", [Round(small, items("a"))])
    other = running(world.version(world.user("otto"), "lakes"))
    theirs = model_of(other, chat)
    asked(other, [theirs]).ask_step("asking", [Round(theirs, items("a"))])
    assert len(chat.bodies) == 2


def test_a_reply_that_was_stored_with_its_thinking_is_read_without():
    old = {"text": "<think>\nIs it 2? No.\n</think>\n\n4", "status": "text"}
    found = StoredReply.from_json(old)
    assert (found.text, found.status.value, found.thinking) == ("4", "text", "Is it 2? No.")
    assert StoredReply.from_json(found.as_dict()) == found
    cut = StoredReply.from_json({"text": "", "status": "empty", "finish_reason": "length"})
    assert cut.status.value == "cut_off"


def test_replies_that_older_runs_of_judges_kept_are_found(run, chat):
    small = model_of(run, chat)
    room = asked(run, [small])
    planned = room._prepare_work("scoring", Round(small, items("a"))).planned[0]
    before = running(world.version(run.owner, "lakes"))
    old = {"key": planned.key, "answer": "4", "status": "text", "prompt_tokens": 3, "cost": 0.5}
    RunData.objects.create(run=before, name=f"judge-{planned.key[:44]}", data=old)
    (found,) = room.ask_step("scoring", [Round(small, items("a"))])
    assert (found["a", 0].text, found["a", 0].cost, chat.bodies) == ("4", 0.0, [])


def test_all_models_share_the_budget_and_earlier_turns_count(run, chat):
    # A request costs 5 tokens written, reserved for at 10: the price is 10 at most, 5 in fact.
    prices = {"price_in": 0.0, "price_out": 1_000_000.0, "parameters": {"max_tokens": 10}}
    small, large = model_of(run, chat, **prices), model_of(run, chat, "large", **prices)
    rounds = [Round(one, items(*"abcd")) for one in (small, large)]
    with pytest.raises(RunInputError) as refused:
        asked(run, [small, large], budget=22.0).ask_step("asking", rounds)
    kept = list(read_run_replies(run.pk))
    assert refused.value.message == Message("run.budget_used_up", {"left": 8 - len(kept)})
    assert sum(one.cost for one in kept) <= 22.0
    assert len(chat.bodies) == len(kept) < 8
    with pytest.raises(RunInputError) as again:
        asked(run, [small, large], budget=22.0).ask_step("asking", rounds)
    assert again.value.message.code == "run.budget_used_up"
    assert sum(one.cost for one in read_run_replies(run.pk)) <= 22.0
    asked(run, [small, large], budget=45.0).ask_step("asking", rounds)
    assert len(chat.bodies) == 8


def test_a_model_that_turns_everything_down_is_given_up_for_the_whole_run(run, chat):
    chat.reply = lambda body: error(401) if body["model"] == "large" else said("yes")
    small, large = model_of(run, chat), model_of(run, chat, "large")
    words = [str(number) for number in range(30)]
    rounds = [Round(one, items(*words)) for one in (small, large)]
    room = asked(run, [small, large])
    first, second = room.ask_step("asking", rounds)
    assert {one.text for one in first.values()} == {"yes"}
    assert {one.status.value for one in second.values()} == {"error"}
    assert "401" in room.find_first_fault()
    turned_down = sum(body["model"] == "large" for body in chat.bodies)
    assert turned_down < 30
    assert [one.end for one in read_progress_of_run(run)] == ["done", "given_up"]
    again = asked(run, [small, large])
    assert again.get_give_up_reason(large)
    (more,) = again.ask_step("judging", [Round(large, items("x"))])
    assert more["x", 0].message.startswith("not asked: ")
    assert sum(body["model"] == "large" for body in chat.bodies) == turned_down


def test_an_error_is_final_in_its_run_and_asked_again_in_the_next(run, chat):
    chat.reply = lambda body: error(400) if question_of(body) == "b" else said("yes")
    small = model_of(run, chat)
    for _ in range(2):
        (found,) = asked(run, [small]).ask_step("asking", [Round(small, items("a", "b"))])
        assert found["b", 0].message
        assert len(chat.bodies) == 2
    chat.reply = lambda body: said("now")
    later = running(run.version)
    (found,) = asked(later, [small]).ask_step("asking", [Round(small, items("a", "b"))])
    assert (found["a", 0].text, found["b", 0].text) == ("yes", "now")


def test_a_turn_that_is_over_keeps_what_came_and_the_next_asks_the_rest(run, chat, monkeypatch):
    monkeypatch.setattr(in_turns, "AT_ONCE", 2)
    chat.reply = lambda body: said("yes", delay=0.1)
    small = model_of(run, chat)
    words = [str(number) for number in range(40)]
    turn = turn_of(run, time.monotonic() + in_turns.SECONDS_LEFT + 0.5)
    with pytest.raises(OutOfTimeError):
        StudyAsker(turn, run, [small]).ask_step("asking", [Round(small, items(*words))])
    assert 0 < len(list(read_run_replies(run.pk))) == len(chat.bodies) < 40
    (found,) = asked(run, [small]).ask_step("asking", [Round(small, items(*words))])
    assert (len(found), len(chat.bodies)) == (40, 40)


def test_what_was_under_way_when_the_claim_was_lost_is_kept_all_the_same(run, chat):
    chat.reply = lambda body: said("yes", delay=0.3)
    small = model_of(run, chat)

    class GoneError(Exception):
        pass

    @contextmanager
    def lost():
        raise GoneError
        yield

    turn = turn_of(run, open_fenced_transaction=lost)
    with pytest.raises(GoneError):
        StudyAsker(turn, run, [small]).ask_step("asking", [Round(small, items("a", "b"))])
    assert len(list(read_run_replies(run.pk))) == len(chat.bodies) == 2


def test_only_models_of_ones_own_with_an_address_are_asked(run, chat):
    mine, bare = model_of(run, chat), LanguageModel.objects.create(owner=run.owner, name="bare")
    theirs = LanguageModel.objects.create(owner=world.user("otto"), name="x", spec=chat.spec)
    assert load_registered_models(run, [str(mine.public_id)] * 2) == [mine]
    with pytest.raises(RunInputError) as refused:
        load_registered_models(run, [str(theirs.public_id)], "judge")
    assert refused.value.message == Message("run.models_missing", {"missing": 1, "what": "judge"})

    class Options:
        models = (str(mine.public_id), str(bare.public_id), str(theirs.public_id), "no-id")
        rewriter = None
        budget = 1.0

    found = find_model_problems(run.owner, Options, ("models", "rewriter"), needed=("rewriter",))
    assert [(one.code, one.option) for one in found] == [
        ("unknown_models", "models"),
        ("no_spec", "models"),
        ("no_models", "rewriter"),
    ]
    Options.models, Options.rewriter = (str(mine.public_id),), str(mine.public_id)
    (wrong,) = find_model_problems(run.owner, Options, ("models", "rewriter"))
    assert (wrong.code, wrong.values["names"]) == ("no_prices", "small")
