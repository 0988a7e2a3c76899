"""Plan, prompts, limits, budget and the asker, with scripted replies and no file."""

import asyncio
import time

import pytest

from annotations.exchange import AnswerStatus
from evaluation.core.backends.chat.contract import ChatModel, ChatRequest, Fault, RateLimits, Reply
from evaluation.core.backends.server import RetryRules
from evaluation.runs.flow.asking.asker import EndReason, RequestSettings, ask_model
from evaluation.runs.flow.asking.pace import Pace
from evaluation.runs.flow.asking.plan import (
    CLOSED,
    PASSAGE,
    Item,
    MemoryStore,
    Prompt,
    TemplateError,
    compute_request_key,
    derive_sample_seed,
    plan_requests,
)
from evaluation.runs.flow.asking.summary import MAYBE_CHARGED, Budget, Prices
from tests.contracts.replay import facts_of

QUICK = RetryRules(attempts=3, timeout=5.0, first_wait=0.001, longest_wait=0.01)


class Model(ChatModel):
    """Replies by a function of the id and how often this id was asked, from 1."""

    kind, address, model, name = "test", "here", "m", "m"

    def __init__(self, reply=None):
        self.asked = []
        self.at = self.most = 0
        self._reply = reply or (lambda name, attempt: text(name))

    async def reply(self, request):
        self.asked.append(request.id)
        self.at += 1
        self.most = max(self.most, self.at)
        await asyncio.sleep(0.001)
        self.at -= 1
        return self._reply(request.id, self.asked.count(request.id))


def text(said, **more):
    return Reply(said, AnswerStatus.TEXT, prompt_tokens=10, completion_tokens=5, **more)


def fault(code, again=False, wait=None):
    return Reply.from_fault(Fault(code, f"it was {code}", again, wait))


def items(count, samples=1):
    return [
        Item(f"q{n}", ({"role": "user", "content": f"What is {n}?"},), samples)
        for n in range(count)
    ]


def asked(model, the_items, settings=None, budget=None, store=None, stop=None, seed=0):
    store = store or MemoryStore()
    planned = plan_requests(model, the_items, {"temperature": 0}, seed)
    settings = settings or RequestSettings(patience=QUICK)
    return store, asyncio.run(ask_model(model, planned, store, settings, budget, stop=stop))


def test_items_of_any_planner_are_asked_sample_by_sample():
    store, outcome = asked(Model(), [*items(2, samples=2), Item("p", (), 1)])
    assert sorted(store.kept) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    assert (outcome.end, outcome.complete, outcome.n_asked) == (EndReason.DONE, True, 5)


def test_items_of_one_wording_are_asked_once():
    same = ({"role": "user", "content": "Why?"},)
    model = Model()
    store, outcome = asked(model, [Item("a", same), Item("b", same)])
    assert len(model.asked) == 1
    assert store.kept[0, 0] is store.kept[1, 0]
    assert outcome.statuses == {"text": 2}


@pytest.mark.parametrize(
    "other",
    [
        {"messages": ({"role": "user", "content": "What?"},)},
        {"parameters": {"temperature": 1}},
        {"parameters": {"temperature": 0, "seed": 1}},
        {"sample": 1},
    ],
)
def test_a_key_holds_everything_that_a_reply_depends_on(other):
    first = {"messages": ({"role": "user", "content": "Why?"},), "parameters": {"temperature": 0}}
    model = Model()
    one = compute_request_key(model, ChatRequest("a", **first))
    assert one == compute_request_key(model, ChatRequest("b", **first))
    assert one != compute_request_key(model, ChatRequest("a", **{**first, **other}))
    for part in ("kind", "address", "model"):
        another = Model()
        setattr(another, part, "another")
        assert one != compute_request_key(another, ChatRequest("a", **first))


def test_the_first_sample_has_the_seed_itself_and_seeds_of_neighbours_do_not_meet():
    seeds = [derive_sample_seed(seed, sample) for seed in range(50) for sample in range(20)]
    assert [derive_sample_seed(7, 0), len(set(seeds))] == [7, 1000]
    assert all(0 <= seed < 2**31 for seed in seeds)
    (planned,) = plan_requests(Model(), items(1), {"top_p": None, "x": 1}, None)
    assert planned.request.parameters == {"x": 1}


def test_what_may_pass_is_asked_again_and_what_will_not_is_not():
    replies = {"q0": [fault("cut", again=True)] * 2 + [text("at last")], "q1": [fault("bad")] * 9}
    model = Model(lambda name, attempt: replies[name][attempt - 1])
    store, outcome = asked(model, items(2))
    assert (store.kept[0, 0].reply.text, store.kept[0, 0].attempts) == ("at last", 3)
    assert (store.kept[1, 0].reply.fault.code, store.kept[1, 0].attempts) == ("bad", 1)
    assert outcome.n_attempts == 4


def test_attempts_have_an_end_that_is_told():
    store, _ = asked(Model(lambda *_: fault("cut", again=True)), items(1))
    kept = store.kept[0, 0].reply.fault
    assert (kept.code, facts_of(kept.message)) == ("cut", "3")


def test_a_wait_that_the_server_names_is_kept():
    model = Model(lambda _, attempt: fault("busy", True, 0.2) if attempt == 1 else text("a"))
    begin = time.monotonic()
    asked(model, items(1))
    assert 0.2 <= time.monotonic() - begin < 2


def test_a_model_that_refuses_the_key_is_given_up_and_every_item_has_its_error():
    model = Model(lambda *_: fault("unauthorized"))
    store, outcome = asked(model, items(50), RequestSettings(at_once=2, patience=QUICK))
    assert 5 <= len(model.asked) <= 7
    assert (len(store.kept), outcome.end) == (50, EndReason.GIVEN_UP)
    assert outcome.statuses == {"error": 50}
    assert outcome.faults["not_asked"] == 50 - len(model.asked)


def test_faults_of_single_items_do_not_give_the_model_up():
    model = Model(lambda name, _: fault("not_found") if int(name[1:]) % 3 else text("a"))
    _, outcome = asked(model, items(60), RequestSettings(at_once=1, patience=QUICK))
    assert outcome.statuses == {"error": 40, "text": 20}
    assert outcome.end is EndReason.DONE


def test_a_server_that_comes_back_is_asked_on():
    down_until = time.monotonic() + 0.15

    def reply(name, attempt):
        return fault("connection", True) if time.monotonic() < down_until else text(name)

    patience = RetryRules(attempts=6, first_wait=0.02, longest_wait=1.0)
    model = Model(reply)
    _, outcome = asked(model, items(30), RequestSettings(at_once=5, patience=patience))
    assert (outcome.statuses, outcome.end) == ({"text": 30}, EndReason.DONE)
    assert len(model.asked) <= 30 + 5 * 4  # all pause together: .02, .04, .08, .16


def test_a_server_that_stays_down_is_given_up_after_the_attempts_of_one_request():
    model = Model(lambda *_: fault("connection", True))
    _, outcome = asked(model, items(100), RequestSettings(at_once=4, patience=QUICK))
    assert outcome.statuses == {"error": 100}
    assert len(model.asked) <= 4 * 3


def test_the_budget_is_kept_with_many_at_once():
    # A reply costs 10 + 5 = 15 millionths; reserved are 4 + ceil(10 / 4) + 1024 = 1031.
    budget = Budget(Prices(1, 1), 5000e-6)
    store, outcome = asked(Model(), items(500), RequestSettings(at_once=8, patience=QUICK), budget)
    assert outcome.end is EndReason.BUDGET
    assert budget.spent == pytest.approx(len(store.kept) * 15e-6)
    # The last one began when 5000 - 1031 = 3969 were spent at most: 264 replies of 15 and one.
    assert len(store.kept) == 265
    assert outcome.n_left == 500 - 265


def test_time_and_a_stop_end_it_with_what_came_kept():
    store, outcome = asked(
        Model(), items(5000), RequestSettings(at_once=1, patience=QUICK, seconds=0.1)
    )
    assert outcome.end is EndReason.TIME
    assert len(store.kept) == outcome.n_asked == outcome.statuses["text"] < 5000

    async def stopped():
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.05, stop.set)
        model, store = Model(), MemoryStore()
        planned = plan_requests(model, items(5000), {})
        return await ask_model(model, planned, store, RequestSettings(patience=QUICK), stop=stop)

    assert asyncio.run(stopped()).end is EndReason.INTERRUPTED


def test_a_store_that_is_full_ends_it():
    class Full(MemoryStore):
        def store_reply(self, planned, kept):
            if len(self.kept) == 3:
                raise OSError(28, "No space left on device")
            super().store_reply(planned, kept)

    store, outcome = asked(Model(), items(50), store=Full())
    assert (len(store.kept), outcome.end) == (3, EndReason.STORE)
    assert "No space left" in outcome.reason


def test_a_back_end_says_how_many_at_once_make_sense():
    model = Model()
    model.at_once = 2
    asked(model, items(20), RequestSettings(at_once=10, patience=QUICK))
    assert model.most == 2


def test_what_the_server_has_left_is_heeded_by_all():
    spent = RateLimits(requests=0, requests_reset=0.3)
    model = Model(lambda name, _: text("a", allowance=spent if name == "q0" else None))
    begin = time.monotonic()
    asked(model, items(3), RequestSettings(at_once=1, patience=QUICK))
    assert time.monotonic() - begin >= 0.3

    pace = Pace()
    pace.pause_if_exhausted(RateLimits(tokens=99, tokens_reset=0.2), tokens=100)
    begin = time.monotonic()
    asyncio.run(pace.wait_for_turn(1))
    assert time.monotonic() - begin >= 0.19


def test_tokens_a_minute_are_spread_out():
    pace = Pace(tokens_a_minute=60_000)  # 1,000 a second

    async def three():
        for _ in range(3):
            await pace.wait_for_turn(100)

    begin = time.monotonic()
    asyncio.run(three())
    assert 0.2 <= time.monotonic() - begin < 2  # the first at once, then .1 s each


def test_a_text_in_braces_is_no_field_and_the_hash_names_the_wording():
    prompt = Prompt(PASSAGE, "{{x}} {passage} {question}", "")
    (message,) = prompt.build_messages({"question": "{passage}", "passage": "{y}"})
    assert message == {"role": "user", "content": "{x} {y} {passage}"}
    assert prompt.hash != Prompt(PASSAGE, "{{x}} {passage} {question}", "s").hash


def test_what_was_not_asked_took_no_attempt_and_costs_nothing():
    model = Model(lambda *_: fault("unauthorized"))
    store, outcome = asked(model, items(20), RequestSettings(at_once=1, patience=QUICK))
    last = store.kept[19, 0]
    assert (last.reply.fault.code, last.attempts, last.cost) == ("not_asked", 0, 0.0)
    assert last.reply.fault.message == "not asked: it was unauthorized"
    assert store.kept[0, 0].attempts == 1
    assert (outcome.n_asked, outcome.n_attempts, outcome.reason) == (5, 5, "it was unauthorized")


class Knowing(MemoryStore):
    """Has the replies of some items from an earlier time."""

    def __init__(self, places):
        super().__init__()
        self.places = places

    def has_reply(self, planned):
        return planned.place in self.places


def test_items_that_have_their_reply_are_not_asked_again():
    told, model, store = [], Model(), Knowing({0, 2})
    planned = plan_requests(model, items(4), {"temperature": 0}, 0)
    outcome = asyncio.run(
        ask_model(
            model, planned, store, RequestSettings(at_once=1), progress=lambda *of: told.append(of)
        )
    )
    assert model.asked == ["q1", "q3"]
    assert (outcome.n_planned, outcome.n_stored, outcome.n_left) == (4, 2, 0)
    assert told == [(2, 4), (3, 4), (4, 4)]
    nothing = asyncio.run(ask_model(Model(), planned, Knowing({0, 1, 2, 3}), RequestSettings()))
    assert (nothing.n_stored, nothing.n_asked, nothing.complete) == (4, 0, True)


def test_a_reply_that_is_known_by_its_key_is_copied():
    class Full(MemoryStore):
        def copy_known_reply(self, planned):
            raise OSError(28, "No space left on device")

    model, store = Model(), MemoryStore()
    asked(model, items(2), store=store)
    _, outcome = asked(model, items(3), store=store)
    assert model.asked == ["q0", "q1", "q2"]
    assert (outcome.n_stored, outcome.n_asked) == (2, 1)
    full = Full()
    asked(Model(), items(1), store=full)
    _, outcome = asked(Model(), items(1), store=full)
    assert (outcome.end, outcome.n_stored) == (EndReason.STORE, 0)
    assert outcome.reason.endswith("(No space left on device)")


def test_the_first_error_ends_it_where_that_was_asked_for():
    model = Model(lambda name, _: fault("bad") if name == "q2" else text("a"))
    settings = RequestSettings(at_once=1, patience=QUICK, stop_at_error=True)
    _, outcome = asked(model, items(6), settings)
    assert model.asked == ["q0", "q1", "q2"]
    assert (outcome.end, outcome.statuses) == (EndReason.GIVEN_UP, {"text": 2, "error": 4})
    assert outcome.faults == {"bad": 1, "not_asked": 3}
    assert not outcome.complete


@pytest.mark.parametrize(("at_once", "most"), [(1, 25), (20, 40)])
def test_many_errors_in_a_row_give_the_model_up_and_a_reply_begins_the_count_anew(at_once, most):
    once = RetryRules(attempts=1, first_wait=0.001, longest_wait=0.01)
    model = Model(lambda *_: fault("cut", again=True))
    asked(model, items(200), RequestSettings(at_once=at_once, patience=once))
    assert most <= len(model.asked) < most + at_once
    model = Model(lambda name, _: text("a") if int(name[1:]) % 20 == 19 else fault("cut", True))
    _, outcome = asked(model, items(100), RequestSettings(at_once=1, patience=once))
    assert (outcome.end, outcome.statuses) == (EndReason.DONE, {"error": 95, "text": 5})


def test_the_budget_may_be_used_up_to_the_last_hair_and_not_beyond():
    budget = Budget(Prices(), 0.3, 0.1 + 0.1)  # and .1 more are .30000000000000004
    assert budget.can_spend(0.1)
    assert not budget.can_spend(0.1001)
    budget.reserve_price(0.05)
    assert not budget.can_spend(0.1)
    assert (budget.shared_budget.reserved, budget.under_way) == (0.05, 1)
    assert Budget(Prices()).can_spend(1e9)


def test_a_reply_costs_what_the_server_counted_or_else_what_is_reckoned():
    budget = Budget(Prices(prompt=2.0, completion=8.0), limit=1.0)
    request = ChatRequest("a", ({"role": "user", "content": "12345678"},), {"max_tokens": 100})
    # 4 for the message and 8 / 4 for its text at 2, 100 at 8, for a million.
    price = (6 * 2 + 100 * 8) / 1e6
    assert budget.compute_highest_price(request) == pytest.approx(price)
    budget.reserve_price(price)
    budget.reserve_price(price)
    counted = Reply("x", AnswerStatus.TEXT, prompt_tokens=10, completion_tokens=5)
    assert budget.settle_cost(price, request, counted) == pytest.approx((20 + 40) / 1e6)
    assert budget.shared_budget.reserved == pytest.approx(price)
    # Reckoned: 6 read, and 9 bytes are 3 tokens written.
    reckoned = Reply("123456789", AnswerStatus.TEXT)
    assert budget.settle_cost(price, request, reckoned) == pytest.approx((12 + 24) / 1e6)
    assert (budget.shared_budget.reserved, budget.under_way) == (0.0, 0)
    assert budget.spent == pytest.approx(96 / 1e6)
    budget.reserve_price(price)
    assert budget.settle_cost(price, request, fault("cut")) == 0.0
    for code in sorted(MAYBE_CHARGED):
        budget.reserve_price(price)
        # The server may have worked: what it asks for is not known, and its most is reckoned.
        assert budget.settle_cost(price, request, fault(code)) == pytest.approx(price), code
    free = ChatRequest("a", (), {"max_completion_tokens": 7})
    assert budget.compute_highest_price(free) == pytest.approx(56 / 1e6)
    assert budget.compute_highest_price(ChatRequest("a", (), {"max_tokens": 0})) == pytest.approx(
        8 * 1024 / 1e6
    )


def test_a_reply_is_kept_with_what_it_cost():
    budget = Budget(Prices(2, 4))
    store, outcome = asked(Model(), items(3), budget=budget)
    # Ten tokens read at 2 and five written at 4, for a million.
    assert [kept.cost for kept in store.kept.values()] == pytest.approx([40e-6] * 3)
    assert outcome.cost == pytest.approx(120e-6)
    assert all(kept.seconds > 0 for kept in store.kept.values())


@pytest.mark.parametrize(("code", "together"), [("connection", True), ("cut", False)])
def test_while_a_server_is_away_nobody_asks_it(code, together):
    begin, times = time.monotonic(), {}

    def reply(name, attempt):
        times.setdefault(name, []).append(time.monotonic() - begin)
        return fault(code, True) if (name, attempt) == ("q0", 1) else text(name)

    patience = RetryRules(attempts=3, first_wait=0.3, longest_wait=1.0)
    asked(Model(reply), items(6), RequestSettings(at_once=2, patience=patience))
    # q0 and q1 are asked at once; the next ones wait with q0 if the server is away.
    assert (times["q3"][0] >= 0.25) is together
    assert times["q0"][1] >= 0.25


@pytest.mark.parametrize(
    ("strategy", "template", "code", "field"),
    [
        (CLOSED, "{question} {passage}", "of_passage", "{passage}"),
        (CLOSED, "{question} {mood}", "unknown", "{mood}"),
        (PASSAGE, "{question} {mood}", "unknown", "{mood}"),
        (PASSAGE, "{question}", "missing", "{passage}"),
    ],
)
def test_a_template_with_a_field_that_is_none_or_missing_says_which(
    strategy, template, code, field
):
    with pytest.raises(TemplateError) as caught:
        Prompt(strategy, template)
    assert (caught.value.code, caught.value.values["field"]) == (code, field)
