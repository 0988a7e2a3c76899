"""A worker that is killed while it asks repeats at most what was under way; counted at a server."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.evaluation.core.backends.chat.fake import fake_chat, question_of, said
from tests.evaluation.runs.background.scratch import Scratch, wait_until
from tests.services import address_of

QUESTIONS, AT_ONCE = 120, 4

SEED = """
from django.contrib.auth.models import User
from annotations.models import Question, QuestionSet
from evaluation.runs.background.runs import queue_run
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.models import LanguageModel
owner = User.objects.create(username="rana", is_staff=True)
version = QuestionSet.objects.create(owner=owner, name="rivers").draft()
Question.objects.bulk_create(
    Question(version=version, external_id=f"q{n}", position=n, text=f"Where is river {n}?")
    for n in range(QUESTIONS))
models = [LanguageModel.objects.create(owner=owner, name=name, spec=SPEC.replace("small", name))
          for name in ("first", "second")]
options = AskOptions(models=tuple(str(one.public_id) for one in models), concurrency=AT_ONCE)
result = queue_run(version, owner.pk, options, "ask").pk
"""
STATE = """
from evaluation.models import LLMResponse, RawReply, Run
run = Run.objects.get(pk=RUN)
result = {"state": run.state, "error": run.error, "crashes": run.crashes, "done": run.done,
          "answers": LLMResponse.objects.filter(status="text").count(),
          "rows": LLMResponse.objects.count(), "raw": RawReply.objects.count(),
          "summary": run.summary}
"""
PAUSE = """
from evaluation.runs.background import runs
from evaluation.models import Run
result = runs.pause_run(Run.objects.get(pk=RUN))
"""
RESUME = """
from evaluation.runs.background import runs
from evaluation.models import Run
result = runs.resume_run(Run.objects.get(pk=RUN))
"""


def kill_pause_and_go_on(site: Scratch) -> None:
    slow = lambda body: replace(said(f"to {question_of(body)[:40]}"), delay=0.25)  # noqa: E731
    try:
        site.environment["CROWDGRADE_MODEL_NETWORKS"] = "127.0.0.0/8"
        with fake_chat(slow) as chat:
            run = site.python(SEED, SPEC=chat.spec, QUESTIONS=QUESTIONS, AT_ONCE=AT_ONCE)
            first = site.start_worker()
            wait_until(lambda: len(chat.bodies) > 40, 60, "the asking began", site.log)
            site.kill(first)
            killed = len(chat.bodies)
            left = site.python(STATE, RUN=run)
            assert left["state"] == "running"
            # What was sent is stored, but for what was under way with each of two models.
            assert killed - 2 * AT_ONCE <= left["answers"] <= killed

            site.start_worker()
            wait_until(lambda: len(chat.bodies) > killed + 20, 60, "it went on", site.log)
            assert site.python(PAUSE, RUN=run)
            wait_until(lambda: chat.at_once == 0, 30, "the worker noticed the pause", site.log)
            paused = len(chat.bodies)
            waiting = site.python(STATE, RUN=run)
            assert waiting["state"] == "paused"
            assert paused < 2 * QUESTIONS
            assert site.python(RESUME, RUN=run)
            end = site.ended(STATE, run)
            assert (end["state"], end["error"], end["crashes"]) == ("done", "", 1)
            assert (end["answers"], end["rows"], end["raw"]) == (2 * QUESTIONS,) * 3
            asked = Counter((body["model"], question_of(body)) for body in chat.bodies)
            assert len(asked) == 2 * QUESTIONS
            repeated = sum(asked.values()) - len(asked)
            # Killed once: what was under way is asked again. Paused: it was let in.
            assert repeated <= 2 * AT_ONCE
            for one in end["summary"]["models"]:
                assert (one["end"], one["answered"]) == ("done", QUESTIONS)
    finally:
        site.close()


@pytest.mark.long
def test_asking_survives_its_worker_on_sqlite(sqlite_home):
    kill_pause_and_go_on(Scratch(sqlite_home, None, None))


@pytest.mark.long
def test_asking_survives_its_worker_on_postgresql_with_redis(
    tmp_path,
    postgres_database,
):
    broker = address_of("REDIS_URL")
    kill_pause_and_go_on(Scratch(tmp_path / "home", postgres_database, broker))
