"""Runs that wait for servers go on beside those that compute, a bounded number of them."""

import threading
from types import SimpleNamespace

import pytest

from evaluation.models import Run, RunData
from evaluation.runs.background import request_process as asking
from evaluation.runs.background import work
from evaluation.runs.background.leases import claim_next_run, wake_process_if_needed
from evaluation.runs.background.request_process import SHORT_TURN, Slots
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.steps.asking.registration import find_asking_lane
from evaluation.runs.steps.checkpoints import LANE, Lane, Turn
from tests.annotations import world
from tests.evaluation.core.backends.chat.fake import fake_chat, said
from tests.evaluation.language_models.test_killed_worker import SEED, STATE
from tests.evaluation.runs.background.scratch import Scratch, wait_until
from tests.services import address_of

COMPUTING, ASKING = Lane.COMPUTING, Lane.ASKING


@pytest.fixture
def version(db):
    return world.version(world.user("rana"))


@pytest.fixture
def begin(version):
    """Return a function that queues a run of a kind, for somebody."""

    def begun(kind, owner=None):
        return Run.objects.create(
            owner=owner or version.question_set.owner, version=version, kind=kind
        )

    return begun


def lane_of_run(run):
    return RunData.objects.filter(run=run, name=LANE).values_list("data", flat=True).first()


def test_a_run_begins_in_the_lane_of_its_kind(begin):
    graded, asked = begin("aqer"), begin("multiqa")
    assert claim_next_run("ann", ASKING).run_id == asked.pk
    assert claim_next_run("ann", ASKING) is None
    assert claim_next_run("ann", COMPUTING).run_id == graded.pk
    assert claim_next_run("ann") is None


def test_who_has_no_process_that_asks_does_everything(begin):
    asked, graded = begin("ask"), begin("aqer")
    assert [claim_next_run("ann").run_id for _ in range(2)] == [asked.pk, graded.pk]


def test_a_run_is_handed_over_and_back_without_a_crash(begin, monkeypatch):
    run = begin("multiqa")
    wanted = iter([COMPUTING, ASKING])
    rung = []
    monkeypatch.setattr(work, "wake_process", lambda: rung.append(True))
    monkeypatch.setattr(
        work,
        "get_run_kind",
        lambda run: SimpleNamespace(run=lambda turn: turn.require_lane(next(wanted))),
    )
    work.work_on_run(claim_next_run("ann", ASKING), 1e9, lane=ASKING)
    run.refresh_from_db()
    assert (run.state, run.lease_owner, lane_of_run(run)) == ("queued", "", "computing")
    assert claim_next_run("ann", ASKING) is None
    assert work_one_turn(lane=COMPUTING)
    run.refresh_from_db()
    assert (run.state, run.attempt, run.crashes, lane_of_run(run)) == ("queued", 2, 0, "asking")
    assert claim_next_run("ann", COMPUTING) is None
    assert claim_next_run("ann", ASKING).run_id == run.pk
    assert rung == [True, True]


def test_a_turn_for_everything_is_handed_over_to_nobody():
    turn = Turn(1, None, None, 0.0)
    turn.require_lane(COMPUTING)
    turn.require_lane(ASKING)


def test_a_lost_claim_hands_nothing_over(begin):
    run = begin("multiqa")
    claim = claim_next_run("ann")
    Run.objects.update(attempt=9)
    assert not claim.hand_over(COMPUTING)
    assert lane_of_run(run) is None


def test_hours_of_asking_do_not_make_somebody_the_last_to_have_something_computed(begin):
    rana, otto = world.user("rita"), world.user("otto")
    begin("ask", rana)
    assert claim_next_run("ann", ASKING)
    begin("aqer", otto)
    assert claim_next_run("ann", COMPUTING)  # otto had the last turn there
    of_otto, of_rana = begin("aqer", otto), begin("aqer", rana)
    assert claim_next_run("ann", COMPUTING).run_id == of_rana.pk
    assert claim_next_run("ann", COMPUTING).run_id == of_otto.pk


def test_runs_of_somebody_who_has_a_place_wait(begin):
    rana, otto = world.user("rita"), world.user("otto")
    begin("ask", rana)
    of_otto = begin("ask", otto)
    assert claim_next_run("ann", ASKING, busy={rana.pk}).run_id == of_otto.pk
    assert claim_next_run("ann", ASKING, busy={rana.pk, otto.pk}) is None


def test_the_bell_of_a_process_that_computes_rings_for_its_own_lane(begin, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    begin("ask")
    assert not wake_process_if_needed(COMPUTING)
    assert wake_process_if_needed()
    begin("aqer")
    assert wake_process_if_needed(COMPUTING)


def test_a_model_that_computes_on_this_machine_is_asked_where_one_computes():
    here, there = (
        SimpleNamespace(spec="local:smollm2"),
        SimpleNamespace(spec="openai:a@http://b/v1"),
    )
    assert find_asking_lane([there]) is ASKING
    assert find_asking_lane([there, here]) is COMPUTING


@pytest.fixture
def held(monkeypatch):
    """Let each turn in a place wait until its time is up or it is let go on."""
    go_on = threading.Event()

    def work_on(claim, deadline, clock, lane, begun):
        turn = Turn(claim.run_id, None, None, deadline, clock, lane)
        begun(turn)
        while not (go_on.wait(0.01) or turn.is_over()):
            pass

    monkeypatch.setattr(asking, "work_on_run", work_on)
    # The test's transaction is not to be seen from other threads, and its connection not closed.
    monkeypatch.setattr(asking, "connections", SimpleNamespace(close_all=lambda: None))
    yield go_on
    go_on.set()


def owners_in(places):
    return {one.owner for one in places.list_taken()}


def test_each_requester_has_one_place_and_the_longest_turn_makes_room_for_the_next(begin, held):
    people = [world.user(f"p{n}") for n in range(3)]
    now = [100.0]
    places = Slots(2, lambda: now[0])
    for person in people[:2]:
        begin("ask", person)
        begin("ask", person)
        places.fill_free_slots()
        now[0] += 1
    first, second, third = (one.pk for one in people)
    assert owners_in(places) == {first, second}
    begin("ask", people[2])
    # The first began at 100.
    now[0] = 100.0 + SHORT_TURN - 0.1
    places.fill_free_slots()
    assert not any(one.is_ending for one in places.list_taken())
    now[0] = 100.0 + SHORT_TURN
    places.fill_free_slots()
    wait_until(lambda: owners_in(places) == {second}, 5, "the first made room")
    places.fill_free_slots()
    assert owners_in(places) == {second, third}
    # The second run of the first waits, and its owner has none: the second's turn began at 101.
    now[0] = 101.0 + SHORT_TURN
    places.fill_free_slots()
    wait_until(lambda: owners_in(places) == {third}, 5, "the second made room")


def test_a_process_that_ends_gives_back_what_does_not_end_in_time(begin, held, monkeypatch):
    run = begin("ask")
    monkeypatch.setattr(asking, "SECONDS_TO_END", 0.0)
    places = Slots(2)
    places.fill_free_slots()
    places.end_turns()
    run.refresh_from_db()
    assert (run.state, run.crashes, run.lease_owner) == ("queued", 0, "")


def grading_goes_on_beside_asking(site: Scratch) -> None:
    """One asks a server that says nothing until it is told to; another's grading is done before."""
    answer = threading.Event()

    def slow(body):
        answer.wait(120)
        return said("yes")

    try:
        site.environment["CROWDGRADE_MODEL_NETWORKS"] = "127.0.0.0/8"
        with fake_chat(slow) as chat:
            asked = site.python(SEED, SPEC=chat.spec, QUESTIONS=3, AT_ONCE=1)
            site.start_worker()
            wait_until(lambda: len(chat.bodies) == 2, 90, "two models were asked", site.log)
            graded = site.seed("tfidf-word", 6, 4)
            end = site.ended(STATE, graded, 90)
            assert (end["state"], end["error"]) == ("done", "")
            # The grading began after the asking and is done, and no reply has come.
            assert (chat.at_once, site.python(STATE, RUN=asked)["answers"]) == (2, 0)
            answer.set()
            end = site.ended(STATE, asked, 90)
            assert (end["state"], end["answers"], end["crashes"]) == ("done", 6, 0)
            assert len(chat.bodies) == 6
    finally:
        answer.set()
        site.close()


@pytest.mark.long
def test_a_grading_is_done_while_anothers_models_are_asked_on_sqlite_with_files(sqlite_home):
    grading_goes_on_beside_asking(Scratch(sqlite_home, None, None))


@pytest.mark.long
@pytest.mark.parametrize("broker", ["REDIS_URL", "AMQP_URL"])
def test_a_grading_is_done_while_anothers_models_are_asked_on_postgresql(
    tmp_path, postgres_database, broker
):
    grading_goes_on_beside_asking(Scratch(tmp_path / "home", postgres_database, address_of(broker)))
