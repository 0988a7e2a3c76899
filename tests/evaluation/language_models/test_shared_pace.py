"""Requests a minute are those of all processes that ask a model."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.models import LanguageModel
from evaluation.runs.steps.asking.conversation import reserve_requests
from tests.evaluation.core.backends.chat.fake import fake_chat, question_of, said
from tests.evaluation.language_models import asked, model
from tests.evaluation.runs.background.scratch import Scratch, wait_until
from tests.services import address_of


def test_reservations_follow_each_other_by_the_clock_of_the_database(small, rana):
    assert reserve_requests(small.pk, 10, 0.5) == 0.0
    # Five seconds are taken, and then six more.
    assert reserve_requests(small.pk, 3, 2.0) == pytest.approx(5.0, abs=2)
    assert reserve_requests(small.pk, 1, 1.0) == pytest.approx(11.0, abs=3)
    other = model(rana, "other", small.spec)
    assert reserve_requests(other.pk, 1, 1.0) == 0.0
    # What is past is not made up for: no burst after a pause.
    LanguageModel.objects.filter(pk=small.pk).update(
        next_request_at=timezone.now() - timedelta(hours=1)
    )
    assert reserve_requests(small.pk, 1, 1.0) == 0.0
    assert reserve_requests(small.pk, 1, 1.0) > 0.0


def test_a_run_with_a_limit_reserves_its_requests(version, small):
    asked(version, small, requests_per_minute=6000.0)
    small.refresh_from_db()
    # 6,000 a minute are 100 a second, which are reserved at once.
    assert small.next_request_at is not None
    assert asked(version, model(small.owner, "other", small.spec)).complete
    assert LanguageModel.objects.get(name="other").next_request_at is None


SEED = """
from django.contrib.auth.models import User
from annotations.models import Question, QuestionSet
from evaluation.models import LanguageModel
from evaluation.runs.background.runs import queue_run
from evaluation.runs.flow.asking.options import AskOptions
owner = User.objects.create(username="rana", is_staff=True)
model = LanguageModel.objects.create(owner=owner, name="small", spec=SPEC)
result = []
for name in ("rivers", "lakes"):
    version = QuestionSet.objects.create(owner=owner, name=name).draft()
    Question.objects.bulk_create(
        Question(version=version, external_id=f"q{n}", position=n, text=f"Where is {name} {n}?")
        for n in range(QUESTIONS))
    options = AskOptions(
        models=(str(model.public_id),), requests_per_minute=A_MINUTE, concurrency=8)
    result.append(queue_run(version, owner.pk, options, "ask").pk)
"""
STATES = """
from evaluation.models import LLMResponse, Run
result = {"states": sorted(Run.objects.values_list("state", flat=True)),
          "owners": len(set(Run.objects.exclude(lease_owner="").values_list("lease_owner"))),
          "answers": LLMResponse.objects.filter(status="text").count()}
"""
QUESTIONS, A_MINUTE = 40, 240.0
WINDOW = 5.0


def keep_to_the_limit(site: Scratch, *, kill: bool) -> None:
    """Two runs of one model, each on a process of its own; one process may be killed."""
    times = []

    def answer(body):
        times.append(time.monotonic())
        return said(f"to {question_of(body)[:40]}")

    try:
        site.environment["CROWDGRADE_MODEL_NETWORKS"] = "127.0.0.0/8"
        with fake_chat(answer) as chat:
            site.python(SEED, SPEC=chat.spec, QUESTIONS=QUESTIONS, A_MINUTE=A_MINUTE)
            processes = [site.start_worker() for _ in range(2)]
            wait_until(lambda: len(times) > 5, 300, "the asking began", site.log)
            both = wait_until(
                lambda: site.python(STATES)["owners"] == 2, 60, "both processes ask", site.log
            )
            assert both
            if kill:
                site.kill(processes[0])
            wait_until(
                lambda: site.python(STATES)["states"] == ["done", "done"],
                300,
                "both runs ended",
                site.log,
            )
            assert site.python(STATES)["answers"] == 2 * QUESTIONS
            questions = [question_of(body) for body in chat.bodies]
            # A killed process repeats what was under way, eight requests at most.
            assert len(questions) - len(set(questions)) <= (8 if kill else 0)
        # Four a second; a busy machine may send one late, beside the next ones.
        allowed = A_MINUTE / 60 * WINDOW + 2
        counts = [sum(0 <= one - first < WINDOW for one in times) for first in times]
        assert max(counts) <= allowed
        assert times[-1] - times[0] >= (2 * QUESTIONS - 1) * 60 / A_MINUTE - WINDOW
    finally:
        site.close()


@pytest.mark.long
@pytest.mark.parametrize("kill", [False, True])
def test_two_processes_share_the_requests_a_minute_on_sqlite(sqlite_home, kill):
    keep_to_the_limit(Scratch(sqlite_home, None, None), kill=kill)


@pytest.mark.long
def test_two_processes_share_the_requests_a_minute_on_postgresql(tmp_path, postgres_database):
    broker = address_of("REDIS_URL")
    keep_to_the_limit(Scratch(tmp_path / "home", postgres_database, broker), kill=False)
